"""Random walks by the plain engine, where there is no compiler or the native one declines.

The same walks as the native engine takes, step for step: number n of a seed begins with the same
random number, and both offer the steps of a state in the same order. So a test can compare the two.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.statement import WELL_DEFINED
from refute.verifiers.model.compiled import Compiled, State, StepRaised, expand
from refute.verifiers.model.search import Hit, Link, Search

_ALL = 2**64 - 1
_ODD, _GOLDEN = 0xD6E8FEB86659FD93, 0x9E3779B97F4A7C15


def mixed(x: int) -> int:
    """A bijection of 64 bits that depends on all of them; as in search.c."""
    x ^= x >> 32
    x = x * _ODD & _ALL
    x ^= x >> 32
    x = x * _ODD & _ALL
    return x ^ x >> 32


class Random:
    """The random numbers of one walk."""

    def __init__(self, seed: int, walk: int) -> None:
        self._state = mixed((seed & _ALL) ^ mixed(walk + 1))

    def next(self) -> int:
        """64 bits."""
        self._state = (self._state + _GOLDEN) & _ALL
        return mixed(self._state)


class Walks(Search):
    """As a search, of random walks; runs in a worker.

    Of all walks that decide a property the shortest way is kept, of equally short ones the first.
    """

    def __init__(self, ir: MachineIR, seed: int, walks: int, depth: int) -> None:
        self._way: list[State] = []  # the states of the walk in hand, and the links between them
        self._links: list[Link] = []
        self._lengths: dict[str, int] = {}
        super().__init__(ir)
        self.seed, self.planned, self.most = seed, walks, depth
        self.walks = self.steps = 0
        self._walker: Iterator[None] = iter(())

    def _advance(self, until: float) -> None:
        while not self.started and time.monotonic() <= until:
            self._start(64)
        while self.started and not self.finished:
            if next(self._walker, self) is self:
                self.finished = self.walks == self.planned or not self.states
                if not self.finished:
                    self._walker = self._walk(Random(self.seed, self.walks))
                    self.walks += 1
            if time.monotonic() > until:
                break

    def statistics(self) -> dict[str, Plain]:
        """As of a search; walks, steps: how many were taken."""
        found = super().statistics()
        return {**found, "distinct": 0, "left": 0, "walks": self.walks, "steps": self.steps}

    def report(self) -> dict[str, Plain]:
        """As of a search. Walks do not say what never runs."""
        return {**super().report(), "unran": []}

    def _walk(self, random: Random) -> Iterator[None]:
        """One walk, yielding after each step."""
        self._way[:], self._links[:] = [self.states[random.next() % len(self.states)]], []
        while len(self._links) < self.most:
            chosen = self._offered(random)
            if chosen is None:
                break
            after, link = chosen
            inside = all(self._true(p, link, after) for p in self.constraints)
            for predicate in self.invariants:
                self._judge(predicate, link, after)
            for predicate in self.reachables if inside else ():
                self._look_for(predicate, link, after)
            if not inside:
                break
            self._way.append(after)
            self._links.append(link)
            yield
        self._way.clear()
        self._links.clear()

    def _offered(self, random: Random) -> tuple[State, Link] | None:
        """One of the steps from here that change something; None when there is none."""
        state, at = self._way[-1], len(self._links)
        seen, enabled, raised = 0, False, self.raised
        chosen: tuple[State, Link] | None = None
        self.steps += 1
        for number, after, choices in self.successors(state, at):
            enabled = True
            self.generated += 1
            link = (at, number, choices)
            self._fire(number, link)
            if after != state:
                for predicate in self.transitions:
                    self._judge(predicate, link, state, after)
            for predicate in self.observed.get(number, ()):
                self._judge(predicate, link, after)
            if after != state:
                seen += 1
                if random.next() % seen == 0:
                    chosen = after, link
        if not enabled and raised == self.raised:
            self._stuck(at, state)
        return chosen

    def _is_open(self, name: str) -> bool:
        return name not in self.hits or len(self._links) < self._lengths.get(name, 0)

    def _decide(self, name: str, hit: Hit) -> None:
        super()._decide(name, hit)
        self._lengths[name] = len(self._links)

    def _link(self, at: int) -> Link:
        return (at, -1, ())

    def _raise(self, link: Link, error: Exception, predicate: str, state: State) -> None:
        known = None if self._is_open(WELL_DEFINED) else self.hits[WELL_DEFINED]
        if known is None:
            self.hits.pop(WELL_DEFINED, None)
        super()._raise(link, error, predicate, state)
        if known is None:
            self._lengths[WELL_DEFINED] = len(self._links)

    def _hit(self, link: Link, why: str, state: State | None = None, predicate: str = "") -> Hit:
        """The way to here, cut short, and the step that was taken last, if any."""
        if not self._way:
            return super()._hit(link, why, state, predicate)
        links = shortened(self.machine, self._way, self._links)
        last = [link] if link[1] >= 0 else []
        return Hit((*links, *last), self._way[0], why, predicate)


def shortened(machine: Compiled, way: list[State], links: list[Link]) -> list[Link]:
    """A shortest way from the first to the last of these states, through some of them."""
    wanted = set(way)
    came: dict[State, tuple[State, Link] | None] = {way[0]: None}
    queue = deque([way[0]])
    while queue and way[-1] not in came:
        state = queue.popleft()
        for number, instance in enumerate(machine.instances):
            try:
                for after, choices in expand(instance, state):
                    if after in wanted and after not in came:
                        came[after] = state, (0, number, choices)
                        queue.append(after)
            except StepRaised:
                continue
    found: list[Any] = []
    step = came.get(way[-1])
    while step is not None:
        found.append(step[1])
        step = came[step[0]]
    return found[::-1] if way[-1] in came else links


def open_walks(data: Plain, seed: int, walks: int, depth: int) -> Walks:
    """Walks of the machine given as plain data; runs in a worker."""
    return Walks(MachineIR.from_plain(data), seed, walks, depth)
