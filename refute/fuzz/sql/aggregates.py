"""Aggregates, and the leaves of grouped queries: aggregates over the rows, and the group's keys."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from refute.fuzz.sql.grammar import (
    Leaf,
    Source,
    Writer,
    column,
    columns_in,
    number,
    row_leaf,
    some_literal,
)
from refute.fuzz.sql.schema import Column
from refute.fuzz.sql.text import Node

Key = tuple[Source, Column]

DEEPEST = 99
NUMERIC = (exp.Count, exp.Count, exp.Sum, exp.Sum, exp.Avg, exp.Min, exp.Max)


def group_leaf(keys: Sequence[Key]) -> Leaf:
    """What expressions of a grouped query end in: aggregates, and its keys."""

    def leaf(writer: Writer, family: str) -> Node:
        own = [key for key in keys if family in ("any", key[1].family)]
        if own and writer.chance(0.45):
            return column(*writer.rng.choice(own))
        if writer.has("aggregate") and not writer.chance(0.08):
            return aggregate(writer, family)
        return some_literal(writer, family)

    return leaf


def aggregate(writer: Writer, family: str) -> Node:
    """A call of an aggregate that gives a value of the family, mostly."""
    leaf, level = writer.leaf, writer.level
    writer.leaf, writer.level = row_leaf, DEEPEST  # no subquery inside, or whose aggregate is it?
    try:
        call = _call(writer, family)
        if writer.turns_to("filter", 0.08):
            where = exp.Where(this=writer.condition(1))
            return exp.Filter(this=call, expression=where)
        return call
    finally:
        writer.leaf, writer.level = leaf, level


def _call(writer: Writer, family: str) -> Node:
    if family == "text" and writer.turns_to("group-concat", 0.15):
        comma = exp.Literal(this=",", is_string=True) if writer.chance(0.7) else None
        return exp.GroupConcat(this=_argument(writer, "text"), separator=comma)
    if family == "number" and writer.turns_to("total", 0.12):
        return exp.Anonymous(this="TOTAL", expressions=[_argument(writer, "number")])
    kind = writer.rng.choice((exp.Min, exp.Max) if family == "text" else NUMERIC)
    if kind is exp.Count and writer.chance(0.4):
        return exp.Count(this=exp.Star(), big_int=True)
    of = family if kind in (exp.Min, exp.Max) else "any" if kind is exp.Count else "number"
    argument = _argument(writer, of)
    if writer.turns_to("aggregate-distinct", 0.15):
        argument = exp.Distinct(expressions=[argument])
    return kind(this=argument)


def _argument(writer: Writer, family: str) -> Node:
    """Mostly a plain column, because it has the NULLs."""
    found = columns_in(writer.sources, family)
    if found and writer.chance(0.75):
        return column(*writer.rng.choice(found))
    if not writer.sources:
        return number(1)
    return writer.value(family, 1)
