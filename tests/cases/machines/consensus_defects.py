"""Paxos and Voting with a mistake each, which the specification above them does not allow."""

from __future__ import annotations

from refute.machine import Set, action, any_of, when
from refute.specs.library.paxos import Paxos, Phase1b, Phase2a, Phase2b
from refute.specs.library.voting import Acceptor, Ballot, Value, Vote, Voting


class Forgetful(Paxos):
    """Votes in a ballot although it has joined a later one."""

    @action
    def phase2b(self, a: Acceptor) -> None:
        m = any_of([m for m in self.msgs if isinstance(m, Phase2a)])
        self.max_bal[a] = m.bal
        self.max_vbal[a] = m.bal
        self.max_val[a] = m.val
        self.msgs.add(Phase2b(a, m.bal, m.val))


class Hasty(Paxos):
    """Asks for votes once any single acceptor has joined."""

    @action
    def phase2a(self, b: Ballot, v: Value, q: Set[Acceptor]) -> None:
        when(not any(isinstance(m, Phase2a) and m.bal == b for m in self.msgs))
        when(len(q) == 1)
        joined = [m for m in self.msgs if isinstance(m, Phase1b) and m.acc in q and m.bal == b]
        when(all(any(m.acc == a for m in joined) for a in q))
        self.msgs.add(Phase2a(b, v))


class Unsafe(Voting):
    """Votes for what no quorum has shown to be safe."""

    @action
    def vote_for(self, a: Acceptor, b: Ballot, v: Value) -> None:
        when(self.max_bal[a] <= b and self.did_not_vote(a, b))
        self.votes[a].add(Vote(b, v))
        self.max_bal[a] = b
