"""Machines that break with more members than are searched at first, or with different numbers."""

from __future__ import annotations

from typing import Annotated

from refute.machine import Machine, Range, Set, Sort, Var, action, empty_set, invariant, var, when


class N(Sort):
    """Members that are counted."""


class Q(Sort):
    """Of which there has to be one."""


class Five(Machine):
    """Breaks with five members and not with four."""

    seen: Var[Set[N]] = var(empty_set)
    count: Var[Annotated[int, Range(0, 5)]] = var(0)

    @action
    def add(self, n: N) -> None:
        when(self.count < 5 and n not in self.seen)
        self.seen.add(n)
        self.count += 1

    @invariant
    def fine(self) -> bool:
        return self.count < 5


class Mixed(Machine):
    """Breaks with four of the one and one of the other."""

    seen: Var[Set[N]] = var(empty_set)
    count: Var[Annotated[int, Range(0, 4)]] = var(0)

    @action
    def add(self, n: N, q: Q) -> None:
        when(self.count < 4 and n not in self.seen)
        when(all(p == q for p in Q))
        self.seen.add(n)
        self.count += 1

    @invariant
    def fine(self) -> bool:
        return self.count < 4
