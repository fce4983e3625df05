"""Whole queries: WITH, one SELECT or several combined, with ORDER BY and LIMIT at the end.

Inside of a query, LIMIT stands only where an order fixes what it keeps, or where that is of no
matter: everything computed from other rows would be open.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from sqlglot import exp

from refute.fuzz.sql import conditions, reuse, rows, scalars, selects, windows
from refute.fuzz.sql.aggregates import expression
from refute.fuzz.sql.ctes import with_clause
from refute.fuzz.sql.grammar import Grammar, Production, Writer, column, number
from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.schema import Schema
from refute.fuzz.sql.selects import compound, compound_kinds, derived_source, select
from refute.fuzz.sql.shorts import short
from refute.fuzz.sql.text import Node

PRODUCTIONS: tuple[Production, ...] = (
    *scalars.PRODUCTIONS,
    *conditions.PRODUCTIONS,
    *selects.PRODUCTIONS,
    *rows.PRODUCTIONS,
    *windows.PRODUCTIONS,
    *reuse.PRODUCTIONS,
)
COLLATIONS = ("NOCASE", "NOCASE", "RTRIM", "BINARY")
QUERIES = 12  # on one database
SHORT = 0.03  # of the queries, that show what an index answers alone
WIDTHS = (1, 1, 1, 2, 2, 3)  # result columns


def query(
    rng: random.Random,
    grammar: Grammar,
    schema: Schema,
    widths: Sequence[int] = WIDTHS,
    families: Sequence[str] | None = None,
) -> Node:
    """One query, of as many result columns as one of the widths, or of these families."""
    writer = Writer(rng, grammar, schema)
    if families is None and writer.turns_to("index", SHORT):
        brief = short(writer)
        if brief is not None:
            return brief
    if families is None:
        families = [writer.family() for _ in range(writer.choice(widths))]
    clause = None
    if writer.turns_to("cte", 0.1) or (writer.has("recursive") and writer.grammar.narrow):
        writer.level = 1
        clause = with_clause(writer, derived_source)
        writer.level = 0
    kinds = compound_kinds(writer)
    if kinds and writer.turns_to(kinds[0], 0.12):
        tree = compound(writer, families, kinds)
    else:
        tree = select(writer, families, star=True)
    if clause is not None:
        put(tree, "with_", clause)
    if writer.turns_to("order-by", 0.35):
        terms = list(_terms(writer, tree, len(families)))
        if terms:
            put(tree, "order", make(exp.Order, expressions=terms))
    if writer.turns_to("limit", 0.35 if tree.args.get("order") else 0.05):
        put(tree, "limit", make(exp.Limit, expression=number(writer.choice((0, 1, 1, 2, 3, 5)))))
        if writer.chance(0.4):
            put(tree, "offset", make(exp.Offset, expression=number(writer.choice((0, 1, 1, 2)))))
    return tree


def _terms(writer: Writer, tree: Node, width: int) -> Iterable[Node]:
    """Terms of ORDER BY: positions, names of result columns, and in a plain query any column."""
    star = isinstance(tree, exp.Select) and isinstance(tree.expressions[0], exp.Star)
    places: Sequence[int] = () if star else (0,)
    if width > 1 and not star:
        places = writer.rng.sample(range(width), 1 + writer.choice(range(width)))
    for place in places:
        by_name = writer.chance(0.5)
        term: Node = make(exp.Identifier, this=f"c{place}", quoted=False)
        yield _ordered(writer, make(exp.Column, this=term) if by_name else number(place + 1))
    free = isinstance(tree, exp.Select) and not tree.args.get("distinct")
    if not free or tree.args.get("group") or writer.aggregated[1]:
        return
    writer.sources, writer.level = writer.done, 1
    found = writer.columns("any")
    if found and writer.chance(0.9 if star else 0.3):
        yield _ordered(writer, column(*writer.choice(found)))
    if found and writer.turns_to("order-by-expression", 0.2):
        made = expression(writer, "any")
        if made is not None:
            yield _ordered(writer, made)
    writer.sources, writer.level = (), 0


def _ordered(writer: Writer, term: Node) -> Node:
    if isinstance(term, exp.Column) and writer.turns_to("collate", 0.1):
        term = make(
            exp.Collate, this=term, expression=make(exp.Var, this=writer.choice(COLLATIONS))
        )
    desc = writer.chance(0.4)
    changed = writer.turns_to("nulls-order", 0.1)
    return make(
        exp.Ordered, this=term, desc=desc or None, nulls_first=not desc if not changed else desc
    )
