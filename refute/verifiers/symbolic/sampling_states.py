"""Reachable states of small instances, against which candidate lemmas are tried first.

A lemma that holds for every size holds in every reachable state of sizes 2, 3 and 4, and most of
what may be written down does not. An instance with too many states gives a part of them: the first
ones breadth first, and then some of random walks, which get deep where breadth first does not. A
part can only let false candidates through, which are then not inductive.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterable, Sequence

from refute.frozen import frozen
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.compiled import Compiled, Predicate, State, StepRaised, expand
from refute.verifiers.symbolic.rewriting import Sizes, sorts_of

MOST_STARTS = 200_000  # combinations of starting values that are filtered
WALK_STEPS = 40
BREADTH_SHARE = 0.6  # of the states, where they are too many; the rest is from walks


@frozen
class Sample:
    """Reachable states of one instance. whole: these are all of them."""

    ir: MachineIR
    states: tuple[State, ...]
    whole: bool

    @property
    def sizes(self) -> Sizes:
        """The instance's Sorts by name."""
        return sorts_of(self.ir)

    def __str__(self) -> str:
        sizes = ", ".join(f"{k.name}={len(k.members)}" for k in self.sizes.values())
        return f"{'all ' if self.whole else ''}{len(self.states)} states of {sizes or 'it'}"


class _Explorer:
    """Breadth first, then random walks, over the compiled machine."""

    def __init__(self, ir: MachineIR, most: int, until: float, seed: int) -> None:
        self.ir = ir
        self.machine = Compiled(ir)
        self.most = most
        self.until = until
        self.random = random.Random(seed)
        self.seen: dict[State, None] = {}
        self.whole = True
        self.constraints = self._kind("constraint")

    def _kind(self, kind: str) -> tuple[Predicate, ...]:
        return tuple(p for p in self.machine.predicates if p.property.kind == kind)

    def _starts(self) -> list[State]:
        filters = self._kind("initial")
        tried = itertools.islice(self.machine.initial_states(), MOST_STARTS + 1)
        found = []
        for number, state in enumerate(tried):
            late = number % 1000 == 999 and time.monotonic() > self.until
            if number == MOST_STARTS or late:
                self.whole = False
                break
            if all(_true(p, state) for p in filters):
                found.append(state)
        return found

    def _after(self, state: State) -> list[State]:
        """The next states; none of one that the constraint does not admit."""
        found: list[State] = []
        if not all(_true(p, state) for p in self.constraints):
            return found
        for instance in self.machine.instances:
            try:
                found += [after for after, _ in expand(instance, state)]
            except StepRaised:
                continue
        return found

    def run(self) -> Sample:
        """The states found within the limits."""
        starts = self._starts()
        self.seen = dict.fromkeys(starts)
        queue = starts
        at = 0
        while at < len(queue):
            if len(self.seen) > self.most or time.monotonic() > self.until:
                self.whole = False
                break
            fresh = [s for s in dict.fromkeys(self._after(queue[at])) if s not in self.seen]
            self.seen.update(dict.fromkeys(fresh))
            queue += fresh
            at += 1
        if self.whole:
            return Sample(self.ir, tuple(self.seen), True)
        return Sample(self.ir, tuple(self._walked(starts)), False)

    def _walked(self, starts: Sequence[State]) -> Iterable[State]:
        found = dict.fromkeys(self._thinned(list(self.seen), int(BREADTH_SHARE * self.most)))
        until = self.until + 0.5 * max(0.0, self.until - time.monotonic()) + 0.2
        idle = 0
        while starts and len(found) < self.most and time.monotonic() < until and idle < 50:
            before = len(found)
            state = self.random.choice(starts)
            for _ in range(WALK_STEPS):
                following = self._after(state)
                if not following:
                    break
                state = self.random.choice(following)
                found[state] = None
            idle = idle + 1 if len(found) == before else 0
        return found

    def _thinned(self, states: list[State], most: int) -> list[State]:
        """The earlier half of so many states, and a random choice of the others."""
        if len(states) <= most:
            return states
        early = states[: most // 2]
        return early + self.random.sample(states[most // 2 :], most - len(early))


def _true(predicate: Predicate, state: State) -> bool:
    try:
        return bool(predicate.test(state))
    except Exception:
        return False


def sampled(ir: MachineIR, most: int, seconds: float, seed: int = 0) -> Sample:
    """At most so many reachable states of an instance with closed sizes."""
    return _Explorer(ir, most, time.monotonic() + seconds, seed).run()


def broken(sample: Sample) -> frozenset[str]:
    """The invariants of the instance that are false in one of the states, or raise there."""
    found = set()
    for predicate in Compiled(sample.ir).predicates:
        prop = predicate.property
        if prop.kind == "invariant" and not all(_true(predicate, s) for s in sample.states):
            found.add(prop.name)
    return frozenset(found)
