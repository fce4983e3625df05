"""Parts that crash by themselves: what is observed of one is so after its own crashes."""

from __future__ import annotations

from typing import Self

from refute.machine import (
    Machine,
    Map,
    Part,
    Sort,
    Steps,
    Var,
    observe,
    part,
    process,
    recover,
    var,
    when,
)


class Host(Sort, size=2):
    """Machines with a disk each."""


class Disk(Machine, crashes=True):
    """Two pages that agree, written one after the other under a mark; recovery takes steps."""

    first: Var[bool] = var(False)
    second: Var[bool] = var(False)
    marked: Var[bool] = var(False)

    @process
    def write(self) -> Steps[Self]:
        self.marked = True
        self = yield
        self.first = True
        self = yield
        self.second = True
        self = yield
        self.marked = False

    @recover
    def redo(self) -> Steps[Self]:
        if self.marked:
            self.first = True
            self = yield
            self.second = True
            self = yield
            self.marked = False

    @observe
    def agree(self) -> bool:
        return self.first == self.second


class Hasty(Disk, crashes=True):
    """Planted: the mark is taken off first, and the next crash may come right then."""

    @recover
    def redo(self) -> Steps[Self]:
        if self.marked:
            self.marked = False
            self = yield
            self.first = True
            self = yield
            self.second = True


class Naive(Machine, crashes=True):
    """Planted: recovery does nothing."""

    first: Var[bool] = var(False)
    second: Var[bool] = var(False)

    @process
    def write(self) -> Steps[Self]:
        self.first = True
        self = yield
        self.second = True

    @observe
    def agree(self) -> bool:
        return self.first == self.second


class Pair(Machine):
    """Sound."""

    disks: Part[Map[Host, Disk]] = part(Disk)


class HastyPair(Machine):
    """Planted: both are hasty."""

    disks: Part[Map[Host, Hasty]] = part(Hasty)


class Mixed(Machine):
    """Planted: the left one is naive, and the right one, whose crashes are its own, is right."""

    left: Part[Naive] = part(Naive)
    right: Part[Disk] = part(Disk)


class NaivePair(Machine):
    """Planted: both are naive."""

    disks: Part[Map[Host, Naive]] = part(Naive)


class Waits(Machine, crashes=True):
    """Planted: after a crash it waits for ever, with its process at an end."""

    ready: Var[bool] = var(True)

    @process
    def work(self) -> Steps[Self]:
        self.ready = False
        self = yield
        self.ready = True

    @recover
    def again(self) -> Steps[Self]:
        self = yield
        when(self.ready)


class Waiting(Machine):
    """Planted: a part whose recovery never ends; a crash is always offered."""

    waits: Part[Waits] = part(Waits)
