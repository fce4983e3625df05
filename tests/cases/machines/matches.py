"""A machine whose steps and helpers are written with `match`."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated

from refute.machine import (
    Machine,
    Range,
    Seq,
    Set,
    Sort,
    Upto,
    Var,
    action,
    any_of,
    empty_set,
    invariant,
    var,
    when,
)

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
    much: Small


@dataclass(frozen=True)
class Stop:
    """The end."""


class Matches(Machine):
    """Every kind of pattern."""

    color: Var[Color] = var(Color.RED)
    msgs: Var[Set[Ask | Stop]] = var(empty_set)
    last: Var[P | None] = var(None)
    total: Var[Small] = var(0)
    line: Var[Annotated[Seq[Small], Upto(2)]] = var(())

    def rank(self, color: Color) -> int:
        """By value, by several, and by default."""
        match color:
            case Color.RED:
                return 0
            case Color.GREEN | Color.BLUE if self.last is None:
                return 1
            case _:
                return 2

    @action
    def send(self, p: P, n: Small) -> None:
        when(len(self.msgs) < 2)
        self.msgs.add(Ask(p, n))

    @action
    def stop(self) -> None:
        self.msgs.add(Stop())

    @action
    def handle(self) -> None:
        m = any_of(self.msgs)
        self.msgs.discard(m)
        match m:
            case Ask(who, much=3):
                self.last = who
            case Ask(who=who, much=n) if n + self.total < 4:
                self.total += n
                self.last = who
            case Ask():
                self.last = None
            case Stop():
                self.total = 0
                self.line = ()

    @action
    def turn(self) -> None:
        match (self.color, self.line):
            case (Color.RED, []):
                self.color = Color.GREEN
                self.line.append(self.total)
            case (Color.GREEN, [first]):
                self.color = Color.BLUE
                self.line = [first, first]
            case (_, [0 | 1, second]):
                self.color = Color.RED
                self.line = [second]
            case _:
                self.color = Color.RED

    @invariant
    def ranked(self) -> bool:
        """Helpers are expressions here too."""
        return self.rank(self.color) <= 2
