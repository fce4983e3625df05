"""Code of steps that never runs is named by its line, also where the step is undone after it."""

from __future__ import annotations

import inspect
from typing import Annotated, Self

from refute.machine import Machine, Range, Steps, Var, action, process, var, when
from refute.verifiers.model.search import Search


class Branches(Machine):
    n: Var[Annotated[int, Range(0, 3)]] = var(0)

    @action
    def up(self) -> None:
        if self.n > 5:
            self.n = 0  # never
        elif self.n == 2:
            self.n = 1  # undone
            when(False)
        else:
            self.n = (self.n + 1) % 3

    @process
    def run(self, p: Annotated[int, Range(0, 0)]) -> Steps[Self]:
        while True:
            if self.n == 3:
                self.n = 1  # not reached
                self = yield
            self = yield


def test_branches_that_never_run_are_named() -> None:
    search = Search(Branches.build().ir)
    search.advance(5.0)
    lines, start = inspect.getsourcelines(Branches)
    words = ("# never", "# undone", "# not reached")
    planted = [start + at for at, line in enumerate(lines) if any(w in line for w in words)]
    assert search.report()["unran"] == planted
