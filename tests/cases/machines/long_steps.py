"""Loops in steps and between them, choices in loops, elements taken out, inherited helpers."""

from __future__ import annotations

from typing import Annotated, Self

from refute.machine import (
    Machine,
    Map,
    Range,
    Seq,
    Sort,
    Steps,
    Upto,
    Var,
    action,
    any_of,
    invariant,
    process,
    var,
    when,
)


class P(Sort, size=2):
    """Processes."""


class Base(Machine):
    n: Var[Annotated[int, Range(0, 3)]] = var(0)
    got: Var[Map[P, Annotated[int, Range(0, 2)]]] = var(each=0)
    queue: Var[Annotated[Seq[P], Upto(2)]] = var(())

    def limit(self) -> int:
        return 2

    @action
    def put(self, p: P) -> None:
        when(len(self.queue) < self.limit())
        self.queue.append(p)


class Loops(Base):
    """What a `for` with yields has left is part of the state, and what it walked through not."""

    def limit(self) -> int:
        return super().limit() - 1

    @action
    def guess(self) -> None:
        for p in P:
            if self.got[p] == 0:
                x = any_of([1, 2])
                self.got[p] = x
        total = 0
        while total < 9:
            total += 1 + self.n
            if total == 7:
                break
        else:
            self.n = 0

    @action
    def take(self) -> None:
        first = self.queue.pop(0)
        self.got[first] = self.n = 0

    @process
    def visit(self, p: P) -> Steps[Self]:
        for other in P:
            if other == p:
                continue
            self.got[other] = 0
            self = yield
        for number, waiting in enumerate(self.queue):
            self = yield
            if waiting == p:
                self.n = number + 1
                break
        else:
            self.n = 3
        self = yield
        del self.queue[0]

    @invariant
    def never_all(self) -> bool:
        return self.n < 3 or any(self.got.values())
