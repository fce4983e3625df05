"""Machines that crash."""

from __future__ import annotations

from typing import Annotated, Self

from refute.machine import (
    Machine,
    Map,
    Range,
    Sort,
    Steps,
    Var,
    invariant,
    observe,
    process,
    recover,
    var,
)


class Page(Sort, size=2):
    """Pages of the disk."""


class InPlace(Machine, crashes=True):
    """Planted: two pages are written one after the other, and nothing is recovered."""

    page: Var[Map[Page, bool]] = var(each=False)
    told: Var[bool] = var(False)

    @process
    def writer(self, p: Page) -> Steps[Self]:
        self.page[p] = True
        self = yield
        if all(self.page.values()):
            self.told = True

    @observe
    def atomic(self) -> bool:
        return all(self.page.values()) or not any(self.page.values())

    @observe
    def durable(self) -> bool:
        return not self.told or all(self.page.values())


class Forgets(Machine, crashes=True):
    """Sound: what is volatile is forgotten, and what is on the disk is read again."""

    cache: Var[Annotated[int, Range(0, 2)]] = var(0, volatile=True)
    disk: Var[Annotated[int, Range(0, 2)]] = var(0)
    starts: Var[bool] = var(False)

    @process
    def writer(self, p: Page) -> Steps[Self]:
        self.cache = min(2, self.cache + 1)
        self = yield
        self.disk = self.cache

    @recover
    def load(self) -> None:
        assert self.cache == 0
        self.cache = self.disk
        self.starts = True

    @observe
    def same(self) -> bool:
        return self.cache == self.disk and self.starts

    @invariant
    def ahead(self) -> bool:
        return self.cache >= self.disk
