"""Other forms of a query that mean the same and are planned otherwise, as SQLite plans.

Columns keep their affinity and collation in all of them: no operand of a comparison is touched. The
forms stand in SQLite's documentation ("The SQLite Query Optimizer Overview"): NOT INDEXED keeps it
from every index, CROSS JOIN from reordering, LIMIT from flattening a subquery; LIKELIHOOD changes
what it expects.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Set

from sqlglot import exp

from refute.fuzz.sql.nodes import everything
from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.trees import (
    bare,
    changed,
    conjunction,
    derived,
    items,
    literal,
    make,
    only_inner,
    parens,
    plain_join,
    side,
    swapped,
    where,
    with_where,
)

ROWIDS = frozenset({"rowid", "oid", "_rowid_"})
LIKELIHOODS = ("0.0", "0.0001", "0.5", "1.0")

Form = Callable[[random.Random, Node, Set[str]], Node | None]


def not_indexed(rng: random.Random, query: Node, tables: Set[str]) -> Node | None:
    """Every table without its indexes."""
    found = [t for t in _tables(query, tables) if t.args.get("indexed") is None]
    return _changed(query, {id(t): changed(t, indexed=False) for t in found})


def in_order(rng: random.Random, query: Node, tables: Set[str]) -> Node | None:
    """Inner joins of which SQLite keeps the order, at times with the last table first."""
    by = {}
    for select in _selects(query):
        joins = select.args.get("joins") or []
        inner = joins and only_inner(select) and not any(j.args.get("on") is None for j in joins)
        if inner and rng.random() < 0.6 and not any(o.is_star for o in select.expressions):
            by[id(select)] = _turned(select)
        elif any(plain_join(join) and not side(join) for join in joins):
            crossed = [
                changed(join, kind="CROSS", comma=None)
                if plain_join(join) and not side(join)
                else join
                for join in joins
            ]
            by[id(select)] = changed(select, joins=crossed)
    return _changed(query, by)


def mirrored(rng: random.Random, query: Node, tables: Set[str]) -> Node | None:
    """LEFT JOIN as RIGHT JOIN of the two tables the other way round, and back."""
    by = {}
    for select in _selects(query):
        joins = select.args.get("joins") or []
        if (
            len(joins) != 1
            or not plain_join(joins[0])
            or any(o.is_star for o in select.expressions)
        ):
            continue
        other = {"LEFT": "RIGHT", "RIGHT": "LEFT"}.get(side(joins[0]))
        if other is not None and joins[0].args.get("on") is not None:
            first = select.args["from_"]
            join = changed(joins[0], this=first.this, side=other)
            source = changed(first, this=joins[0].this)
            by[id(select)] = changed(select, from_=source, joins=[join])
    return _changed(query, by)


def expected(rng: random.Random, query: Node, tables: Set[str]) -> Node | None:
    """Conditions that SQLite is told to expect rarely, or often."""
    by = {}
    for select in _selects(query):
        condition = where(select)
        if condition is None:
            continue
        told = [_likely(rng, part) for part in _conjuncts(condition)]
        by[id(select)] = with_where(select, conjunction(*told))
    return _changed(query, by)


def copied(rng: random.Random, query: Node, tables: Set[str]) -> Node | None:
    """Tables as subqueries that are not flattened, and so have no index; nor have they a rowid."""
    by: dict[int, Node] = {}
    if any(isinstance(n, exp.Column) and n.name.lower() in ROWIDS for n in everything(query)):
        return None
    for select in _selects(query):
        for item in items(select):
            if item in _tables(item, tables) and not _named(item) and rng.random() < 0.7:
                bare_table = make(exp.Table, this=item.this)
                source = make(exp.From, this=bare_table)
                all_rows = make(exp.Limit, expression=make(exp.Neg, this=literal(1)))
                inner = make(exp.Select, expressions=[exp.Star()], from_=source, limit=all_rows)
                by[id(item)] = derived(inner, item.alias_or_name)
    return _changed(query, by)


def materialized(rng: random.Random, query: Node, tables: Set[str]) -> Node | None:
    """Tables of WITH computed first, or where they are used."""
    by = {}
    for node in everything(query):
        if isinstance(node, exp.CTE):
            before = node.args.get("materialized")
            by[id(node)] = changed(node, materialized=not before)
    return _changed(query, by)


FORMS: tuple[Form, ...] = (*(not_indexed, in_order, mirrored, expected, copied, materialized),)


def _changed(query: Node, by: dict[int, Node]) -> Node | None:
    """The tree with the innermost changes first, so that none is lost inside of another."""
    return swapped(query, by) if by else None


def _tables(query: Node, tables: Set[str]) -> list[Node]:
    """The tables of the database in it, under no name of WITH."""
    nodes = list(everything(query))
    ctes = {node.alias.lower() for node in nodes if isinstance(node, exp.CTE)}
    found = [node for node in nodes if type(node) is exp.Table and not node.args.get("db")]
    return [t for t in found if t.name.lower() in tables and t.name.lower() not in ctes]


def _named(table: Node) -> bool:
    """Whether more is said of a table than its name and another one."""
    alias = table.args.get("alias")
    more = any(v for k, v in table.args.items() if k not in ("this", "alias"))
    return more or (alias is not None and bool(alias.args.get("columns")))


def _selects(query: Node) -> list[Node]:
    """The SELECTs, none of which is inside of another: one that is changed keeps what is inside."""
    found: list[Node] = []
    stack = [query]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Select) and node.args.get("from_") is not None:
            found.append(node)
        elif isinstance(node, exp.SetOperation):
            stack += [node.expression, node.this]
        elif isinstance(node, exp.Subquery):
            stack.append(node.this)
    return found


def _turned(select: Node) -> Node:
    """The last item of FROM first, all conditions of the joins in WHERE."""
    joins = select.args["joins"]
    order = list(items(select))[::-1]
    rest = [make(exp.Join, this=item, kind="CROSS") for item in order[1:]]
    condition = conjunction(*(join.args["on"] for join in joins), where(select))
    source = changed(select.args["from_"], this=order[0])
    return with_where(changed(select, from_=source, joins=rest), condition)


def _conjuncts(condition: Node) -> list[Node]:
    condition = bare(condition)
    if isinstance(condition, exp.And):
        return [*_conjuncts(condition.this), *_conjuncts(condition.expression)]
    return [condition]


def _likely(rng: random.Random, condition: Node) -> Node:
    chance = exp.Literal(this=rng.choice(LIKELIHOODS), is_string=False)
    return make(exp.Anonymous, this="LIKELIHOOD", expressions=[parens(condition), chance])
