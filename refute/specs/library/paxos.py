"""Paxos for one decision, after L. Lamport's Paxos.tla.

Source: tlaplus/Examples, specifications/PaxosHowToWinATuringAward/Paxos.tla and MCPaxos.tla.
Messages are never removed from the set of those sent. Quorums are the smallest majorities. That
repository's manifest gives 3921 distinct states and 23563 generated for three acceptors, two
values and ballots 0 and 1 (MCPaxosTiny). Seen as votes, it does nothing that `voting.Voting` does
not do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from refute.machine import (
    Const,
    Machine,
    Map,
    Set,
    Var,
    action,
    any_of,
    const,
    empty_set,
    invariant,
    reachable,
    refines,
    var,
    when,
)
from refute.specs.library.voting import Acceptor, Ballot, Joined, Value, Vote, Voting


@dataclass(frozen=True)
class Phase1a:
    """A leader begins a ballot."""

    bal: Ballot


@dataclass(frozen=True)
class Phase1b:
    """An acceptor joins it and says what it voted for last."""

    acc: Acceptor
    bal: Ballot
    mbal: Joined
    mval: Value | None


@dataclass(frozen=True)
class Phase2a:
    """A leader asks for votes."""

    bal: Ballot
    val: Value


@dataclass(frozen=True)
class Phase2b:
    """An acceptor votes."""

    acc: Acceptor
    bal: Ballot
    val: Value


class Paxos(Machine):
    """At most one value is chosen."""

    MaxBallot: Const[int] = const(1)
    max_bal: Var[Map[Acceptor, Joined]] = var(each=-1)
    max_vbal: Var[Map[Acceptor, Joined]] = var(each=-1)
    max_val: Var[Map[Acceptor, Value | None]] = var(each=None)
    msgs: Var[Set[Phase1a | Phase1b | Phase2a | Phase2b]] = var(empty_set)

    @action
    def phase1a(self, b: Ballot) -> None:
        """Begin ballot b; doing it again changes nothing."""
        self.msgs.add(Phase1a(b))

    @action
    def phase1b(self, a: Acceptor) -> None:
        """Join a ballot higher than any before."""
        m = any_of([m for m in self.msgs if isinstance(m, Phase1a)])
        when(m.bal > self.max_bal[a])
        self.max_bal[a] = m.bal
        self.msgs.add(Phase1b(a, m.bal, self.max_vbal[a], self.max_val[a]))

    @action
    def phase2a(self, b: Ballot, v: Value, q: Set[Acceptor]) -> None:
        """Ask for votes for v, if the acceptors of a quorum show that it is safe."""
        when(not any(isinstance(m, Phase2a) and m.bal == b for m in self.msgs))
        when(len(q) == len(Acceptor) // 2 + 1)
        joined = [m for m in self.msgs if isinstance(m, Phase1b) and m.acc in q and m.bal == b]
        when(all(any(m.acc == a for m in joined) for a in q))
        voted = [m for m in joined if m.mbal >= 0]
        if len(voted) > 0:
            highest = any_of(voted)
            when(highest.mval == v and all(highest.mbal >= m.mbal for m in voted))
        self.msgs.add(Phase2a(b, v))

    @action
    def phase2b(self, a: Acceptor) -> None:
        """Vote, unless a higher ballot was joined."""
        m = any_of([m for m in self.msgs if isinstance(m, Phase2a)])
        when(m.bal >= self.max_bal[a])
        self.max_bal[a] = m.bal
        self.max_vbal[a] = m.bal
        self.max_val[a] = m.val
        self.msgs.add(Phase2b(a, m.bal, m.val))

    def chosen(self, b: Ballot, v: Value) -> bool:
        """Whether a majority voted for v in ballot b."""
        return sum(1 for a in Acceptor if Phase2b(a, b, v) in self.msgs) > len(Acceptor) // 2

    @invariant
    def agreement(self, b: Ballot, v: Value, c: Ballot, w: Value) -> bool:
        """No two different values are chosen."""
        return v == w or not (self.chosen(b, v) and self.chosen(c, w))

    @invariant
    def remembers(self, a: Acceptor) -> bool:
        """Part of Inv: what an acceptor remembers is its vote of the highest ballot."""
        if self.max_vbal[a] == -1:
            return self.max_val[a] is None
        votes = [m for m in self.msgs if isinstance(m, Phase2b) and m.acc == a]
        last = max(m.bal for m in votes)
        return self.max_vbal[a] == last and any(
            m.bal == last and m.val == self.max_val[a] for m in votes
        )

    @reachable
    def can_choose(self) -> bool:
        """Some value can be chosen in the first ballot."""
        return any(self.chosen(0, v) for v in Value)

    @refines(Voting)
    def voting(self) -> Mapping[str, object]:
        """A vote is cast where its message is sent; joining a ballot is a promise."""
        return {
            "votes": {
                a: Set(
                    Vote(m.bal, m.val) for m in self.msgs if isinstance(m, Phase2b) and m.acc == a
                )
                for a in Acceptor
            },
            "max_bal": self.max_bal,
        }
