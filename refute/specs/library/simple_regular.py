"""L. Lamport's SimpleRegular: N processes set a flag and read their neighbour's.

Source: tlaplus/Examples, specifications/TeachingConcurrency/SimpleRegular.tla ("Teaching
Concurrency"; with regular registers, as Y. Abraham asked). A register that is being written is the
set of values that a read may see. That repository's manifest gives 277,726 distinct states and
1,454,776 generated for eight processes.

The places are a variable here, as in the PlusCal translation, whose step Terminating they need.
"""

from __future__ import annotations

import enum
from typing import Annotated

from refute.machine import (
    Const,
    Machine,
    Map,
    Range,
    Set,
    Var,
    action,
    any_of,
    const,
    invariant,
    var,
    when,
)

Proc = Annotated[int, Range(0, "N - 1")]
Bit = Annotated[int, Range(0, 1)]


class Place(enum.Enum):
    """What a process does next."""

    A1 = enum.auto()
    A2 = enum.auto()
    B = enum.auto()
    DONE = enum.auto()


class SimpleRegular(Machine):
    """Some process sees its neighbour's flag."""

    N: Const[int] = const()
    x: Var[Map[Proc, Set[Bit]]] = var(each=frozenset({0}))
    y: Var[Map[Proc, Bit]] = var(each=0)
    pc: Var[Map[Proc, Place]] = var(each=Place.A1)

    @action
    def a1(self, i: Proc) -> None:
        """The write of the flag begins."""
        when(self.pc[i] == Place.A1)
        self.x[i] = Set((0, 1))
        self.pc[i] = Place.A2

    @action
    def a2(self, i: Proc) -> None:
        """The write ends."""
        when(self.pc[i] == Place.A2)
        self.x[i] = Set((1,))
        self.pc[i] = Place.B

    @action
    def b(self, i: Proc) -> None:
        """The neighbour's flag is read: any value that the register may show."""
        when(self.pc[i] == Place.B)
        seen = any_of(self.x[(i - 1) % self.N])
        self.y[i] = seen
        self.pc[i] = Place.DONE

    @action
    def terminating(self) -> None:
        """All have ended: the step that PlusCal adds."""
        when(all(p == Place.DONE for p in self.pc.values()))

    @invariant
    def correct(self) -> bool:
        """PCorrect: when all have ended, somebody has seen a flag."""
        ended = all(p == Place.DONE for p in self.pc.values())
        return not ended or any(v == 1 for v in self.y.values())

    @invariant
    def inductive(self, i: Proc) -> bool:
        """The middle part of Inv: a flag that was written is up."""
        return self.pc[i] not in (Place.B, Place.DONE) or self.x[i] == Set((1,))
