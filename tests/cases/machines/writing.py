"""Helpers that write, called as statements of actions and processes, and steps that go on."""

from __future__ import annotations

from typing import Annotated, Self

from refute.machine import (
    Machine,
    Map,
    Range,
    Sort,
    Steps,
    Var,
    action,
    any_of,
    invariant,
    process,
    var,
    when,
)

Few = Annotated[int, Range(0, 3)]


class P(Sort, size=2):
    """Processes."""


class Writing(Machine):
    """Counters that helpers move."""

    n: Var[Few] = var(0)
    held: Var[P | None] = var(None)
    m: Var[Map[P, Few]] = var(each=0)

    def up(self, by: int = 1) -> None:
        """With a default, and a parameter that it changes."""
        by = by % 3
        for _ in range(by):
            self.n = (self.n + 1) % 4

    def note(self, p: P, value: int) -> None:
        """Ends early in two places."""
        before = self.m[p]
        if value > 3:
            return
        match self.held:
            case None:
                self.held = p
                return
            case q if q != p:
                self.up(value)
        self.m[p] = value
        if before == value:
            self.held = None

    def take(self, p: P) -> None:
        """Waits, and chooses."""
        when(self.held is None)
        self.held = p
        self.n = any_of([self.n, 0])

    @action
    def put(self, p: P) -> None:
        self.note(p, self.n + 1)
        before = self.m[p]
        self.note(P(0), self.m[P(0)])
        when(self.m[p] >= before)

    @process
    def run(self, p: P) -> Steps[Self]:
        by = 1
        while True:
            self.take(p)
            self = yield
            self.up(by)
            self.up(by + 1)
            by = 2
            self = yield
            when(self.held == p)
            self.held = None
            self = yield


class Derived(Writing):
    """A step that does more than the one it overrides."""

    @action
    def put(self, p: P) -> None:
        when(self.n < 3)
        super().put(p)
        self.up()

    def rank(self) -> int:
        """Names inside expressions, of which one is of a loop."""
        found = 0
        while (left := self.n - found) > 1 and found < 2:
            found += left - 1
        if (p := self.held) is not None and self.m[p] > 0:
            return self.m[p]
        return (total := found + 1) + total

    @action
    def settle(self) -> None:
        when((p := self.held) is not None)
        if (k := self.rank()) < 3 and self.n == k:
            self.n = 0
        assert p == self.held

    @invariant
    def low(self) -> bool:
        return self.n < 4 and self.rank() < 9
