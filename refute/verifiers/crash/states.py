"""Crash states: which writes had reached the device when the power failed.

A crash falls at a point of a recording (so many events happened). Of the writes not yet made
durable by a flush, called open, any may be lost and any may be torn. States come in levels, cheap
and telling ones first: prefixes; torn and single lost or kept writes; pairs; all subsets.

Each is placed at the earliest point where it can occur, where the fewest states are allowed, and
the last point of a recording is also tried with its own promises: a sync that returned without a
flush shows only there. Points before the last operation belong to the shorter recordings.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from refute.oracles.device import SECTOR, Event, torn
from refute.plain import Plain

LEVELS = ("prefixes", "single", "pairs", "subsets")


@dataclasses.dataclass(frozen=True)
class Crash:
    """point: events that happened before. lost: events whose write was lost.

    torn: (event, bits) when of one write only the sectors whose bit is set persisted.
    """

    point: int
    lost: frozenset[int] = frozenset()
    torn: tuple[int, int] | None = None

    def to_plain(self) -> dict[str, Plain]:
        """As plain data."""
        return {
            "point": self.point,
            "lost": sorted(self.lost),
            "torn": None if self.torn is None else list(self.torn),
        }

    @classmethod
    def from_plain(cls, data: Plain) -> Crash:
        """The inverse of `to_plain`."""
        return cls(data["point"], frozenset(data["lost"]), data["torn"] and tuple(data["torn"]))


def image(base: Sequence[bytes], events: Sequence[Event], crash: Crash) -> dict[int, bytes]:
    """The blocks that differ, or may differ, from `base` after the crash."""
    delta: dict[int, bytes] = {}
    for index in range(crash.point):
        event = events[index]
        if event.kind != "write" or not event.data or index in crash.lost:
            continue
        data = event.data
        if crash.torn is not None and crash.torn[0] == index:
            data = torn(delta.get(event.block, base[event.block]), data, crash.torn[1])
        delta[event.block] = data
    return delta


def open_writes(events: Sequence[Event], point: int, flushes: bool) -> list[int]:
    """The writes among the first `point` events that may be lost, oldest first.

    flushes: whether a flush makes writes durable at all. After a failed flush the writes that
    waited for it stay open for good.
    """
    suspect: list[int] = []
    waiting: list[int] = []
    for index in range(point):
        event = events[index]
        if event.kind == "write" and event.data:
            waiting.append(index)
        elif event.kind == "flush" and flushes:
            if event.fault:
                suspect += waiting
            waiting = []
    return suspect + waiting


def possible(events: Sequence[Event], crash: Crash, flushes: bool) -> bool:
    """Whether such a crash of these events can lose what it says: it may come from other code."""
    if crash.point > len(events):
        return False
    gone = {*crash.lost, *(() if crash.torn is None else crash.torn[:1])}
    return gone <= set(open_writes(events, crash.point, flushes))


def crashes(
    events: Sequence[Event], first: int, level: str, subsets: int, flushes: bool = True
) -> Iterator[Crash]:
    """The crash states of one level whose point lies after the event `first`.

    subsets: the most open writes of which all subsets are tried.
    """
    end = len(events)
    writes = [i for i in range(first, end) if events[i].kind == "write" and events[i].data]
    if level == "prefixes":
        yield from _prefixes(events, writes, end, flushes)
    elif level == "single":
        yield from _single(events, writes, end, flushes)
    else:
        for point, waiting in _epochs(events, first, end, flushes):
            if level == "pairs":
                for index, bits in itertools.product(waiting, (1, -2)):
                    yield Crash(point, torn=(index, bits))
                yield from _lose(point, waiting, itertools.combinations(waiting, 2), first)
                keeps = itertools.combinations(waiting, 2)
                yield from _lose(point, waiting, (set(waiting) - set(k) for k in keeps), first)
            elif len(waiting) <= subsets:
                every = (itertools.combinations(waiting, n) for n in range(3, len(waiting) - 2))
                yield from _lose(point, waiting, itertools.chain.from_iterable(every), first)


def _prefixes(
    events: Sequence[Event], writes: Sequence[int], end: int, flushes: bool
) -> Iterator[Crash]:
    for index in writes:
        yield Crash(index + 1)
    waiting = open_writes(events, end, flushes)
    for count in range(len(waiting) + 1):
        yield Crash(end, frozenset(waiting[len(waiting) - count :]))


def _single(
    events: Sequence[Event], writes: Sequence[int], end: int, flushes: bool
) -> Iterator[Crash]:
    for index in writes:
        sectors = len(events[index].data) // SECTOR
        for bits in _tears(sectors):
            yield Crash(index + 1, torn=(index, bits))
        waiting = open_writes(events, index + 1, flushes)
        for lost in waiting[:-1]:
            yield Crash(index + 1, frozenset({lost}))
        yield Crash(index + 1, frozenset(waiting[:-1]))
    waiting = open_writes(events, end, flushes)
    for index in waiting:
        yield Crash(end, frozenset({index}))
        yield Crash(end, frozenset(waiting) - {index})
        yield Crash(end, torn=(index, 1))


def _tears(sectors: int) -> list[int]:
    whole = (1 << sectors) - 1
    heads = [(1 << n) - 1 for n in range(1, sectors)]
    return list(dict.fromkeys(heads + [whole ^ head for head in heads]))


def _epochs(
    events: Sequence[Event], first: int, end: int, flushes: bool
) -> Iterator[tuple[int, list[int]]]:
    """The points just before each flush after `first`, and the end, with their open writes."""
    points = [i for i in range(first, end) if events[i].kind == "flush" and flushes]
    for point in (*points, end):
        waiting = open_writes(events, point, flushes)
        if len(waiting) > 1:
            yield point, waiting


def _lose(
    point: int, waiting: Sequence[int], losses: Iterator[Sequence[int]] | Plain, first: int
) -> Iterator[Crash]:
    for loss in losses:
        lost = frozenset(loss)
        kept = [i for i in waiting if i not in lost]
        last = kept[-1] if kept else -1
        if last < first:  # belongs to a shorter recording, unless its promises are the last ones
            yield Crash(point, lost)
        else:
            yield Crash(last + 1, frozenset(i for i in lost if i < last))
