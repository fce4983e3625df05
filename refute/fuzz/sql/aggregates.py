"""Groups: keys, aggregates, and what expressions of a grouped query end in, which are those two.

A column that is neither a key nor inside of an aggregate shows any row of its group; but next to
one MIN or MAX, SQLite shows the row where that was found (lang_select.html, "Bare columns").
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from sqlglot import exp

from refute.fuzz.sql.grammar import (
    Leaf,
    Writer,
    column,
    number,
    row_leaf,
    some_literal,
)
from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.text import Node

GroupKey = tuple[str, Callable[[], Node]]
"""A key's family, and what makes it once more."""

DEEPEST = 99
NUMERIC = (exp.Count, exp.Count, exp.Sum, exp.Sum, exp.Avg, exp.Min, exp.Max)


def group_keys(writer: Writer, tree: Node, first: Node | None, family: str) -> list[GroupKey]:
    """GROUP BY some columns or expressions, or no clause at all; the keys.

    first: what the first result column shows; GROUP BY names its position. family: of that.
    """
    if first is not None:
        put(tree, "group", make(exp.Group, expressions=[number(1)]))
        return [(family, first.copy)]
    if not writer.has("group-by") or writer.chance(0.35):
        return []
    found = writer.columns("any")
    chosen = writer.rng.sample(found, min(len(found), writer.choice((1, 1, 2))))
    keys: list[GroupKey] = [(of.family, functools.partial(column, s, of)) for s, of in chosen]
    terms = [make() for _, make in keys]
    if writer.turns_to("group-by-expression", 0.2):
        made = expression(writer, "any")
        if made is not None:
            keys[0], terms[0] = ("any", made.copy), made
    put(tree, "group", make(exp.Group, expressions=terms))
    return keys


def expression(writer: Writer, family: str) -> Node | None:
    """An expression that uses a column and is none, so that it means no position."""
    made = writer.value(family, 1)
    plain = isinstance(made, exp.Column | exp.Literal | exp.Null)
    return None if plain or made.find(exp.Column) is None else made


def bare_values(writer: Writer, families: Sequence[str]) -> list[Node]:
    """One MIN or MAX of a column, and columns of the row where it was found."""
    found = writer.columns("any")
    kind = writer.choice((exp.Min, exp.Max))
    values = [column(*writer.choice(found)) for _ in families]
    values[int(writer.random() * len(values))] = make(kind, this=column(*writer.choice(found)))
    return values


def group_leaf(keys: Sequence[GroupKey]) -> Leaf:
    """What expressions of a grouped query end in: aggregates, and its keys."""

    def leaf(writer: Writer, family: str) -> Node:
        own = [make for of, make in keys if family in ("any", of)]
        if own and writer.chance(0.45):
            return writer.choice(own)()
        if writer.has("aggregate") and not writer.chance(0.08):
            return aggregate(writer, family)
        return some_literal(writer, family)

    return leaf


def aggregate(writer: Writer, family: str) -> Node:
    """A call of an aggregate that gives a value of the family, mostly."""
    writer.aggregated[writer.level] += 1
    before = writer.leaf, writer.level, writer.outer, writer.windowed
    # No subquery inside, and no column of a query around, or whose aggregate is it?
    writer.leaf, writer.level, writer.outer, writer.windowed = row_leaf, DEEPEST, (), False
    try:
        call = _call(writer, family)
        if writer.turns_to("filter", 0.08):
            where = make(exp.Where, this=writer.condition(1))
            return make(exp.Filter, this=call, expression=where)
        return call
    finally:
        writer.leaf, writer.level, writer.outer, writer.windowed = before


def _call(writer: Writer, family: str) -> Node:
    if family == "text" and writer.turns_to("group-concat", 0.15):
        comma = make(exp.Literal, this=",", is_string=True) if writer.chance(0.7) else None
        return make(exp.GroupConcat, this=_argument(writer, "text"), separator=comma)
    if family == "number" and writer.turns_to("total", 0.12):
        return make(exp.Anonymous, this="TOTAL", expressions=[_argument(writer, "number")])
    kind = writer.choice((exp.Min, exp.Max) if family == "text" else NUMERIC)
    if kind is exp.Count and writer.chance(0.4):
        return make(exp.Count, this=make(exp.Star), big_int=True)
    of = family if kind in (exp.Min, exp.Max) else "any" if kind is exp.Count else "number"
    argument = _argument(writer, of)
    if writer.turns_to("aggregate-distinct", 0.15):
        argument = make(exp.Distinct, expressions=[argument])
    return make(kind, this=argument)


def _argument(writer: Writer, family: str) -> Node:
    """Mostly a plain column, because it has the NULLs."""
    found = writer.columns(family)
    if found and writer.chance(0.75):
        return column(*writer.choice(found))
    if not writer.sources:
        return number(1)
    return writer.value(family, 1)
