"""The ends of a query: ORDER BY changes no row, and OFFSET passes over as many rows as it says.

A query that is ordered by an expression is asked with and without, and has the same rows. Which
rows these are SQL leaves open where ORDER BY does not fix it; how many there are it does not.
So a query with LIMIT or OFFSET is asked whole and from that number on, and the second answer must
have as many rows less.

Sees: a row or value that sorting loses or changes; rows that OFFSET passes over in the wrong loop
of a join, or more than once; a limit that is pushed below something that removes or adds rows. Does
not see: which rows are left out, and in which order the others come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.bags import Pair, depends_on_order, rows_of
from refute.oracles.sql.partial.question import HELD, Answer, Case, Judged, Question
from refute.oracles.sql.partial.trees import changed, literal, make, statement
from refute.oracles.sql.partial.written import text_of
from refute.oracles.sql.said import said

MOST = 10**6  # rows that a LIMIT lets through, which is more than any answer has
OPEN = "the number of rows depends on their order"


def by_number(case: Case, oracle: str) -> Iterator[Question]:
    """One question about a query that has LIMIT or OFFSET with a number."""
    number = _number(case.query.args.get("offset")) or _number(case.query.args.get("limit"))
    if not number or number >= MOST:
        return
    whole = changed(case.query, limit=None, offset=None)
    rest = changed(
        whole,
        limit=make(exp.Limit, expression=literal(MOST)),
        offset=make(exp.Offset, expression=literal(number)),
    )

    def judge(answers: Sequence[Answer]) -> Judged:
        rows = rows_of(answers)
        if isinstance(rows, Judged):
            return rows
        every, after = rows
        if len(every) >= MOST or len(after) == max(0, len(every) - number):
            return HELD
        if depends_on_order(case.setup, text_of(whole)):
            return Judged("open", OPEN)
        why = f"OFFSET {number}: {len(after)} of {len(every)} rows"
        expected = f"{max(0, len(every) - number)} rows"
        return Judged("broken", why, expected, said(answers[1]))

    statements = tuple(statement(tree, case.dialect) for tree in (whole, rest))
    yield Question(oracle, statements, judge)


def by_order(case: Case, oracle: str) -> Iterator[Question]:
    """One question about a query that is ordered by more than result columns."""
    order = case.query.args.get("order")
    if order is None or all(
        isinstance(t.this, exp.Column | exp.Literal) for t in order.expressions
    ):
        return
    ordered = changed(case.query, limit=None, offset=None)
    whole = changed(ordered, order=None)

    def judge(answers: Sequence[Answer]) -> Judged:
        rows = rows_of(answers)
        if isinstance(rows, Judged):
            return rows
        return Pair(case, whole, rows[0], rows[1], "its rows in order").judged()

    yield Question(oracle, tuple(statement(t, case.dialect) for t in (whole, ordered)), judge)


def _number(clause: Node | None) -> int:
    """The number of LIMIT or OFFSET; 0 where it is none."""
    value = clause.args.get("expression") if clause is not None else None
    if not isinstance(value, exp.Literal) or value.is_string:
        return 0
    text = str(value.this)
    return int(text) if text.isdigit() else 0
