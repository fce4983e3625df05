"""Two-phase commit with the message set, after L. Lamport's TwoPhase.tla.

Source: tlaplus/Examples, specifications/transaction_commit/TwoPhase.tla (Gray and Lamport,
"Consensus on Transaction Commit"). Resource managers prepare of their own accord, messages are
never removed from the set of those sent, and the transaction manager may abort at any time before
it has decided. That repository's manifest gives 288 distinct states, 1146 generated and depth 11
for three resource managers.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from refute.machine import (
    Machine,
    Map,
    Set,
    Var,
    action,
    empty_set,
    invariant,
    reachable,
    refines,
    var,
    when,
)
from refute.specs.library.transaction_commit import RM, Phase, TCommit


class TM(enum.Enum):
    """Where the transaction manager stands."""

    INIT = enum.auto()
    COMMITTED = enum.auto()
    ABORTED = enum.auto()


@dataclass(frozen=True)
class Prepared:
    """Sent by a resource manager that has prepared."""

    rm: RM


@dataclass(frozen=True)
class Commit:
    """Sent by the transaction manager to all."""


@dataclass(frozen=True)
class Abort:
    """Sent by the transaction manager to all."""


class TwoPhase(Machine):
    """Atomic commitment with one transaction manager."""

    phase: Var[Map[RM, Phase]] = var(each=Phase.WORKING)
    tm: Var[TM] = var(TM.INIT)
    prepared: Var[Set[RM]] = var(empty_set)
    msgs: Var[Set[Prepared | Commit | Abort]] = var(empty_set)

    @action
    def tm_rcv_prepared(self, rm: RM) -> None:
        """The transaction manager takes note of a Prepared message."""
        when(self.tm == TM.INIT)
        when(Prepared(rm) in self.msgs)
        self.prepared.add(rm)

    @action
    def tm_commit(self) -> None:
        """Every resource manager has prepared: commit."""
        when(self.tm == TM.INIT)
        when(all(rm in self.prepared for rm in RM))
        self.tm = TM.COMMITTED
        self.msgs.add(Commit())

    @action
    def tm_abort(self) -> None:
        """The transaction manager aborts of its own accord."""
        when(self.tm == TM.INIT)
        self.tm = TM.ABORTED
        self.msgs.add(Abort())

    @action
    def rm_prepare(self, rm: RM) -> None:
        """A resource manager prepares and says so."""
        when(self.phase[rm] == Phase.WORKING)
        self.phase[rm] = Phase.PREPARED
        self.msgs.add(Prepared(rm))

    @action
    def rm_choose_to_abort(self, rm: RM) -> None:
        """A working resource manager aborts of its own accord, and sends nothing."""
        when(self.phase[rm] == Phase.WORKING)
        self.phase[rm] = Phase.ABORTED

    @action
    def rm_rcv_commit(self, rm: RM) -> None:
        """A resource manager is told to commit."""
        when(Commit() in self.msgs)
        self.phase[rm] = Phase.COMMITTED

    @action
    def rm_rcv_abort(self, rm: RM) -> None:
        """A resource manager is told to abort."""
        when(Abort() in self.msgs)
        self.phase[rm] = Phase.ABORTED

    @invariant
    def agreement(self) -> bool:
        """No two resource managers decide differently (TCConsistent of TCommit.tla)."""
        committed = any(p == Phase.COMMITTED for p in self.phase.values())
        aborted = any(p == Phase.ABORTED for p in self.phase.values())
        return not (committed and aborted)

    @invariant
    def commit_needs_all(self) -> bool:
        """Nobody commits while somebody has not prepared."""
        return Commit() not in self.msgs or all(
            p in (Phase.PREPARED, Phase.COMMITTED) for p in self.phase.values()
        )

    @refines(TCommit)
    def commits(self) -> Mapping[str, object]:
        """What the resource managers do is transaction commit (TC!TCSpec)."""
        return {"phase": self.phase}

    @reachable
    def can_commit(self) -> bool:
        """All can commit."""
        return all(p == Phase.COMMITTED for p in self.phase.values())

    @reachable
    def can_abort(self) -> bool:
        """All can abort."""
        return all(p == Phase.ABORTED for p in self.phase.values())
