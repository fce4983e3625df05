"""Productions of conditions: comparisons and what three-valued logic makes of them."""

from __future__ import annotations

from sqlglot import exp

from refute.fuzz.sql import nodes
from refute.fuzz.sql.grammar import (
    Production,
    Source,
    Writer,
    closed,
    column,
    row_leaf,
    some_literal,
    stored_literal,
    text,
)
from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.schema import Column
from refute.fuzz.sql.text import Node

CONDITION = ("condition",)
SIMPLE = ("condition", "simple")
COMPARISONS = (exp.EQ, exp.EQ, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
FOLDED = 0.1  # of AND and OR, with a constant at one side
PATTERNS = ("a%", "%a", "%", "_", "A", "%b%", "a_", "", "1%", "é", "%É")


def pair(writer: Writer, depth: int) -> tuple[Node, Node]:
    """Two values worth comparing: a column and one of its values, two columns, or any."""
    found = writer.columns("any") if writer.leaf is row_leaf else ()
    form = writer.random()
    if found and form < 0.5:
        source, of = writer.choice(found)
        writer.paired = of.family
        left, right = _shown(writer, column(source, of)), stored_literal(writer, source, of)
        return (right, left) if form < 0.08 else (left, right)
    if found and form < 0.7:
        source, of = writer.choice(found)
        writer.paired = of.family
        others = writer.columns(of.family if form < 0.66 or not writer.mixed else "any")
        return column(source, of), _shown(writer, column(*writer.choice(others)))
    family = writer.family()
    other = family if writer.random() < 0.8 or not writer.mixed else writer.family()
    left, right = writer.operand(family, depth - 1), writer.operand(other, depth - 1)
    writer.paired = "number" if family == "truth" else family
    return left, right


def _shown(writer: Writer, tree: Node) -> Node:
    """The column, at times without its affinity."""
    return nodes.plus(tree) if writer.turns_to("unary-plus", 0.04) else tree


def collated_pair(writer: Writer, depth: int) -> tuple[Node, Node]:
    """As `pair`, at times with a collation on either side."""
    left, right = pair(writer, depth)
    if writer.turns_to("collate", 0.08):
        if writer.random() < 0.7:
            left = _collated(writer, left)
        else:
            right = _collated(writer, right)
    return left, right


def _comparison(writer: Writer, family: str, depth: int) -> Node:
    left, right = collated_pair(writer, depth)
    return nodes.binary(writer.choice(COMPARISONS), left, right)


def _collated(writer: Writer, tree: Node) -> Node:
    name = writer.choice(("NOCASE", "NOCASE", "BINARY", "RTRIM"))
    return make(exp.Collate, this=closed(tree), expression=make(exp.Var, this=name))


def _logic(writer: Writer, family: str, depth: int) -> Node:
    kind = writer.choice((exp.And, exp.Or))
    left, right = (closed(writer.condition(depth - 1)) for _ in range(2))
    share = writer.random()
    if share < FOLDED:
        right = _constant(writer)
        kind = exp.Or if writer.random() < 0.7 else kind  # AND NULL leaves no row
        if share < FOLDED / 3:
            left, right = right, left
    return nodes.binary(kind, left, right)


def _constant(writer: Writer) -> Node:
    """What an engine folds away before it looks at rows: mostly NULL."""
    known = nodes.literal(writer.choice("01"), is_string=False) if writer.mixed else None
    return nodes.null() if known is None or writer.random() < 0.6 else known


def _not(writer: Writer, family: str, depth: int) -> Node:
    return make(exp.Not, this=make(exp.Paren, this=writer.condition(depth - 1)))


def _is_null(writer: Writer, family: str, depth: int) -> Node:
    tree = nodes.binary(exp.Is, writer.operand(writer.family(), depth - 1), nodes.null())
    return nodes.unary(exp.Not, tree) if writer.chance(0.4) else tree


def _truth(writer: Writer, family: str, depth: int) -> Node:
    family = writer.family()
    return writer.value(family if writer.mixed or family != "text" else "number", depth - 1)


def _is(writer: Writer, family: str, depth: int) -> Node:
    left, right = collated_pair(writer, depth)
    if writer.turns_to("boolean", 0.2):
        tree = make(exp.Is, this=left, expression=make(exp.Boolean, this=writer.chance(0.5)))
        return nodes.unary(exp.Not, tree) if writer.chance(0.4) else tree
    if isinstance(right, exp.Null | exp.Boolean):
        return make(exp.Is, this=left, expression=right)
    kind = exp.NullSafeNEQ if writer.chance(0.4) else exp.NullSafeEQ
    return nodes.binary(kind, left, right)


def _in_list(writer: Writer, family: str, depth: int) -> Node:
    left, first = pair(writer, depth)
    family = "any" if writer.mixed else writer.paired
    others = [some_literal(writer, family) for _ in range(int(writer.random() * 3))]
    if writer.chance(0.4):
        others.append(make(exp.Null))
    if writer.chance(0.1):
        others.append(first.copy())
    tree = make(exp.In, this=left, expressions=[first, *others])
    if writer.turns_to("in-empty", 0.12):
        put(tree, "expressions", [])  # which is false, and NOT of it is true
    return nodes.unary(exp.Not, tree) if writer.chance(0.5) else tree


def _between(writer: Writer, family: str, depth: int) -> Node:
    left, low = collated_pair(writer, depth)
    family = "any" if writer.mixed else writer.paired
    found = writer.columns(family) if writer.leaf is row_leaf else ()
    if found and writer.chance(0.3):
        high = column(*writer.choice(found))
    else:
        high = closed(writer.value(writer.family() if writer.mixed else family, 0))
    tree = make(exp.Between, this=left, low=low, high=high)
    return nodes.unary(exp.Not, tree) if writer.chance(0.3) else tree


def _matched(writer: Writer, depth: int, *, folds: bool) -> tuple[Node, str]:
    """A text, and a pattern of LIKE that may fit it. folds: whether case is of no matter."""
    found = writer.columns("text") if writer.leaf is row_leaf else []
    if found and writer.chance(0.8):
        source, of = writer.choice(found)
        return column(source, of), _pattern(writer, source, of, folds=folds)
    if writer.mixed and writer.leaf is row_leaf and writer.columns("any") and writer.chance(0.3):
        source, of = writer.choice(writer.columns("any"))
        return column(source, of), _pattern(writer, source, of, folds=folds)
    return writer.operand("text", depth - 1), writer.choice(PATTERNS)


def _like(writer: Writer, family: str, depth: int) -> Node:
    left, fitting = _matched(writer, depth, folds=True)
    escape = writer.turns_to("escape", 0.2)
    if escape:
        fitting = fitting.replace("_", "x_").replace("%", "x%", 1)
    pattern = text(fitting)
    if not escape and writer.chance(0.06):
        pattern = writer.operand("text", 0)
    tree: Node = make(exp.Like, this=left, expression=pattern)
    if escape:
        tree = make(exp.Escape, this=tree, expression=text("x"))
    return nodes.unary(exp.Not, nodes.unary(exp.Paren, tree)) if writer.chance(0.3) else tree


def _glob(writer: Writer, family: str, depth: int) -> Node:
    left, fitting = _matched(writer, depth, folds=False)
    fitting = fitting.replace("%", "*").replace("_", "?")
    if fitting and writer.chance(0.15):
        place = int(writer.random() * len(fitting))
        letter = "[a-b]" if writer.chance(0.7) else "[^x]"
        fitting = fitting[:place] + letter + fitting[place + 1 :]
    tree = make(exp.Glob, this=left, expression=text(fitting))
    return nodes.unary(exp.Not, nodes.unary(exp.Paren, tree)) if writer.chance(0.3) else tree


def _pattern(writer: Writer, source: Source, of: Column, *, folds: bool) -> str:
    """A pattern that some value of the column fits, or nearly."""
    values = [str(v) for v in source.values(of)]
    if not values or writer.chance(0.2):
        return writer.choice(PATTERNS)
    fitting = writer.choice([v for v in values if v.lower() != v.upper()] or values)
    if folds and writer.chance(0.6):
        fitting = fitting.swapcase()
    place = int(writer.random() * (len(fitting) + 1))
    match int(writer.random() * 4):
        case 0:
            return fitting[:place] + "%"
        case 1:
            return "%" + fitting[place:]
        case 2:
            return fitting[:place] + "_" + fitting[place + 1 :]
    return fitting


def of_missing(writer: Writer, source: Source) -> Node | None:
    """A condition that may hold for the NULLs of a row without a partner; None without COALESCE.

    An engine that takes it to hold for no NULL makes an inner join of the outer one.
    """
    if not writer.has("coalesce"):
        return None
    of = writer.choice(source.columns)
    value, other = column(source, of), stored_literal(writer, source, of)
    known = make(exp.Coalesce, this=value, expressions=[other])
    if writer.random() < 0.4:
        right = stored_literal(writer, source, of)
        return nodes.binary(writer.choice(COMPARISONS), known, right)
    compared = nodes.binary(exp.EQ, known, closed(other.copy()))
    return (
        nodes.unary(exp.Not, nodes.unary(exp.Paren, compared)) if writer.chance(0.2) else compared
    )


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
    Production("glob", 0.5, CONDITION, _glob),
)
