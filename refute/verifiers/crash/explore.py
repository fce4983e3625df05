"""The search's own bookkeeping: crash states asked for, judged, counted, and when to stop.

Equal images are recovered once, whatever sequence they come from; each is judged by the promises
of the sequence and the point where it occurs. What is explored, and in which order, is in `stages`.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator

from refute.budget import Budget
from refute.fuzz.operations import Operations
from refute.oracles.device import Fault
from refute.plain import Plain
from refute.verifiers.crash.cases import Case
from refute.verifiers.crash.judge import Story, Violation
from refute.verifiers.crash.recording import Base, Run, case_of
from refute.verifiers.crash.recovery import Recovered, Recovery
from refute.verifiers.crash.states import Crash, crashes, image
from refute.verifiers.crash.subject import Subject

CHECK_CPU = 16  # CPU seconds are asked for once in so many checks; asking costs a system call
# Crash states still tried for other properties after the first violation: few when its sequence is
# as short as any, more when another property may break in a shorter one.
PATIENCE = {True: 300, False: 900}


class Stop(Exception):
    """The search ends here; the message says why."""


@dataclasses.dataclass
class Found:
    """A violation: the case, where it was seen, and what was seen.

    minimal: no shorter sequence was left untried. unstable: recovery differed between processes.
    """

    case: Case
    violation: Violation
    run: Run
    minimal: bool = False
    unstable: bool = False


@dataclasses.dataclass
class Counts:
    """How much was done."""

    sequences: int = 0
    states: int = 0
    images: int = 0
    faults: int = 0
    nested: int = 0
    continued: int = 0
    samples: int = 0
    repeated: int = 0


class Explorer:
    """One search for all wanted properties of a subject.

    After a search: found (property → first violation), complete (the stages that were finished,
    each with its states, new images and CPU seconds), stopped (why it ended early, or ""), counts,
    notes (what the scope leaves out).
    """

    def __init__(
        self,
        subject: Subject,
        wanted: Iterable[str],
        budget: Budget,
        progress: Callable[[str], None],
        spent: Callable[[], float],
        recovery: Recovery,
    ) -> None:
        self.subject = subject
        self.configuration = subject.configuration
        self.wanted = set(wanted)
        self.found: dict[str, Found] = {}
        self.complete: dict[str, dict[str, Plain]] = {}
        self.stopped = ""
        self.notes: list[str] = []
        self.counts = Counts()
        self.recovery = recovery
        self.origin: dict[int, tuple[Story, Crash]] = {}
        self.budget = budget
        self._clock = budget.clock()
        self.progress = progress
        self._spent = spent
        self._waiting: list[tuple[Story, Crash, int]] = []
        self.stories: list[Story] = []
        self._deadline: int | None = None
        self._checks = 0
        self._flushes = self.configuration.persistence == "block"

    def record(
        self,
        base: Base,
        operations: Operations,
        fault: Fault | None = None,
        watch: int | None = None,
    ) -> Story:
        """Record the operations and judge what happened without a crash."""
        run = self.subject.recorder.record(base, operations, fault, watch)
        story = self.subject.judge.story(run)
        story = dataclasses.replace(story, violations=tuple(self.subject.judge.live(story)))
        for violation in story.violations:
            self.violate(violation, run, case_of(story.run, violation.property, None))
        return story

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Note what the stage took, once it is finished."""
        states, images, cpu_s = self.counts.states, self.counts.images, self._spent()
        yield
        self.complete[name] = {
            "states": self.counts.states - states,
            "images": self.counts.images - images,
            "cpu_s": round(self._spent() - cpu_s, 2),
        }

    def crashes(self, story: Story, level: str, first: int | None = None) -> None:
        """Submit the crash states of one level, by default those of the last operation."""
        run = story.run
        start = run.last_mark if first is None else first
        for crash in crashes(run.events, start, level, self.configuration.subsets, self._flushes):
            self._submit(story, crash)

    def _submit(self, story: Story, crash: Crash) -> None:
        run = story.run
        delta = image(run.base.blocks, run.events, crash)
        fingerprint = self.recovery.fingerprint(run.base, delta)
        if self.recovery.ask(run.base, delta, fingerprint):
            self.origin[fingerprint] = (story, crash)
        self._waiting.append((story, crash, fingerprint))
        if self.recovery.full:
            self.check()
            self.settle()

    def settle(self) -> None:
        """Recover and judge everything that was submitted."""
        self.recovery.settle()
        self.counts.images = len(self.recovery.results)
        waiting, self._waiting = self._waiting, []
        for story, crash, fingerprint in waiting:
            self.counts.states += 1
            self._judge(story, crash, self.recovery.results[fingerprint])

    def _judge(self, story: Story, crash: Crash, recovered: Recovered) -> None:
        run = story.run
        if run.fault is None:
            violations = self.subject.judge.crash(story, crash.point, recovered.seen)
            prop = "structure"
        else:
            violations = self.subject.judge.faulted(story, recovered.seen)
            prop = "errors"
        if recovered.problems:
            violations.append(Violation(prop, recovered.problems, "a consistent structure"))
        for violation in violations:
            case = case_of(story.run, violation.property, crash)
            self.violate(violation, run, case)

    def repeat(self) -> None:
        """Recover a share of the images again in another process. Raises Stop if they differ."""
        different = self.recovery.again()
        self.counts.repeated = self.recovery.repeated
        if different is None:
            return
        fingerprint, recovered = different
        if fingerprint in self.origin:
            story, crash = self.origin[fingerprint]
            run = story.run
            violation = Violation(
                "recovery",
                f"in another process: {recovered.seen.text()}",
                f"the same as before: {self.recovery.results[fingerprint].seen.text()}",
            )
            case = case_of(story.run, "recovery", crash)
            self.found.setdefault("recovery", Found(case, violation, run, unstable=True))
        raise Stop("recovery of one image gave different results in different processes")

    def all(self, run: Run, observed: str, expected: str) -> None:
        """Everything is broken, because nothing works. Raises Stop."""
        for prop in sorted(self.wanted):
            violation = Violation(prop, observed, expected)
            self.violate(violation, run, Case(prop, (), ()))
        raise Stop("the subject does not start")

    def violate(self, violation: Violation, run: Run, case: Case) -> None:
        """Keep the first violation of each property. Raises Stop when all are broken."""
        if violation.property in self.found or violation.property not in self.wanted:
            return
        minimal = (
            case.setup == ()
            and case.prior is None
            and len(case.operations) <= self.configuration.depth
        )
        self.found[violation.property] = Found(case, violation, run, minimal)
        self.progress(f"crash: {violation.property} seems broken: {violation.observed}")
        if self.wanted <= set(self.found):
            raise Stop("every property is broken")
        if not self.budget.shrink:  # whoever wants no small case wants one refutation, no more
            raise Stop(f"the search ended at the first violation, of {violation.property}")
        if self._deadline is None:
            self._deadline = max(2 * self.counts.states, PATIENCE[minimal])

    def check(self) -> None:
        """Raises Stop when the budget is spent, or the patience after a violation."""
        if self._deadline is not None and self.counts.states > self._deadline:
            names = ", ".join(sorted(self.found))
            raise Stop(f"the search ended early because {names} is already broken; mend that first")
        if self._clock.over:
            raise Stop("the wall clock's cap was reached")
        self._checks += 1
        if self._checks % CHECK_CPU == 1 and self._spent() > self.budget.cpu_s:
            raise Stop(f"the budget of {self.budget.cpu_s:g} CPU seconds is spent")
