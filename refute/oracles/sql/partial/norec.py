"""NoREC, the non-optimising reference engine (Rigger and Su, "Detecting Optimization Bugs in
Database Engines via Non-Optimizing Reference Engine Construction", ESEC/FSE 2020).

A condition in WHERE is what an engine optimises: it chooses indexes by it, moves it, stops early.
As a result column it has to be computed for each row. So a query is asked with its condition where
it is, and without it, `(p) IS TRUE` (or a CASE) standing behind its columns, and the rows where
that is 1 must be the answer: as many, and with the same values. COUNT(*) of them is asked as well,
since engines count in ways of their own. Conditions are WHERE with the ON of inner joins, which
goes to the column with it (unless a RIGHT or FULL JOIN comes after); HAVING; or one made up from
the columns in scope.

Sees: rows that an index, a partial index, a join order, a moved or simplified condition loses or
adds; values that are read wrongly from an index; wrong COUNT(*).

Does not see: an operator that is wrong in the same way everywhere; wrong order; LIMIT, ORDER BY and
DISTINCT, which are left out; wrong aggregates, unless HAVING decides by them; anything where there
is no condition and none can be made up. Windows are left out of the columns. A query that calls
something like RANDOM() is not asked.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.bags import Pair, broken, rows_of
from refute.oracles.sql.partial.columns import Scope, catalog_of
from refute.oracles.sql.partial.openness import deterministic
from refute.oracles.sql.partial.predicates import columns_of, predicate
from refute.oracles.sql.partial.question import Answer, Case, Judged, Question
from refute.oracles.sql.partial.trees import (
    blocks,
    changed,
    conjunction,
    freely,
    grouped,
    literal,
    make,
    on_of,
    own,
    parens,
    plain_join,
    side,
    statement,
    where,
    windowed,
    with_on,
    with_where,
)

NAME = "norec"
CASES = 0.3  # of the questions have CASE WHEN p THEN 1 ELSE 0 END instead of (p) IS TRUE


class NoREC:
    """The oracle `norec`."""

    name = NAME

    def questions(self, case: Case) -> Iterator[Question]:
        """One SELECT in the query, with its condition as a filter and as a column."""
        if not isinstance(case.query, exp.Query) or not deterministic(case.query):
            return
        rng = random.Random(f"{case.seed}/{NAME}")
        found = [b for b in blocks(case.query) if b.args.get("from_") is not None]
        if not found:
            return
        block = found[0] if rng.random() < 0.6 else rng.choice(found)
        by_case = rng.random() < CASES
        if block.args.get("having") is not None and not windowed(block):
            yield _having(case, changed(block, distinct=None), by_case)
        question = _where(case, changed(block, distinct=None), rng, by_case)
        if question is not None:
            yield question


def _flag(condition: Node, by_case: bool) -> Node:
    """1 where the condition holds."""
    if by_case:
        arm = make(exp.If, this=condition, true=literal(1))
        return make(exp.Case, ifs=[arm], default=literal(0))
    return make(exp.Is, this=parens(condition), expression=exp.Boolean(this=True))


def _flagged(query: Node, condition: Node, by_case: bool) -> Node:
    flag = make(exp.Alias, this=_flag(condition, by_case), alias=exp.Identifier(this="holds"))
    return changed(query, expressions=[*query.expressions, flag])


def _holding(rows: Sequence[Sequence[object]]) -> list[Sequence[object]]:
    """The rows whose last value is 1, without it."""
    return [row[:-1] for row in rows if row[-1] == 1]


def _having(case: Case, block: Node, by_case: bool) -> Question:
    condition = block.args["having"].this
    free = changed(block, having=None)
    if not grouped(free):
        free = changed(block, having=make(exp.Having, this=literal(1)))
    asked = (block, _flagged(free, condition, by_case))

    def judge(answers: Sequence[Answer]) -> Judged:
        rows = rows_of(answers)
        if isinstance(rows, Judged):
            return rows
        told = "HAVING beside its condition as a column"
        return Pair(case, asked[1], _holding(rows[1]), rows[0], told, cut=1).judged()

    return Question(NAME, _written(asked, case.dialect), judge)


def _where(case: Case, block: Node, rng: random.Random, by_case: bool) -> Question | None:
    if grouped(block):
        block = changed(block, group=None, having=None, expressions=[literal(1)])
    elif windowed(block):
        kept = [o for o in block.expressions if not any(isinstance(n, exp.Window) for n in own(o))]
        block = changed(block, expressions=kept or [literal(1)])
    free, moved = _without_on(block)
    condition = where(block)
    if condition is None and (moved is None or rng.random() < 0.5):
        scope = Scope(catalog_of(case.setup), block)
        condition = predicate(rng, columns_of(block, scope))
    everything = condition if moved is None else conjunction(moved, condition)
    if everything is None:
        return None
    filtered = with_where(block, condition)
    counted = changed(filtered, expressions=[make(exp.Count, this=exp.Star(), big_int=True)])
    column = _flagged(with_where(free, None), everything, by_case)
    asked = (filtered, counted, column)

    def judge(answers: Sequence[Answer]) -> Judged:
        rows = rows_of(answers)
        if isinstance(rows, Judged):
            return rows
        right = _holding(rows[2])
        told = "WHERE beside its condition as a column"
        judged = Pair(case, filtered, right, rows[0], told).judged()
        counts = [row[0] for row in rows[1]]
        if judged.status == "held" and counts != [len(right)] and counts != [str(len(right))]:
            return broken("COUNT(*)", [[len(right)]], rows[1])
        return judged

    return Question(NAME, _written(asked, case.dialect), judge)


def _written(asked: Sequence[Node], dialect: str) -> tuple[Node | str, ...]:
    """The statements; the last, which filters nothing, has no use for a certain index."""
    *filtered, column = asked
    return *(statement(tree, dialect) for tree in filtered), freely(column, dialect)


def _without_on(block: Node) -> tuple[Node, Node | None]:
    """The SELECT with inner joins without ON, and their conditions.

    Only those that no RIGHT or FULL JOIN follows, whose own rows they would not take away.
    """
    joins = list(block.args.get("joins") or [])
    conditions: list[Node] = []
    for place in reversed(range(len(joins))):
        join = joins[place]
        if not plain_join(join) or side(join) not in ("", "LEFT"):
            break
        on = on_of(join)
        if on is not None and not side(join):
            joins[place] = with_on(join, None)
            conditions.insert(0, on)
    return (changed(block, joins=joins) if conditions else block), conjunction(*conditions)
