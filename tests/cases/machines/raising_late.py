"""Predicates that raise only in states after the one that decides them."""

from __future__ import annotations

from typing import Annotated, Self

from refute.machine import (
    Machine,
    Range,
    Var,
    action,
    invariant,
    reachable,
    terminal,
    transition,
    var,
    when,
)


class Counts(Machine):
    """0, 1, 2, 3."""

    v: Var[Annotated[int, Range(0, 3)]] = var(0)

    @action
    def up(self) -> None:
        when(self.v < 3)
        self.v += 1


class FalseBefore(Counts):
    """False at 1, raises at 2."""

    @invariant
    def asked(self) -> bool:
        return 100 // (2 - self.v) < 100


class TrueBefore(Counts):
    """True at 1, raises at 2."""

    @reachable
    def asked(self) -> bool:
        return 100 // (2 - self.v) > 50


class StepBefore(Counts):
    """False of the step to 1, raises at the step to 2."""

    @transition
    def asked(self, after: Self) -> bool:
        return 100 // (2 - after.v) < 100


class StuckBefore(Machine):
    """No step at 2, where nothing says that it may end; at 3 what could say so raises."""

    v: Var[Annotated[int, Range(0, 3)]] = var(0)

    @action
    def up(self) -> None:
        when(self.v in (0, 1))
        self.v += 1

    @action
    def leap(self) -> None:
        when(self.v == 1)
        self.v = 3

    @action
    def rest(self) -> None:
        when(self.v == 0)
        self.v = 2

    @terminal
    def asked(self) -> bool:
        return 100 // (3 - self.v) < 100
