"""Mutual exclusion by reading and writing alone: Peterson's algorithm, and Lamport's bakery.

Sources: G. L. Peterson, "Myths about the mutual exclusion problem" (1981); L. Lamport, "A new
solution of Dijkstra's concurrent programming problem" (1974). Every read and every write of a
shared variable is a step of its own, but for the bakery's choice of a number, which is one step.
"""

from __future__ import annotations

from typing import Annotated, Self

from refute.machine import (
    Const,
    Formula,
    Machine,
    Map,
    Range,
    Steps,
    Var,
    const,
    constraint,
    every,
    invariant,
    leads_to,
    process,
    reachable,
    temporal,
    var,
    when,
)

Side = Annotated[int, Range(0, 1)]
Customer = Annotated[int, Range(0, "N - 1")]


class Peterson(Machine):
    """Two processes; who comes last waits."""

    wants: Var[Map[Side, bool]] = var(each=False)
    turn: Var[Side] = var(0)
    inside: Var[Map[Side, bool]] = var(each=False)

    @process(fair="weak")
    def worker(self, me: Side) -> Steps[Self]:
        """Say so, let the other go first, wait, work."""
        while True:
            self.wants[me] = True
            self = yield
            self.turn = 1 - me
            self = yield
            when(not self.wants[1 - me] or self.turn == me)
            self.inside[me] = True
            self = yield
            self.inside[me] = False
            self.wants[me] = False
            self = yield

    @invariant
    def exclusive(self) -> bool:
        """Never both."""
        return not (self.inside[0] and self.inside[1])

    @temporal
    def served(self, me: Side) -> Formula:
        """Who wants gets in."""
        return leads_to(lambda: self.wants[me], lambda: self.inside[me])


class Bakery(Machine):
    """Customers draw numbers; the smallest is served. Numbers are bounded by a constraint."""

    N: Const[int] = const()
    MAX: Const[int] = const(3)
    choosing: Var[Map[Customer, bool]] = var(each=False)
    number: Var[Map[Customer, Annotated[int, Range(0, "MAX + 1")]]] = var(each=0)
    inside: Var[Map[Customer, bool]] = var(each=False)

    def first(self, i: int, j: int) -> bool:
        """Whether i is served before j, by number and then by name."""
        if self.number[j] == 0 or self.number[i] < self.number[j]:
            return True
        return self.number[i] == self.number[j] and i <= j

    @process
    def customer(self, i: Customer) -> Steps[Self]:
        """Draw a number, wait for everybody who comes before, be served."""
        while True:
            self.choosing[i] = True
            self = yield
            self.number[i] = 1 + max(self.number.values())
            self = yield
            self.choosing[i] = False
            self = yield
            left = [j for j in every(Customer) if j != i]
            while len(left) > 0:
                when(not self.choosing[left[0]])
                self = yield
                when(self.first(i, left[0]))
                left = left[1:]
                self = yield
            self.inside[i] = True
            self = yield
            self.inside[i] = False
            self.number[i] = 0
            self = yield

    @constraint
    def bounded(self) -> bool:
        """What the search keeps to: without it, numbers grow for ever."""
        return all(n <= self.MAX for n in self.number.values())

    @invariant
    def exclusive(self) -> bool:
        """Never two."""
        return sum(1 for served in self.inside.values() if served) <= 1

    @reachable
    def one_waits(self) -> bool:
        """Somebody waits while another is served."""
        return any(self.inside.values()) and sum(1 for n in self.number.values() if n > 0) > 1
