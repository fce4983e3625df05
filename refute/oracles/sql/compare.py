"""Comparison of an engine's answer with SQLite's, which knows what may differ and nothing more.

* Names of columns are not compared: SQL leaves names of expressions to the engine.
* Order is compared as far as ORDER BY fixes it, and LIMIT without a total order may keep any of the
  tied rows (`refute.oracles.sql.windows`).
* The sign of a zero is not compared; its type is, as that of every value.
* Floats of a query with SUM, AVG or TOTAL may differ by 16 units in the last place: the order of
  the additions is open, and releases of SQLite differ. Where these units decide what else a query
  answers (`refute.oracles.sql.nudged`), it is open.
* Of a float that was made a text, 15 digits are compared (`refute.oracles.sql.digits`).
* 5 and 5.0 are taken as equal in two places where SQLite shows the one for the other.
* Of several equal rows (1 and 1.0, or texts equal under a collation) DISTINCT, UNION, INTERSECT and
  EXCEPT may keep any, and so may GROUP BY of keys, MIN and MAX of values
  (`refute.oracles.sql.representatives`).
* Where SQLite's own answer changes when it works in another order (`refute.oracles.sql.variants`),
  each of its answers is right. If they only differ in which of several equal values stands for all
  of them, or in the order inside of a GROUP_CONCAT, other answers may differ in that too; else any
  other answer is open, and says nothing.
* What becomes of a text that is no UTF-8 is not defined.
* A query that calls what gives another value each time, in each session or in each release says
  nothing.

Where SQLite ends with an error, nothing is compared, with one exception: an integer SUM that leaves
64 bits is an error by its documentation, so an engine that answers with rows is wrong. That is only
held against it where the sum is computed for certain, in a SELECT without anything around.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Literal

from sqlglot import exp

from refute.fuzz.sql.text import Node, look, read, write
from refute.oracles.sql.digits import has_numerals, is_no_text, with_15_digits
from refute.oracles.sql.likes import depends_on_build
from refute.oracles.sql.nudged import decided_by_sums
from refute.oracles.sql.partial.openness import deterministic
from refute.oracles.sql.representatives import shown, with_duplicates
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.variants import OVERFLOW, STEPS, answered, variants
from refute.oracles.sql.windows import Row, Window, exact, loose, window_of
from refute.plain import Plain

__all__ = ["SAME", "STEPS", "Compared", "Normal", "compare", "overflow_is_open"]

NO_TEXT = "a text that is no UTF-8"
LIKES_BLOBS = "LIKE of bytes, or UNICODE of no text, depends on how SQLite was built"
DEPENDS = "SQLite's own answer depends on the order of rows"
_RELEASES = frozenset({"SQLITE_SOURCE_ID", "SQLITE_COMPILEOPTION_USED"})
Normal = Callable[[Row], Row]

Status = Literal["same", "different", "open"]


@dataclasses.dataclass(frozen=True)
class Compared:
    """status: "open" says nothing about the engine. why: what differs, or why it is open."""

    status: Status
    why: str = ""


SAME = Compared("same")


def _as_it_is(row: Row) -> Row:
    return row


def compare(
    setup: Sequence[str], query: str, right: Plain, left: Plain, normal: Normal = _as_it_is
) -> Compared:
    """SQLite's answer `right` and the engine's answer `left` to a query after a setup.

    Both as `refute.oracles.sql.driver` gives them, `left` a list beginning with "rows" or "done".
    normal: a row in the form in which rows of the two are compared.
    """
    if right[0] == "unfit":
        return Compared("open", right[1])
    if right[0] == "error":
        return _compare_with_error(setup, query, right[2])
    if left[0] != right[0]:
        return Compared("different", "an answer without rows" if left[0] == "done" else "rows")
    if right[0] == "done":
        return SAME
    if len(left[1]) != len(right[1]):
        return Compared("different", f"{len(left[1])} columns instead of {len(right[1])}")
    if repr(left[2]) == repr(right[2]):
        return SAME
    tree = read(query)
    if not isinstance(tree, exp.Query):
        return Compared("open", "the query cannot be read, so its order is not known")
    if not deterministic(tree) or _tells_release(tree):
        return Compared("open", "it calls what gives another value each time")
    if any(is_no_text(value) for row in right[2] for value in row):
        return Compared("open", NO_TEXT)
    rights, lefts = ([normal(row) for row in answer[2]] for answer in (right, left))
    if any(has_numerals(value) for rows in (rights, lefts) for row in rows for value in row):
        normal = _then(normal, lambda row: tuple(map(with_15_digits, row)))
        rights, lefts = ([normal(row) for row in answer[2]] for answer in (right, left))
    found = _Comparison(setup, tree, rights, lefts, normal).compared()
    if found.status == "different" and depends_on_build(setup, query, STEPS):
        return Compared("open", LIKES_BLOBS)
    return found


def _tells_release(query: Node) -> bool:
    calls = query.find_all(exp.Anonymous, exp.CurrentVersion)
    return any(type(n) is exp.CurrentVersion or n.name.upper() in _RELEASES for n in calls)


def _then(first: Normal, second: Normal) -> Normal:
    return lambda row: second(first(row))


class _Comparison:
    """The slow part: the two answers are not the same text."""

    def __init__(
        self,
        setup: Sequence[str],
        query: Node,
        right: Sequence[Row],
        left: Sequence[Row],
        normal: Normal,
    ) -> None:
        self.setup = setup
        self.query = query
        self.right = right
        self.left = left
        self.normal = normal

    def compared(self) -> Compared:
        database, accepted = _database(self.setup)
        window = window_of(database, self.query, self.right, self.normal)
        database.close()
        if window.accepts(self.left):
            return SAME
        if _shows_other_types(self.query) and window.accepts(self.left, _numerically):
            return SAME
        if window.accepts(self.left, loose) and self._keeps_other_duplicates():
            return SAME
        if self._shows_others(window):
            return SAME
        windows = [window, *_other_windows(accepted, self.query, self.normal)]
        if any(w is not None and w.accepts(self.left) for w in windows):
            return SAME
        if all(w is not None and w.accepts(self.right) for w in windows):
            return self._different(window)
        if _shows_concatenations(self.query) and all(
            w is not None and w.accepts(self.right, _letters) for w in windows
        ):
            return SAME if window.accepts(self.left, _letters) else self._different(window)
        if all(w is not None and w.accepts(self.right, loose) for w in windows):
            return SAME if window.accepts(self.left, loose) else self._different(window)
        return Compared("open", DEPENDS)

    def _keeps_other_duplicates(self) -> bool:
        """Whether every row is one of those that DISTINCT or a compound query chooses from."""
        whole = with_duplicates(self.query)
        if whole is None:
            return False
        database, _ = _database(self.setup)
        [result] = database.run([write(whole)])
        database.close()
        if result[0] != "rows":
            return False
        return set(map(exact, self.left)) <= set(map(exact, map(self.normal, result[2])))

    def _shows_others(self, window: Window) -> bool:
        """Whether only keys of groups, least and greatest values are others of the equal ones."""
        found = shown(self.query)
        if found is None:
            return False
        whole, places = found

        def key(row: Row) -> Hashable:
            free = loose([row[place] for place in places])
            return free, exact([v for place, v in enumerate(row) if place not in places])

        if not window.accepts(self.left, key):
            return False
        database, _ = _database(self.setup)
        [result] = database.run([write(whole)])
        database.close()
        if result[0] != "rows":
            return False
        there = [self.normal(row) for row in result[2]]
        for at, place in enumerate(places):
            known = {exact([row[at]]) for row in there} | {exact([None])}
            if not all(exact([row[place]]) in known for row in self.left):
                return False
        return True

    def _different(self, window: Window) -> Compared:
        """The judgement, unless the last bits of a sum decide."""
        database, _ = _database(self.setup)
        decides = decided_by_sums(database, self.query, self.right)
        database.close()
        if decides:
            return Compared("open", "the last bits of a sum decide")
        return Compared("different", self._difference(window))

    def _difference(self, window: Window) -> str:
        if len(self.left) != len(self.right):
            number = len(self.left)
            return f"{number} row{'s' * (number != 1)} instead of {len(self.right)}"
        unordered = Window((tuple(self.right),))
        return "the order of rows" if unordered.accepts(self.left) else "the rows"


def _numerically(row: Row) -> Row:
    """Equal for rows whose values differ at most in being 5 or 5.0."""
    return tuple(row)


def _letters(row: Row) -> Row:
    """Equal for rows whose texts have the same letters, as those of GROUP_CONCAT in any order."""
    return tuple("".join(sorted(v)) if type(v) is str else v for v in row)


def _shows_concatenations(query: Node) -> bool:
    """Whether GROUP_CONCAT is used, and only for columns of the result as they are."""
    found = list(query.find_all(exp.GroupConcat))
    shown = query.expressions if isinstance(query, exp.Select) else []
    plain = [output.unalias() for output in shown]
    plain += [output.this for output in plain if isinstance(output, exp.Filter)]
    return bool(found) and all(any(node is output for output in plain) for node in found)


def _shows_other_types(query: Node) -> bool:
    """Whether SQLite may show 5 for a 5.0, in every order of the rows (seen with 3.40.1).

    `GROUP BY a HAVING a IN (SELECT …)` converts the group's own value for the comparison, and where
    ORDER BY has a COLLATE of its own, which of the equal rows of UNION stays is decided otherwise.
    """
    having = (node for clause in query.find_all(exp.Having) for node in clause.find_all(exp.In))
    if any(node.args.get("query") for node in having):
        return True
    unions = query.find_all(exp.SetOperation)
    return any(order.find(exp.Collate) for u in unions if (order := u.args.get("order")))


def _database(setup: Sequence[str]) -> tuple[SQLite, list[str]]:
    """A database after the setup, and the statements of it that were not refused."""
    database = SQLite(STEPS)
    results = database.run(setup)
    return database, [s for s, r in zip(setup, results, strict=True) if r[0] != "error"]


def _other_windows(setup: Sequence[str], query: Node, normal: Normal) -> Iterator[Window | None]:
    """The windows of the variants; None for one that SQLite does not answer."""
    for found in answered(setup, query):
        if found is None:
            yield None
        else:
            database, tree, answer = found
            yield window_of(database, tree, answer[2], normal)


def _compare_with_error(setup: Sequence[str], query: str, message: str) -> Compared:
    """SQLite ended with an error, and the engine did not."""
    tree = look(query)
    if OVERFLOW not in message or tree is None or not _computed_for_certain(tree):
        return Compared("open", f"SQLite: {message}")
    if all(_other_overflows(setup, tree)):
        return Compared("different", f"rows instead of the error {message!r}")
    return Compared("open", DEPENDS)


def overflow_is_open(setup: Sequence[str], query: str, message: str) -> bool:
    """Whether an engine's error is the overflow of a sum, which SQLite has in another order only.

    A sum of 64-bit integers may leave them on the way and come back, or not, as the rows come.
    """
    tree = look(query)
    if "overflow" not in message.lower() or not isinstance(tree, exp.Query):
        return False
    return any(_other_overflows(setup, tree))


def _other_overflows(setup: Sequence[str], query: Node) -> Iterator[bool]:
    """Whether each variant overflows."""
    database, accepted = _database(setup)
    database.close()
    for statements, text in variants(accepted, query):
        database, _ = _database(statements)
        [result] = database.run([text])
        database.close()
        if result[0] != "error" or OVERFLOW in result[2]:
            yield result[0] == "error"


def _computed_for_certain(tree: Node) -> bool:
    """Whether SUM stands in a plain SELECT that must compute it to answer at all."""
    if not isinstance(tree, exp.Select) or tree.args.get("having") or tree.args.get("limit"):
        return False
    inner = tree.find(exp.Subquery, exp.Exists, exp.Case, exp.Coalesce, exp.If, exp.And, exp.Or)
    total = any(output.find(exp.Sum) for output in tree.expressions)
    return inner is None and total and not tree.find(exp.Abs)
