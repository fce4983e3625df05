"""Statements as Python has them: bits, repetition, maps laid over maps, swaps."""

from __future__ import annotations

from typing import Annotated

from refute.machine import (
    Const,
    Machine,
    Map,
    Range,
    Seq,
    Sort,
    Upto,
    Var,
    action,
    const,
    invariant,
    var,
    when,
)

Small = Annotated[int, Range(0, 7)]
Few = Annotated[int, Range(0, 3)]
Signed = Annotated[int, Range(-8, 7)]


class P(Sort, size=2):
    """Processes."""


class Bits(Machine):
    """Numbers as rows of bits."""

    a: Var[Small] = var(0)
    b: Var[Signed] = var(3)

    @action
    def put(self, n: Small) -> None:
        self.a = (self.a | n) & ~2
        self.b = self.a ^ n
        self.b ^= 1

    @action
    def invert(self) -> None:
        self.b = ~(self.b & 3)
        self.a = (self.b | 1) & 7

    @action
    def shift(self) -> None:
        self.a = self.a << 1 & 7 | self.a >> 1
        self.b = True & self.a

    @action
    def mix(self, n: Small) -> None:
        self.a, self.b = self.a ^ n, n - self.a ^ 2

    @invariant
    def bounded(self) -> bool:
        return 0 <= self.a < 8 and self.b ^ 0 == self.b


class Rows(Machine):
    """Sequences some times over, and maps with other values for some keys."""

    N: Const[int] = const(2)
    q: Var[Annotated[Seq[Few], Upto(4)]] = var(())
    m: Var[Map[P, Few]] = var(each=0)

    @action
    def repeat(self, n: Few) -> None:
        self.q = [n] * self.N
        self.q = (self.q[:1] * (n - 1) + [1] * 1)[:4]

    @action
    def twice(self) -> None:
        when(len(self.q) > 0)
        self.q = (2 * self.q)[1:]

    @action
    def fixed(self) -> None:
        self.q = (0, 1) * 2

    @action
    def over(self, p: P) -> None:
        self.m = self.m | {p: 1}
        self.m |= {r: 2 for r in P if r != p and self.m[r] != 0}
        self.m.update({p: (self.m[p] + 1) % 4})

    @action
    def doubled(self, p: P) -> None:
        self.m = {**self.m, **{p: 3}} | {r: 3 - self.m[r] for r in P}

    @action
    def swap(self, p: P, r: P) -> None:
        self.m[p], self.m[r] = self.m[r], self.m[p]
