"""What one process of a run does: a program by its number, or a closer look at a failure.

A unit of work depends on the plan, its number and the features alone, so that it is the same in
whatever process it runs, and after whatever else that process did. Every unit begins with an empty
database.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Any

from refute.fuzz.sql.grammar import Grammar
from refute.fuzz.sql.program import program
from refute.fuzz.sql.queries import PRODUCTIONS
from refute.fuzz.sql.schema import Shape
from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.question import Case
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.fuzz_asking import Desk, Failure, seed_of
from refute.verifiers.sql.fuzz_confirm import looked_into
from refute.verifiers.sql.fuzz_oracles import opened
from refute.verifiers.sql.fuzz_plan import Counts, Finding, Plan

CHUNK = 20  # queries that are asked together
MEASURED = 8  # one of so many queries is measured


@dataclasses.dataclass(frozen=True)
class Unit:
    """A program to run. features: what it may use."""

    number: int
    features: frozenset[str]


@dataclasses.dataclass(frozen=True)
class Look:
    """A failure to look into."""

    failure: Failure


@dataclasses.dataclass
class Done:
    """What came of a unit. lost: why the engine could not go on, if it could not."""

    number: int
    counts: Counts
    failures: list[Failure]
    lost: str = ""
    version: str = ""


class Bench:
    """A process's own engine and oracles."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._desk: Desk | None = None
        self._grammar: tuple[frozenset[str], Grammar] | None = None

    def close(self) -> None:
        """Let the engine go."""
        if self._desk is not None:
            self._desk.close()
            self._desk = None

    def do(self, task: Unit | Look) -> Any:
        """`Done` of a unit; of a failure the finding, or None when it did not come again."""
        return self.unit(task) if isinstance(task, Unit) else self.look(task.failure)

    def look(self, failure: Failure) -> Finding | None:
        """The failure confirmed on fresh processes."""
        desk = self._opened(Counts())
        return looked_into(desk, failure, self.plan.seed)

    def unit(self, unit: Unit) -> Done:
        """Run a program. Raises UsageError for an engine that is not there."""
        counts = Counts()
        done = Done(unit.number, counts, [])
        before = time.process_time()
        desk = self._opened(counts)
        desk.program = unit.number
        cpu = float(getattr(desk.engine, "cpu_s", 0.0))
        try:
            self._program(desk, unit)
            counts.programs += 1
        except EngineLost as error:
            done.lost = str(error)
            self.close()
        done.failures = desk.failures
        done.version = str(getattr(desk.engine, "version", ""))
        counts.cpu_s += time.process_time() - before
        counts.cpu_s += float(getattr(desk.engine, "cpu_s", 0.0)) - cpu
        return done

    def _program(self, desk: Desk, unit: Unit) -> None:
        plan = self.plan
        shape = Shape(unit.features, plan.tables, plan.rows)
        made = program(plan.seed, unit.number, shape, self._grammar_of(unit.features), plan.queries)
        desk.begin(made.setup)
        queries = made.queries
        for start in range(0, len(queries), CHUNK):
            cases = self._cases(desk, unit, queries[start : start + CHUNK], start)
            desk.ask(cases)

    def _cases(self, desk: Desk, unit: Unit, queries: Sequence[Node], start: int) -> list[Case]:
        cases = []
        for place, query in enumerate(queries, start):
            if place % MEASURED == 0:
                desk.counts.sizes[sum(1 for _ in query.walk())] += 1
            seed = seed_of(self.plan.seed, unit.number, place)
            cases.append(Case(desk.setup, query, seed, desk.dialect))
        return cases

    def _opened(self, counts: Counts) -> Desk:
        if self._desk is None:
            self._desk = Desk(self.plan.choice, opened(self.plan.oracles), counts)
        self._desk.counts = counts
        self._desk.failures = []
        return self._desk

    def _grammar_of(self, features: frozenset[str]) -> Grammar:
        if self._grammar is None or self._grammar[0] != features:
            self._grammar = features, Grammar(PRODUCTIONS, features)
        return self._grammar[1]
