"""Programs: one database and the queries that are asked of it.

A run of the fuzzer is a row of programs. Each is made from the seed and its own number alone, so
that any worker can make any of them, and a run can go on where another stopped.
"""

from __future__ import annotations

import dataclasses
import functools
import random

from sqlglot import exp

from refute.fuzz.sql.changes import add_alteration, add_change
from refute.fuzz.sql.definitions import command, table
from refute.fuzz.sql.drafts import Drafting
from refute.fuzz.sql.grammar import Grammar
from refute.fuzz.sql.indexes import add_index
from refute.fuzz.sql.nodes import settled
from refute.fuzz.sql.queries import QUERIES, query
from refute.fuzz.sql.schema import Schema, Shape
from refute.fuzz.sql.tables import fill, make_tables
from refute.fuzz.sql.text import Node
from refute.fuzz.sql.triggers import add_trigger
from refute.fuzz.sql.views import add_view
from refute.fuzz.sql.virtual import add_virtual

OF_INDEXES = ("index", "expression-index")
OF_CHANGES = ("update", "delete", "upsert", "insert-or", "insert-select")


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
    schema, setup = database(random.Random(f"{seed}/{number}"), shape, grammar)
    return Program(number, schema, setup, seed, grammar, queries)


def database(rng: random.Random, shape: Shape, grammar: Grammar) -> tuple[Schema, tuple[Node, ...]]:
    """A random database: what queries may name, and the statements that make it.

    grammar: of the queries in its views.
    """
    drafting = Drafting(rng, shape, mixed=grammar.mixed)
    make_tables(drafting, shape.tables)
    early = rng.random() < 0.5
    if early:
        _indexes(drafting)
    for draft in list(drafting.drafts):
        fill(drafting, draft)
    add_virtual(drafting)
    if not early or rng.random() < 0.3:
        _indexes(drafting)
    if drafting.has("alter", 0.05):
        add_alteration(drafting)
    if drafting.has("trigger", 0.2):
        add_trigger(drafting)
    _changes(drafting)
    for _ in range(2):
        if drafting.has("view", 0.22):
            add_view(drafting, grammar)
    _upkeep(drafting)
    return drafting.schema(), tuple(map(settled, drafting.statements))


def _indexes(drafting: Drafting) -> None:
    """Indexes of the tables: of most none or one."""
    often = drafting.shape.often
    wanted = often in OF_INDEXES or "index" in often
    for draft in drafting.drafts:
        for share in (0.45, 0.2) if not wanted else (0.9, 0.5):
            if draft.kind == "table" and drafting.rng.random() < share:
                add_index(drafting, draft)


def _changes(drafting: Drafting) -> None:
    """Some statements that change rows."""
    allowed = [name for name in OF_CHANGES if name in drafting.shape.features]
    wanted = drafting.shape.often in (*allowed, "update-or", "trigger")
    if not allowed or not (wanted or drafting.rng.random() < 0.4):
        return
    for _ in range(drafting.rng.choice((1, 1, 2, 3)) if not wanted else 4):
        add_change(drafting)


def _upkeep(drafting: Drafting) -> None:
    """ANALYZE, REINDEX and VACUUM, which change no answer."""
    rng = drafting.rng
    if drafting.has("analyze", 0.12):
        one = rng.random() < 0.3
        tables = [table(rng.choice(drafting.drafts).name)] if one else []
        drafting.statements.append(exp.Analyze(tables=tables))
    if drafting.has("reindex", 0.04):
        drafting.statements.append(command("REINDEX"))
    if drafting.has("vacuum", 0.02):
        for draft in drafting.drafts:
            draft.settled = False  # rows may get other numbers
        drafting.statements.append(command("VACUUM"))
