"""Whole queries: one SELECT or several combined, with ORDER BY and LIMIT at the end.

LIMIT stands only here, on the outermost query: inside, the rows that it keeps would be open
wherever the order has ties, and so would be everything computed from them.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql import conditions, scalars, selects
from refute.fuzz.sql.features import NAMES, NEEDS, OF_TABLES, PROBES, features_in
from refute.fuzz.sql.grammar import Grammar, Production, Writer, column, columns_in, number
from refute.fuzz.sql.schema import Schema, Shape, make_schema
from refute.fuzz.sql.selects import select
from refute.fuzz.sql.text import Node, write
from refute.plain import Plain

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
CHOICES = 3
WIDTHS = (1, 1, 2, 2, 3)  # result columns
WIDE = (2, 3, 4)
USED = 8
CONDITIONS = frozenset({"in-list", "between", "like", "is", "exists", "in-subquery", "collate"})
COMPARING = frozenset(
    {"between", "order-by", "distinct", "aggregate", "group-by", "in-list", "union"}
)
ALSO = {"scalar-subquery": ("order-by",), "correlated": ("scalar-subquery", "aggregate")}
DRAWS = 60  # of small queries until one uses its feature


def cases(seed: int, shape: Shape) -> Iterator[Plain]:
    """Endless cases `{"setup": [sql, …], "query": sql}`; some in a row share their database."""
    grammar = Grammar(PRODUCTIONS, shape.features)
    for number_of in itertools.count():
        rng = random.Random(f"{seed}/{number_of}")
        schema = make_schema(rng, shape)
        setup = schema.statements()
        for _ in range(QUERIES):
            yield {"setup": setup, "query": write(query(rng, grammar, schema))}


def featured(seed: int, shape: Shape, rounds: int) -> Iterator[Plain]:
    """Small queries of each feature in turn, with what it needs and the core and nothing else.

    Features of tables get a table that has them, and a query that looks at how values compare.
    """
    rng = random.Random(f"{seed}/featured")
    wanted = [name for name in PROBES if name in shape.features]
    of_tables = [name for name in OF_TABLES if name in shape.features]
    grammars = {
        n: Grammar(PRODUCTIONS, {n, *NEEDS.get(n, ()), *ALSO.get(n, ())} & shape.features)
        for n in wanted
    }
    comparing = Grammar(PRODUCTIONS, COMPARING & shape.features)
    for turn in range(rounds):
        for start in range(0, len(wanted), QUERIES):
            schema = make_schema(rng, shape)
            setup = schema.statements()
            for name in wanted[start : start + QUERIES]:
                tree = _using(name, rng, grammars[name], schema)
                if tree is not None:
                    yield {"setup": setup, "query": write(tree)}
        for name in of_tables:
            schema = make_schema(rng, dataclasses.replace(shape, often=name))
            families = ["truth"] * 4 if turn % 2 else None
            drawn = (query(rng, comparing, schema, WIDE, families) for _ in range(CHOICES))
            tree = max(drawn, key=_columns)
            yield {"setup": schema.statements(), "query": write(tree)}


def _using(name: str, rng: random.Random, grammar: Grammar, schema: Schema) -> Node | None:
    """A query with the feature: of a few, the one that makes most of it.

    A condition is asked for as a value, because all three of its values show there.
    """
    families = ["truth"] * 3 if name in CONDITIONS and rng.random() < 0.5 else None
    drawn = (query(rng, grammar, schema, WIDE, families) for _ in range(DRAWS))
    found = itertools.islice((t for t in drawn if name in features_in(t)), CHOICES)
    return max(found, key=lambda tree: _interest(tree, name), default=None)


def _columns(tree: Node) -> int:
    return _interest(tree, "")


def _interest(tree: Node, name: str) -> int:
    """More for columns, which hold the NULLs and odd values, most of all where the feature uses
    them; less for literals and for length.
    """
    score = 0
    for node in tree.walk():
        score += 3 if isinstance(node, exp.Column) else -2 if isinstance(node, exp.Literal) else -1
        if name in NAMES.get(type(node), ()) and node.find(exp.Column) is not None:
            score += USED
    return score


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
