"""SELECT: sources and joins, WHERE, groups, and the subqueries that stand inside expressions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.aggregates import Key, aggregate, group_leaf
from refute.fuzz.sql.grammar import (
    FEW,
    Production,
    Source,
    Writer,
    column,
    columns_in,
    number,
    row_leaf,
    source_of,
)
from refute.fuzz.sql.schema import Column
from refute.fuzz.sql.text import Node

JOINS = {"inner-join": 3.0, "left-join": 3.0, "cross-join": 1.2}
DEPTH = 2  # of expressions in the outermost query
MOST_NESTED = 2  # queries inside of each other, the outermost included
TYPES = {"truth": "INTEGER", "number": "INTEGER", "text": "TEXT", "any": ""}


def select(writer: Writer, families: Sequence[str], *, grouped: bool | None = None) -> Node:
    """A SELECT with one result column for each family, named c0, c1 and so on.

    grouped: whether it aggregates; by chance where None.
    """
    with _inside(writer):
        tree = _select(writer, families, grouped)
        writer.done = writer.sources
        return tree


@contextlib.contextmanager
def _inside(writer: Writer) -> Iterator[None]:
    """A query's own scope: what was in scope becomes `outer`; a grouped query shows nothing."""
    before = writer.sources, writer.outer, writer.leaf
    outer = writer.sources if writer.leaf is row_leaf else ()
    writer.sources, writer.outer, writer.leaf = (), (*writer.outer, *outer), row_leaf
    writer.level += 1
    try:
        yield
    finally:
        writer.level -= 1
        writer.sources, writer.outer, writer.leaf = before


def _select(writer: Writer, families: Sequence[str], grouped: bool | None) -> Node:
    tree = _rows(writer)
    if grouped is None:
        grouped = writer.turns_to("aggregate", 0.3)
    keys = _group(writer, tree) if grouped else []
    if grouped:
        writer.leaf = group_leaf(keys)
        _having(writer, tree, bool(keys))
    values = [writer.value(family, depth_of(writer)) for family in families]
    if grouped and not keys and not any(map(aggregates, values)):
        values[0] = aggregate(writer, families[0])  # or it would be no grouped query at all
    tree.set("expressions", [named(value, i) for i, value in enumerate(values)])
    if writer.turns_to("distinct", 0.12):
        tree.set("distinct", exp.Distinct())
    return tree


def aggregates(tree: Node) -> bool:
    """Whether a value aggregates the rows of its own query."""
    for node in tree.walk(prune=lambda node: isinstance(node, exp.Query)):
        if isinstance(node, exp.AggFunc) or (
            isinstance(node, exp.Anonymous) and node.name == "TOTAL"
        ):
            return True
    return False


def _rows(writer: Writer) -> Node:
    """FROM and WHERE."""
    first, joins = _from(writer)
    tree = exp.Select(from_=exp.From(this=first), joins=joins)
    where = _where(writer)
    if where is not None:
        tree.set("where", exp.Where(this=where))
    return tree


def named(value: Node, place: int) -> Node:
    """The value as a result column."""
    return exp.Alias(this=value, alias=exp.Identifier(this=f"c{place}", quoted=False))


def depth_of(writer: Writer) -> int:
    """How deep expressions may go: less in subqueries."""
    return writer.rng.randint(0, max(0, DEPTH + 1 - writer.level))


def _where(writer: Writer) -> Node | None:
    condition = writer.condition(depth_of(writer)) if writer.chance(0.5) else None
    if writer.outer and writer.turns_to("correlated", 0.5):
        link = _link(writer, writer.outer, writer.sources)
        both = exp.And(this=exp.Paren(this=condition), expression=link)
        return link if condition is None else both
    return condition


def _link(writer: Writer, some: Sequence[Source], others: Sequence[Source]) -> Node:
    """A comparison of a column of each, of one family where there is one."""
    rng = writer.rng
    source, of = rng.choice(columns_in(others, "any"))
    found = columns_in(some, of.family) or columns_in(some, "any")
    kind = exp.EQ if rng.random() < 0.85 else rng.choice((exp.LT, exp.NEQ, exp.GTE))
    return kind(this=column(*rng.choice(found)), expression=column(source, of))


def _from(writer: Writer) -> tuple[Node, list[Node]]:
    """The first item of FROM, and the joins of others to it; all are in scope afterwards."""
    first, source = _item(writer)
    writer.sources = (source,)
    joins: list[Node] = []
    kinds = [kind for kind in JOINS if writer.has(kind)]
    share = 0.12 if writer.level > 1 else 0.35 if len(writer.grammar.features) > FEW else 0.7
    while kinds and len(writer.sources) < 3 and writer.chance(share):
        item, source = _item(writer)
        [kind] = writer.rng.choices(kinds, [JOINS[k] for k in kinds])
        joins.append(_join(writer, kind, item, source))
    return first, joins


def _join(writer: Writer, kind: str, item: Node, source: Source) -> Node:
    earlier, writer.sources = writer.sources, (*writer.sources, source)
    if kind == "cross-join":
        return exp.Join(this=item, kind="CROSS" if writer.chance(0.5) else None)
    on = _link(writer, earlier, [source]) if writer.chance(0.8) else writer.condition(1)
    if writer.chance(0.15):
        on = exp.And(this=exp.Paren(this=on), expression=exp.Paren(this=writer.condition(0)))
    if kind == "left-join":
        return exp.Join(this=item, side="LEFT", on=on)
    return exp.Join(this=item, kind="INNER", on=on)


def _item(writer: Writer) -> tuple[Node, Source]:
    """A table, or a subquery, under a name of its own."""
    if writer.level == 1 and writer.turns_to("derived-table", 0.08):
        return _derived(writer)
    table = writer.rng.choice(writer.schema.tables)
    name = exp.Identifier(this=table.name, quoted=False)
    taken = {s.alias for s in (*writer.sources, *writer.outer)}
    if table.name not in taken:
        return exp.Table(this=name), source_of(table, table.name)
    alias = writer.alias()
    return exp.Table(this=name, alias=_alias(alias)), source_of(table, alias)


def _alias(name: str) -> Node:
    return exp.TableAlias(this=exp.Identifier(this=name, quoted=False))


def _derived(writer: Writer) -> tuple[Node, Source]:
    families = [writer.family() for _ in range(writer.rng.randint(1, 2))]
    sources, writer.sources = writer.sources, ()  # it sees nothing of what stands beside it
    inner = select(writer, families)
    writer.sources = sources
    alias = writer.alias()
    columns = tuple(Column(f"c{i}", TYPES[family]) for i, family in enumerate(families))
    source = Source(alias, columns, tuple(() for _ in columns))
    return exp.Subquery(this=inner, alias=_alias(alias)), source


def _group(writer: Writer, tree: Node) -> list[Key]:
    """GROUP BY some columns, or no clause at all; the keys."""
    if not writer.has("group-by") or writer.chance(0.35):
        return []
    found = columns_in(writer.sources, "any")
    keys = writer.rng.sample(found, min(len(found), writer.rng.choice((1, 1, 2))))
    tree.set("group", exp.Group(expressions=[column(*key) for key in keys]))
    return keys


def _having(writer: Writer, tree: Node, keyed: bool) -> None:
    if writer.turns_to("having" if keyed else "having-alone", 0.3):
        tree.set("having", exp.Having(this=writer.condition(1)))


def _subquery(writer: Writer, family: str, grouped: bool | None = None) -> Node:
    return exp.Subquery(this=select(writer, [family], grouped=grouped))


def _scalar(writer: Writer, family: str, depth: int) -> Node:
    """A subquery whose value does not depend on the order of rows: an aggregate, or the first row
    in the order of that value.
    """
    if _too_deep(writer) or not (writer.has("aggregate") or writer.has("order-by")):
        return writer.leaf(writer, family)
    with _inside(writer):
        tree = _rows(writer)
        if writer.has("aggregate") and not writer.turns_to("order-by", 0.3):
            tree.set("expressions", [aggregate(writer, family)])
        else:
            _first(writer, family, tree)
    return exp.Subquery(this=tree)


def _first(writer: Writer, family: str, tree: Node) -> None:
    """The first row in the order of its only column."""
    tree.set("expressions", [named(writer.value(family, 1), 0)])
    down = writer.chance(0.5)
    term = exp.Ordered(this=number(1), desc=down or None, nulls_first=not down)
    tree.set("order", exp.Order(expressions=[term]))
    if writer.turns_to("limit", 0.5):
        tree.set("limit", exp.Limit(expression=number(1)))


def _exists(writer: Writer, family: str, depth: int) -> Node:
    if _too_deep(writer):
        return writer.condition(0)
    tree = exp.Exists(this=select(writer, ["number"], grouped=False))
    return exp.Not(this=tree) if writer.chance(0.4) else tree


def _in_subquery(writer: Writer, family: str, depth: int) -> Node:
    if _too_deep(writer):
        return writer.condition(0)
    family = writer.family()
    left = writer.operand(family, depth - 1)
    tree = exp.In(this=left, query=_subquery(writer, family))
    return exp.Not(this=tree) if writer.chance(0.45) else tree


def _too_deep(writer: Writer) -> bool:
    return writer.level >= MOST_NESTED


PRODUCTIONS = (
    Production("scalar-subquery", 0.6, ("number", "text", "any"), _scalar),
    Production("exists", 1.2, ("condition",), _exists),
    Production("in-subquery", 1.4, ("condition",), _in_subquery),
)
