"""A closer look at a failure: does it come again, how small is it, and who says it is wrong?

It is asked alone, on a new database in a fresh process of the engine, twice. What breaks neither
time may need what was asked before it: its program is run again up to there. What breaks at times
is told as just that, with how often. What breaks always is reduced, and then asked again in fresh
processes; where the embedded SQLite is what speaks against the engine, another release of it is
asked, too, if one is installed. A case on which releases of SQLite differ is not held against
anybody.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence

from refute.oracles.sql.partial.question import Case
from refute.oracles.sql.partial.written import tree_of
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.conform_names import SQLITE
from refute.verifiers.sql.fuzz_asking import Desk
from refute.verifiers.sql.fuzz_causes_shape import alike, classes, shape_of
from refute.verifiers.sql.fuzz_failure import Failure
from refute.verifiers.sql.fuzz_oracles import made
from refute.verifiers.sql.fuzz_plan import Finding
from refute.verifiers.sql.fuzz_reduce import Reducer
from refute.verifiers.sql.fuzz_second import Opinion, SecondSQLite
from refute.verifiers.sql.fuzz_seeds_text import is_query

PIVOTED = "pqs"  # whose expected row the embedded SQLite computes
RUNS = 2  # in fresh processes
MORE_RUNS = 4  # where these differ
STATEMENTS = {SQLITE: 60_000}  # that a reduction may ask: one costs some 30 µs in process
SLOWER = 15_000  # in a worker of its own
START = {SQLITE: 0, "duckdb": 60}  # statements' worth of a new database
STARTS = 15  # in other engines
LOOK_S = 25.0  # wall seconds of a reduction, on a machine that is slower than the counts expect
LONGER_S = 45.0  # of one whose every success costs a process
RESTART = 300  # statements' worth of a process that died

Before = Callable[[Failure], Sequence[str]]
"""What was asked on the database before a failure, in SQLite's dialect."""


@dataclasses.dataclass(frozen=True)
class Looked:
    """What came of a look. finding: None when there is nothing to tell, and why.

    varies: it did not break again. like: the cause that the engine's answers tell it to be.
    """

    finding: Finding | None
    why: str = ""
    varies: bool = False
    like: str = ""


class Looking:
    """Looks into failures, with an engine and a second SQLite. seed: of the run."""

    def __init__(self, desk: Desk, engine: str, seed: int) -> None:
        self._desk = desk
        self._engine = engine
        self._seed = seed
        self._second = SecondSQLite()

    def close(self) -> None:
        """Let the second SQLite go."""
        self._second.close()

    def look(self, failure: Failure, before: Before, met: Sequence[Finding] = ()) -> Looked:
        """The finding of a failure. met: the cases of causes that are known."""
        plain = self._plain(failure)
        looked = self._looked(plain, before) if plain is not None else Looked(None)
        if looked.finding is None:
            looked = self._looked(failure, before)
        if looked.finding is None:
            return looked
        return dataclasses.replace(looked, like=self._like(looked.finding, met))

    def _plain(self, failure: Failure) -> Failure | None:
        """A statement of the question that SQLite answers otherwise, if there is one.

        Its case is simpler than the oracle's question, and the same whichever oracle asked.
        """
        if failure.oracle == SQLITE or failure.kind != "wrong" or self._engine == SQLITE:
            return None
        if SQLITE not in self._desk.oracles or self._desk.dialect != SQLITE:
            return None
        for sql in dict.fromkeys(failure.asked):
            if is_query(sql):
                other = self._again(dataclasses.replace(failure, oracle=SQLITE), failure.setup, sql)
                if other is not None:
                    return dataclasses.replace(other, program=failure.program, place=failure.place)
        return None

    def _like(self, finding: Finding, met: Sequence[Finding]) -> str:
        """The cause of which this case has all constructs, or the other way round, and breaks it.

        It is asked whether the oracle of the smaller case breaks on the larger one; where the two
        have one oracle, or the database is what is wrong, whether the smaller one's query breaks
        on the database of the larger one.
        """
        shape = shape_of(finding)
        for known in met:
            other = shape_of(known)
            if finding.kind != "wrong" or not alike(shape, other):
                continue
            small, large = sorted((finding, known), key=lambda f: len(classes(shape_of(f).words)))
            stored = any(word.startswith("setup ") for word in classes(shape_of(small).words))
            query = small.query if stored else large.query
            if not stored and small.oracle == large.oracle:
                continue
            if self._breaks(small, large.setup, query):
                return known.cause
        return ""

    def _breaks(self, finding: Finding, setup: Sequence[str], query: str) -> bool:
        """Whether the oracle of a finding breaks on another case, in the same way."""
        if finding.oracle not in self._desk.oracles:
            return False
        try:
            broken = self._desk.breaks(finding.oracle, setup, query, 0)
        except EngineLost:
            return False
        return any(failure.kind == finding.kind for failure in broken)

    def _looked(self, failure: Failure, before: Before) -> Looked:
        """The finding of a failure under its own oracle."""
        setup, alone = failure.setup, True
        seen = [self._again(failure, setup, failure.query, fresh=True) for _ in range(RUNS)]
        if not any(seen):
            setup = (*setup, *before(failure))
            alone = False
            seen = [self._again(failure, setup, failure.query, fresh=True) for _ in range(RUNS)]
            if not all(seen):
                setup = failure.setup
        if not all(seen):
            return self._flaky(failure, seen)
        setup, query = self._reduced(failure, setup)
        return self._told(failure, setup, query, alone=alone)

    def _again(
        self, failure: Failure, setup: Sequence[str], query: str, *, fresh: bool = False
    ) -> Failure | None:
        """The same case breaking in the same way once more."""
        try:
            broken = self._desk.breaks(failure.oracle, setup, query, failure.seed, fresh=fresh)
        except EngineLost:
            return None
        return next((other for other in broken if other.kind == failure.kind), None)

    def _flaky(self, failure: Failure, seen: list[Failure | None]) -> Looked:
        """Of what broke again at times, or not at all."""
        while len(seen) < MORE_RUNS:
            seen.append(self._again(failure, failure.setup, failure.query, fresh=True))
        times = sum(one is not None for one in seen)
        last = next((one for one in seen if one is not None), None)
        if last is None:
            return Looked(None, "it did not break again", varies=True)
        again = f"only {times} of {len(seen)} fresh processes: the engine's answer changes"
        return Looked(self._finding(failure, last, again))

    def _reduced(self, failure: Failure, setup: Sequence[str]) -> tuple[tuple[str, ...], str]:
        def breaks(setup: tuple[str, ...], query: str) -> bool:
            return self._again(failure, setup, query) is not None

        start = START.get(self._engine, STARTS)
        lost = failure.kind.startswith("lost")
        most = STATEMENTS.get(self._engine, SLOWER)
        until = time.monotonic() + (LONGER_S if lost else LOOK_S)
        reducer = Reducer(breaks, most, start, until, RESTART if lost else 0)
        return reducer.reduced(setup, failure.query)

    def _told(self, failure: Failure, setup: tuple[str, ...], query: str, *, alone: bool) -> Looked:
        """The reduced case, confirmed; where it does not hold, the case as it was met."""
        for case in ((setup, query), (failure.setup, failure.query)):
            seen = [self._again(failure, *case, fresh=True) for _ in range(RUNS)]
            last = seen[-1]
            if last is None or not all(seen):
                continue
            said = f"{RUNS} of {RUNS} fresh processes"
            opinion = self._opinion(last)
            if opinion is not None:
                if opinion.says == "differs":
                    return Looked(None, opinion.text)
                said = f"{said}; {opinion.text}"
            if not alone:
                said = f"{said}; after other statements only, which are part of the setup"
            return Looked(self._finding(failure, last, said))
        return Looked(None, "it broke in the same process only", varies=True)

    def _opinion(self, failure: Failure) -> Opinion | None:
        """What a second SQLite says where the embedded one speaks against the engine."""
        if failure.oracle == SQLITE:
            return self._second.opinion(failure.setup, failure.query)
        if failure.oracle == PIVOTED and self._desk.dialect == SQLITE:
            query = tree_of(failure.query)
            case = Case(failure.setup, query, failure.seed, SQLITE)
            return self._second.judged(made(PIVOTED), case, failure.asked)
        return None

    def _finding(self, first: Failure, last: Failure, confirmed: str) -> Finding:
        return Finding(
            oracle=last.oracle,
            setup=last.setup,
            query=last.query,
            asked_setup=last.asked_setup,
            asked=last.asked,
            expected=last.expected,
            observed=last.observed,
            why=last.why,
            seed=self._seed,
            program=first.program,
            kind=last.kind,
            first_setup=first.setup,
            first_query=first.query,
            confirmed=confirmed,
        )
