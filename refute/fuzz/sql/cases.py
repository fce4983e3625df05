"""Cases of claims: queries of all features mixed, and small ones of each feature in turn."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterator

from sqlglot import exp

from refute.fuzz.sql.features import NAMES, NEEDS, OF_TABLES, PROBES, features_in
from refute.fuzz.sql.grammar import Grammar
from refute.fuzz.sql.program import database, program
from refute.fuzz.sql.queries import PRODUCTIONS, QUERIES, query
from refute.fuzz.sql.schema import Schema, Shape
from refute.fuzz.sql.text import Node, write
from refute.plain import Plain

CHOICES = 3
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
    for number in itertools.count():
        made = program(seed, number, shape, grammar, QUERIES)
        setup = [write(tree) for tree in made.setup]
        for tree in made.queries:
            yield {"setup": setup, "query": write(tree)}


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
    whole = Grammar(PRODUCTIONS, shape.features)
    for turn in range(rounds):
        for start in range(0, len(wanted), QUERIES):
            schema, trees = database(rng, shape, whole)
            setup = [write(tree) for tree in trees]
            for name in wanted[start : start + QUERIES]:
                tree = _using(name, rng, grammars[name], schema)
                if tree is not None:
                    yield {"setup": setup, "query": write(tree)}
        for name in of_tables:
            schema, trees = database(rng, dataclasses.replace(shape, often=name), whole)
            families = ["truth"] * 4 if turn % 2 else None
            drawn = (query(rng, comparing, schema, WIDE, families) for _ in range(CHOICES))
            tree = max(drawn, key=_columns)
            yield {"setup": [write(made) for made in trees], "query": write(tree)}


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
