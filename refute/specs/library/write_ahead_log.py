"""A write-ahead log: all pages of a transaction reach the disk, or none, whatever the crash.

The textbook protocol (C. Mohan et al., "ARIES", 1992, in its simplest form; redo only): what a
transaction writes goes to the log first, then a commit record, then to the pages, and the log is
cleared. Every step is one write to the disk, and a crash may fall between any two.
"""

from __future__ import annotations

from typing import Annotated, Self

from refute.machine import (
    Const,
    Machine,
    Map,
    Range,
    Set,
    Sort,
    Steps,
    Var,
    const,
    empty_set,
    invariant,
    observe,
    process,
    reachable,
    recover,
    var,
)


class Page(Sort, size=2):
    """Pages of the disk."""


Version = Annotated[int, Range(0, "TX")]
One = Annotated[int, Range(0, 0)]


class WriteAheadLog(Machine, crashes=True):
    """Transaction n gives every page the version n."""

    TX: Const[int] = const(2)
    page: Var[Map[Page, Version]] = var(each=0)
    logged: Var[Set[Page]] = var(empty_set)
    logging: Var[Version] = var(0)
    committed: Var[bool] = var(False)
    acknowledged: Var[Version] = var(0)
    dirty: Var[Set[Page]] = var(empty_set, volatile=True)

    @process
    def writer(self, only: One) -> Steps[Self]:
        """Transactions one after the other; each write is a step."""
        while self.logging < self.TX:
            self.logging += 1
            self = yield
            while len(self.logged) < len(Page):
                missing = [p for p in Page if p not in self.logged]
                self.logged.add(missing[0])
                self = yield
            self.committed = True
            self.dirty = Set(Page)
            self = yield
            self.acknowledged = self.logging
            self = yield
            while len(self.dirty) > 0:
                rest = list(self.dirty)
                self.page[rest[0]] = self.logging
                self.dirty.discard(rest[0])
                self = yield
            self.committed = False
            self = yield
            self.logged.clear()
            self = yield

    @recover
    def redo(self) -> None:
        """What was committed is written again; the log is cleared."""
        if self.committed:
            self.page = {p: self.logging if p in self.logged else self.page[p] for p in Page}
        self.committed = False
        self.logged.clear()

    @observe
    def atomic(self, p: Page, q: Page) -> bool:
        """No crash leaves a part of a transaction."""
        return self.page[p] == self.page[q]

    @observe
    def durable(self, p: Page) -> bool:
        """No crash loses what was acknowledged."""
        return self.page[p] >= self.acknowledged

    @invariant
    def logged_first(self, p: Page) -> bool:
        """A commit record is there only when all pages are logged."""
        return not self.committed or p in self.logged

    @reachable
    def ends(self) -> bool:
        """All transactions can be done."""
        return self.acknowledged == self.TX and all(v == self.TX for v in self.page.values())
