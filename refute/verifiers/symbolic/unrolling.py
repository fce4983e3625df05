"""Paths of a machine as formulas: states one after the other, and one step between two of them.

Each state of a path is a state of its own that some step leads to, so that what the solver learns
of one depth stays true at the next. Where a variable has no arbitrary value that could be written
down (a sequence of any length), the state is what the chosen step makes of the one before instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import z3

from refute.frozen import frozen
from refute.verifiers.symbolic.folding import Bit, any_of, implies, not_, or_
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.merging import select
from refute.verifiers.symbolic.solving import Queries
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.world import Step, World


@frozen
class Move:
    """All ways from one state of a path to the next; taken: for each step, whether it is that."""

    steps: tuple[Step, ...]
    taken: tuple[Bit, ...]


class Path:
    """States from the first on, asserted in `queries`: a behaviour wherever that is satisfied.

    States that are left are inside the constraint; the last one need not be.
    """

    def __init__(self, encoding: Encoding, queries: Queries, first: World, name: str) -> None:
        self.encoding = encoding
        self.queries = queries
        self.name = name
        self.worlds = [first]
        self.moves: list[Move] = []
        self._steps: tuple[int, tuple[Step, ...]] = (-1, ())
        queries.add(*first.facts)

    @property
    def length(self) -> int:
        """How many steps it has."""
        return len(self.moves)

    @property
    def last(self) -> World:
        """Its last state."""
        return self.worlds[-1]

    def steps(self) -> tuple[Step, ...]:
        """The steps from its last state; what their unknowns are is asserted."""
        if self._steps[0] != self.length:
            found = tuple(self.encoding.steps(self.last, f"{self.name}{self.length}"))
            self._steps = self.length, found
            self.queries.add(*(fact for step in found for fact in step.facts))
        return self._steps[1]

    def extend(self) -> None:
        """One step more, out of a state inside the constraint. Raises Outside."""
        steps, inside = self.steps(), self.encoding.admitted(self.last)
        self.queries.add(*inside.facts, inside.holds)
        label = f"{self.name}{self.length}"
        taken = tuple(
            False if step.enabled is False else z3.Bool(f"{label}:{step.name}") for step in steps
        )
        self.queries.add(any_of(taken), *_at_most_one(taken))
        self.queries.add(*(implies(t, s.enabled) for t, s in zip(taken, steps, strict=True)))
        self.worlds.append(self._after(steps, taken))
        self.moves.append(Move(steps, taken))

    def _after(self, steps: Sequence[Step], taken: Sequence[Bit]) -> World:
        try:
            after = self.encoding.arbitrary(f"{self.name}{self.length + 1}")
        except Outside:
            return self._selected(steps, taken)
        self.queries.add(*after.facts)
        for bit, step in zip(taken, steps, strict=True):
            if bit is not False:
                self.queries.add(implies(bit, self.encoding.equated(step.after, after)))
        return after

    def _selected(self, steps: Sequence[Step], taken: Sequence[Bit]) -> World:
        ways = [(bit, step.after) for bit, step in zip(taken, steps, strict=True)]
        ways = [way for way in ways if way[0] is not False]
        if not ways:
            return self.last  # nothing leads here: no step can be taken
        names = self.last.values
        return World({n: select([(bit, after.values[n]) for bit, after in ways]) for n in names})


def _at_most_one(bits: Sequence[Bit]) -> list[Bit]:
    return [or_(not_(a), not_(b)) for a, b in itertools.combinations(bits, 2)]


def apart(encoding: Encoding, left: World, right: World) -> Bit:
    """Whether two states differ."""
    return not_(encoding.equated(left, right))
