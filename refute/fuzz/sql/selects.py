"""SELECT: WHERE, groups, and the subqueries that stand inside expressions and in FROM."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from refute.fuzz.sql import nodes
from refute.fuzz.sql.aggregates import (
    GroupKey,
    aggregate,
    bare_values,
    expression,
    group_keys,
    group_leaf,
)
from refute.fuzz.sql.conditions import of_missing
from refute.fuzz.sql.grammar import Key, Production, Source, Writer, number, row_leaf
from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.rows import first_in_order, row_of_columns
from refute.fuzz.sql.schema import Column
from refute.fuzz.sql.sources import TYPES, alias, from_clause, link
from refute.fuzz.sql.text import Node
from refute.fuzz.sql.windows import window

DEPTH = 2  # of expressions in the outermost query
NOTHING = 0.25  # of the queries with one MIN or MAX and columns of its row
MOST_NESTED = 3  # queries inside of each other, the outermost included
DEEPER = 0.2  # of the places for a subquery in a subquery
COMPOUNDS: dict[str, tuple[type[exp.SetOperation], bool]] = {
    "union": (exp.Union, True),
    "union-all": (exp.Union, False),
    "intersect": (exp.Intersect, True),
    "except": (exp.Except, True),
}


def select(
    writer: Writer, families: Sequence[str], *, grouped: bool | None = None, star: bool = False
) -> Node:
    """A SELECT with one result column for each family, named c0, c1 and so on.

    grouped: whether it aggregates; by chance where None. star: whether it may show all columns.
    """
    with _Inside(writer):
        tree = _select(writer, families, grouped, star)
        writer.done = writer.sources
        return tree


def compound(writer: Writer, families: Sequence[str], kinds: Sequence[str]) -> Node:
    """Several SELECTs combined, from the left."""
    tree = select(writer, families)
    more = 1
    if writer.turns_to("compound-several", 0.2):
        more += 1 + writer.chance(0.3)
    for _ in range(more):
        kind, distinct = COMPOUNDS[writer.choice(kinds)]
        if kind is exp.Intersect and isinstance(tree, exp.Union | exp.Except):
            tree = make(exp.Subquery, this=tree)  # INTERSECT binds tighter in other dialects
        tree = make(kind, this=tree, expression=select(writer, families), distinct=distinct)
    return tree


def compound_kinds(writer: Writer) -> list[str]:
    """The ways to combine that are allowed."""
    return [name for name in COMPOUNDS if writer.has(name)]


def body(writer: Writer, families: Sequence[str], grouped: bool | None = None) -> Node:
    """What a subquery is: a SELECT, or several combined."""
    kinds = compound_kinds(writer)
    if kinds and grouped is None and writer.turns_to("compound-inside", 0.15):
        return compound(writer, families, kinds)
    return select(writer, families, grouped=grouped)


class _Inside:
    """A query's own scope: what was in scope becomes `outer`; a grouped query shows nothing."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def __enter__(self) -> None:
        writer = self._writer
        self._sources, self._outer, self._leaf = writer.sources, writer.outer, writer.leaf
        self._windowed, self._windows = writer.windowed, writer.named_windows
        if writer.leaf is row_leaf:
            writer.outer = (*writer.outer, *writer.sources)
        writer.sources, writer.leaf = (), row_leaf
        writer.windowed, writer.named_windows = False, []
        writer.level += 1

    def __exit__(self, *_: object) -> None:
        writer = self._writer
        writer.level -= 1
        writer.sources, writer.outer, writer.leaf = self._sources, self._outer, self._leaf
        writer.windowed, writer.named_windows = self._windowed, self._windows


def _select(writer: Writer, families: Sequence[str], grouped: bool | None, star: bool) -> Node:
    tree = _rows(writer)
    if grouped is None:
        grouped = writer.turns_to("aggregate", 0.3)
    if star and not grouped and writer.chance(0.12):
        put(tree, "expressions", [make(exp.Star)])
    else:
        values = _grouped(writer, tree, families) if grouped else _plain(writer, families)
        put(tree, "expressions", [named(value, i) for i, value in enumerate(values)])
        if writer.named_windows:
            put(tree, "windows", writer.named_windows)
    if writer.turns_to("distinct", 0.12):
        put(tree, "distinct", make(exp.Distinct))
    return tree


def _plain(writer: Writer, families: Sequence[str]) -> list[Node]:
    writer.windowed = writer.has("window")
    values = [writer.value(family, depth_of(writer)) for family in families]
    writer.windowed = False
    return values


def _grouped(writer: Writer, tree: Node, families: Sequence[str]) -> list[Node]:
    """The result columns of a query that aggregates."""
    if writer.turns_to("bare-columns", 0.14) and len(families) > 1:
        keys = group_keys(writer, tree, None, "")
        values = bare_values(writer, families)
        if writer.chance(NOTHING):
            _where_nothing_is_least(tree, values)
        return values
    first = None
    if writer.has("group-by") and writer.turns_to("group-by-expression", 0.1):
        first = expression(writer, families[0])
    keys = group_keys(writer, tree, first, families[0])
    writer.leaf = group_leaf(keys)
    _having(writer, tree, keys)
    before = writer.aggregated[writer.level]
    values = [writer.value(family, depth_of(writer)) for family in families]
    if first is not None:
        values[0] = first
    if not keys and writer.aggregated[writer.level] == before:
        values[0] = aggregate(writer, families[0])  # or it would be no grouped query at all
    return values


def _where_nothing_is_least(tree: Node, values: Sequence[Node]) -> None:
    """Leave only rows where what MIN or MAX looks for is NULL, which engines have rules for."""
    [least] = [value for value in values if isinstance(value, exp.Min | exp.Max)]
    put(
        tree, "where", nodes.unary(exp.Where, nodes.binary(exp.Is, least.this.copy(), nodes.null()))
    )


def _rows(writer: Writer) -> Node:
    """FROM and WHERE."""
    first, joins = from_clause(writer, _derived)
    tree = make(exp.Select, from_=nodes.unary(exp.From, first), joins=joins)
    where = _where(writer)
    if where is None and joins and joins[-1].args.get("side") == "LEFT":
        where = of_missing(writer, writer.sources[-1])
    if where is not None:
        put(tree, "where", nodes.unary(exp.Where, where))
    return tree


def named(value: Node, place: int) -> Node:
    """The value as a result column."""
    return nodes.alias(value, f"c{place}")


def depth_of(writer: Writer) -> int:
    """How deep expressions may go: less in subqueries."""
    most = DEPTH + 2 - writer.level
    return int(writer.random() * most) if most > 1 else 0


def _where(writer: Writer) -> Node | None:
    condition = (
        writer.condition(depth_of(writer))
        if writer.chance(0.75 if writer.level == 1 else 0.4)
        else None
    )
    if writer.outer and writer.turns_to("correlated", 0.5):
        linked = link(writer, writer.outer, writer.sources)
        both = make(exp.And, this=make(exp.Paren, this=condition), expression=linked)
        return linked if condition is None else both
    return condition


def _having(writer: Writer, tree: Node, keys: Sequence[GroupKey]) -> None:
    if writer.turns_to("having" if keys else "having-alone", 0.3):
        put(tree, "having", make(exp.Having, this=writer.condition(1)))


def _derived(writer: Writer) -> tuple[Node, Source]:
    """A subquery in FROM, under a name of its own."""
    families = [writer.family() for _ in range(1 + writer.chance(0.5))]
    sources, writer.sources = writer.sources, ()  # it sees nothing of what stands beside it
    inner = body(writer, families)
    if type(inner) is exp.Select and writer.turns_to("window", 0.12):
        families += _with_window(writer, inner)
    if writer.turns_to("limit-inside", 0.12):
        _cut(writer, inner, len(families))
    source = source_of(writer, inner, families)
    writer.sources = sources
    return make(exp.Subquery, this=inner, alias=alias(source.alias)), source


def _with_window(writer: Writer, inner: Node) -> list[str]:
    """Give a query a window function as one more column; the families of what was added.

    A condition on another column of it holds for fewer rows, and those rows have the same windows.
    """
    star = isinstance(inner.expressions[0], exp.Star)
    if star or inner.args.get("group") or inner.args.get("having") or inner.find(exp.AggFunc):
        return []
    sources, writer.sources = writer.sources, writer.done
    level, writer.level = writer.level, writer.level + 1
    windows, writer.named_windows = writer.named_windows, []
    writer.windowed = True
    made = window(writer, "number", 0)
    writer.windowed = False
    if writer.named_windows:
        put(inner, "windows", [*inner.args.get("windows", ()), *writer.named_windows])
    writer.named_windows, writer.level, writer.sources = windows, level, sources
    inner.append("expressions", named(made, len(inner.expressions)))
    return ["number"]


def derived_source(writer: Writer, families: Sequence[str]) -> tuple[Node, Source]:
    """A query for WITH, and the source that it is."""
    inner = body(writer, families)
    return inner, source_of(writer, inner, families)


def source_of(writer: Writer, inner: Node, families: Sequence[str]) -> Source:
    """A subquery as an item of FROM."""
    columns = tuple(Column(f"c{i}", TYPES[family]) for i, family in enumerate(families))
    origins: tuple[Key | None, ...] = ()
    if type(inner) is exp.Select:
        known = {source.alias: source for source in writer.done}
        origins = tuple(_origin(value, known) for value in inner.expressions)
    return Source(writer.alias(), columns, origins=origins)


def _origin(value: Node, known: dict[str, Source]) -> Key | None:
    """The column that a result column shows as it is."""
    shown = value.args["this"]
    source = known.get(shown.table) if type(shown) is exp.Column else None
    if source is None:
        return None
    name = shown.name
    return next(((source, of) for of in source.columns if of.name == name), None)


def _cut(writer: Writer, inner: Node, width: int) -> None:
    """LIMIT inside of a query, after an order that leaves only equal rows open."""
    if not writer.has("order-by"):
        return
    first_in_order(inner, width)
    put(inner, "limit", make(exp.Limit, expression=number(writer.choice((1, 2, 3)))))
    if writer.chance(0.3):
        put(inner, "offset", make(exp.Offset, expression=number(1)))


def _subquery(writer: Writer, family: str) -> Node:
    return make(exp.Subquery, this=body(writer, [family]))


def _scalar(writer: Writer, family: str, depth: int) -> Node:
    """A subquery whose value does not depend on the order of rows: an aggregate, or the first row
    in the order of that value.
    """
    if _too_deep(writer) or not (writer.has("aggregate") or writer.has("order-by")):
        return writer.leaf(writer, family)
    with _Inside(writer):
        tree = _rows(writer)
        if writer.has("aggregate") and not writer.turns_to("order-by", 0.3):
            put(tree, "expressions", [aggregate(writer, family)])
        else:
            _first(writer, family, tree)
    return make(exp.Subquery, this=tree)


def _first(writer: Writer, family: str, tree: Node) -> None:
    """The first row in the order of its only column."""
    put(tree, "expressions", [named(writer.value(family, 1), 0)])
    down = writer.chance(0.5)
    term = make(exp.Ordered, this=number(1), desc=down or None, nulls_first=not down)
    put(tree, "order", make(exp.Order, expressions=[term]))
    if writer.turns_to("limit", 0.5):
        put(tree, "limit", make(exp.Limit, expression=number(1)))


def _exists(writer: Writer, family: str, depth: int) -> Node:
    if _too_deep(writer):
        return writer.condition(0)
    grouped = writer.turns_to("aggregate", 0.12)  # one row of no rows, without GROUP BY
    inner = select(writer, ["number"], grouped=grouped)
    if writer.turns_to("limit-inside", 0.1):
        put(inner, "limit", make(exp.Limit, expression=number(writer.choice((0, 1, 1, 2)))))
    tree = make(exp.Exists, this=inner)
    return make(exp.Not, this=tree) if writer.chance(0.4) else tree


def _in_subquery(writer: Writer, family: str, depth: int) -> Node:
    if _too_deep(writer):
        return writer.condition(0)
    family = writer.family()
    left = writer.operand(family, depth - 1)
    tree = make(exp.In, this=left, query=_subquery(writer, family))
    return make(exp.Not, this=tree) if writer.chance(0.45) else tree


def _row_in_subquery(writer: Writer, family: str, depth: int) -> Node:
    """A row among those of a subquery, or compared with the first of them."""
    row = None if _too_deep(writer) else row_of_columns(writer)
    if row is None:
        return writer.condition(0)
    left, families = make(exp.Tuple, expressions=row[0]), row[1]
    inner = body(writer, families)
    if writer.has("limit-inside") and writer.has("order-by") and writer.chance(0.4):
        first_in_order(inner, len(families))
        kind = writer.choice((exp.EQ, exp.LT, exp.GTE))
        return make(kind, this=left, expression=make(exp.Subquery, this=inner))
    tree = make(exp.In, this=left, query=make(exp.Subquery, this=inner))
    return make(exp.Not, this=tree) if writer.chance(0.4) else tree


def _too_deep(writer: Writer) -> bool:
    level = writer.level
    return level >= MOST_NESTED or (level > 1 and not writer.chance(DEEPER))


PRODUCTIONS = (
    Production("scalar-subquery", 0.6, ("number", "text", "any"), _scalar),
    Production("exists", 1.2, ("condition",), _exists),
    Production("in-subquery", 1.4, ("condition",), _in_subquery),
    Production("row-in", 0.4, ("condition",), _row_in_subquery),
)
