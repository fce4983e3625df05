"""Variants: the same question, asked so that SQLite works in another order.

What SQL leaves open, SQLite decides by the order in which it meets the rows. So the rows are put
in reversed or shuffled, scans run backwards, indexes of constraints are taken away or added, and
operands that may be exchanged are. An answer that changes under any of these was open from the
start: which of several equal values DISTINCT keeps, the order inside GROUP_CONCAT, the last bits of
a sum of floats, a column that GROUP BY does not fix. An answer that never changes is SQLite's.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.text import Node, read, write

BACKWARDS = "PRAGMA reverse_unordered_selects = ON"
_KEYS = (exp.UniqueColumnConstraint, exp.PrimaryKeyColumnConstraint)

Rows = list[Node]


def variants(setup: Sequence[str], query: Node) -> Iterator[tuple[list[str], str]]:
    """Statements and query of each variant.

    setup: without the statements that SQLite refuses, since which row breaks a constraint depends
    on the order of rows.
    """
    text, exchanged = write(query), write(_exchanged(query))
    yield [*setup, BACKWARDS], text
    yield list(setup), exchanged
    trees = [read(statement) for statement in setup]
    if not all(isinstance(t, exp.Create | exp.Insert) for t in trees):
        return
    known = [tree for tree in trees if tree is not None]
    yield _changed(known, lambda rows: rows[::-1], keys=True), text
    yield [*_changed(known, lambda rows: rows, keys=False), BACKWARDS], exchanged
    for seed in range(3):
        shuffled = functools.partial(_shuffled, seed)
        yield _changed(known, shuffled, keys=False), text
    indexed = _changed(known, lambda rows: rows[::-1], keys=False)
    yield [*indexed, *_indexes(known)], text
    yield [*indexed, *_indexes(known), BACKWARDS], exchanged


def with_duplicates(query: Node) -> Node | None:
    """All rows from which a query keeps one of each; None when it does not do that."""
    if not isinstance(query, exp.SetOperation) and not query.args.get("distinct"):
        return None
    whole = query.copy()
    stack = [whole]
    while stack:
        part = stack.pop()
        for name in ("order", "limit", "offset"):
            part.set(name, None)
        if isinstance(part, exp.SetOperation):
            stack += [part.this, part.expression]
        else:
            part.set("distinct", None)
    return _all_of(whole)


def _all_of(part: Node) -> Node:
    """The parts of a compound query under UNION ALL."""
    if not isinstance(part, exp.SetOperation):
        return part
    left, right = _all_of(part.this), _all_of(part.expression)
    return exp.Union(this=left, expression=right, distinct=False)


def _shuffled(seed: int, rows: Rows) -> Rows:
    return random.Random(seed).sample(rows, len(rows))


def _changed(trees: Sequence[Node], order: Callable[[Rows], Rows], *, keys: bool) -> list[str]:
    """The setup with its rows in another order, the tables first, without keys unless `keys`."""
    tables = [t if keys else _without_keys(t) for t in trees if isinstance(t, exp.Create)]
    inserts = [_reordered(t, order) for t in trees if isinstance(t, exp.Insert)]
    return [write(t) for t in (*tables, *inserts)]


def _reordered(insert: Node, order: Callable[[Rows], Rows]) -> Node:
    values = insert.expression
    if not isinstance(values, exp.Values):
        return insert
    insert = insert.copy()
    insert.expression.set("expressions", order(insert.expression.expressions))
    return insert


def _without_keys(create: Node) -> Node:
    """The table without UNIQUE and PRIMARY KEY.

    An INTEGER PRIMARY KEY stays: without it, NULL and the default would mean something else.
    """
    create = create.copy()
    for of in list(create.find_all(exp.ColumnDef)):
        kind = of.args.get("kind")
        numbers = kind is not None and kind.this == exp.DType.INT
        for constraint in list(of.constraints):
            primary = isinstance(constraint.kind, exp.PrimaryKeyColumnConstraint)
            if isinstance(constraint.kind, _KEYS) and not (primary and numbers):
                constraint.pop()
    return create


def _indexes(trees: Sequence[Node]) -> Iterator[str]:
    """An index on every column."""
    for create in trees:
        table = create.find(exp.Table)
        if not isinstance(create, exp.Create) or table is None:
            continue
        for of in create.find_all(exp.ColumnDef):
            name, column = table.name, of.name
            yield f'CREATE INDEX "i {name} {column}" ON "{name}" ("{column}")'


def _exchanged(query: Node) -> Node:
    """UNION and INTERSECT with their operands exchanged, and inner joins of two tables."""
    query = query.copy()
    for node in list(query.walk()):
        if isinstance(node, exp.Union | exp.Intersect) and not _named_order(node):
            left, right = node.this, node.expression
            if isinstance(left, exp.Select) and isinstance(right, exp.Select):
                node.set("this", right)
                node.set("expression", left)
        elif isinstance(node, exp.Select):
            _exchange_tables(node)
    return query


def _named_order(node: Node) -> bool:
    """Whether ORDER BY uses names, which are those of the first operand."""
    order = node.args.get("order")
    return order is not None and order.find(exp.Column) is not None


def _exchange_tables(select: Node) -> None:
    first, joins = select.args.get("from_"), select.args.get("joins") or []
    if first is None or len(joins) != 1 or joins[0].side or select.find(exp.Star):
        return
    left, right = first.this, joins[0].this
    first.set("this", right)
    joins[0].set("this", left)
