"""A clock, and machines that implement it or do not quite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from refute.machine import Const, Machine, Range, Var, action, const, refines, var, when


class Clock(Machine):
    """Counts round and round."""

    LAST: Const[int] = const(3)
    hour: Var[Annotated[int, Range(0, "LAST")]] = var(0)

    @action(fair="weak")
    def tick(self) -> None:
        self.hour = (self.hour + 1) % (self.LAST + 1)


class Good(Machine):
    """Sound: two bits, and a step to think."""

    low: Var[bool] = var(False)
    high: Var[bool] = var(False)
    busy: Var[bool] = var(False)

    @action(fair="weak")
    def think(self) -> None:
        when(not self.busy)
        self.busy = True

    @action(fair="weak")
    def step(self) -> None:
        when(self.busy)
        self.busy = False
        if self.low:
            self.high = not self.high
        self.low = not self.low

    @refines(Clock)
    def clock(self) -> Mapping[str, object]:
        return {"hour": (1 if self.low else 0) + (2 if self.high else 0)}


class Unfair(Good):
    """Planted: may stop for ever."""

    @action
    def step(self) -> None:
        when(self.busy)
        self.busy = False
        if self.low:
            self.high = not self.high
        self.low = not self.low


class Skips(Good):
    """Planted: counts by three."""

    @action(fair="weak")
    def step(self) -> None:
        when(self.busy)
        self.busy = False
        self.high = not self.high
        self.low = not self.low


class Late(Good):
    """Planted: starts at two."""

    high: Var[bool] = var(True)


class Short(Good):
    """Planted: the clock it claims to be has other hours."""

    @refines(Clock, LAST="1 + 1")
    def clock(self) -> Mapping[str, object]:
        return {"hour": (1 if self.low else 0) + (2 if self.high else 0)}
