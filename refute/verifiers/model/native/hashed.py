"""A native search that remembers hashes of wide states, and finds its way back by them.

The way to a decision is a row of hashes. From a start with the first of them, the plain engine
takes steps, and goes on where the next hash is that of the state it comes to.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.compiled import State, StepRaised, expand
from refute.verifiers.model.native.search import (
    NOBODY,
    Disagreement,
    Library,
    NativeSearch,
    found_in_tree,
)


class HashedSearch(NativeSearch):
    """As a native search; runs in a worker."""

    def __init__(self, ir: MachineIR, library: Library, memory: int, cores: int) -> None:
        super().__init__(ir, library, memory, cores)
        self.hashed = self.layout.words > 1

    def statistics(self) -> dict[str, Plain]:
        """As of any search; hashed: states were told apart by hashes alone."""
        return {**super().statistics(), "hashed": self.hashed}

    def states_to(self, number: int) -> list[State]:
        """The states from a start to the one with this number."""
        if not self.hashed:
            return super().states_to(number)
        wanted: list[int] = []
        while number != NOBODY:
            row, number = self.library.state(number)
            wanted.append(row[0])
        found: list[State] = []
        for hashed in reversed(wanted):
            nexts = self._successors(found[-1]) if found else self.machine.initial_states()
            state = next((s for s in nexts if self._hash(s) == hashed), None)
            if state is None:
                raise Disagreement("a state whose hash was kept is not found again")
            found.append(state)
        return found

    def _hash(self, state: State) -> int:
        words = self.layout.pack(state)
        function = self.library.c.rf_hash
        function.restype = ctypes.c_ulonglong
        return int(function((ctypes.c_ulonglong * len(words))(*words)))

    def _successors(self, state: State) -> Iterator[State]:
        for instance in self.machine.instances:
            try:
                for after, _ in expand(instance, state):
                    yield after
            except StepRaised:
                continue


def open_hashed(data: Plain, name: str, memory: int, cores: int) -> HashedSearch:
    """A search by a library made for hashes; see `search.open_native`. Runs in a worker."""
    path, words, cores = found_in_tree(data, name, cores)
    return HashedSearch(MachineIR.from_plain(data), Library(path, words), memory, cores)
