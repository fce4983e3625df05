"""Inductive invariants by hand for the library's machines of every size: their lemmas.

Together with what the machine states itself, each set is inductive. Whoever looks for lemmas
automatically finds here what there is to be found.
"""

from __future__ import annotations

from refute.machine import Machine, invariant
from refute.specs.library.lock_service import Client, LockService
from refute.specs.library.ricart_agrawala import Node as Peer
from refute.specs.library.ricart_agrawala import RicartAgrawala
from refute.specs.library.ring import Node
from refute.specs.library.ring_election import RingElection
from refute.specs.library.sharded_store import Key, ShardedStore, Value
from refute.specs.library.sharded_store import Node as Server
from refute.specs.library.token_ring import TokenRing
from refute.specs.library.toy_consensus import ToyConsensus
from refute.specs.library.transaction_commit import RM, Phase
from refute.specs.library.two_phase_commit import TM, Abort, Commit, Prepared, TwoPhase


class TokenRingLemmas(TokenRing):
    """There is one token, held or on its way, and inside is who holds it."""

    @invariant
    def inside_with_it(self, n: Node) -> bool:
        return n not in self.critical or n in self.holding

    @invariant
    def one_holds(self, n: Node, m: Node) -> bool:
        return n == m or n not in self.holding or m not in self.holding

    @invariant
    def one_comes(self, n: Node, m: Node) -> bool:
        return n == m or n not in self.coming or m not in self.coming

    @invariant
    def held_or_coming(self, n: Node, m: Node) -> bool:
        return n not in self.holding or m not in self.coming


class LockServiceLemmas(LockService):
    """The lock is in one place."""

    @invariant
    def away(self, c: Client) -> bool:
        return not self.free or c not in self.grants | self.holding | self.releases

    @invariant
    def one_place(self, c: Client, d: Client) -> bool:
        places = (self.grants, self.holding, self.releases)
        return c == d or not any(c in p and d in q for p in places for q in places)

    @invariant
    def one_kind(self, c: Client) -> bool:
        twice = (c in self.grants and c in self.holding) or (
            c in self.releases and (c in self.grants or c in self.holding)
        )
        return not twice


class RicartAgrawalaLemmas(RicartAgrawala):
    """Who is inside is allowed by all, and of two only one allows the other."""

    @invariant
    def allowed_inside(self, n: Peer, m: Peer) -> bool:
        return n == m or n not in self.critical or m in self.allowed[n]

    @invariant
    def one_yields(self, n: Peer, m: Peer) -> bool:
        return n == m or m not in self.allowed[n] or n not in self.allowed[m]


class RingElectionLemmas(RingElection):
    """The lemmas are in the library's module."""


class ShardedStoreLemmas(ShardedStore):
    """A key is owned or on its way, and stored where it is owned."""

    @invariant
    def owned_or_moving(self, n: Server, m: Server, k: Key, v: Value) -> bool:
        return n not in self.owners[k] or v not in self.moving[m][k]

    @invariant
    def one_moves(self, n: Server, m: Server, k: Key, v: Value, w: Value) -> bool:
        moving = v in self.moving[n][k] and w in self.moving[m][k]
        return not moving or (n == m and v == w)

    @invariant
    def stored_where_owned(self, n: Server, k: Key, v: Value) -> bool:
        return v not in self.table[n][k] or n in self.owners[k]


class ToyConsensusLemmas(ToyConsensus):
    """The lemmas are in the library's module."""


class TwoPhaseLemmas(TwoPhase):
    """What messages and the notes of the transaction manager say about the others."""

    @invariant
    def commit_is_said(self) -> bool:
        return (Commit() in self.msgs) == (self.tm == TM.COMMITTED)

    @invariant
    def abort_is_said(self) -> bool:
        return (Abort() in self.msgs) == (self.tm == TM.ABORTED)

    @invariant
    def noted_is_said(self, rm: RM) -> bool:
        return rm not in self.prepared or Prepared(rm) in self.msgs

    @invariant
    def said_is_done(self, rm: RM) -> bool:
        return Prepared(rm) not in self.msgs or self.phase[rm] != Phase.WORKING

    @invariant
    def aborted_after_prepared(self, rm: RM) -> bool:
        aborted = Prepared(rm) in self.msgs and self.phase[rm] == Phase.ABORTED
        return not aborted or Abort() in self.msgs

    @invariant
    def committed_is_told(self, rm: RM) -> bool:
        return self.phase[rm] != Phase.COMMITTED or Commit() in self.msgs

    @invariant
    def all_noted(self, rm: RM) -> bool:
        return self.tm != TM.COMMITTED or rm in self.prepared


SIZES: dict[type[Machine], dict[str, int]] = {
    TokenRingLemmas: {"Node": 3},
    LockServiceLemmas: {"Client": 2},
    RicartAgrawalaLemmas: {"Node": 2},
    RingElectionLemmas: {"Node": 3, "Id": 3},
    ShardedStoreLemmas: {"Node": 2, "Key": 1, "Value": 2},
    ToyConsensusLemmas: {"Node": 3, "Value": 2, "Quorum": 2},
    TwoPhaseLemmas: {"RM": 2},
}
