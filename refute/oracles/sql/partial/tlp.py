"""TLP, ternary logic partitioning (Rigger and Su, "Finding Bugs in Database Systems via Query
Partitioning", OOPSLA 2020): for each row a condition p is true, false or NULL, and nothing else.

So a query's rows are the rows where p, those where NOT p, and those where p IS NULL, together. The
query is asked whole, and for each of the three; p is its own WHERE, the ON of an inner join, its
HAVING, or one that is made up from the columns in scope. Forms:

* rows: the three have as many of each row as the whole. Also of joins, outer ones included, since
  WHERE comes after them; an ON only where no RIGHT or FULL JOIN comes after it;
* DISTINCT, and GROUP BY without aggregates: the same set of rows;
* HAVING: the groups stay what they are, and each is in one of the three;
* aggregates, with GROUP BY or without: COUNT and SUM of the whole are the sums, MIN the least, MAX
  the greatest of the three, AVG the sum by the number. Groups are put together by their keys. Sums
  of floats may differ by what their rounding allows;
* LIMIT and OFFSET: the rows after a number are as many less; ORDER BY an expression: the same rows
  (`tlp_limit`).

Sees: a condition that holds and is taken as not holding or the other way round, in an index, a
join, a filter that was moved or an operator that forgets NULL, as long as the three do not make the
same mistake together. Duplicates and lost rows; aggregates of too many or too few rows.

Does not see: a wrong value in a result column or an expression, which all four have; wrong order;
which rows LIMIT leaves; a condition that is wrong in the same way for p and for NOT p (the two
exchanged, say); windows, whose rows would see others, so that such columns are left out; subqueries
that are no part of FROM, unless p is in them. A query that calls something like RANDOM() is not
asked.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.bags import Pair, Rows, open_inside, rows_of
from refute.oracles.sql.partial.columns import Scope, catalog_of
from refute.oracles.sql.partial.openness import deterministic
from refute.oracles.sql.partial.predicates import columns_of, predicate
from refute.oracles.sql.partial.question import Answer, Case, Judged, Question
from refute.oracles.sql.partial.sums import Sums, summed
from refute.oracles.sql.partial.tlp_limit import by_number, by_order
from refute.oracles.sql.partial.trees import (
    aggregates_in,
    bare,
    blocks,
    changed,
    conjunction,
    freely,
    grouped,
    literal,
    make,
    negated,
    on_of,
    own,
    plain_join,
    side,
    statement,
    unknown,
    where,
    windowed,
    with_on,
    with_where,
)
from refute.oracles.sql.partial.written import text_of

Parts = tuple[Node, Node, Node]
Judge = Callable[[Sequence[Answer]], Judged]

NAME = "tlp"
MADE = 0.3  # of the questions are first about a condition that the query does not have


class TLP:
    """The oracle `tlp`. most: questions about one case."""

    name = NAME

    def __init__(self, most: int = 1) -> None:
        self._most = most

    def questions(self, case: Case) -> Iterator[Question]:
        """Partitions of one SELECT in the query, mostly by its own conditions."""
        if not isinstance(case.query, exp.Query) or not deterministic(case.query):
            return
        rng = random.Random(f"{case.seed}/{NAME}")
        found = blocks(case.query)
        if found:
            block = found[0] if rng.random() < 0.6 else rng.choice(found)
            yield from itertools.islice(_partitions(case, block, rng), self._most)
        yield from by_number(case, NAME)
        yield from by_order(case, NAME)


def _partitions(case: Case, block: Node, rng: random.Random) -> Iterator[Question]:
    """All that can be asked, in an order of the seed, which reduction does not change."""
    if windowed(block):
        kept = [o for o in block.expressions if not any(isinstance(n, exp.Window) for n in own(o))]
        block = changed(block, expressions=kept or [literal(1)])
    order = rng.sample(_OWN, len(_OWN))
    order.insert(0 if rng.random() < MADE else len(order), _by_another)
    for ask in order:
        yield from ask(case, block, rng)


def _by_where(case: Case, block: Node, rng: random.Random) -> Iterator[Question]:
    condition = where(block)
    if condition is not None:
        yield from _by(case, with_where(block, None), condition)


def _by_another(case: Case, block: Node, rng: random.Random) -> Iterator[Question]:
    scope = Scope(catalog_of(case.setup), block)
    condition = predicate(rng, columns_of(block, scope))
    if condition is not None:
        yield from _by(case, block, condition)


def _by(case: Case, whole: Node, condition: Node) -> Iterator[Question]:
    """The rows that a condition splits.

    Without HAVING: groups that it lets through in the whole it may not let through in parts.
    """
    whole = changed(whole, having=None)
    if not grouped(whole):
        parts = _three(whole, condition)
        yield _rows(case, whole, parts, as_sets=bool(whole.args.get("distinct")))
    elif not any(aggregates_in(o) for o in whole.expressions) and _is_keyed(whole):
        yield _rows(case, whole, _three(whole, condition), as_sets=True)
    else:
        sums = summed(whole, Scope(catalog_of(case.setup), whole))
        if sums is not None:
            yield _sums(case, sums, _three(sums.query, condition))


def _three(whole: Node, condition: Node) -> Parts:
    before = where(whole)
    true, false, null = (
        with_where(whole, conjunction(before, part) if before is not None else part)
        for part in (condition, negated(condition), unknown(condition))
    )
    return true, false, null


def _is_keyed(block: Node) -> bool:
    """Whether GROUP BY without aggregates shows nothing but its keys, so that it is a DISTINCT."""
    group = block.args.get("group")
    keys = {text_of(bare(k)) for k in group.expressions} if group is not None else set()
    shown = (bare(o.unalias()) for o in block.expressions)
    return all(text_of(o) in keys or not any(own_columns(o)) for o in shown)


def own_columns(node: Node) -> Iterator[Node]:
    """The columns that an expression names itself."""
    return (n for n in own(node) if isinstance(n, exp.Column))


def _rows(case: Case, whole: Node, parts: Parts, *, as_sets: bool) -> Question:
    def judge(answers: Sequence[Answer]) -> Judged:
        rows = rows_of(answers)
        if isinstance(rows, Judged):
            return rows
        together = [row for part in rows[1:] for row in part]
        what = "its partitions"
        return Pair(case, whole, rows[0], together, what, as_sets, part=parts[0]).judged()

    return _question(case, whole, parts, judge)


def _by_having(case: Case, block: Node, rng: random.Random) -> Iterator[Question]:
    """The groups that HAVING splits."""
    clause = block.args.get("having")
    if clause is None:
        return
    condition = clause.this
    whole = changed(block, having=None)
    if whole.args.get("group") is None and not any(aggregates_in(o) for o in block.expressions):
        # Without HAVING it would not be one group any more.
        whole = changed(block, having=make(exp.Having, this=literal(1)))
    true, false, null = (
        changed(block, having=make(exp.Having, this=part))
        for part in (condition, negated(condition), unknown(condition))
    )
    yield _rows(case, whole, (true, false, null), as_sets=bool(block.args.get("distinct")))


def _by_on(case: Case, block: Node, rng: random.Random) -> Iterator[Question]:
    """The rows that the ON of an inner join splits; outer joins after it are LEFT ones only."""
    joins = block.args.get("joins") or []
    if grouped(block):
        return
    for place, join in enumerate(joins):
        condition = on_of(join)
        later = joins[place:]
        if (
            condition is None
            or side(join)
            or not all(plain_join(j) and side(j) in ("", "LEFT") for j in later)
        ):
            continue
        versions = []
        for part in (None, condition, negated(condition), unknown(condition)):
            other = with_on(join, part)
            versions.append(changed(block, joins=[*joins[:place], other, *joins[place + 1 :]]))
        whole, true, false, null = versions
        yield _rows(case, whole, (true, false, null), as_sets=bool(block.args.get("distinct")))
        return


def _sums(case: Case, sums: Sums, parts: Parts) -> Question:
    def judge(answers: Sequence[Answer]) -> Judged:
        rows = rows_of(answers)
        if isinstance(rows, Judged):
            return rows
        together: list[Rows] = rows[1:]
        judged = sums.judged(case, rows[0], together)
        if judged.status == "broken" and (reason := open_inside(case, parts[0])):
            return Judged("open", reason)
        return judged

    return _question(case, sums.query, parts, judge)


def _question(case: Case, whole: Node, parts: Parts, judge: Judge) -> Question:
    true, *others = parts
    first, *last = (freely(tree, case.dialect) for tree in (whole, *others))
    return Question(NAME, (first, statement(true, case.dialect), *last), judge)


_OWN: tuple[Callable[[Case, Node, random.Random], Iterator[Question]], ...] = (
    _by_having,
    _by_where,
    _by_on,
)
