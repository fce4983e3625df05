"""A machine whose steps depend on the order in which sets are walked through."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated

from refute.machine import (
    Machine,
    Map,
    OrderedSort,
    Range,
    Seq,
    Set,
    Sort,
    Upto,
    Var,
    action,
    empty_set,
    terminal,
    var,
    when,
)


class P(Sort, size=2):
    """Processes."""


class Place(OrderedSort, size=3):
    """Places in a line."""


class C(enum.Enum):
    """Colours, with values that are in another order than their names and places."""

    RED = 2
    BLUE = 1


@dataclass(frozen=True)
class Paint:
    """Who uses which colour."""

    by: P
    colour: C


@dataclass(frozen=True)
class Bit:
    """A number."""

    n: Annotated[int, Range(0, 1)]


class Folds(Machine):
    """Every step but the first two keeps what comes first or last in some set."""

    mixed: Var[Set[Paint | Bit | P | None]] = var(empty_set)
    listed: Var[Annotated[Seq[Paint | Bit | P | None], Upto(5)]] = var(())
    last: Var[Paint | Bit | P | None] = var(None)
    nested: Var[Set[Set[P]]] = var(empty_set)
    colours: Var[Map[C, Set[tuple[P, C]]]] = var(each=empty_set)
    line: Var[Annotated[Seq[Place], Upto(3)]] = var(())

    @action
    def paint(self, by: P, colour: C) -> None:
        """Adds a record."""
        when(len(self.mixed) < 2)
        self.mixed.add(Paint(by, colour))

    @action
    def more(self, bit: Annotated[int, Range(0, 1)], p: P) -> None:
        """Adds of every kind; a builtin set becomes an element."""
        when(len(self.mixed) < 4)
        self.mixed |= {Bit(bit), p, None}
        others = {x for x in P if x != p}
        self.nested.add(others)

    @action
    def fold(self) -> None:
        """Keeps all, and the last."""
        self.listed = list(self.mixed)[:5]
        last = None
        for x in self.mixed:
            last = x
        self.last = last

    @action
    def fold_nested(self, colour: C) -> None:
        """The last of sets of sets, and of tuples."""
        for p, c in Set((r, colour) for r in P) | self.colours[C.RED]:
            self.colours[c] = {(p, colour if colour is C.RED else c)}
        for some in self.nested:
            for x in some:
                self.last = x
        self.line = sorted({o for o in Place if o.index != 1 or colour is not C.RED})

    @terminal
    def end(self) -> bool:
        """Anywhere."""
        return True
