"""The dining philosophers as Chandy and Misra solved them, after DiningPhilosophers.tla.

Source: tlaplus/Examples, specifications/DiningPhilosophers/DiningPhilosophers.tla (J. Hemphill).
Forks are clean or dirty; whoever holds a dirty fork hands it to the neighbour, cleaned; eating
makes both forks dirty. That repository's manifest gives 67 distinct states, 336 generated and
depth 29 for five philosophers.

In the PlusCal translation the operator CanEat speaks of the forks as they were before the step,
also after the assignment; `ready` is taken first here for the same reason. The labels Loop, Eat
and Think are the places where a step begins.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    infinitely_often,
    invariant,
    process,
    temporal,
    var,
)

Philosopher = Annotated[int, Range(1, "NP")]


@dataclass(frozen=True)
class Fork:
    """Who holds it, and whether it is clean."""

    holder: Philosopher
    clean: bool


def first_holder(fork: int) -> Fork:
    """Each fork starts dirty, with the lowest-numbered philosopher next to it."""
    return Fork(1 if fork == 2 else fork, False)


class DiningPhilosophers(Machine):
    """Neighbours share a fork; eating takes both."""

    NP: Const[int] = const()
    forks: Var[Map[Philosopher, Fork]] = var(each=first_holder)
    hungry: Var[Map[Philosopher, bool]] = var(each=True)
    eating: Var[Map[Philosopher, bool]] = var(each=False)

    def right(self, p: int) -> int:
        """The fork, and the philosopher, to the right."""
        return 1 if p == self.NP else p + 1

    def left(self, p: int) -> int:
        """The philosopher to the left; the left fork of p is p itself."""
        return self.NP if p == 1 else p - 1

    def can_eat(self, p: int) -> bool:
        """Whether p holds both forks, clean."""
        sides = (self.forks[p], self.forks[self.right(p)])
        return all(fork.holder == p and fork.clean for fork in sides)

    @process(fair="weak")
    def philosopher(self, p: Philosopher) -> Steps[Self]:
        """Hand over dirty forks, eat when possible, think, become hungry."""
        while True:
            ready = self.can_eat(p)
            right = self.right(p)
            if self.forks[p].holder == p and not self.forks[p].clean:
                self.forks[p] = Fork(self.left(p), True)
            elif self.forks[right].holder == p and not self.forks[right].clean:
                self.forks[right] = Fork(right, True)
            if self.hungry[p]:
                if ready:
                    self.eating[p] = True
                    self = yield
                    self.hungry[p] = False
                    self.forks[p] = Fork(self.forks[p].holder, False)
                    right = self.right(p)
                    self.forks[right] = Fork(self.forks[right].holder, False)
                    self.eating[p] = False
            else:
                self = yield
                self.hungry[p] = True
            self = yield

    @temporal
    def nobody_starves(self, p: Philosopher) -> Formula:
        """Everybody is not hungry again and again."""
        return infinitely_often(lambda: not self.hungry[p])

    @invariant
    def exclusive_access(self, p: Philosopher, q: Philosopher) -> bool:
        """Two who share a fork do not eat at the same time."""
        shared = {p, self.right(p)} & {q, self.right(q)}
        return p == q or not shared or not (self.eating[p] and self.eating[q])
