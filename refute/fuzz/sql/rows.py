"""Row values: several values compared as one, with lists of rows and with rows of subqueries."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from refute.fuzz.sql import nodes
from refute.fuzz.sql.conditions import COMPARISONS, collated_pair
from refute.fuzz.sql.grammar import Production, Writer, column, number, row_leaf, some_literal
from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.text import Node

KINDS = (*COMPARISONS, exp.NullSafeEQ, exp.NullSafeNEQ)


def pairs(writer: Writer, depth: int) -> tuple[list[Node], list[Node], list[str]]:
    """Two rows worth comparing, and the families of further values for them."""
    width = 2 if writer.chance(0.8) else 3
    drawn, families = [], []
    for place in range(width):
        drawn.append(collated_pair(writer, depth if place else 0))
        families.append("any" if writer.mixed else writer.paired)
    return [left for left, _ in drawn], [right for _, right in drawn], families


def _comparison(writer: Writer, family: str, depth: int) -> Node:
    left, right, _ = pairs(writer, depth - 1)
    kind = writer.choice(KINDS if writer.has("is") else COMPARISONS)
    return make(
        kind, this=nodes.several(exp.Tuple, left), expression=nodes.several(exp.Tuple, right)
    )


def _between(writer: Writer, family: str, depth: int) -> Node:
    left, low, families = pairs(writer, depth - 1)
    high = [some_literal(writer, family) for family in families]
    rows = [nodes.several(exp.Tuple, values) for values in (left, low, high)]
    return make(exp.Between, this=rows[0], low=rows[1], high=rows[2])


def _in_values(writer: Writer, family: str, depth: int) -> Node:
    left, first, families = pairs(writer, depth - 1)
    others = [
        make(exp.Tuple, expressions=[some_literal(writer, family) for family in families])
        for _ in range(int(writer.random() * 3))
    ]
    values = make(exp.Values, expressions=[nodes.several(exp.Tuple, first), *others])
    tree = make(exp.In, this=nodes.several(exp.Tuple, left), expressions=[values])
    return nodes.unary(exp.Not, tree) if writer.chance(0.4) else tree


def row_of_columns(writer: Writer) -> tuple[list[Node], Sequence[str]] | None:
    """Columns in scope and their families; None where there are none."""
    found = writer.columns("any") if writer.leaf is row_leaf else []
    if not found:
        return None
    keys = [writer.choice(found) for _ in range(2)]
    return [column(*key) for key in keys], [of.family for _, of in keys]


def first_in_order(tree: Node, width: int) -> None:
    """Keep the first row in the order of all result columns."""
    terms = [make(exp.Ordered, this=number(i + 1), nulls_first=True) for i in range(width)]
    put(tree, "order", make(exp.Order, expressions=terms))
    put(tree, "limit", make(exp.Limit, expression=number(1)))


PRODUCTIONS = (
    Production("row-values", 1.1, ("condition", "simple"), _comparison),
    Production("row-between", 0.3, ("condition",), _between),
    Production("row-in", 0.4, ("condition",), _in_values),
)
