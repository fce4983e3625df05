"""The native search up to permutations, and its traces.

The library keeps one state of each orbit, not the one that was met. So the way to a decision is
walked again: from a start, each step goes to some state of the next orbit. A permutation then
takes the last state of that way to the one that the decision is about, and all states before it
with it, which gives a way of the machine as good as the first.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.symmetry import symmetry_of
from refute.verifiers.model.compiled import State, StepRaised, expand
from refute.verifiers.model.native.search import (
    NOBODY,
    Disagreement,
    Library,
    NativeSearch,
    found_in_tree,
)
from refute.verifiers.model.orbits import Orbits
from refute.verifiers.model.trace import Move

Row = tuple[int, ...]  # the words of a state, or its hash alone


class OrbitSearch(NativeSearch):
    """As a native search, of orbits; runs in a worker."""

    def __init__(
        self, ir: MachineIR, library: Library, memory: int, cores: int, hashed: bool = False
    ) -> None:
        super().__init__(ir, library, memory, cores)
        self.hashed = hashed and self.layout.words > 1
        self.orbits = Orbits(ir, symmetry_of(ir))

    def statistics(self) -> dict[str, Plain]:
        """As of any search, of orbits; whole: how many states they have."""
        function = self.library.c.rf_whole
        function.restype = ctypes.c_ulonglong
        return {**super().statistics(), "whole": function(), "hashed": self.hashed}

    def states_to(self, number: int) -> list[State]:
        """States from a start to the one with this number."""
        wanted: list[Row] = []
        while number != NOBODY:
            row, number = self.library.state(number)
            wanted.append(row[:1] if self.hashed else row)
        way: list[State] = []
        for row in reversed(wanted):
            nexts = self._successors(way[-1]) if way else self.machine.initial_states()
            state = next((s for s in nexts if self._row(self._least(s)) == row), None)
            if state is None:
                raise Disagreement("an orbit is not found again")
            way.append(state)
        return self._ending_in(way, self._least(way[-1])) if way else way

    def _way(self, parent: int, state: tuple[int, ...], own: bool) -> list[State]:
        way = self.states_to(parent)
        if own:
            return way
        last = self.layout.unpack(state)
        if not way:
            return [last]
        nexts = list(self._successors(way[-1]))
        if last in nexts:
            return [*way, last]
        least = self._least(last)
        met = next((s for s in nexts if self._least(s) == least), None)
        if met is None:
            raise Disagreement("a step into an orbit is not found again")
        return self._ending_in([*way, met], state)

    def _ending_in(self, way: Sequence[State], last: Row) -> list[State]:
        """The way after a permutation that takes its last state to this one."""
        target = self.layout.unpack(last)
        from_here, from_there = self.orbits.least(way[-1]), self.orbits.least(target)
        if from_here.state != from_there.state:
            raise Disagreement("states of one orbit that no permutation joins")
        back = {to: member for member, to in from_there.permutation.items()}
        moved = {member: back[to] for member, to in from_here.permutation.items()}
        return [self.orbits.moved(state, moved) for state in way]

    def _least(self, state: State) -> Row:
        """The words of what stands for a state's orbit in the library."""
        words = self.layout.pack(state)
        row = (ctypes.c_ulonglong * len(words))(*words)
        self.library.c.rf_canonical(row)
        return tuple(row)

    def _row(self, words: Row) -> Row:
        """What the library keeps of a state."""
        if not self.hashed:
            return words
        function = self.library.c.rf_hash
        function.restype = ctypes.c_ulonglong
        return (int(function((ctypes.c_ulonglong * len(words))(*words))),)

    def _successors(self, state: State) -> Iterator[State]:
        for instance in self.machine.instances:
            try:
                for after, _ in expand(instance, state):
                    yield after
            except StepRaised:
                continue

    def _move_by(self, number: int, before: State, after: State) -> Move:
        """The step as of `NativeSearch`, by the action or process of any members."""
        name = self.machine.instances[number].name
        for instance in self.machine.instances:
            if instance.name != name:
                continue
            try:
                for found, choices in expand(instance, before):
                    if found == after:
                        return instance, choices, before
            except StepRaised:
                continue
        raise Disagreement(f"{name} does not take a step that was reported")


def open_orbits(data: Plain, name: str, memory: int, cores: int, hashed: bool) -> OrbitSearch:
    """A search by a library made for orbits; see `search.open_native`. Runs in a worker."""
    path, words, cores = found_in_tree(data, name, cores)
    return OrbitSearch(MachineIR.from_plain(data), Library(path, words), memory, cores, hashed)
