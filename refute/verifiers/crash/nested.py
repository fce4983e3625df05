"""Recovery that crashes itself, and what happens after a recovery.

Recovery's own writes are a recording like any other: they get crash states too, and the second
recovery must end where the first one did. Images that need recovering also serve as places where
operations start, because a recovery may leave the disk right and itself wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refute.oracles.device import Event
from refute.verifiers.crash.explore import Explorer
from refute.verifiers.crash.judge import Story
from refute.verifiers.crash.recording import Base, case_of
from refute.verifiers.crash.recovery import Delta, Recovered
from refute.verifiers.crash.states import Crash, crashes, image

UNCLEAN = 12  # images after which operations are tried

_Waiting = tuple[Story, Crash, Crash, int, int, bool]


def recovery(explorer: Explorer) -> None:
    """Crash each recovery again at its own writes, once for each distinct log. Raises Stop."""
    waiting: list[_Waiting] = []
    for fingerprint, story, crash, recovered in distinct(explorer):
        base = story.run.base
        delta = image(base.blocks, story.run.events, crash)
        for again, inside in inner_crashes(base, delta, recovered):
            inner = explorer.recovery.fingerprint(base, inside)
            explorer.recovery.ask(base, inside, inner)
            whole = again.point == len(recovered.log) and not again.lost and not again.torn
            waiting.append((story, crash, again, fingerprint, inner, whole))
        if explorer.recovery.full:
            explorer.check()
            explorer.recovery.settle()
            _judge(explorer, waiting)
            waiting = []
    explorer.recovery.settle()
    _judge(explorer, waiting)


def distinct(explorer: Explorer) -> Iterator[tuple[int, Story, Crash, Recovered]]:
    """One crash state for each distinct log of recovery's writes."""
    done: set[tuple[tuple[int, bytes], ...]] = set()
    for fingerprint, (story, crash) in list(explorer.origin.items()):
        recovered = explorer.recovery.results[fingerprint]
        if recovered.log and recovered.log not in done and not recovered.seen.failure:
            done.add(recovered.log)
            yield fingerprint, story, crash, recovered


def _judge(explorer: Explorer, waiting: Sequence[_Waiting]) -> None:
    for story, crash, again, outer, inner, whole in waiting:
        explorer.counts.nested += 1
        explorer.counts.states += 1
        before = explorer.recovery.results[outer]
        after = explorer.recovery.results[inner]
        violation = explorer.subject.judge.nested(
            story, crash.point, before.seen, after.seen, whole, after.problems
        )
        if violation is not None:
            explorer.violate(violation, story.run, case_of(story.run, "recovery", crash, again))


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


def unclean(explorer: Explorer) -> Iterator[Base]:
    """Images that need recovering, spread evenly over the search, as places to start from."""
    found = [
        (story, crash, recovered.seen)
        for _, story, crash, recovered in distinct(explorer)
        if story.run.fault is None and story.run.base.prior is None
    ]
    step = max(1, len(found) // UNCLEAN)
    for number, (story, crash, seen) in enumerate(found[::step][:UNCLEAN]):
        base = explorer.subject.crashed(f"crash {number}", story, crash, seen)
        if base is not None:
            yield base
