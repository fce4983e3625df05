"""Machines for the native engine: one it finds wrong, and ones it has to leave to the plain one."""

from __future__ import annotations

from typing import Annotated

from refute.machine import (
    Machine,
    Map,
    Range,
    Set,
    Sort,
    Var,
    action,
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
    """A number without bounds that grows beyond 32 bits, within its constraint."""

    n: Var[int] = var(1)

    @action
    def double(self) -> None:
        self.n = self.n * 2

    @constraint
    def small(self) -> bool:
        return self.n < 1_000_000_000_000

    @invariant
    def positive(self) -> bool:
        return self.n > 0


class Wide(Machine):
    """A set over more elements than a packed state has room for."""

    chosen: Var[Set[Annotated[int, Range(0, 9_999)]]] = var(empty_set)

    @action
    def choose(self) -> None:
        when(len(self.chosen) < 5)
        self.chosen.add(2 * len(self.chosen) + 1)

    @terminal
    def enough(self) -> bool:
        return len(self.chosen) == 5

    @invariant
    def odd(self) -> bool:
        return all(n % 2 == 1 for n in self.chosen)


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
