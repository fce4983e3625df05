"""A redo log whose recovery takes steps, and may be cut short by another crash.

All pages are written or none is, whenever a recovery has ended. What must not happen is in the
order of its steps: the log is given up only when all pages are written again.
"""

from __future__ import annotations

from typing import Self

from refute.machine import (
    Machine,
    Map,
    Sort,
    Steps,
    Var,
    observe,
    process,
    reachable,
    recover,
    var,
)


class Page(Sort, size=2):
    """Pages of a disk."""


class RedoLog(Machine, crashes=True):
    """Log all, commit, then write in place; recovery does it again, page by page."""

    page: Var[Map[Page, bool]] = var(each=False)
    logged: Var[Map[Page, bool]] = var(each=False)
    committed: Var[bool] = var(False)
    recovering: Var[bool] = var(False, volatile=True)

    @process
    def write(self) -> Steps[Self]:
        """Everything into the log, then into its place."""
        for p in Page:
            self.logged[p] = True
            self = yield
        self.committed = True
        self = yield
        for p in Page:
            self.page[p] = True
            self = yield
        self.committed = False

    @recover
    def redo(self) -> Steps[Self]:
        """What was committed is written again; the log is given up last."""
        self.recovering = True
        self = yield
        if self.committed:
            for p in Page:
                self.page[p] = self.logged[p]
                self = yield
            self.committed = False
            self = yield
        self.logged = dict.fromkeys(Page, False)
        self.recovering = False

    @observe
    def atomic(self) -> bool:
        """All pages, or none."""
        return all(self.page.values()) or not any(self.page.values())

    @reachable
    def torn(self) -> bool:
        """A crash did come between two pages."""
        return self.recovering and any(self.page.values()) and not all(self.page.values())
