"""Helpers that return in every case there is, without a last `case _` or `else`."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated, Literal, assert_never

from refute.machine import Machine, Range, Sort, Var, action, invariant, var, when

Small = Annotated[int, Range(0, 3)]


class P(Sort, size=2):
    """Processes."""


class Color(enum.Enum):
    """Of the lamp."""

    RED = enum.auto()
    GREEN = enum.auto()
    BLUE = enum.auto()


@dataclass(frozen=True)
class Ask:
    """A request."""

    who: P
    on: bool


@dataclass(frozen=True)
class Stop:
    """The end."""


class Covering(Machine):
    """Enums, unions, literals and bools."""

    color: Var[Color] = var(Color.RED)
    msg: Var[Ask | Stop | None] = var(None)
    word: Var[Literal["a", "b"]] = var("a")
    n: Var[Small] = var(0)

    def rank(self) -> Small:
        """By the members of an Enum."""
        match self.color:
            case Color.RED:
                return 0
            case Color.GREEN | Color.BLUE:
                return 1

    def size(self, m: Ask | Stop | None) -> Small:
        """By the classes of a union; what a guard turns away has a case of its own."""
        match m:
            case Ask(who, True) if self.n > 1:
                return 1 if who == P(0) else 3
            case Ask(who=w):
                return 2 if w == P(0) else 0
            case Stop():
                return 3
            case None:
                return 0

    def lamp(self) -> Color:
        """A chain of `if` with `assert_never`."""
        if self.word == "a":
            return Color.RED
        if self.word == "b":
            return Color.GREEN
        assert_never(self.word)

    def pair(self, b: bool) -> tuple[Small, bool]:
        """By a bool, and a name that each case gives."""
        match b:
            case True:
                x = 1
                return x, True
            case False:
                return 2, False

    def found(self) -> Small:
        """In a loop, and after it; the last case raises."""
        for k in range(3):
            match self.msg:
                case Ask():
                    if k == 2:
                        return 2
                case Stop():
                    return k
                case None:
                    return 0
        match self.color:
            case Color.RED:
                return 1
            case Color.GREEN:
                return 2
            case last:
                assert last is Color.BLUE
                raise ValueError("blue")

    @action
    def step(self, m: Ask | Stop | None) -> None:
        self.msg = m
        self.n = self.size(m)
        self.color = self.lamp()
        match self.word:
            case "a":
                self.word = "b"
            case "b":
                self.word = "a"
            case _:
                assert_never(self.word)

    @action
    def turn(self) -> None:
        self.n, _ = self.pair(self.n > 0)

    @action
    def fix(self) -> None:
        when(self.n == self.found())
        self.color = Color.BLUE

    @invariant
    def ranked(self) -> bool:
        return self.rank() < 2
