"""Beans out of a can until one is left: which colour?

Source: tlaplus/Examples, specifications/CoffeeCan/CoffeeCan.tla (A. Helwer, after D. Gries): 5150
distinct states, 20002 generated and depth 1 for at most 100 beans.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from refute.machine import (
    Const,
    Formula,
    Machine,
    Range,
    Var,
    action,
    anything,
    const,
    eventually,
    fair,
    implies,
    initial,
    temporal,
    transition,
    var,
    when,
)

Count = Annotated[int, Range(0, "MaxBeanCount")]


@dataclass(frozen=True)
class Can:
    black: Count
    white: Count


class CoffeeCan(Machine):
    MaxBeanCount: Const[int] = const(100)
    can: Var[Can] = var(one_of=anything)

    @initial
    def init(self) -> bool:
        return 1 <= self.can.black + self.can.white <= self.MaxBeanCount

    def bean_count(self) -> int:
        return self.can.black + self.can.white

    @action
    def pick_same_color_black(self) -> None:
        when(self.bean_count() > 1)
        when(self.can.black >= 2)
        self.can = replace(self.can, black=self.can.black - 1)

    @action
    def pick_same_color_white(self) -> None:
        when(self.bean_count() > 1)
        when(self.can.white >= 2)
        self.can = replace(self.can, black=self.can.black + 1, white=self.can.white - 2)

    @action
    def pick_different_color(self) -> None:
        when(self.bean_count() > 1)
        when(self.can.black >= 1 and self.can.white >= 1)
        self.can = replace(self.can, black=self.can.black - 1)

    @action
    def termination(self) -> None:
        when(self.bean_count() == 1)

    @fair("weak")
    def next(self, after: CoffeeCan) -> bool:
        return True

    @transition
    def monotonic_decrease(self, after: CoffeeCan) -> bool:
        return not self.bean_count() > 1 or after.bean_count() < self.bean_count()

    @transition
    def loop_invariant(self, after: CoffeeCan) -> bool:
        return (self.can.white % 2 == 0) == (after.can.white % 2 == 0)

    @temporal
    def eventually_terminates(self) -> Formula:
        return eventually(lambda: self.bean_count() == 1)

    @temporal
    def termination_hypothesis(self) -> Formula:
        even = implies(
            lambda: self.can.white % 2 == 0,
            eventually(lambda: self.can == Can(1, 0)),
        )
        odd = implies(
            lambda: self.can.white % 2 == 1,
            eventually(lambda: self.can == Can(0, 1)),
        )
        return even & odd
