"""Five type errors that `mypy --strict` must see in a machine; each line is marked."""

from __future__ import annotations

import enum
from typing import Self

from refute.machine import Machine, Map, Set, Sort, Steps, Var, action, invariant, process, var, when


class RM(Sort, size=2):
    """Resource managers."""


class Phase(enum.Enum):
    """A phase."""

    A = enum.auto()
    B = enum.auto()


class Wrong(Machine):
    """Every marked line is wrong."""

    phase: Var[Map[RM, Phase]] = var(each=Phase.A)
    seen: Var[Set[RM]] = var(frozenset())
    best: Var[RM | None] = var(None)

    @action
    def wrong_value(self, rm: RM) -> None:
        self.phase[rm] = 3  # error

    @action
    def wrong_key(self) -> None:
        self.phase[Phase.A] = Phase.B  # error

    @action
    def wrong_element(self) -> None:
        self.seen.add(Phase.A)  # error

    @process
    def stale(self, rm: RM) -> Steps[Self]:
        when(self.best is not None)
        if self.best is not None:
            self = yield
            self.phase[self.best] = Phase.B  # error

    @invariant
    def not_a_bool(self) -> bool:
        return self.best  # error

    @action
    def fine(self, rm: RM) -> None:
        self.seen = {rm}
        self.best = rm
