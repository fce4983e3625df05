"""Sums that leave 64 bits: SQLite ends with an error, and others refuse or widen them.

A number that is far from the sum is neither. The sum is known as a float, with the size of what it
adds up as a measure of how exact that is, so that only a difference of another order counts. An
engine that documents that its integers wrap around is not held to this.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from refute.fuzz.sql.text import Node, write
from refute.oracles.sql.partial.trees import bare, changed, make
from refute.oracles.sql.sqlite import SQLite

WRAPPING = frozenset({"datafusion"})  # its integers wrap around, in sums, too
EXACT = 1e-6  # of the sum of sizes
_OTHERWISE = ("group", "having", "distinct", "limit", "offset", "windows", "with_")


def is_far(dialect: str, database: SQLite, query: Node, rows: list[list[Any]]) -> bool:
    """Whether a column that is nothing but a SUM has a number far from it, in the only row."""
    if dialect in WRAPPING or not isinstance(query, exp.Select) or len(rows) != 1:
        return False
    if any(query.args.get(name) for name in _OTHERWISE):
        return False
    return any(
        type(rows[0][place]) in (int, float) and _is_far(database, query, inner, rows[0][place])
        for place, output in enumerate(query.expressions)
        if type(inner := bare(output.unalias())) is exp.Sum and place < len(rows[0])
    )


def _is_far(database: SQLite, query: Node, total: Node, value: float) -> bool:
    added = total.this
    if isinstance(added, exp.Distinct):
        return False
    size = make(exp.Abs, this=added)
    sums = [make(exp.Anonymous, this="TOTAL", expressions=[term]) for term in (added, size)]
    [answer] = database.run([write(changed(query, expressions=sums, order=None))])
    if answer[0] != "rows":
        return False
    exact, sizes = answer[2][0]
    return bool(abs(value - exact) > EXACT * sizes)
