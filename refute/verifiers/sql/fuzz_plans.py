"""Guidance by query plans: a database that shows no new plans any more is changed.

Query plan guidance is due to Ba and Rigger (ICSE 2023). Of some queries the engine is asked for its
plan too; what differs in names and numbers alone is one plan. When a few plans in a row were seen
before in this program, the database gets an index, loses one, or is analysed, and the program goes
on: the same queries' kin are then answered in another way. What other programs showed plays no
part, so that a program is the same whatever ran before it.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Sequence, Set
from typing import TypeVar

from refute.fuzz.sql.schema import Schema, Table
from refute.oracles.sql.partial.question import Answer

EVERY = 5  # one of so many queries is explained
SEEN = 3  # plans in a row that are no news, after which the database changes
_EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN "}
_OTHERS = "EXPLAIN "
Query = TypeVar("Query")
_NAME = re.compile(r"\b[a-z]{1,2}\d+\b|\bg\d+\b|'[^']*'|\"[^\"]*\"|[-+]?\d[\d.e+]*")


class Plans:
    """The plans of one program, and its changes. features: what these may use."""

    def __init__(
        self, dialect: str, schema: Schema, rng: random.Random, features: Set[str]
    ) -> None:
        self.found: set[int] = set()
        self._explain = _EXPLAIN.get(dialect, _OTHERS)
        self._schema = schema
        self._rng = rng
        self._features = features
        self._old = 0
        self._made = 0
        self._dropped: set[str] = set()
        self._refused = False

    def chosen(self, queries: Sequence[Query]) -> Sequence[Query]:
        """Some of the queries, whose plans to ask for."""
        return [] if self._refused else queries[::EVERY]

    def asked(self, text: str) -> str:
        """What to ask for the plan of a query."""
        return self._explain + text

    def take(self, answers: Sequence[Answer]) -> None:
        """Take the plans; an engine that explains nothing is not asked again in this program."""
        for answer in answers:
            if answer[0] != "rows":
                self._refused = self._refused or not self.found
                continue
            plan = plan_of(answer)
            self._old = self._old + 1 if plan in self.found else 0
            self.found.add(plan)

    def change(self) -> str:
        """A statement that changes the database; "" as long as there are new plans."""
        if self._refused or self._old < SEEN:
            return ""
        self._old = 0
        tables = [table for table in self._schema.tables if table.kind == "table"]
        if not tables:
            return ""
        table = self._rng.choice(tables)
        draw = self._rng.random()
        left = [name for name in table.indexes if name not in self._dropped]
        if draw < 0.2 and left:
            name = self._rng.choice(left)
            self._dropped.add(name)
            return f"DROP INDEX {name}"
        if draw < 0.45 and "analyze" in self._features:
            return "ANALYZE"
        return self._index(table) if "index" in self._features else ""

    def _index(self, table: Table) -> str:
        self._made += 1
        width = min(len(table.columns), self._rng.choice((1, 1, 2, 2, 3)))
        columns = self._rng.sample([column.name for column in table.columns], width)
        parts = (name + self._rng.choice(("", "", " DESC")) for name in columns)
        return f"CREATE INDEX g{self._made} ON {table.name} ({', '.join(parts)})"


def plan_of(answer: Answer) -> int:
    """A number for a plan, the same for plans that differ in names and numbers alone."""
    rows = [str(row[-1]) for row in answer[2]] if answer[2] else []
    return zlib.crc32("\n".join(_NAME.sub("…", row) for row in rows).encode(errors="replace"))
