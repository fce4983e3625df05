"""Productions of conditions: comparisons and what three-valued logic makes of them."""

from __future__ import annotations

from sqlglot import exp

from refute.fuzz.sql.grammar import (
    Production,
    Source,
    Writer,
    closed,
    column,
    columns_in,
    row_leaf,
    some_literal,
    stored_literal,
)
from refute.fuzz.sql.schema import Column
from refute.fuzz.sql.text import Node

CONDITION = ("condition",)
SIMPLE = ("condition", "simple")
COMPARISONS = (exp.EQ, exp.EQ, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
PATTERNS = ("a%", "%a", "%", "_", "A", "%b%", "a_", "", "1%", "é", "%É")


def _pair(writer: Writer, depth: int) -> tuple[Node, Node]:
    """Two values worth comparing: a column and one of its values, two columns, or any."""
    found = columns_in(writer.sources, "any") if writer.leaf is row_leaf else []
    form = writer.rng.random()
    if found and form < 0.5:
        source, of = writer.rng.choice(found)
        return column(source, of), stored_literal(writer, source, of)
    if found and form < 0.7:
        source, of = writer.rng.choice(found)
        others = columns_in(writer.sources, of.family)
        return column(source, of), column(*writer.rng.choice(others))
    family = writer.family()
    other = family if writer.chance(0.8) else writer.family()
    return writer.operand(family, depth - 1), writer.operand(other, depth - 1)


def _comparison(writer: Writer, family: str, depth: int) -> Node:
    left, right = _pair(writer, depth)
    if writer.turns_to("collate", 0.06):
        left = _collated(writer, left)
    return writer.rng.choice(COMPARISONS)(this=left, expression=right)


def _collated(writer: Writer, tree: Node) -> Node:
    name = writer.rng.choice(("NOCASE", "NOCASE", "BINARY", "RTRIM"))
    return exp.Collate(this=closed(tree), expression=exp.Var(this=name))


def _logic(writer: Writer, family: str, depth: int) -> Node:
    kind = writer.rng.choice((exp.And, exp.Or))
    left, right = (closed(writer.condition(depth - 1)) for _ in range(2))
    return kind(this=left, expression=right)


def _not(writer: Writer, family: str, depth: int) -> Node:
    return exp.Not(this=exp.Paren(this=writer.condition(depth - 1)))


def _is_null(writer: Writer, family: str, depth: int) -> Node:
    tree = exp.Is(this=writer.operand(writer.family(), depth - 1), expression=exp.Null())
    return exp.Not(this=tree) if writer.chance(0.4) else tree


def _truth(writer: Writer, family: str, depth: int) -> Node:
    return writer.value(writer.family(), depth - 1)


def _is(writer: Writer, family: str, depth: int) -> Node:
    left, right = _pair(writer, depth)
    kind = exp.NullSafeNEQ if writer.chance(0.4) else exp.NullSafeEQ
    return kind(this=left, expression=right)


def _in_list(writer: Writer, family: str, depth: int) -> Node:
    left, first = _pair(writer, depth)
    others = [some_literal(writer, "any") for _ in range(writer.rng.randrange(3))]
    if writer.chance(0.4):
        others.append(exp.Null())
    tree = exp.In(this=left, expressions=[first, *others])
    return exp.Not(this=tree) if writer.chance(0.5) else tree


def _between(writer: Writer, family: str, depth: int) -> Node:
    left, low = _pair(writer, depth)
    tree = exp.Between(this=left, low=low, high=closed(writer.value(writer.family(), 0)))
    return exp.Not(this=tree) if writer.chance(0.3) else tree


def _like(writer: Writer, family: str, depth: int) -> Node:
    found = columns_in(writer.sources, "text") if writer.leaf is row_leaf else []
    if found and writer.chance(0.8):
        source, of = writer.rng.choice(found)
        left, text = column(source, of), _pattern(writer, source, of)
    else:
        left, text = writer.operand("text", depth - 1), writer.rng.choice(PATTERNS)
    pattern = exp.Literal(this=text, is_string=True)
    tree = exp.Like(this=left, expression=pattern)
    return exp.Not(this=exp.Paren(this=tree)) if writer.chance(0.3) else tree


def _pattern(writer: Writer, source: Source, of: Column) -> str:
    """A pattern that some value of the column fits, or nearly."""
    values = [str(v) for v in source.values[source.columns.index(of)]]
    if not values or writer.chance(0.2):
        return writer.rng.choice(PATTERNS)
    text = writer.rng.choice([v for v in values if v.lower() != v.upper()] or values)
    if writer.chance(0.6):
        text = text.swapcase()
    place = writer.rng.randint(0, len(text))
    match writer.rng.randrange(4):
        case 0:
            return text[:place] + "%"
        case 1:
            return "%" + text[place:]
        case 2:
            return text[:place] + "_" + text[place + 1 :]
    return text


PRODUCTIONS = (
    Production("", 6, SIMPLE, _comparison),
    Production("", 3, CONDITION, _logic),
    Production("", 1, CONDITION, _not),
    Production("", 1.2, SIMPLE, _is_null),
    Production("", 0.3, CONDITION, _truth),
    Production("is", 0.6, SIMPLE, _is),
    Production("in-list", 1.6, CONDITION, _in_list),
    Production("between", 0.8, CONDITION, _between),
    Production("like", 1.4, CONDITION, _like),
)
