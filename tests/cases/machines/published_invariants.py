"""Inductive invariants as others have published them, for machines of the library.

Two-phase commit: `Inv` in specifications/transaction_commit/TwoPhase_proof.tla of tlaplus/Examples,
which TLAPS has checked. The lock service and consensus: the invariants in examples/lockserv.pyv and
examples/fol/toy_consensus_epr.pyv of mypyvy, where whether a node voted is a relation of its own.
"""

from __future__ import annotations

from refute.machine import Machine, invariant
from refute.specs.library.lock_service import Client, LockService
from refute.specs.library.toy_consensus import Node, ToyConsensus, Value
from refute.specs.library.transaction_commit import RM, Phase
from refute.specs.library.two_phase_commit import TM, Abort, Commit, Prepared, TwoPhase


class TwoPhaseProof(TwoPhase):
    """The conjuncts of `Inv` after the types, in their order."""

    @invariant
    def one_decision(self) -> bool:
        return not (Commit() in self.msgs and Abort() in self.msgs)

    @invariant
    def undecided_at_first(self) -> bool:
        silent = Commit() not in self.msgs and Abort() not in self.msgs
        return self.tm != TM.INIT or silent

    @invariant
    def committed_says_so(self) -> bool:
        return self.tm != TM.COMMITTED or Commit() in self.msgs

    @invariant
    def aborted_says_so(self) -> bool:
        return self.tm != TM.ABORTED or Abort() in self.msgs

    @invariant
    def noted_was_said(self, rm: RM) -> bool:
        return rm not in self.prepared or Prepared(rm) in self.msgs

    @invariant
    def said_works_no_more(self, rm: RM) -> bool:
        return Prepared(rm) not in self.msgs or self.phase[rm] != Phase.WORKING

    @invariant
    def committed_was_told(self, rm: RM) -> bool:
        return self.phase[rm] != Phase.COMMITTED or Commit() in self.msgs

    @invariant
    def commit_follows_all(self, rm: RM) -> bool:
        return Commit() not in self.msgs or Prepared(rm) in self.msgs

    @invariant
    def aborted_was_told(self, rm: RM) -> bool:
        told = Abort() in self.msgs or Prepared(rm) not in self.msgs
        return self.phase[rm] != Phase.ABORTED or told


class LockServiceMypyvy(LockService):
    """What follows the safety property there, in its order."""

    @invariant
    def one_grant(self, c: Client, d: Client) -> bool:
        return c not in self.grants or d not in self.grants or c == d

    @invariant
    def one_release(self, c: Client, d: Client) -> bool:
        return c not in self.releases or d not in self.releases or c == d

    @invariant
    def held_not_granted(self, c: Client, d: Client) -> bool:
        return not (c in self.holding and d in self.grants)

    @invariant
    def held_not_released(self, c: Client, d: Client) -> bool:
        return not (c in self.holding and d in self.releases)

    @invariant
    def granted_not_released(self, c: Client, d: Client) -> bool:
        return not (c in self.grants and d in self.releases)

    @invariant
    def granted_not_free(self, c: Client) -> bool:
        return not (c in self.grants and self.free)

    @invariant
    def held_not_free(self, c: Client) -> bool:
        return not (c in self.holding and self.free)

    @invariant
    def released_not_free(self, c: Client) -> bool:
        return not (c in self.releases and self.free)


class ConsensusMypyvy(ToyConsensus):
    """All of it is in the library's module; a lemma that is true, and of no use, is added."""

    @invariant
    def decided_has_votes(self, v: Value) -> bool:
        return v not in self.decided or any(v in self.votes[n] for n in Node)


PUBLISHED: dict[type[Machine], tuple[str, ...]] = {
    TwoPhaseProof: (
        "one_decision",
        "undecided_at_first",
        "committed_says_so",
        "aborted_says_so",
        "noted_was_said",
        "said_works_no_more",
        "committed_was_told",
        "commit_follows_all",
        "aborted_was_told",
    ),
    LockServiceMypyvy: (
        "exclusive",
        "one_grant",
        "one_release",
        "held_not_granted",
        "held_not_released",
        "granted_not_released",
        "granted_not_free",
        "held_not_free",
        "released_not_free",
    ),
    ConsensusMypyvy: ("agreement", "one_vote", "backed", "quorums"),
}
