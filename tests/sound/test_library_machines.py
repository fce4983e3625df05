"""Library machines of our own: sound under the sizes that are enough, refuted under others.

Counts are pinned as both engines find them.
"""

from __future__ import annotations

from typing import Any

import pytest

from refute.machine import (
    Formula,
    Model,
    action,
    always,
    any_of,
    eventually,
    implies,
    temporal,
    when,
)
from refute.specs.library.all_reduce import OneShotAllReduce, RendezvousAllReduce, RingAllReduce
from refute.specs.library.lock_service import LockService
from refute.specs.library.mutual_exclusion import Bakery, Peterson
from refute.specs.library.raft import Raft, RequestVote, Role, Server, Vote
from refute.specs.library.ricart_agrawala import RicartAgrawala
from refute.specs.library.ring import Node
from refute.specs.library.ring_election import RingElection
from refute.specs.library.sharded_store import ShardedStore
from refute.specs.library.token_ring import TokenRing
from refute.specs.library.toy_consensus import ToyConsensus
from refute.specs.library.write_ahead_log import WriteAheadLog
from refute.specs.machine.play import Play
from refute.verifiers.model.confirm import Confirm
from refute.verifiers.model.liveness import Liveness
from refute.verifiers.model.search import Search

SOUND = [
    (Peterson.build(), (20, 35)),
    (Bakery.build(N=2), (120, 211)),
    (WriteAheadLog.build(), (26, 46)),
    (Raft.build(Server=2), (233, 363)),
    (RingAllReduce.build(N=3), (38, 67)),
    (RingAllReduce.build(N=3, ODD_FIRST=1), (28, 43)),
    (RendezvousAllReduce.build(N=4, ODD_FIRST=1), (19, 25)),
    (OneShotAllReduce.build(N=2), (64, 101)),
    (OneShotAllReduce.build(N=2, CLEAR=1, BUFFERS=3), (100, 165)),
    (TokenRing.build(Node=2), (20, 58)),
    (TokenRing.build(Node=3), (60, 231)),
    (LockService.build(Client=2), (28, 85)),
    (LockService.build(Client=3), (80, 325)),
    (RicartAgrawala.build(Node=2), (20, 49)),
    (RingElection.build(Node=2, Id=2), (32, 114)),
    (RingElection.build(Node=3, Id=3), (576, 3366)),
    (ShardedStore.build(Node=2, Key=1, Value=2), (11, 27)),
    (ShardedStore.build(Node=2, Key=2, Value=2), (121, 537)),
    (ToyConsensus.build(Node=2, Value=2, Quorum=2), (101, 235)),
    (ToyConsensus.build(Node=3, Value=2, Quorum=1), (263, 617)),
]
BROKEN = [
    (RendezvousAllReduce.build(N=3), "deadlock-free", 0),
    (OneShotAllReduce.build(N=2, BUFFERS=1), "reads_are_right", 6),
    (OneShotAllReduce.build(N=2, CLEAR=1), "deadlock-free", 14),
]


@pytest.mark.parametrize(("model", "counts"), SOUND, ids=repr)
def test_sound_with_these_counts(model: Model, counts: tuple[int, int]) -> None:
    search, second = Search(model.ir), Confirm(model.ir)
    first, other = search.advance(20.0), second.advance(20.0)
    assert (first["distinct"], first["generated"]) == counts
    assert (other["distinct"], other["generated"]) == counts
    assert set(search.hits) == {p.name for p in model.ir.of_kind("reachable")}
    assert search.report()["silent"] == []


@pytest.mark.parametrize(("model", "prop", "steps"), BROKEN, ids=repr)
def test_broken_by_a_shortest_trace(model: Model, prop: str, steps: int) -> None:
    search = Search(model.ir)
    search.advance(20.0)
    hits: Any = search.report()["hits"]
    assert prop in hits and len(hits[prop]["case"]["steps"]) == steps
    assert Play(model.cls, model.constants, hits[prop]["case"]).judge()["broke"] is True


class VotesTwice(Raft):
    """Planted: who has voted in a term votes again."""

    @action
    def grant(self, i: Server) -> None:
        m = any_of(m for m in self.msgs if isinstance(m, RequestVote) and m.term >= self.term[i])
        when(m.src != i and self.role[i] == Role.FOLLOWER and self.up_to_date(m, i))
        self.term[i] = m.term
        self.msgs.add(Vote(i, m.src, m.term))


def test_raft_with_votes_that_are_not_kept() -> None:
    sound = Search(Raft.build(MAX_TERM=1).ir)
    assert sound.advance(60.0)["distinct"] == 1724 and set(sound.hits) == {"can_commit"}
    search = Search(VotesTwice.build(MAX_TERM=1).ir)
    while "election_safety" not in search.hits:  # the rest of the states shows nothing more
        assert not search.advance(0.0)["finished"]
    hits: Any = search.report()["hits"]
    played = Play(VotesTwice, {"MAX_TERM": 1}, hits["election_safety"]["case"]).judge()
    assert played["broke"] is True


class Served(TokenRing):
    """That the token ring serves everybody, which is no property for proofs of every size."""

    @temporal
    def served(self, n: Node) -> Formula:
        return always(implies(lambda: n in self.wanting, eventually(lambda: n in self.critical)))


@pytest.mark.parametrize("model", [Peterson.build(), Served.build(Node=3)], ids=repr)
def test_everybody_is_served(model: Model) -> None:
    liveness = Liveness(model.ir)
    assert model.ir.temporals
    while not liveness.advance(5.0)["finished"]:
        pass
    assert liveness.hits == {} and liveness.reasons == {}
