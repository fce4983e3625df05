"""Choices that become loops in C, and those that run the action again, are the plain engine's."""

from __future__ import annotations

from typing import Annotated

from test_native_machines import compared  # type: ignore[import-not-found]

from refute.machine import Machine, Map, Range, Var, action, any_of, invariant, var, when
from refute.specs.machine.ir import Action
from refute.verifiers.model.native.choosing import loops_over_choices


class Picks(Machine):
    """Actions that choose before and after they write."""

    a: Var[Annotated[int, Range(0, 5)]] = var(0)
    b: Var[Map[Annotated[int, Range(0, 2)], Annotated[int, Range(0, 3)]]] = var(each=0)

    @action
    def both(self) -> None:
        """Two choices; the second is among what the first leaves, and may have no options."""
        k = any_of(k for k in range(3) if self.b[k] < 3)
        m = any_of(m for m in range(4) if m > self.b[k] and m != self.a)
        if m > 1:
            self.a = m
        self.b[k] = m

    @action
    def counted(self) -> None:
        """A local from before the choice is changed after it."""
        total = self.a
        k = any_of(range(3))
        total = total + k
        when(total < 6)
        self.a = total

    @action
    def late(self) -> None:
        """A write comes before the choice."""
        self.a = 0
        k = any_of(range(3))
        self.b[k] = 0

    @invariant
    def below(self) -> bool:
        """Broken after a few steps."""
        return self.a + self.b[0] < 8


class Fails(Machine):
    """A later option of the choice raises."""

    a: Var[Annotated[int, Range(0, 4)]] = var(0)

    @action
    def step(self) -> None:
        """Divides by nothing when 2 is chosen after 1."""
        k = any_of(range(3))
        when(self.a != 4)
        self.a = k // (self.a + 1 - k) if self.a == 1 else k


def test_choices_are_searched_alike() -> None:
    ir = Picks.build().ir
    looped = {a.name: loops_over_choices(a) for a in ir.actions if isinstance(a, Action)}
    assert looped == {"both": True, "counted": False, "late": False}
    assert compared(Picks.build()) in ("whole", "part")


def test_an_option_that_raises_is_found_alike() -> None:
    assert all(loops_over_choices(a) for a in Fails.build().ir.actions)
    assert compared(Fails.build()) == "whole"
