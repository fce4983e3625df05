"""Programs: one database and the queries that are asked of it.

A run of the fuzzer is a row of programs. Each is made from the seed and its own number alone, so
that any worker can make any of them, and a run can go on where another stopped.
"""

from __future__ import annotations

import dataclasses
import functools
import random

from refute.fuzz.sql.grammar import Grammar
from refute.fuzz.sql.queries import QUERIES, query
from refute.fuzz.sql.schema import Schema, Shape, make_schema
from refute.fuzz.sql.text import Node


@dataclasses.dataclass(frozen=True)
class Program:
    """A database and queries of it; its trees are shared, and whoever changes one copies it first.

    number: which program of the seed. schema: what queries may name. setup: the statements that
    make the database, in order. count: how many queries there are.
    """

    number: int
    schema: Schema
    setup: tuple[Node, ...]
    seed: int
    grammar: Grammar
    count: int

    @functools.cached_property
    def queries(self) -> tuple[Node, ...]:
        """The queries, made when they are first asked for."""
        rng = random.Random(f"{self.seed}/{self.number}/queries")
        return tuple(query(rng, self.grammar, self.schema) for _ in range(self.count))


def program(
    seed: int, number: int, shape: Shape, grammar: Grammar, queries: int = QUERIES
) -> Program:
    """The program of this number: the same on any machine. shape: what its database may be like."""
    rng = random.Random(f"{seed}/{number}")
    schema = make_schema(rng, shape)
    return Program(number, schema, tuple(schema.trees()), seed, grammar, queries)
