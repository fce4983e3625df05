"""Bags: whether two answers of one engine, which must have the same rows, do.

The order of rows is never compared. What may differ although both answers are right, and how it is
told from what is wrong:

* the sign of a zero, also inside of a text that was made from one;
* sums of floats that are shown as they are: 16 units in the last place (`windows.ULPS`). Where
  great ones cancel, more: if nothing else differs, the question is open;
* representatives of equal values (`openness`), where the query shows some as they are: rows are
  compared with 1 and 1.0 as one value, and texts without regard to case and spaces at their end;
* anything, where something open is computed with. Then the embedded SQLite is asked the query in
  several orders (`variants`), if it can make the case's database at all: if its answer depends on
  that, so may the engine's, and the question is open; if it never does, the difference is wrong.
  An engine of another dialect is given the benefit of the doubt at once;
* integers and floats, where an engine's columns have types and the forms' columns other ones: such
  as of EXCEPT, which is of both sides, and of EXISTS, which is of one.

An answer that is no rows leaves the question open: in another form, parts may be computed in
another order or not at all, and so run into an overflow, a division by zero or a cast that fails.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from refute.fuzz.sql.text import Node, look
from refute.oracles.sql.partial.columns import Scope, catalog_of
from refute.oracles.sql.partial.openness import openness
from refute.oracles.sql.partial.question import HELD, Answer, Case, Judged
from refute.oracles.sql.partial.trees import whole
from refute.oracles.sql.partial.written import text_of
from refute.oracles.sql.said import said
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.transpile.kinds import INT, NUM, REAL
from refute.oracles.sql.variants import answered
from refute.oracles.sql.windows import ULPS

Row = Sequence[object]
Rows = Sequence[Row]
Key = Callable[[Row], Hashable]

_NUMBERS = frozenset({INT, REAL, NUM})
STEPS = 5_000_000
REFUSED = "one of the forms is refused"
NO_ANSWER = "no answer"
UNDEFINED = "the affinity of a compound query's column is undefined"
ADDED = "floats that cancel are added in another order"
DEPENDS = "the answer depends on the order of rows"


def rows_of(answers: Sequence[Answer]) -> list[Rows] | Judged:
    """The rows of each answer, or that the question is open."""
    found: list[Rows] = []
    for answer in answers:
        if answer[0] != "rows":
            return Judged("open", REFUSED if answer[0] == "error" else NO_ANSWER)
        found.append(answer[2])
    return _in_one_kind(found, [answer[3] for answer in answers if len(answer) > 3])


def _in_one_kind(found: list[Rows], kinds: Sequence[Sequence[str]]) -> list[Rows]:
    """Numbers of a column as floats where the answers' kinds of it, as written, are not one."""
    if len(kinds) < len(found) or all(k == kinds[0] for k in kinds):
        return found
    by_column = list(map(set, zip(*kinds, strict=False)))
    places = {at for at, known in enumerate(by_column) if len(known) > 1 and known <= _NUMBERS}

    def one(row: Row) -> Row:
        return [float(v) if at in places and type(v) is int else v for at, v in enumerate(row)]

    return [list(map(one, rows)) for rows in found] if places else found


def exact(row: Row) -> Hashable:
    """Equal for rows of the same values and types, whatever the sign of a zero."""
    return tuple(map(_exact, row))


def without_floats(row: Row) -> Hashable:
    """Equal for rows that differ in floats at most, or in whether there is one."""
    return tuple("" if v is None or type(v) is float else _exact(v) for v in row)


def _exact(value: object) -> Hashable:
    kind = type(value)
    if kind is float:
        number: float = value  # type: ignore[assignment]
        return ("float", "nan") if math.isnan(number) else ("float", number + 0.0)
    if kind is str:
        text: str = value  # type: ignore[assignment]
        return text.replace("-0.0", "0.0") if "-0.0" in text else text
    return (kind.__name__, value)


def loose(row: Row) -> Hashable:
    """Equal for rows of values that some comparison takes as equal."""
    return tuple(map(_loose, row))


def _loose(value: object) -> Hashable:
    if type(value) is str:
        return value.replace("-0.0", "0.0").lower().rstrip(" ")
    if type(value) is float and math.isnan(value):
        return ("float", "nan")
    return value if isinstance(value, Hashable) else repr(value)


def same_bag(left: Rows, right: Rows, key: Key = exact, *, adds: bool = False) -> bool:
    """Whether both have the same rows, equally often. adds: floats may differ by some units."""
    if len(left) != len(right):
        return False
    counted = Counter(map(key, left))
    counted.subtract(map(key, right))
    if not any(counted.values()):
        return True
    return adds and _matched(left, right, key)


def same_set(left: Rows, right: Rows, key: Key = exact) -> bool:
    """Whether both have the same rows, however often."""
    return set(map(key, left)) == set(map(key, right))


def _matched(left: Rows, right: Rows, key: Key) -> bool:
    """Whether each row has a partner of its own that differs by units of floats at most."""
    free = list(right)
    for row in left:
        place = next((i for i, other in enumerate(free) if close(row, other, key)), None)
        if place is None:
            return False
        del free[place]
    return True


def close(left: Row, right: Row, key: Key = exact) -> bool:
    """Whether rows are the same but for some units in the last place of floats."""
    if len(left) != len(right):
        return False
    for one, other in zip(left, right, strict=True):
        if type(one) is float and type(other) is float and math.isfinite(one + other):
            if abs(one - other) > ULPS * math.ulp(max(abs(one), abs(other))):
                return False
        elif key((one,)) != key((other,)):
            return False
    return True


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two answers that must have the same rows.

    query: the tree whose meaning both have, which decides what is open. expected, observed: rows.
    what: for people, as in "its partitions". as_sets: whether only sets are the same. cut: how
    many of the query's last columns the rows do not have. part: another tree that was asked, with
    conditions that the query does not have; what is open there is open.
    """

    case: Case
    query: Node
    expected: Rows
    observed: Rows
    what: str
    as_sets: bool = False
    cut: int = 0
    part: Node | None = None

    def judged(self) -> Judged:
        """Equal rows are found equal at once; only others are looked at closely."""
        if self._same(exact):
            return HELD
        if self.part is not None and (reason := open_inside(self.case, self.part)):
            return Judged("open", reason)
        scope = Scope(catalog_of(self.case.setup), self.query)
        found = openness(self.query, scope)
        if found.undefined and self.case.dialect == "sqlite":
            return Judged("open", UNDEFINED)
        if found.adds and self._same(exact, adds=True):
            return HELD
        if found.adds and self._same(without_floats):
            return Judged("open", ADDED)
        if found.shown and self._same(loose, adds=found.adds):
            return HELD
        if found.degree == "mixed" and _depends(self.case, self.query):
            return Judged("open", DEPENDS)
        return broken(self.what, self.expected, self.observed)

    def _same(self, key: Key, *, adds: bool = False) -> bool:
        if self.as_sets:
            return same_set(self.expected, self.observed, key)
        return same_bag(self.expected, self.observed, key, adds=adds)


def open_inside(case: Case, part: Node) -> str:
    """Why it is open which rows a query has, such as by its condition; empty where it is not."""
    found = openness(part, Scope(catalog_of(case.setup), part))
    if found.undefined and case.dialect == "sqlite":
        return UNDEFINED
    return DEPENDS if found.degree == "mixed" and _depends(case, part) else ""


def _depends(case: Case, query: Node) -> bool:
    return case.dialect != "sqlite" or depends_on_order(case.setup, text_of(query))


def broken(what: str, expected: Rows, observed: Rows) -> Judged:
    """The judgement of two answers that should have been the same, with the rows that are not."""
    more, fewer = Counter(map(exact, observed)), Counter(map(exact, expected))
    lost = [row for row in expected if more[exact(row)] < fewer[exact(row)]]
    new = [row for row in observed if more[exact(row)] > fewer[exact(row)]]
    told = f"{what}: {len(lost)} rows less and {len(new)} rows more of {len(expected)}"
    return Judged("broken", told, said(["rows", [], lost]), said(["rows", [], new]))


@functools.lru_cache(maxsize=256)
def depends_on_order(setup: tuple[str, ...], text: str) -> bool:
    """Whether the embedded SQLite answers otherwise in another order, or cannot tell.

    It cannot where it refuses the query, or runs into an error in another order.
    """
    query = look(text)
    if query is None:
        return True
    database = SQLite(STEPS)
    results = database.run([*setup, text])
    database.close()
    kept = [s for s, r in zip(setup, results, strict=False) if r[0] != "error"]
    if results[-1][0] != "rows":
        return True
    return any(
        found is None or not same_bag(results[-1][2], found[2][2])
        for found in answered(kept, whole(query))
    )
