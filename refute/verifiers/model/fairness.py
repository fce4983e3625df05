"""Fairness conditions of a machine, and the state graph that they are judged on.

A condition is about steps that change something. It is enabled in a state that offers such a step,
also one that leaves the constraint or raises; it is taken along an edge if such a step leads there,
whichever step the trace names (as in TLA, where an action is a relation of two states).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from refute.frozen import frozen
from refute.specs.machine.fairness import Fair, fairness
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.compiled import Compiled, State
from refute.verifiers.model.search import Link, Search


@frozen
class Condition:
    """instances: the numbers of its actions and processes; test: instead, of a step's two states.

    strong: see `specs.machine.fairness.Fair`.
    """

    strong: bool
    instances: frozenset[int] = frozenset()
    test: Callable[[State, State], bool] | None = None


def conditions(machine: Compiled) -> list[Condition]:
    """All fairness conditions of a machine, in the order of `fairness`."""
    return [_condition(machine, fair) for fair in fairness(machine.ir)]


def _condition(machine: Compiled, fair: Fair) -> Condition:
    if fair.prop is None:
        every, moves = enumerate(machine.instances), fair.moves()
        own = (n for n, i in every if (i.name, i.params) in moves)
        return Condition(fair.strong, frozenset(own))
    (test,) = [p.test for p in machine.predicates if p.property is fair.prop]
    given = fair.given
    return Condition(fair.strong, test=lambda state, after: test(state, after, *given))


class Masks:
    """The conditions of a machine's steps as numbers, a bit for each."""

    def __init__(self, machine: Compiled) -> None:
        found = conditions(machine)
        self.count = len(found)
        self.strong = sum(1 << at for at, c in enumerate(found) if c.strong)
        self.weak = (1 << len(found)) - 1 - self.strong
        self._tests = [(1 << at, c.test) for at, c in enumerate(found) if c.test]
        self.own = [
            sum(1 << at for at, c in enumerate(found) if number in c.instances)
            for number in range(len(machine.instances))
        ]

    def tested(self, state: State, after: State) -> int:
        """The conditions that are predicates of the step."""
        return sum(bit for bit, test in self._tests if test(state, after))


class Graph(Search):
    """A search that also keeps the edges. Sets of conditions are numbers, a bit for each.

    rows: for each state the states behind it and the conditions taken on the way. enabled: for
    each state the conditions enabled there.
    """

    def __init__(self, ir: MachineIR) -> None:
        self.rows: list[dict[State, int]] = []
        self.enabled: list[int] = []
        self._row: dict[State, int] = {}
        self._able = 0
        machine = Compiled(ir)
        self.masks = Masks(machine)
        super().__init__(ir)

    def expand(self, at: int) -> None:
        """Take every step from one state, and keep them."""
        self._row, self._able = {}, 0
        super().expand(at)
        self.rows.append(self._row)
        self.enabled.append(self._able)

    def successors(self, state: State, at: int) -> Iterator[tuple[int, State, tuple[Any, ...]]]:
        """Every step from a state; those that change something are noted."""
        for number, after, choices in super().successors(state, at):
            if after != state:
                mask = self.masks.own[number]
                if after not in self._row:
                    mask |= self.masks.tested(state, after)
                self._row[after] = self._row.get(after, 0) | mask
                self._able |= mask
            yield number, after, choices

    def _raise(self, link: Link, error: Exception, predicate: str, state: State) -> None:
        if link[1] >= 0 and not predicate:
            self._able |= self.masks.own[link[1]]
        super()._raise(link, error, predicate, state)

    def edges(self) -> list[list[tuple[int, int]]]:
        """For each state (number, conditions taken) of the states inside the constraint behind."""
        inside = self.numbers
        return [[(inside[s], mask) for s, mask in row.items() if s in inside] for row in self.rows]

    def starts(self) -> list[int]:
        """The numbers of the initial states."""
        return [at for at, link in enumerate(self.links) if link[1] < 0]
