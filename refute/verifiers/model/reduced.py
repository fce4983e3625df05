"""The plain search up to permutations: of each orbit the state that is met first, and its steps.

The states kept are those that were met, so that the links between them are steps as they are, and a
trace is one of the machine. Only whether an orbit was met before is asked of what stands for it.
"""

from __future__ import annotations

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.symmetry import symmetry_of
from refute.verifiers.model.compiled import State
from refute.verifiers.model.orbits import Orbits
from refute.verifiers.model.search import Link, Search


class ReducedSearch(Search):
    """As `Search`, of orbits; runs in a worker. whole: the states in the orbits found."""

    def __init__(self, ir: MachineIR) -> None:
        self.orbits = Orbits(ir, symmetry_of(ir))
        self.met: dict[State, None] = {}  # in the order that they were met
        self.whole = 0
        super().__init__(ir)

    def _meet(self, state: State, link: Link) -> None:
        if state in self.outside:
            return
        least = self.orbits.least(state)
        if least.state in self.met:
            return
        self.met[least.state] = None
        super()._meet(state, link)
        if state in self.numbers:
            self.whole += least.size

    def statistics(self) -> dict[str, Plain]:
        """As of any search, of orbits; whole: how many states they have."""
        return {**super().statistics(), "whole": self.whole}


def open_reduced(data: Plain) -> ReducedSearch:
    """A search of the machine given as plain data; runs in a worker."""
    return ReducedSearch(MachineIR.from_plain(data))
