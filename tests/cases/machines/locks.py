"""An abstract lock, and Peterson's algorithm, which implements it.

Source: tlaplus/Examples, specifications/locks_auxiliary_vars (J. Differdange): Lock.tla has 12
distinct states and 21 generated, Peterson.tla 42 and 77.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Annotated, Self

from refute.machine import (
    Machine,
    Map,
    Range,
    Steps,
    Var,
    action,
    invariant,
    process,
    refines,
    var,
    when,
)

Proc = Annotated[int, Range(1, 2)]


class L(enum.Enum):
    """The places in the abstract lock."""

    L0 = 0
    L1 = 1
    CS = 2
    L2 = 3


class A(enum.Enum):
    """The places in the algorithm."""

    A0 = 0
    A1 = 1
    A2 = 2
    A3 = 3
    CS = 4
    A4 = 5


def other(p: int) -> int:
    """The other process."""
    return 2 if p == 1 else 1


TO_LOCK = {A.A0: L.L0, A.A1: L.L1, A.A2: L.L1, A.A3: L.L1, A.CS: L.CS, A.A4: L.L2}


class Lock(Machine):
    """At most one process is inside."""

    pc: Var[Map[Proc, L]] = var(each=L.L0)
    lock: Var[Annotated[int, Range(0, 1)]] = var(1)

    @action
    def l0(self, p: Proc) -> None:
        when(self.pc[p] == L.L0)
        self.pc[p] = L.L1

    @action
    def l1(self, p: Proc) -> None:
        when(self.pc[p] == L.L1)
        when(self.lock == 1)
        self.lock = 0
        self.pc[p] = L.CS

    @action
    def cs(self, p: Proc) -> None:
        when(self.pc[p] == L.CS)
        self.pc[p] = L.L2

    @action
    def l2(self, p: Proc) -> None:
        when(self.pc[p] == L.L2)
        self.lock = 1
        self.pc[p] = L.L0

    @invariant
    def lock_inv(self, i: Proc, j: Proc) -> bool:
        return i == j or not (self.pc[i] in (L.CS, L.L2) and self.pc[j] in (L.CS, L.L2))


class Peterson(Machine):
    """Two processes give way to each other."""

    c: Var[Map[Proc, bool]] = var(each=False)
    turn: Var[Proc] = var(1)
    pc: Var[Map[Proc, A]] = var(each=A.A0)

    @process
    def proc(self, p: Proc) -> Steps[Self]:
        while True:
            self.pc[p] = A.A1
            self = yield
            self.c[p] = True
            self.pc[p] = A.A2
            self = yield
            self.turn = other(p)
            self.pc[p] = A.A3
            self = yield
            when(not self.c[other(p)] or self.turn == p)
            self.pc[p] = A.CS
            self = yield
            self.pc[p] = A.A4
            self = yield
            self.c[p] = False
            self.pc[p] = A.A0
            self = yield

    @invariant
    def inv(self, i: Proc, j: Proc) -> bool:
        cs = {A.CS, A.A4}
        return i == j or not (self.pc[i] in cs and self.pc[j] in cs)

    @refines(Lock)
    def to_lock(self) -> Mapping[str, object]:

        place = {p: TO_LOCK[self.pc[p]] for p in range(1, 3)}
        if any(q in (L.CS, L.L2) for q in place.values()):
            return {"pc": place, "lock": 0}
        return {"pc": place, "lock": 1}
