"""Predicates that the search itself does not judge, and that raise in some state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from refute.machine import Formula as Promise
from refute.machine import (
    Machine,
    Range,
    Var,
    action,
    eventually,
    fair,
    refines,
    temporal,
    var,
    when,
)


class Low(Machine):
    high: Var[bool] = var(False)

    @action
    def go(self) -> None:
        self.high = True


class Counter(Machine):
    n: Var[Annotated[int, Range(0, 3)]] = var(0)

    @action(fair="weak")
    def step(self) -> None:
        when(self.n < 3)
        self.n += 1


class Formula(Counter):
    @temporal
    def t(self) -> Promise:
        return eventually(lambda: [1, 2, 3][self.n] == 3)


class Fairness(Counter):
    @fair("weak")
    def f(self, after: Self) -> bool:
        return 6 // (2 - self.n) == after.n


class Mapped(Counter):
    @refines(Low)
    def low(self) -> Mapping[str, object]:
        return {"high": [False, True, True][self.n]}


class Sound(Counter):
    @temporal
    def t(self) -> Promise:
        return eventually(lambda: self.n == 3)

    @fair("weak")
    def f(self, after: Self) -> bool:
        return self.n + 1 == after.n

    @refines(Low)
    def low(self) -> Mapping[str, object]:
        return {"high": self.n > 0}
