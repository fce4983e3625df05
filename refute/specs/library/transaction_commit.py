"""Transaction commit without messages, after L. Lamport's TCommit.tla.

Source: tlaplus/Examples, specifications/transaction_commit/TCommit.tla (Gray and Lamport,
"Consensus on Transaction Commit"). What two-phase commit implements: a resource manager may look
at all others. That repository's manifest gives 34 distinct states and 94 generated for three.
"""

from __future__ import annotations

import enum

from refute.machine import (
    Machine,
    Map,
    Sort,
    Var,
    action,
    invariant,
    reachable,
    terminal,
    var,
    when,
)


class RM(Sort):
    """Resource managers; interchangeable."""


class Phase(enum.Enum):
    """Where a resource manager stands."""

    WORKING = enum.auto()
    PREPARED = enum.auto()
    COMMITTED = enum.auto()
    ABORTED = enum.auto()


class TCommit(Machine):
    """All commit, or all abort."""

    phase: Var[Map[RM, Phase]] = var(each=Phase.WORKING)

    @action
    def prepare(self, rm: RM) -> None:
        """A working resource manager prepares."""
        when(self.phase[rm] == Phase.WORKING)
        self.phase[rm] = Phase.PREPARED

    @action
    def commit(self, rm: RM) -> None:
        """One that has prepared commits, once all have prepared."""
        when(self.phase[rm] == Phase.PREPARED)
        when(all(p in (Phase.PREPARED, Phase.COMMITTED) for p in self.phase.values()))
        self.phase[rm] = Phase.COMMITTED

    @action
    def abort(self, rm: RM) -> None:
        """One that has not decided aborts, as long as nobody has committed."""
        when(self.phase[rm] in (Phase.WORKING, Phase.PREPARED))
        when(all(p != Phase.COMMITTED for p in self.phase.values()))
        self.phase[rm] = Phase.ABORTED

    @invariant
    def consistent(self, one: RM, other: RM) -> bool:
        """No two resource managers decide differently (TCConsistent)."""
        return not (self.phase[one] == Phase.ABORTED and self.phase[other] == Phase.COMMITTED)

    @terminal
    def decided(self) -> bool:
        """All have decided."""
        return all(p in (Phase.COMMITTED, Phase.ABORTED) for p in self.phase.values())

    @reachable
    def can_commit(self) -> bool:
        """All can commit."""
        return all(p == Phase.COMMITTED for p in self.phase.values())
