"""Sequences compared as Python compares them."""

from __future__ import annotations

from typing import Annotated

from refute.machine import (
    Machine,
    OrderedSort,
    Range,
    Seq,
    Upto,
    Var,
    action,
    any_of,
    invariant,
    var,
    when,
)

N = Annotated[int, Range(0, 2)]


class Rank(OrderedSort, size=2):
    """Ranks."""


class Rows(Machine):
    """Two logs that grow and are compared in every way."""

    a: Var[Annotated[Seq[N], Upto(2)]] = var(())
    b: Var[Annotated[Seq[N], Upto(2)]] = var(())
    log: Var[Annotated[Seq[tuple[Rank, bool]], Upto(1)]] = var(())
    least: Var[bool] = var(True)

    @action
    def grow(self, n: N) -> None:
        when(len(self.a) < 2)
        self.a.append(n)

    @action
    def other(self) -> None:
        when(len(self.b) < 2 and self.b <= self.a)
        self.b.append(any_of([0, 2]))
        self.least = self.b < [1, *self.a] or self.a >= (2, 1)

    @action
    def shrink(self) -> None:
        when(self.b > self.a)
        self.b = self.b[1:]

    @action
    def write(self, r: Rank) -> None:
        when(self.log < ((Rank(1), False), (Rank(1), True)) and not self.log)
        self.log.append((r, len(self.a) > 1))

    @invariant
    def one_way(self) -> bool:
        return (self.a < self.b) + (self.b < self.a) + (self.a == self.b) == 1

    @invariant
    def both(self) -> bool:
        return (self.a <= self.b) == (not self.b < self.a) and not self.log < self.log

    @invariant
    def shorter(self) -> bool:
        return len(self.a) == 0 or (self.a[:1] <= self.a and not self.a < self.a[:-1])

    @invariant
    def paired(self) -> bool:
        pairs = (self.a, len(self.b)), (self.b, 1)
        return (pairs[0] < pairs[1]) == (self.a < self.b or (self.a == self.b and len(self.b) < 1))

    @invariant
    def planted(self) -> bool:
        return self.a <= (2, 1) or self.b >= self.a
