"""A run of the SQL fuzzer: programs by number, shared among processes, and what came of them.

Results are taken in the order of the programs' numbers, so that a run says the same however many
processes it has: which failures are looked into, and what counts as met before, depends on the
numbers alone. Time only cuts it short.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections import deque
from pathlib import Path
from typing import Any

from refute.errors import RefuteError, UsageError
from refute.specs.sql import FEATURES
from refute.verifiers.sql.fuzz_causes import Causes
from refute.verifiers.sql.fuzz_confirm import Looked
from refute.verifiers.sql.fuzz_failure import Failure
from refute.verifiers.sql.fuzz_learn import Learner, Probe, Probed
from refute.verifiers.sql.fuzz_oracles import chosen
from refute.verifiers.sql.fuzz_plan import (
    Counts,
    Finding,
    FuzzRun,
    KnownBugs,
    NothingKnown,
    Plan,
    Progress,
    Quiet,
)
from refute.verifiers.sql.fuzz_processes import team_of
from refute.verifiers.sql.fuzz_state import State, held, load, save
from refute.verifiers.sql.fuzz_worker import Bench, Done, Look, Unit
from refute.verifiers.sql.processes import ProcessDied, Team

__all__ = [
    "Counts",
    "Finding",
    "FuzzRun",
    "KnownBugs",
    "NothingKnown",
    "Plan",
    "Progress",
    "Quiet",
    "fuzz",
]

TICK_S = 1.0
WAIT_S = 0.2
SAVE_S = 5.0
GRACE_S = 30.0  # after the end, to look into failures
MOST_WAITING = 5_000  # failures that nobody has looked at, while which no program is begun
GONE = 5  # programs in a row that the engine did not get through


def fuzz(plan: Plan, progress: Progress | None = None, state: Path | None = None) -> FuzzRun:
    """Run the plan. state: a directory where the run is kept, and goes on if it was begun there.

    Raises UsageError for an engine or oracle that is not there, and for a state that is of no use.
    """
    chosen(plan.oracles)
    loop = _Loop(plan, progress or Quiet(), state)
    with held(state), team_of(functools.partial(Bench, plan), plan.jobs) as team:
        return loop.run(team)


class _Loop:
    def __init__(self, plan: Plan, progress: Progress, state: Path | None) -> None:
        self._plan = plan
        self._progress = progress
        self._state = state
        self._began = self._saved = self._ended = time.monotonic()
        self._told = 0.0
        self._counts = Counts()
        self._causes = Causes()
        self._learner = Learner(frozenset(), {})
        self._plans: set[int] = set()
        self._probed = False  # whether it is known what the engine has
        self._failures: deque[Failure] = deque()
        self._done: dict[int, Done] = {}
        self._given = 0  # which unit comes next: first the scripts, then the programs
        self._taken = 0  # which unit's result is taken next
        self._in_work = 0
        self._looking = False
        self._wanted = False  # a look at the first failure was decided before
        self._looked_s, self._unit_s = 0.0, 0.0  # wall seconds, to be fair to both
        self._since: dict[int, float] = {}
        self._lost_in_a_row = 0
        self._version = ""
        self._notes: list[str] = []

    def run(self, team: Team[Any, Any]) -> FuzzRun:
        """Until programs or time are used up."""
        stopped = ""
        try:
            if not self._resumed():
                self._probe(team)
            while not stopped or self._finishing():
                stopped = stopped or self._stops()
                if not stopped:
                    self._ended = time.monotonic()
                self._give_looks(team, going=not stopped)
                if not stopped:
                    self._give_units(team)
                for task, came in team.ended(WAIT_S):
                    self._in_work -= 1
                    self._came(task, came)
                self._take()
                self._tick()
                if not stopped and not self._in_work and not self._more() and not self._failures:
                    stopped = "programs"
        except KeyboardInterrupt:
            stopped = "interrupted"
        self._save()
        return self._made(stopped)

    def _resumed(self) -> bool:
        """Take up a run that was begun before, if there is one."""
        found = load(self._state, self._plan) if self._state is not None else None
        if found is None:
            return False
        self._given = self._taken = found.taken
        self._counts, self._causes, self._learner = found.counts, found.causes, found.learner
        self._failures.extend(found.pending)
        self._plans = set(found.plans)
        self._version, self._notes = found.version, list(found.notes)
        self._probed, self._wanted = True, found.looking
        return True

    def _save(self) -> None:
        if self._state is not None and self._probed:
            state = State(
                self._taken,
                self._counts,
                self._causes,
                self._learner,
                list(self._failures),
                self._version,
                tuple(self._notes),
                self._looking,
                tuple(sorted(self._plans)),
            )
            save(self._state, self._plan, state)
            self._saved = time.monotonic()

    def _probe(self, team: Team[Any, Any]) -> None:
        """Ask first which features the engine has."""
        chosen = frozenset(FEATURES if self._plan.features is None else self._plan.features)
        team.give(Probe(chosen))
        while not (ended := team.ended(WAIT_S)):
            self._tick()
        [(_, came)] = ended
        if isinstance(came, RefuteError):
            raise came
        probed = came if isinstance(came, Probed) else Probed({}, [])
        if not isinstance(came, Probed):
            self._notes.append(f"the smallest statements of each feature were not answered: {came}")
        self._learner = Learner(chosen, probed.refused)
        self._probed = True
        self._failures.extend(probed.failures)

    def _made(self, stopped: str) -> FuzzRun:
        self._counts.features_refused = dict(self._learner.refused)
        return FuzzRun(
            self._counts,
            tuple(self._known(finding) for finding in self._causes.findings),
            stopped,
            pending=len(self._failures),
            next=max(self._plan.first, self._number(self._taken)),
            version=self._version,
            notes=tuple(self._notes),
        )

    def _finishing(self) -> bool:
        """Whether to go on after the end, for what was met and not looked into yet."""
        grace = GRACE_S if self._plan.time_s is None else min(GRACE_S, max(5.0, self._plan.time_s))
        if time.monotonic() > self._ended + grace:
            return False
        return self._looking or bool(self._failures)

    def _stops(self) -> str:
        if self._plan.time_s is not None and time.monotonic() - self._began > self._plan.time_s:
            return "time"
        return "engine gone" if self._lost_in_a_row >= GONE else ""

    def _more(self) -> bool:
        """Whether there are programs to give."""
        most = self._plan.programs
        return most is None or self._given < len(self._plan.seeds) + most

    def _number(self, unit: int) -> int:
        """The number of a unit's program; below 0 for scripts."""
        scripts = len(self._plan.seeds)
        return -1 - unit if unit < scripts else self._plan.first + unit - scripts

    def _unit_of(self, number: int) -> int:
        """The unit of a program or, below 0, a script."""
        scripts = len(self._plan.seeds)
        return -1 - number if number < 0 else number - self._plan.first + scripts

    def _unit_with(self, failure: Failure) -> int:
        """The unit that a failure is of; of a probe's, one whose features are known."""
        return min(max(0, self._unit_of(failure.program)), self._taken)

    def _give_looks(self, team: Team[Any, Any], *, going: bool) -> None:
        """Have the next failure looked into that is worth it."""
        behind = going and self._plan.jobs == 1 and self._looked_s > self._unit_s and self._more()
        while not self._looking and self._failures and team.room and not behind:
            if not self._wanted and not self._causes.wants(self._failures[0]):
                self._failures.popleft()
                continue
            self._wanted = False
            self._looking = True
            failure = self._failures[0]
            features = self._learner.features(self._unit_with(failure))
            self._give_one(team, Look(failure, features, self._causes.forms))

    def _give_units(self, team: Team[Any, Any]) -> None:
        """Begin programs."""
        while team.room and self._more() and self._may_begin():
            features = self._learner.features(self._given)
            self._give_one(team, Unit(self._number(self._given), features))
            self._given += 1

    def _give_one(self, team: Team[Any, Any], task: Unit | Look) -> None:
        self._since[id(task)] = time.monotonic()
        self._in_work += 1
        team.give(task)

    def _may_begin(self) -> bool:
        return len(self._failures) < MOST_WAITING and self._learner.ready(self._given)

    def _came(self, task: Unit | Look, came: Any) -> None:
        took = time.monotonic() - self._since.pop(id(task))
        if isinstance(task, Unit):
            self._unit_s += took
        else:
            self._looked_s += took
        ended = isinstance(came, ProcessDied)
        if isinstance(came, UsageError) and self._probed:
            came = ProcessDied(came.message)  # it was there: a server that does not come back
        if isinstance(came, ProcessDied):
            how = str(came)
            came = Looked(None, f"the process that looked at it died: {how}", varies=True)
            if isinstance(task, Unit):
                lost = f"program {task.number} ended the process that ran it ({how})"
                unfinished = Counts(unfinished=int(ended))
                why = lost if ended else came.why
                came = Done(task.number, unfinished, [], lost=why, gone=True)
        elif isinstance(came, Exception):
            raise came
        if isinstance(task, Unit):
            self._done[task.number] = came
        else:
            self._looked(task.failure, came)

    def _take(self) -> None:
        """Take what came, in the order of numbers."""
        while (number := self._number(self._taken)) in self._done:
            done = self._done.pop(number)
            self._learner.take(self._taken, done.uses)
            self._taken += 1
            self._counts.add(done.counts)
            self._plans |= done.plans
            self._counts.plans = len(self._plans)
            self._version = done.version or self._version
            self._lost_in_a_row = self._lost_in_a_row + 1 if done.gone else 0
            if done.lost and done.lost not in self._notes:
                self._notes.append(done.lost)
            self._failures.extend(done.failures)

    def _looked(self, failure: Failure, looked: Looked) -> None:
        self._looking = False
        self._failures.popleft()
        if looked.finding is None:
            self._counts.unconfirmed += looked.varies
            self._counts.open[looked.why] += 1
            self._causes.gave_nothing(failure)
            return
        unit = self._unit_with(failure)
        found = dataclasses.replace(looked.finding, without=self._learner.dropped(unit))
        finding = self._causes.take(found, failure.oracle, looked.like)
        if finding is not None:
            self._progress.found(self._known(finding))

    def _known(self, finding: Finding) -> Finding:
        return dataclasses.replace(finding, known=self._plan.known.match(finding))

    def _tick(self) -> None:
        now = time.monotonic()
        if now - self._told >= TICK_S:
            self._told = now
            if now - self._saved >= SAVE_S:
                self._save()
            self._progress.tick(self._counts, len(self._causes.all), now - self._began)
