"""The search: recordings of all short sequences, their crash states, faults, and longer samples.

Cheap and telling work first: all sequences with every prefix of their writes, then single lost and
torn writes, faults, crashes inside recovery, pairs, all subsets, and sampled sequences. Equal
images are recovered once, whatever sequence they come from; each is judged by the promises of the
sequence and the point where it occurs.

An operation that fails is the last of an enumerated sequence; samples go on after failures.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence

from refute.budget import Budget, derive_seed
from refute.fuzz.operations import Operation, Operations, filesystem_alphabet, sample
from refute.oracles.device import FAULTS, Event, Fault
from refute.verifiers.crash.cases import Case
from refute.verifiers.crash.judge import Story, Violation
from refute.verifiers.crash.recording import Base, Run
from refute.verifiers.crash.recovery import Delta, Recovered, Recovery
from refute.verifiers.crash.states import LEVELS, Crash, crashes, image
from refute.verifiers.crash.subject import Subject

PATIENCE = 4000  # crash states that are still tried for other properties after the first violation


class Stop(Exception):
    """The search ends here; the message says why."""


@dataclasses.dataclass
class Found:
    """A violation: the case, where it was seen, and what was seen."""

    case: Case
    violation: Violation
    run: Run
    unstable: bool = False


@dataclasses.dataclass
class Counts:
    """How much was done."""

    sequences: int = 0
    states: int = 0
    images: int = 0
    faults: int = 0
    nested: int = 0
    samples: int = 0
    repeated: int = 0


class Explorer:
    """One search for all wanted properties of a subject.

    After `search`: found (property → first violation), complete (stages that were finished),
    stopped (why it ended early, or ""), counts, notes (what the scope leaves out).
    """

    def __init__(
        self,
        subject: Subject,
        wanted: Iterable[str],
        budget: Budget,
        progress: Callable[[str], None],
        spent: Callable[[], float],
    ) -> None:
        self.subject = subject
        self.configuration = subject.configuration
        self.wanted = set(wanted)
        self.found: dict[str, Found] = {}
        self.complete: list[str] = []
        self.stopped = ""
        self.notes: list[str] = []
        self.counts = Counts()
        self.recovery = Recovery(
            subject.name, subject.configuration, subject.open_worker, subject.open_spec
        )
        self.origin: dict[int, tuple[Story, Crash]] = {}
        self._budget = budget
        self._clock = budget.clock()
        self._progress = progress
        self._spent = spent
        self._waiting: list[tuple[Story, Crash, int]] = []
        self._stories: list[Story] = []
        self._deadline: int | None = None
        self._flushes = self.configuration.persistence == "block"

    def search(self) -> None:
        """Do all stages, until everything is refuted, finished, or the budget is spent."""
        try:
            bases = self._bases()
            self._stage("prefixes", lambda: self._enumerate(bases))
            self._stage("single", lambda: self._level("single"))
            self._stage("faults", self._faults)
            self._stage("recovery", self._nested)
            self._stage("pairs", lambda: self._level("pairs"))
            self._stage("subsets", lambda: self._level("subsets"))
            self._stage("samples", lambda: self._samples(bases))
        except Stop as stop:
            self.stopped = str(stop)

    def one(self, operations: Operations, faults: bool, nested: bool) -> None:
        """Everything about one sequence from the empty system, at all its points."""
        empty = self.subject.empty()[1]
        run = self.subject.recorder.record(empty, operations)
        story = self.subject.judge.story(run)
        for violation in self.subject.judge.live(story):
            self._violate(violation, run, Case(violation.property, (), operations))
        for level in LEVELS:
            self._crashes(story, level, first=0)
            self._settle()
        if faults:
            for index in range(-1, len(operations)):
                for fault in self._faults_in(empty, operations, index, {index}):
                    self.fault(empty, operations, fault, index)
            self._settle()
        if nested:
            self._nested()

    def _stage(self, name: str, work: Callable[[], None]) -> None:
        self._progress(f"crash: {name}, {self.counts.states} states so far")
        work()
        self._settle()
        self._repeat()
        self.complete.append(name)

    # Where sequences start.

    def _bases(self) -> list[Base]:
        formatted, empty = self.subject.empty()
        if formatted.error or formatted.broken:
            run = Run(empty, (), formatted, (), (), (0,), (), formatted)
            self._all(run, f"format failed: {formatted.text()}", "an empty system can be made")
        bases = [empty]
        for name, operations in self.subject.setups().items():
            self._add_base(bases, name, operations)
        if self.configuration.near_full:
            operations = self.subject.filling(empty)
            if operations:
                self._add_base(bases, "nearly full", operations)
            else:
                self.notes.append("no nearly full device: the subject does not count free blocks")
        return bases

    def _add_base(self, bases: list[Base], name: str, operations: Operations) -> None:
        run = self.subject.recorder.record(bases[0], operations)
        story = self.subject.judge.story(run)
        violations = self.subject.judge.live(story)
        for violation in violations:
            self._violate(violation, run, Case(violation.property, (), operations))
        base = None if violations else self.subject.start(name, run)
        if base is None:
            self.notes.append(f"nothing starts from {name!r}: its operations do not work")
        else:
            bases.append(base)

    # Exhaustive enumeration.

    def alphabet(self) -> tuple[Operation, ...]:
        """The operations that sequences are made of, simple ones first."""
        configuration = self.configuration
        if configuration.operations:
            return tuple(tuple(o) for o in configuration.operations)
        return filesystem_alphabet(
            configuration.names, configuration.sizes, configuration.block_size
        )

    def _enumerate(self, bases: Sequence[Base]) -> None:
        alphabet = self.alphabet()
        frontier = {base.name: [self._visit(base, (), None)] for base in bases}
        for depth in range(1, self.configuration.depth + 1):
            for base in bases:
                if depth > self.depth(base):
                    continue
                grown = []
                for parent in frontier[base.name]:
                    if parent is None:
                        continue
                    for operation in alphabet:
                        operations = (*parent.run.operations, operation)
                        grown.append(self._visit(base, operations, parent))
                frontier[base.name] = [s for s in grown if s is not None and _goes_on(s)]

    def depth(self, base: Base) -> int:
        """How long sequences from the base are; one less on a device that is nearly full."""
        depth = self.configuration.depth
        return max(1, depth - 1) if base.name == "nearly full" else depth

    def _visit(self, base: Base, operations: Operations, parent: Story | None) -> Story | None:
        self._check()
        run = self.subject.recorder.record(base, operations)
        self.counts.sequences += 1
        story = self.subject.judge.story(run)
        violations = self.subject.judge.live(story)
        for violation in violations:
            case = Case(violation.property, base.operations, operations)
            self._violate(violation, run, case)
        if run.mounted.error or run.mounted.broken:
            return None
        self._stories.append(story)
        self._crashes(story, "prefixes")
        return None if violations else story

    def _level(self, level: str) -> None:
        for story in self._stories:
            self._crashes(story, level)

    def _crashes(self, story: Story, level: str, first: int | None = None) -> None:
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
            self._check()
            self._settle()

    def _settle(self) -> None:
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
            case = self._case(story, violation.property, crash)
            self._violate(violation, run, case)

    def _case(self, story: Story, prop: str, crash: Crash, again: Crash | None = None) -> Case:
        run = story.run
        return Case(
            property=prop,
            setup=run.base.operations,
            operations=run.operations,
            fault=run.fault,
            crash=crash,
            again=again,
            watch=run.watch if run.fault is not None else None,
        )

    # Faults.

    def _faults(self) -> None:
        for story in list(self._stories):
            if len(story.run.operations) <= self.configuration.fault_depth:
                for fault, operations in self.faults_of(story.run):
                    self._check()
                    self.fault(story.run.base, operations, fault, len(story.run.operations) - 1)

    def faults_of(self, run: Run) -> Iterator[tuple[Fault, Operations]]:
        """Every fault of the last operation (or the mount) and of the sync that follows it."""
        sync = self.subject.sync()
        probes = () if sync is None else (sync, sync)
        operations = (*run.operations, *probes)
        last = len(run.operations) - 1
        for fault in self._faults_in(run.base, operations, last, {last, last + 1}):
            yield fault, operations

    def _faults_in(
        self, base: Base, operations: Operations, watch: int, where: set[int]
    ) -> Iterator[Fault]:
        """Every fault of a device call made by the operations with these indices."""
        calls = self.subject.recorder.record(base, operations, watch=watch).calls
        for number, (kind, index) in enumerate(calls):
            if index in where:
                for name in FAULTS[kind]:
                    yield Fault(number, name)

    def fault(self, base: Base, operations: Operations, fault: Fault, watch: int) -> Story:
        """Record the operations with the fault and judge everything about it."""
        run = self.subject.recorder.record(base, operations, fault, watch)
        self.counts.faults += 1
        story = self.subject.judge.story(run)
        for violation in self.subject.judge.live(story):
            case = Case(violation.property, base.operations, operations, fault, watch=watch)
            self._violate(violation, run, case)
        for level in ("prefixes", "single"):
            self._crashes(story, level, first=len(run.events))
        return story

    # Crashes inside recovery.

    def _nested(self) -> None:
        done: set[tuple[tuple[int, bytes], ...]] = set()
        waiting: list[tuple[Story, Crash, Crash, int, int, bool]] = []
        for fingerprint, (story, crash) in list(self.origin.items()):
            recovered = self.recovery.results[fingerprint]
            if not recovered.log or recovered.log in done or recovered.seen.failure:
                continue
            done.add(recovered.log)
            base = story.run.base
            delta = image(base.blocks, story.run.events, crash)
            for again, nested in inner_crashes(base, delta, recovered):
                inner = self.recovery.fingerprint(base, nested)
                self.recovery.ask(base, nested, inner)
                whole = again.point == len(recovered.log) and not again.lost and not again.torn
                waiting.append((story, crash, again, fingerprint, inner, whole))
            if self.recovery.full:
                self._check()
                self.recovery.settle()
                self._judge_nested(waiting)
                waiting = []
        self.recovery.settle()
        self._judge_nested(waiting)

    def _judge_nested(self, waiting: Sequence[tuple[Story, Crash, Crash, int, int, bool]]) -> None:
        for story, crash, again, outer, inner, whole in waiting:
            self.counts.nested += 1
            self.counts.states += 1
            before, after = self.recovery.results[outer], self.recovery.results[inner]
            violation = self.subject.judge.nested(
                story, crash.point, before.seen, after.seen, whole, after.problems
            )
            if violation is not None:
                case = self._case(story, "recovery", crash, again)
                self._violate(violation, story.run, case)

    # Samples.

    def _samples(self, bases: Sequence[Base]) -> None:
        alphabet = self.alphabet()
        model = self.subject.model
        count = min(self.configuration.samples, self._budget.cases)
        for number in range(count):
            self._check()
            seed = derive_seed(self._budget.seed, f"crash/{number}")
            base = bases[number % len(bases)]
            spread = max(1, self.configuration.sample_length - self.configuration.depth)
            length = self.configuration.depth + 1 + seed % spread

            def allowed(made: Operations, operation: Operation, base: Base = base) -> bool:
                return not model.step(model.after(made, base.state), operation)[0].error

            self._sample(base, sample(alphabet, length, seed, allowed), seed)

    def _sample(self, base: Base, operations: Operations, seed: int) -> None:
        run = self.subject.recorder.record(base, operations)
        self.counts.samples += 1
        story = self.subject.judge.story(run)
        for violation in self.subject.judge.live(story):
            case = Case(violation.property, base.operations, operations)
            self._violate(violation, run, case)
        for level in ("prefixes", "single"):
            self._crashes(story, level, first=0)
        sync = self.subject.sync()
        probes = () if sync is None else (sync, sync)
        watch = seed % len(operations)
        faults = list(self._faults_in(base, (*operations, *probes), watch, {watch}))
        if faults:
            self.fault(base, (*operations, *probes), faults[seed // 7 % len(faults)], watch)

    # Bookkeeping.

    def _repeat(self) -> None:
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
            case = self._case(story, "recovery", crash)
            self.found.setdefault("recovery", Found(case, violation, run, unstable=True))
        raise Stop("recovery of one image gave different results in different processes")

    def _all(self, run: Run, observed: str, expected: str) -> None:
        for prop in sorted(self.wanted):
            violation = Violation(prop, observed, expected)
            self._violate(violation, run, Case(prop, (), ()))
        raise Stop("the subject does not start")

    def _violate(self, violation: Violation, run: Run, case: Case) -> None:
        if violation.property in self.found or violation.property not in self.wanted:
            return
        self.found[violation.property] = Found(case, violation, run)
        self._progress(f"crash: {violation.property} seems broken: {violation.observed}")
        if self.wanted <= set(self.found):
            raise Stop("every property is broken")
        if self._deadline is None:
            self._deadline = max(2 * self.counts.states, PATIENCE)

    def _check(self) -> None:
        if self._deadline is not None and self.counts.states > self._deadline:
            names = ", ".join(sorted(self.found))
            raise Stop(f"the search ended early because {names} is already broken; mend that first")
        if self._clock.over:
            raise Stop("the wall clock's cap was reached")
        if self._spent() > self._budget.cpu_s:
            raise Stop(f"the budget of {self._budget.cpu_s:g} CPU seconds is spent")


def _goes_on(story: Story) -> bool:
    """Whether the last operation, if any, did its work."""
    return not story.run.results or not story.run.results[-1].error


def inner_crashes(base: Base, delta: Delta, recovered: Recovered) -> Iterator[tuple[Crash, Delta]]:
    """The crash states of a recovery's own writes, as differences to `base`."""
    blocks = list(base.blocks)
    for block, data in delta.items():
        blocks[block] = data
    events = log_events(recovered.log)
    for level in ("prefixes", "single"):
        for crash in crashes(events, 0, level, 0):
            yield crash, {**delta, **image(blocks, events, crash)}


def log_events(log: Sequence[tuple[int, bytes]]) -> list[Event]:
    """A recovery's writes and flushes as events."""
    return [Event("write" if b >= 0 else "flush", b, data, 0) for b, data in log]
