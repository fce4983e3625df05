"""Whole queries: one SELECT or several combined, with ORDER BY and LIMIT at the end.

LIMIT stands only here, on the outermost query: inside, the rows that it keeps would be open
wherever the order has ties, and so would be everything computed from them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from sqlglot import exp

from refute.fuzz.sql import conditions, scalars, selects
from refute.fuzz.sql.grammar import Grammar, Production, Writer, column, columns_in, number
from refute.fuzz.sql.schema import Schema
from refute.fuzz.sql.selects import select
from refute.fuzz.sql.text import Node

PRODUCTIONS: tuple[Production, ...] = (
    *scalars.PRODUCTIONS,
    *conditions.PRODUCTIONS,
    *selects.PRODUCTIONS,
)
COMPOUNDS: dict[str, tuple[type[exp.SetOperation], bool]] = {
    "union": (exp.Union, True),
    "union-all": (exp.Union, False),
    "intersect": (exp.Intersect, True),
    "except": (exp.Except, True),
}
QUERIES = 12  # on one database
WIDTHS = (1, 1, 2, 2, 3)  # result columns


def query(
    rng: random.Random,
    grammar: Grammar,
    schema: Schema,
    widths: Sequence[int] = WIDTHS,
    families: Sequence[str] | None = None,
) -> Node:
    """One query, of as many result columns as one of the widths, or of these families."""
    writer = Writer(rng, grammar, schema)
    if families is None:
        families = [writer.family() for _ in range(rng.choice(widths))]
    compounds = [name for name in COMPOUNDS if writer.has(name)]
    chosen = rng.choice(compounds) if compounds else ""
    if writer.turns_to(chosen, 0.14):
        tree = _compound(writer, families, chosen)
    else:
        tree = select(writer, families)
    if writer.turns_to("order-by", 0.35):
        tree.set("order", exp.Order(expressions=list(_terms(writer, tree, len(families)))))
    if writer.turns_to("limit", 0.35 if tree.args.get("order") else 0.05):
        tree.set("limit", exp.Limit(expression=number(rng.choice((0, 1, 1, 2, 3, 5)))))
        if writer.chance(0.4):
            tree.set("offset", exp.Offset(expression=number(rng.choice((0, 1, 1, 2)))))
    return tree


def _compound(writer: Writer, families: Sequence[str], name: str) -> Node:
    kind, distinct = COMPOUNDS[name]
    left, right = select(writer, families), select(writer, families)
    return kind(this=left, expression=right, distinct=distinct)


def _terms(writer: Writer, tree: Node, width: int) -> Iterable[Node]:
    """Terms of ORDER BY: positions, names of result columns, and in a plain query any column."""
    places = writer.rng.sample(range(width), writer.rng.randint(1, width))
    for place in places:
        by_name = writer.chance(0.5)
        term: Node = exp.Identifier(this=f"c{place}", quoted=False)
        yield _ordered(writer, exp.Column(this=term) if by_name else number(place + 1))
    free = isinstance(tree, exp.Select) and not tree.args.get("distinct")
    if free and not tree.args.get("group") and not tree.find(exp.AggFunc) and writer.chance(0.3):
        found = columns_in(writer.done, "any")
        if found:
            yield _ordered(writer, column(*writer.rng.choice(found)))


def _ordered(writer: Writer, term: Node) -> Node:
    if isinstance(term, exp.Column) and writer.turns_to("collate", 0.08):
        term = exp.Collate(this=term, expression=exp.Var(this="NOCASE"))
    desc = writer.chance(0.4)
    changed = writer.turns_to("nulls-order", 0.1)
    return exp.Ordered(this=term, desc=desc or None, nulls_first=not desc if not changed else desc)
