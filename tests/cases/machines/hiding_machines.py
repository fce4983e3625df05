"""A lock of processes, and machines that implement it or do not quite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from refute.machine import (
    Machine,
    Map,
    Set,
    Sort,
    Steps,
    Var,
    any_of,
    empty_set,
    process,
    refines,
    var,
    when,
)


class P(Sort, size=2):
    """Processes."""


class Lock(Machine):
    """In and out, by turns: where a process is can be seen from who is inside."""

    inside: Var[Set[P]] = var(empty_set)

    @process(fair="weak")
    def user(self, p: P) -> Steps[Self]:
        while True:
            when(not self.inside)
            self.inside.add(p)
            self = yield
            self.inside.discard(p)
            self = yield


class Once(Machine):
    """In and out, and never again."""

    inside: Var[Set[P]] = var(empty_set)

    @process
    def user(self, p: P) -> Steps[Self]:
        when(not self.inside)
        self.inside.add(p)
        self = yield
        self.inside.discard(p)


class Waits(Machine):
    """Makes up its mind first, which nobody sees."""

    inside: Var[Set[P]] = var(empty_set)

    @process(fair="weak")
    def user(self, p: P) -> Steps[Self]:
        while True:
            goes = any_of([True, False])
            self = yield
            when(goes and not self.inside)
            self.inside.add(p)
            self = yield
            self.inside.discard(p)
            self = yield


class Peterson(Machine):
    """Sound: two processes, two flags and whose turn it is."""

    flag: Var[Map[P, bool]] = var(each=False)
    turn: Var[P] = var(P(0))
    critical: Var[Set[P]] = var(empty_set)

    @process(fair="weak")
    def user(self, p: P) -> Steps[Self]:
        while True:
            self.flag[p] = True
            self = yield
            self.turn = any_of([q for q in P if q != p])
            self = yield
            when(self.turn == p or not any(self.flag[q] for q in P if q != p))
            self.critical.add(p)
            self = yield
            self.critical.discard(p)
            self.flag[p] = False
            self = yield

    @refines(Lock)
    def lock(self) -> Mapping[str, object]:
        return {"inside": self.critical}


class Hasty(Peterson):
    """Planted: does not look whose turn it is."""

    @process(fair="weak")
    def user(self, p: P) -> Steps[Self]:
        while True:
            self.critical.add(p)
            self = yield
            self.critical.discard(p)
            self = yield


class Lazy(Peterson):
    """Planted: a process may stop inside."""

    @process
    def user(self, p: P) -> Steps[Self]:
        while True:
            when(not self.critical)
            self.critical.add(p)
            self = yield
            self.critical.discard(p)
            self = yield


class Again(Peterson):
    """Planted: comes back to what is entered once."""

    @refines(Once)
    def lock(self) -> Mapping[str, object]:
        return {"inside": self.critical}


class Open(Peterson):
    """Steps are those of `Waits`; whether fairness is kept depends on what nobody sees."""

    @refines(Waits)
    def lock(self) -> Mapping[str, object]:
        return {"inside": self.critical}
