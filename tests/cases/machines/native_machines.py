"""Machines for the native engine: one it finds wrong, and ones it has to leave to the plain one."""

from __future__ import annotations

from typing import Annotated

from refute.machine import (
    Machine,
    Map,
    Range,
    Seq,
    Set,
    Sort,
    Var,
    action,
    choose,
    constraint,
    empty_set,
    invariant,
    reachable,
    terminal,
    var,
    when,
)


class Place(Sort, size=6):
    """Where tokens lie."""


class Tokens(Machine):
    """Tokens are put down and taken; four at a place break `few`."""

    at: Var[Map[Place, Annotated[int, Range(0, 3)]]] = var(each=0)

    @action
    def put(self, p: Place) -> None:
        when(self.at[p] < 3)
        self.at[p] += 1

    @action
    def take(self, p: Place) -> None:
        when(self.at[p] > 0)
        self.at[p] -= 1

    @invariant
    def bounded(self) -> bool:
        return sum(self.at.values()) <= 18

    @invariant
    def few(self) -> bool:
        return sum(n for n in self.at.values()) < 4


class Overflows(Machine):
    """A number without bounds that grows beyond 63 bits, within its constraint."""

    n: Var[int] = var(1)

    @action
    def double(self) -> None:
        self.n = self.n * 2

    @constraint
    def small(self) -> bool:
        return self.n < 4_000_000_000_000_000_000

    @invariant
    def positive(self) -> bool:
        return self.n > 0


class Wide(Machine):
    """A total map over more keys than a packed state has room for."""

    at: Var[Map[Annotated[int, Range(0, 9_999)], bool]] = var(each=False)
    last: Var[Annotated[int, Range(0, 5)]] = var(0)

    @action
    def choose(self) -> None:
        when(self.last < 5)
        self.last += 1
        self.at[self.last] = True

    @terminal
    def enough(self) -> bool:
        return self.last == 5

    @invariant
    def only_early(self) -> bool:
        return not self.at[9]


class Endless(Machine):
    """More states than any budget of a test."""

    at: Var[Map[Place, Annotated[int, Range(0, 99)]]] = var(each=0)

    @action
    def step(self, p: Place) -> None:
        when(self.at[p] < 99)
        self.at[p] += 1

    @invariant
    def always(self) -> bool:
        return all(n <= 99 for n in self.at.values())

    @reachable
    def full(self) -> bool:
        return all(n == 99 for n in self.at.values())


class Grows(Machine):
    """Sets, sequences and numbers that outgrow what was set aside at first."""

    chosen: Var[Set[Annotated[int, Range(0, 999_999)]]] = var(empty_set)
    order: Var[Seq[int]] = var(())
    n: Var[int] = var(1)
    first: Var[int] = var(0)

    @action
    def grow(self) -> None:
        when(len(self.chosen) < 20)
        new = 1000 * (40 - len(self.chosen))
        self.order.append(new)
        self.chosen.add(new)
        self.n = self.n * 5
        self.first = choose(x for x in self.chosen if x in self.order)

    @action
    def restart(self) -> None:
        when(len(self.order) > 18)
        self.chosen = Set(x for x in self.chosen if x > 22_000)
        self.order = Seq(x for x in self.order if x in self.chosen)
        self.n = 1
        self.first = min(self.chosen)

    @terminal
    def enough(self) -> bool:
        return len(self.chosen) == 20

    @invariant
    def counted(self) -> bool:
        return len(self.chosen) == len(self.order) and self.first == min(self.chosen, default=0)

    @invariant
    def bounded(self) -> bool:
        return self.n < 1_000_000_000_000


class Pairs(Machine):
    """Tokens come and go in twos: an odd number is never reached, and `mend` never taken."""

    at: Var[Map[Place, Annotated[int, Range(0, 5)]]] = var(each=0)

    @action
    def put(self, p: Place) -> None:
        when(self.at[p] < 4)
        self.at[p] += 2

    @action
    def take(self, p: Place) -> None:
        when(self.at[p] > 1)
        self.at[p] -= 2

    @action
    def mend(self, p: Place) -> None:
        when(self.at[p] == 3)
        self.at[p] -= 1

    @reachable
    def odd(self) -> bool:
        return any(n % 2 == 1 for n in self.at.values())
