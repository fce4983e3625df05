"""Across dialects: an engine's answer to a statement that was written for it, beside SQLite's.

The writer (`refute.oracles.sql.transpile`) knows the kind of each result column, and the answer
carries these kinds as its fourth item. They say in what form values of the two are compared:

| a column of the kind | may hold, and is compared as |
|---|---|
| int | integers; an engine's decimal without a fraction, which is its digits, is its number |
| real | floating-point numbers; an engine's integers and decimals are their numbers |
| num | SQLite's integers and floats beside each other; all are floats |
| text, blob | themselves |

Seen: a wrong, missing or additional row, a wrong order where ORDER BY fixes it. Not seen: the type
of a number, the sign of zero, the last 16 units of sums of floats. Left open, with the reason: what
the engine's own rules make differ even though the statement was written to mean the same.

| reason | because |
|---|---|
| an integer of more than 64 bits | SQLite goes on with a float; others refuse, widen or wrap it |
| a sum of floats decides | its last bits differ, and so does what is compared with them |
| infinity less infinity | NULL in SQLite, NaN elsewhere |
| integers of more than 53 bits beside floats | SQLite compares them exactly, others as floats |
| the case of letters beyond ASCII | SQLite knows that of ASCII's letters only |

A result column that is a SUM and nothing else may not wrap around (`across_sums`).
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp

from refute.fuzz.sql.text import Node, look
from refute.oracles.sql.compare import SAME, STEPS, Compared, Normal, compare
from refute.oracles.sql.differences_errors import Watch
from refute.oracles.sql.nudged import decided_by_sums
from refute.oracles.sql.partial.across_sums import is_far
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.transpile.kinds import INT, LETTERS_DOUBT, NUM, REAL, WIDE_DOUBT
from refute.oracles.sql.transpile.targets import target_of
from refute.oracles.sql.transpile.translator import Translator

WIDE = "an integer of more than 64 bits"
DECIDES = "a sum of floats decides"
NOT_A_NUMBER = "infinity less infinity"
_NUMBERS = frozenset({INT, REAL, NUM})

Answer = Sequence[Any]


def in_kinds(answer: Answer, kinds: Sequence[str]) -> Answer:
    """An engine's answer to a query whose result columns are of these kinds, told with it.

    Decimals, which come as their digits, become numbers where numbers are wanted.
    """
    if answer[0] != "rows" or len(answer[1]) != len(kinds):
        return answer
    places = [(place, kind) for place, kind in enumerate(kinds) if kind in _NUMBERS]
    rows = answer[2]
    if any(type(row[place]) is str for row in rows for place, _ in places):
        rows = [list(row) for row in rows]
        for row in rows:
            for place, kind in places:
                if type(row[place]) is str:
                    row[place] = _number(row[place], kind)
    return [answer[0], answer[1], rows, list(kinds)]


def _number(digits: str, kind: str) -> int | float | str:
    with contextlib.suppress(ValueError):
        return int(digits) if kind == INT and "." not in digits else float(digits)
    return digits


def normal(kinds: Sequence[str]) -> Normal:
    """Rows in the form in which they are compared."""

    def one(value: Any, kind: str) -> Any:
        if type(value) is int and kind in (REAL, NUM):
            return float(value)
        if type(value) is float and kind == INT and value.is_integer():
            return int(value)
        return value

    return lambda row: tuple(map(one, row, kinds))


def same(query: Node, right: Answer, left: Answer) -> bool:
    """Whether both have the same rows, as far as that is seen at a glance."""
    if len(right[1]) != len(left[1]):
        return False
    rights, lefts = list(map(tuple, right[2])), list(map(tuple, left[2]))
    if rights == lefts:
        return True
    limited = query.args.get("limit") is not None or query.args.get("offset") is not None
    if limited or len(lefts) != len(rights):
        return False
    order = query.args.get("order")
    if order is not None:
        places = _places(query, order)
        if places is None or any(
            one[place] != other[place]
            for one, other in zip(lefts, rights, strict=True)
            for place in places
        ):
            return False
    return Counter(lefts) == Counter(rights)


def _places(query: Node, order: Node) -> list[int] | None:
    """The result columns that ORDER BY names; None when it names anything else, too."""
    while isinstance(query, exp.SetOperation):
        query = query.this
    names = [output.alias for output in query.expressions]
    places = []
    for term in order.expressions:
        this = term.this
        if isinstance(this, exp.Literal) and str(this.this).isdigit():
            places.append(int(str(this.this)) - 1)
        elif isinstance(this, exp.Column) and not this.table and this.name in names:
            places.append(names.index(this.name))
        else:
            return None
    return places if all(0 <= place < len(query.expressions) for place in places) else None


def compared(
    dialect: str, setup: Sequence[str], query: str, right: Answer, left: Answer
) -> Compared:
    """SQLite's answer and the engine's, which has been through `in_kinds`, to one query.

    dialect: the engine's. setup, query: in SQLite's.
    """
    tree = look(query)
    kinds = left[3] if len(left) > 3 else None
    if kinds is None or not isinstance(tree, exp.Query):
        return Compared("open", "a query that was not written for the engine")
    if right[0] == "rows" and same(tree, right, left):
        return SAME
    found = compare(setup, query, right, left, normal(kinds))
    if found.status != "different":
        return found
    if right[0] == "error" and _far(dialect, setup, tree, left):
        return found
    reason = next(_reasons(dialect, setup, tree, right, left), "")
    return Compared("open", reason) if reason else found


def _far(dialect: str, setup: Sequence[str], query: Node, left: Answer) -> bool:
    database = SQLite(STEPS)
    try:
        database.run(setup)
        return is_far(dialect, database, query, left[2])
    finally:
        database.close()


def _reasons(
    dialect: str, setup: Sequence[str], query: Node, right: Answer, left: Answer
) -> Iterator[str]:
    """Why other rows may be right, too."""
    if any(type(v) is float and math.isnan(v) for row in left[2] for v in row):
        yield NOT_A_NUMBER
    database = SQLite(STEPS)
    try:
        database.run(setup)
        if decided_by_sums(database, query, right[2]):
            yield DECIDES
        if Watch(database, query).overflowed:
            yield WIDE
        yield from _doubts(dialect, setup, database, query)
    finally:
        database.close()


def _doubts(dialect: str, setup: Sequence[str], database: SQLite, query: Node) -> Iterator[str]:
    """What the writer was not sure of, where the database has values of which that is true."""
    translator = Translator(target_of(dialect))
    for statement in setup:
        translator.translate(statement)
    doubts = translator.translate_tree(query).doubts
    translator.close()
    values = list(_values(database, query)) if doubts else []
    computed = query.find(exp.Mul, exp.Sum, exp.BitwiseLeftShift) is not None
    widest = 2**26 if computed else 2**53
    if WIDE_DOUBT in doubts and any(type(v) is int and abs(v) >= widest for v in values):
        yield WIDE_DOUBT
    if LETTERS_DOUBT in doubts and any(type(v) is str and not v.isascii() for v in values):
        yield LETTERS_DOUBT


def _values(database: SQLite, query: Node) -> Iterator[Any]:
    """All values of the tables, and the query's literals."""
    for literal in query.find_all(exp.Literal):
        text = str(literal.this)
        yield text if literal.is_string else int(text) if text.isdigit() else None
    [tables] = database.run(["SELECT name FROM sqlite_master WHERE type = 'table'"])
    names = [str(name).replace('"', '""') for (name,) in tables[2]]
    for answer in database.run([f'SELECT * FROM "{name}"' for name in names]):
        if answer[0] == "rows":
            yield from itertools.chain.from_iterable(answer[2])
