"""Random walks by the compiled machine: a simulation, for machines that no search can exhaust.

A walk begins at a random start and takes any of the steps that change something with the same
probability. Walk number n is the same on every machine and with any number of threads. Of all
walks that decide a property the shortest way is kept, and then cut short: wherever a step leads to
a later state of the way, what lies between is left out.
"""

from __future__ import annotations

import ctypes
from collections import deque

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.compiled import State, StepRaised, expand
from refute.verifiers.model.native.search import Library, NativeSearch, found_in_tree


class WalkingLibrary(Library):
    """The compiled machine, asked for walks."""

    def walk(self, seed: int, walks: int, depth: int, seconds: float) -> None:
        """Walk on, until so many walks were taken or for about so long."""
        number = ctypes.c_ulonglong
        self.c.rf_walk.argtypes = (number, number, number, ctypes.c_double)
        self.c.rf_walk.restype = None
        self.c.rf_walk(seed, walks, depth, seconds)

    def walked(self) -> tuple[int, int]:
        """How many walks and steps were taken."""
        row = (ctypes.c_ulonglong * 2)()
        self.c.rf_walked.argtypes = (ctypes.POINTER(ctypes.c_ulonglong),)
        self.c.rf_walked(row)
        return row[0], row[1]


class Walks(NativeSearch):
    """As a search, of random walks; runs in a worker."""

    library: WalkingLibrary

    def plan(self, seed: int, walks: int, depth: int) -> Walks:
        """Say how many walks there will be, and how long at most."""
        self.seed, self.walks, self.depth = seed, walks, depth
        return self

    def advance(self, seconds: float) -> dict[str, Plain]:
        """Walk on for about so long; returns the counts so far."""
        if self.opened:
            self.library.walk(self.seed, self.walks, self.depth, seconds)
        return self.statistics()

    def statistics(self) -> dict[str, Plain]:
        """As of a search; walks, steps: how many were taken."""
        walks, steps = self.library.walked()
        found = super().statistics()
        return {**found, "distinct": 0, "left": 0, "walks": walks, "steps": steps}

    def never_ran(self) -> list[int]:
        """Walks do not say what never runs."""
        return []

    def states_to(self, number: int) -> list[State]:
        """The states of a way, cut short."""
        return self._shortened(super().states_to(number))

    def _shortened(self, way: list[State]) -> list[State]:
        """A shortest way from the first to the last among these states and the steps between."""
        if not way:
            return way
        wanted = set(way)
        came: dict[State, State | None] = {way[0]: None}
        queue = deque([way[0]])
        while queue and way[-1] not in came:
            state = queue.popleft()
            for after in self._successors(state):
                if after in wanted and after not in came:
                    came[after] = state
                    queue.append(after)
        found: list[State] = []
        at: State | None = way[-1]
        while at is not None:
            found.append(at)
            at = came.get(at)
        return found[::-1]

    def _successors(self, state: State) -> list[State]:
        found: list[State] = []
        for instance in self.machine.instances:
            try:
                for after, _ in expand(instance, state):
                    found.append(after)
            except StepRaised:
                continue
        return found


def open_walks(
    data: Plain, name: str, memory: int, cores: int, seed: int, walks: int, depth: int
) -> Walks:
    """Walks of the machine given as plain data; see `search.open_native`. Runs in a worker."""
    path, words, cores = found_in_tree(data, name, cores)
    made = Walks(MachineIR.from_plain(data), WalkingLibrary(path, words), memory, cores)
    return made.plan(seed, walks, depth)
