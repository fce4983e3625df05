"""What is explored, in which order: cheap and telling work first.

All short sequences with every prefix of their writes; single lost and torn writes; faults; crashes
inside recovery; operations after a recovery; pairs; all subsets; and longer sequences, sampled.

An operation that fails is the last of an enumerated sequence; samples go on after failures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from refute.budget import derive_seed
from refute.fuzz.operations import Operation, Operations, sample
from refute.oracles.device import FAULTS, Fault
from refute.verifiers.crash import nested
from refute.verifiers.crash.explore import Explorer, Stop
from refute.verifiers.crash.judge import Story
from refute.verifiers.crash.recording import Base, Result, Run
from refute.verifiers.crash.states import LEVELS


def search(explorer: Explorer) -> None:
    """Do all stages, until everything is refuted, finished, or the budget is spent."""
    try:
        starts = bases(explorer)
        stages: dict[str, Callable[[], None]] = {
            "prefixes": lambda: enumerate_all(explorer, starts),
            "single": lambda: _level(explorer, "single"),
            "faults": lambda: faults(explorer),
            "recovery": lambda: nested.recovery(explorer),
            "continued": lambda: continued(explorer),
            "pairs": lambda: _level(explorer, "pairs"),
            "subsets": lambda: _level(explorer, "subsets"),
            "samples": lambda: samples(explorer, starts),
        }
        for name, work in stages.items():
            explorer.progress(f"crash: {name}, {explorer.counts.states} states so far")
            with explorer.stage(name):
                work()
                explorer.settle()
                explorer.repeat()
    except Stop as stop:
        explorer.stopped = str(stop)


def one(explorer: Explorer, operations: Operations, with_faults: bool, again: bool) -> None:
    """Everything about one sequence from the empty system, at all its points. Raises Stop."""
    empty = explorer.subject.empty()[1]
    story = explorer.record(empty, operations)
    for level in LEVELS:
        explorer.crashes(story, level, first=0)
        explorer.settle()
    if with_faults:
        for index in range(-1, len(operations)):
            for fault in _faults_in(explorer, empty, operations, index, {index}):
                _fault(explorer, empty, operations, fault, index)
        explorer.settle()
    if again:
        nested.recovery(explorer)


def bases(explorer: Explorer) -> list[Base]:
    """Where sequences start. Raises Stop when there is no empty system."""
    subject = explorer.subject
    formatted, empty = subject.empty()
    if formatted.error or formatted.broken:
        run = Run(empty, (), formatted, (), (), (0,), (), Result(broken="not mounted"))
        explorer.all(run, f"format failed: {formatted.text()}", "an empty system can be made")
    starts = [empty]
    for name, operations in subject.setups().items():
        _add_base(explorer, starts, name, operations)
    if explorer.configuration.near_full or (
        explorer.configuration.near_full is None and explorer.configuration.filesystem
    ):
        operations = subject.filling(empty)
        if operations:
            _add_base(explorer, starts, "nearly full", operations)
        else:
            explorer.notes.append("no nearly full device: the subject does not count free blocks")
    return starts


def _add_base(explorer: Explorer, starts: list[Base], name: str, operations: Operations) -> None:
    story = explorer.record(starts[0], operations)
    base = None if story.violations else explorer.subject.start(name, story.run)
    if base is None:
        explorer.notes.append(f"nothing starts from {name!r}: its operations do not work")
    else:
        starts.append(base)


def enumerate_all(explorer: Explorer, starts: Sequence[Base]) -> None:
    """All sequences up to the depth, with every prefix of their writes."""
    alphabet = explorer.subject.alphabet()
    frontier = {base.name: _growing([_visit(explorer, base, ())]) for base in starts}
    for depth in range(1, explorer.configuration.depth + 1):
        for base in starts:
            if depth > _depth(explorer, base):
                continue
            frontier[base.name] = _growing(
                _visit(explorer, base, (*parent.run.operations, operation))
                for parent in frontier[base.name]
                for operation in alphabet
            )


def _depth(explorer: Explorer, base: Base) -> int:
    """How long sequences from the base are; one less on a device that is nearly full."""
    depth = explorer.configuration.depth
    return max(1, depth - 1) if base.name == "nearly full" else depth


def _visit(explorer: Explorer, base: Base, operations: Operations) -> Story:
    explorer.check()
    story = explorer.record(base, operations)
    explorer.counts.sequences += 1
    if not (story.run.mounted.error or story.run.mounted.broken):
        explorer.stories.append(story)
        explorer.crashes(story, "prefixes")
    return story


def _growing(stories: Iterator[Story] | list[Story]) -> list[Story]:
    """The sequences that longer ones are made of: nothing is wrong, the last operation worked."""
    return [
        story
        for story in stories
        if not story.violations
        and not story.run.mounted.error
        and not (story.run.results and story.run.results[-1].error)
    ]


def _level(explorer: Explorer, level: str) -> None:
    for story in list(explorer.stories):
        explorer.crashes(story, level)


def faults(explorer: Explorer) -> None:
    """Every fault at every device call of short sequences' last operation and the sync after it."""
    for story in list(explorer.stories):
        if len(story.run.operations) <= explorer.configuration.fault_depth:
            _faults_of(explorer, story)


def _faults_of(explorer: Explorer, story: Story) -> None:
    run = story.run
    last = len(run.operations) - 1
    worked = not run.results or not run.results[-1].error
    probes = explorer.subject.probes(run.operations[-1:])
    for number, probe in enumerate(probes or [()]):
        operations = (*run.operations, *probe, *probe)
        where = {last, last + 1} if worked else {last}
        if number and not worked:
            break
        for fault in _faults_in(explorer, run.base, operations, last, where, not number):
            if number and fault.kind == "ENOSPC":
                continue  # tried with the first probe; for the others EIO stands for both
            explorer.check()
            _fault(explorer, run.base, operations, fault, last)


def _faults_in(
    explorer: Explorer,
    base: Base,
    operations: Operations,
    watch: int,
    where: set[int],
    with_reads: bool = True,
) -> Iterator[Fault]:
    """Every fault of a device call made by the operations with these indices."""
    for reads in (False, True) if with_reads else (False,):
        run = explorer.subject.recorder.record(base, operations, watch=watch, reads=reads)
        for number, (kind, index) in enumerate(run.calls):
            if index in where:
                for name in FAULTS[kind]:
                    yield Fault(number, name, reads)


def _fault(
    explorer: Explorer, base: Base, operations: Operations, fault: Fault, watch: int
) -> None:
    """Record the operations with the fault and judge everything about it."""
    explorer.counts.faults += 1
    story = explorer.record(base, operations, fault, watch)
    for level in ("prefixes", "single"):
        explorer.crashes(story, level, first=len(story.run.events))


def continued(explorer: Explorer) -> None:
    """Each operation, with crashes, after a recovery that had something to do; faults in that."""
    alphabet = explorer.subject.alphabet()
    for base in nested.unclean(explorer):
        story = explorer.record(base, ())
        _faults_of(explorer, story)
        for operation in alphabet:
            if explorer.subject.model.step(base.state, operation)[0].error:
                continue
            explorer.check()
            story = explorer.record(base, (operation,))
            explorer.counts.continued += 1
            explorer.crashes(story, "prefixes")


def samples(explorer: Explorer, starts: Sequence[Base]) -> None:
    """Longer sequences, drawn by seed, each also once with a fault."""
    configuration, model = explorer.configuration, explorer.subject.model
    alphabet = explorer.subject.alphabet()
    for number in range(min(configuration.samples, explorer.budget.cases)):
        explorer.check()
        seed = derive_seed(explorer.budget.seed, f"crash/{number}")
        base = starts[number % len(starts)]
        spread = max(1, configuration.sample_length - configuration.depth)
        length = configuration.depth + 1 + seed % spread

        def allowed(made: Operations, operation: Operation, base: Base = base) -> bool:
            return not model.step(model.after(made, base.state), operation)[0].error

        _sample(explorer, base, sample(alphabet, length, seed, allowed), seed)


def _sample(explorer: Explorer, base: Base, operations: Operations, seed: int) -> None:
    story = explorer.record(base, operations)
    explorer.counts.samples += 1
    for level in ("prefixes", "single"):
        explorer.crashes(story, level, first=0)
    watch = seed % len(operations)
    probes = explorer.subject.probes(operations[-1:]) or [()]
    probe = probes[seed // 5 % len(probes)]
    whole = (*operations, *probe, *probe)
    drawn = list(_faults_in(explorer, base, whole, watch, {watch}))
    if drawn:
        _fault(explorer, base, whole, drawn[seed // 7 % len(drawn)], watch)
