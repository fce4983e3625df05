"""What an index is about, asked again by a query, as it stands there or nearly so.

An engine uses a partial index where a query's condition implies that of the index, and an index of
an expression where the query has the same one. Chance alone hardly ever writes the same expression
twice; and what only looks like it, with its operands exchanged or with another operator around it,
shows where the engine takes too much for the same.
"""

from __future__ import annotations

from sqlglot import exp

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
from refute.fuzz.sql.schema import Table, literal
from refute.fuzz.sql.text import Node

EXCHANGED: dict[type[Node], type[exp.Binary]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.GT: exp.LT,
    exp.LT: exp.GT,
    exp.GTE: exp.LTE,
    exp.LTE: exp.GTE,
}
COMPARISONS: tuple[type[exp.Binary], ...] = (exp.EQ, exp.NEQ, exp.GT, exp.LT, exp.GTE, exp.LTE)
ALL = ("number", "text", "any")
SIMPLE = ("condition", "simple")
ENDS = (2**63 - 1, -(2**63), 2**31 - 1, -(2**31))  # where a range of an index may be off by one
NUMBERS = ("-1", "0", "1.0", "10", "1e1")  # texts that look like them


def _named(tree: Node, source: Source) -> Node:
    """A copy of an index's expression, with the name of the table before its columns."""
    made = tree.copy()
    for node in list(made.find_all(exp.Column)):
        node.set("table", exp.Identifier(this=source.alias, quoted=False))
    return made


def _tables(writer: Writer) -> list[tuple[Source, Table]]:
    """The tables in scope, where their columns may be named."""
    if writer.leaf is not row_leaf:
        return []
    return [(source, source.table) for source in writer.sources if source.table is not None]


def _expressions(writer: Writer) -> list[tuple[Source, Node]]:
    """The expressions of their indexes."""
    return [(source, tree) for source, table in _tables(writer) for tree in table.expressions]


def _condition(writer: Writer, family: str, depth: int) -> Node:
    """The WHERE of an index, or a condition that is near to it."""
    found = [(source, tree) for source, table in _tables(writer) for tree in table.conditions]
    if not found:
        return _comparison(writer, family, depth)
    source, tree = writer.choice(found)
    made = _named(tree, source)
    share = writer.random()
    if share < 0.35:
        return made
    if share < 0.5:
        return _exchanged(made)
    if share < 0.6:
        return exp.Not(this=closed(made))
    value = _value_of(made)
    if value is None:
        return made
    return _about(writer, source, value)


def _exchanged(made: Node) -> Node:
    """A comparison with its operands exchanged."""
    kind = EXCHANGED.get(type(made))
    return made if kind is None else kind(this=made.expression, expression=made.this)


def _value_of(made: Node) -> Node | None:
    """The value that a condition is about."""
    inner = made.this if isinstance(made, exp.Not) else made
    if isinstance(inner, exp.Is) or type(inner) in EXCHANGED:
        value = inner.this
        single = isinstance(value, exp.Expr) and not isinstance(value, exp.Tuple)
        return value if single else None
    return None


def _about(writer: Writer, source: Source, value: Node) -> Node:
    """A condition about a value that an index is about, too."""
    share = writer.random()
    if share < 0.25:
        made = exp.Is(this=closed(value), expression=exp.Null())
        return exp.Not(this=made) if share < 0.12 else made
    if not writer.mixed and not isinstance(value, exp.Column):  # of a type that nobody knows
        return exp.Is(this=closed(value), expression=exp.Null())
    first = value.find(exp.Column)
    known = [c for c in source.columns if first is not None and c.name == first.name]
    if share > 0.7 and writer.mixed:
        other = writer.operand("any", 0) if writer.chance(0.6) else text(writer.choice(NUMBERS))
    else:
        other = stored_literal(writer, source, known[0]) if known else some_literal(writer, "any")
    if share > 0.9:
        return exp.Or(this=closed(value), expression=closed(writer.condition(0)))
    if share < 0.45 and writer.has("is"):
        kind = exp.NullSafeNEQ if writer.chance(0.7) else exp.NullSafeEQ
        return kind(this=closed(value), expression=other)
    return writer.choice(COMPARISONS)(this=closed(value), expression=other)


def _comparison(writer: Writer, family: str, depth: int) -> Node:
    """A comparison with an expression of an index; of any two values where there is none."""
    found = _expressions(writer)
    if found:
        source, tree = writer.choice(found)
        return _about(writer, source, _named(tree, source))
    inner = min(depth - 1, 1)
    kind = writer.apart("any")
    left, right = writer.operand(kind, inner), writer.operand(kind, inner)
    return writer.choice(COMPARISONS)(this=left, expression=right)


def _served(writer: Writer, family: str, depth: int) -> Node:
    """A condition about a column of an index that the index can answer."""
    found = [
        (source, of)
        for source, table in _tables(writer)
        for of in source.columns
        if of.name in table.indexed
    ]
    if not found:
        return _comparison(writer, family, depth)
    source, of = writer.choice(found)
    left = column(source, of)
    values = source.values(of)
    share = writer.random()
    if share < 0.2 and writer.has("like") and (writer.mixed or of.family == "text"):
        known = [value for value in values if type(value) is str] or ["a"]
        start = writer.choice(known)
        if writer.chance(0.5):
            start = f"{start[:2]}%"
        glob = writer.has("glob") and writer.chance(0.3)
        return (exp.Glob if glob else exp.Like)(this=left, expression=text(start))
    if share < 0.35 and writer.has("between"):
        low, high = (stored_literal(writer, source, of) for _ in range(2))
        return exp.Between(this=left, low=low, high=high)
    if share < 0.5 and writer.has("in-list"):
        some = [stored_literal(writer, source, of) for _ in range(1 + writer.chance(0.6))]
        return exp.In(this=left, expressions=some)
    right = stored_literal(writer, source, of)
    if share < 0.54 and of.family == "number":
        right = literal(writer.choice(ENDS))
    if share > 0.85 and writer.has("collate"):
        right = exp.Collate(this=right, expression=exp.Var(this="NOCASE"))
    return writer.choice(COMPARISONS)(this=left, expression=right)


def _expression(writer: Writer, family: str, depth: int) -> Node:
    """An expression of an index as a value."""
    found = _expressions(writer) if writer.mixed else ()
    if not found:
        return writer.leaf(writer, family)
    source, tree = writer.choice(found)
    return _named(tree, source)


PRODUCTIONS = (
    Production("partial-index", 3, SIMPLE, _condition),
    Production("expression-index", 2, SIMPLE, _comparison),
    Production("index", 2, SIMPLE, _served),
    Production("expression-index", 0.4, ALL, _expression),
)
