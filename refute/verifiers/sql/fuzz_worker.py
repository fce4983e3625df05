"""What one process of a run does: a program by its number, or a closer look at a failure.

A unit of work depends on the plan, its number and the features alone, so that it is the same in
whatever process it runs, and after whatever else that process did. Every unit begins with an empty
database.
"""

from __future__ import annotations

import dataclasses
import functools
import random
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from refute.fuzz.sql.grammar import Grammar
from refute.fuzz.sql.nodes import everything
from refute.fuzz.sql.program import Program, program
from refute.fuzz.sql.queries import PRODUCTIONS
from refute.fuzz.sql.schema import Shape
from refute.fuzz.sql.text import Node, look
from refute.oracles.sql.partial.question import Case, Question
from refute.oracles.sql.partial.written import text_of, tree_of
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.fuzz_asking import Desk
from refute.verifiers.sql.fuzz_confirm import Looked, Looking
from refute.verifiers.sql.fuzz_dialect_profile import mixed
from refute.verifiers.sql.fuzz_failure import Failure, seed_of
from refute.verifiers.sql.fuzz_learn import Probe, Probed, Uses, probed
from refute.verifiers.sql.fuzz_oracles import opened
from refute.verifiers.sql.fuzz_own import OwnDesk, own_desk
from refute.verifiers.sql.fuzz_plan import Counts, Finding, Plan
from refute.verifiers.sql.fuzz_plans import Plans
from refute.verifiers.sql.fuzz_seeding import cases_of, schema_of
from refute.verifiers.sql.fuzz_seeds import SeedScript
from refute.verifiers.sql.fuzz_writing import dialect_of

CHUNK = 20  # queries that are asked together
MEASURED = 16  # one of so many queries is measured
EVERY = 2  # one of so many programs is on the database of a script, where some are given
CHANGING = 3  # questions of one oracle in a program that need a new database each


@dataclasses.dataclass(frozen=True)
class Unit:
    """A program to run. features: what it may use. number: below 0 for a script of the plan's."""

    number: int
    features: frozenset[str]


@dataclasses.dataclass(frozen=True)
class Look:
    """A failure to look into. features: of its program. met: the cases of causes that are known."""

    failure: Failure
    features: frozenset[str]
    met: tuple[Finding, ...] = ()


@dataclasses.dataclass
class Done:
    """What came of a unit.

    lost: why the engine could not go on, if it could not. gone: and it answered nothing at all.
    """

    number: int
    counts: Counts
    failures: list[Failure]
    uses: Uses = dataclasses.field(default_factory=Uses)
    plans: frozenset[int] = frozenset()
    lost: str = ""
    gone: bool = False
    version: str = ""


class Bench:
    """A process's own engine and oracles."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._desk: Desk | None = None
        self._looking: Looking | None = None
        self._own: OwnDesk | None = None
        self._own_looking: Looking | None = None
        self._plans: set[int] = set()  # of the last program
        self._grammar: tuple[frozenset[str], Grammar] | None = None

    def close(self) -> None:
        """Let the engine go."""
        if self._desk is not None:
            self._desk.close()
            self._desk = None
        if self._own is not None:
            self._own.close()
            self._own = None
        for looking in (self._looking, self._own_looking):
            if looking is not None:
                looking.close()
        self._looking = self._own_looking = None

    def do(self, task: Unit | Look | Probe) -> Any:
        """`Done` of a unit, `Looked` of a failure, `Probed`. Raises UsageError."""
        if isinstance(task, Probe):
            return self.probe(task)
        return self.unit(task) if isinstance(task, Unit) else self.look(task)

    def probe(self, task: Probe) -> Probed:
        """What the engine has. Raises EngineLost, UsageError."""
        desk = self._opened(Counts())
        return probed(desk, task.features)

    def look(self, task: Look) -> Looked:
        """What comes of a closer look at a failure."""
        if task.failure.own:
            return self._own_look(task.failure)
        desk = self._opened(Counts())
        desk.program = task.failure.program
        if self._looking is None:
            self._looking = Looking(desk, self.plan.choice.engine, self.plan.seed)
        before = functools.partial(self._before, features=task.features)
        return self._looking.look(task.failure, before, task.met)

    def unit(self, unit: Unit) -> Done:
        """Run a program. Raises UsageError for an engine that is not there."""
        done = Done(unit.number, Counts(), [])
        before = time.process_time()
        desk = self._opened(done.counts)
        self._plans = set()
        cpu = float(getattr(desk.engine, "cpu_s", 0.0))
        try:
            self._program(desk, unit, uses=done.uses)
            done.counts.programs += 1
        except EngineLost as error:
            done.lost = str(error)
        done.failures = desk.failures
        done.plans = frozenset(self._plans)
        done.version = str(getattr(desk.engine, "version", ""))
        done.counts.cpu_s += time.process_time() - before
        done.counts.cpu_s += float(getattr(desk.engine, "cpu_s", 0.0)) - cpu
        if done.lost:
            self.close()
        done.gone = bool(done.lost) and not done.counts.held
        return done

    def _program(
        self, desk: Desk, unit: Unit, last: int | None = None, uses: Uses | None = None
    ) -> None:
        """Run a program, or its queries up to the place `last`."""
        desk.program = unit.number
        if unit.number < 0:
            script = self.plan.seeds[-1 - unit.number]
            self._script(desk, script)
            self._own_script(desk, script)
            return
        made = self._made(unit)
        desk.begin(made.setup)
        names = [table.name for table in made.schema.tables]
        desk.ask(_whole_tables(desk, names))
        if any(failure.place < 0 for failure in desk.failures):
            return  # tables differ, and so would what is asked of them
        try:
            self._queries(desk, unit, made, last)
        finally:
            if uses is not None:
                _measure(desk, unit, made, uses)

    def _queries(self, desk: Desk, unit: Unit, made: Program, last: int | None) -> None:
        """Ask the queries, the last of them at the place `last`."""
        changing: list[tuple[Case, Question]] = []
        queries = made.queries[: None if last is None else last + 1]
        rng = random.Random(f"{self.plan.seed}/{unit.number}/plans")
        plans = Plans(desk.dialect, made.schema, rng, unit.features)
        for start in range(0, len(queries), CHUNK):
            chunk = queries[start : start + CHUNK]
            desk.counts.queries += len(chunk)
            cases = self._cases(desk, unit, chunk, start)
            changing += desk.ask(cases)
            if self.plan.guided and start + CHUNK < len(queries):
                self._guide(desk, plans, cases)
        self._plans = plans.found
        if last is None:
            self._change(desk, changing)

    def _guide(self, desk: Desk, plans: Plans, cases: Sequence[tuple[int, Case]]) -> None:
        """Look at some plans, and change the database where they are no news."""
        desk.explained(plans, cases)
        statement = plans.change()
        if statement:
            desk.extend(statement)

    def _script(self, desk: Desk, script: SeedScript) -> None:
        """Ask everything about the queries of a script, each on the database before it."""
        first = 0
        for setup, queries in cases_of(list(script.cases())):
            desk.begin(setup)
            schema = schema_of(setup)
            names = [table.name for table in schema.tables] if schema is not None else []
            changing = desk.ask(_whole_tables(desk, names))
            cases = []
            for place, query in enumerate(queries, first):
                if not desk.says_nothing(query):
                    seed = seed_of(self.plan.seed, 0, place)
                    cases.append((place, Case(desk.setup, tree_of(query), seed, desk.dialect)))
            first += len(queries)
            desk.counts.queries += len(queries)
            changing += desk.ask(cases)
            self._change(desk, changing)

    def _own_script(self, desk: Desk, script: SeedScript) -> None:
        """Ask about the queries of a script as they stand, where that is another dialect."""
        own = self._own_opened()
        if own is None:
            return
        own.counts, own.failures, own.losses = desk.counts, [], 0
        own.program = desk.program
        first = 0
        for setup, queries in cases_of(list(script.cases())):
            own.begin(setup)
            cases = []
            for place, query in enumerate(queries, first):
                if not own.says_nothing(query):
                    cases.append((place, own.case(query, seed_of(self.plan.seed, 0, place))))
            first += len(queries)
            accepted = own.counts.accepted  # of the queries, which were counted before
            self._change(own, own.ask(cases))
            own.counts.accepted = accepted
        desk.failures += [dataclasses.replace(failure, own=True) for failure in own.failures]

    def _own_look(self, failure: Failure) -> Looked:
        """What comes of a closer look at a failure of a script as it stands."""
        own = self._own_opened()
        if own is None:
            return Looked(None, "the script is in SQLite's dialect")
        own.counts, own.program = Counts(), failure.program
        if self._own_looking is None:
            self._own_looking = Looking(own, self.plan.choice.engine, self.plan.seed)
        return self._own_looking.look(failure, lambda _: ())

    def _own_opened(self) -> OwnDesk | None:
        if self._own is None:
            self._own = own_desk(self.plan)
        return self._own

    def _made(self, unit: Unit) -> Program:
        plan = self.plan
        grammar = self._grammar_of(unit.features)
        if plan.seeds and unit.number % EVERY == 0:
            script = plan.seeds[unit.number // EVERY % len(plan.seeds)]
            setup = list(script.cases())[-1][0]
            schema = schema_of(setup)
            if schema is not None:
                trees = tuple(map(tree_of, setup))
                return Program(unit.number, schema, trees, plan.seed, grammar, plan.queries)
        shape = Shape(unit.features, plan.tables, plan.rows)
        return program(plan.seed, unit.number, shape, grammar, plan.queries)

    def _cases(
        self, desk: Desk, unit: Unit, queries: Sequence[Node], start: int
    ) -> list[tuple[int, Case]]:
        cases = []
        for place, query in enumerate(queries, start):
            if place % MEASURED == 0:
                desk.counts.sizes[len(everything(query))] += 1
            seed = seed_of(self.plan.seed, unit.number, place)
            cases.append((place, Case(desk.setup, query, seed, desk.dialect)))
        return cases

    def _change(self, desk: Desk, changing: Sequence[tuple[Case, Question]]) -> None:
        """Ask a few of the questions that each change a database of their own."""
        asked: Counter[str] = Counter()
        setup = desk.setup
        for case, question in changing:
            asked[question.oracle] += 1
            if asked[question.oracle] > CHANGING:
                desk.counts.not_asked += 1
                continue
            counts, desk.counts = desk.counts, Counts()  # the setup was counted before
            broken = len(desk.failures)
            desk.begin(setup)
            del desk.failures[broken:]
            desk.counts = counts
            accepted = counts.accepted  # of its query, which was counted before
            desk.ask_alone([(case, question)])
            counts.accepted = accepted

    def _before(self, failure: Failure, features: frozenset[str]) -> Sequence[str]:
        """The statements that its program asks before a failure, in SQLite's dialect."""
        desk = self._opened(Counts())
        desk.log = []
        try:
            self._program(desk, Unit(failure.program, features), max(failure.place, 0))
        except EngineLost:
            return ()
        finally:
            log, desk.log = desk.log, None
        earlier = [one for one in log if one.place < failure.place]
        statements = [s for one in earlier for s in (*one.question.statements, *one.question.undo)]
        return [s if isinstance(s, str) else text_of(s) for s in statements]

    def _opened(self, counts: Counts) -> Desk:
        if self._desk is None:
            self._desk = Desk(self.plan.choice, opened(self.plan.oracles), counts)
        self._desk.counts = counts
        self._desk.failures = []
        self._desk.refused, self._desk.ended = set(), set()
        self._desk.losses = 0
        return self._desk

    def _grammar_of(self, features: frozenset[str]) -> Grammar:
        if self._grammar is None or self._grammar[0] != features:
            apart = not mixed(dialect_of(self.plan.choice))
            self._grammar = features, Grammar(PRODUCTIONS, features, mixed=not apart)
        return self._grammar[1]


def _whole_tables(desk: Desk, names: Sequence[str]) -> list[tuple[int, Case]]:
    """Queries that show each table, at places below 0."""
    cases = []
    for place, name in enumerate(names):
        tree = _whole_table(name)
        if tree is not None:
            cases.append((-1 - place, Case(desk.setup, tree, place, desk.dialect)))
    return cases


@functools.lru_cache(maxsize=256)
def _whole_table(name: str) -> Node | None:
    """The query that shows a table; None where its name needs quotes."""
    sql = f"SELECT * FROM {name}"
    return None if look(sql) is None else tree_of(sql)


def _measure(desk: Desk, unit: Unit, made: Program, uses: Uses) -> None:
    """Note of some statements which features they have, and whether they were refused."""
    for place in range(0, len(made.queries), MEASURED):
        uses.note(made.queries[place], refused=place in desk.refused)
    for place in sorted(desk.ended):
        uses.note_end(made.queries[place])
    if unit.number % MEASURED == 0:
        taken = set(desk.setup)
        for tree in made.setup:
            uses.note(tree, refused=text_of(tree) not in taken)
