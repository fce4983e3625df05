"""Consensus and Voting, the two specifications above Paxos, after L. Lamport.

Source: tlaplus/Examples, specifications/PaxosHowToWinATuringAward/Consensus.tla and Voting.tla.
Quorums are the smallest majorities. Its manifest gives 6752 distinct states and 41017 generated for
three acceptors, two values and ballots 0 to 2, and 4 of both for Consensus with three values. In
specifications/Paxos the same Voting has ballots 0 and 1 and a symmetry set of acceptors and values:
77 distinct and 451 generated. What TLC finds true in several ways counts as often: the quorum, the
ballot and the vote that show a value safe are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from refute.machine import (
    Const,
    Machine,
    Map,
    Range,
    Set,
    Sort,
    Var,
    action,
    any_of,
    const,
    empty_set,
    every,
    invariant,
    reachable,
    refines,
    subsets,
    terminal,
    var,
    when,
)


class Acceptor(Sort, size=3):
    """Who votes."""


class Value(Sort, size=2):
    """What may be chosen."""


Ballot = Annotated[int, Range(0, "MaxBallot")]
Joined = Annotated[int, Range(-1, "MaxBallot")]


@dataclass(frozen=True)
class Vote:
    """One acceptor's, for a value in a ballot."""

    bal: Ballot
    val: Value


class Consensus(Machine):
    """One value is chosen, once and for all."""

    chosen: Var[Set[Value]] = var(empty_set)

    @action
    def choose_value(self, v: Value) -> None:
        """Choose one of them."""
        when(len(self.chosen) == 0)
        self.chosen.add(v)

    @invariant
    def at_most_one(self) -> bool:
        """Inv: no two are chosen."""
        return len(self.chosen) <= 1

    @terminal
    def done(self) -> bool:
        """A value need not be chosen, and none follows it."""
        return True


class Voting(Machine):
    """Acceptors vote in ballots, for what can be shown to be safe."""

    MaxBallot: Const[int] = const(2)
    votes: Var[Map[Acceptor, Set[Vote]]] = var(each=empty_set)
    max_bal: Var[Map[Acceptor, Joined]] = var(each=-1)

    def voted_for(self, a: Acceptor, b: int, v: Value) -> bool:
        """Whether the acceptor voted for the value in this ballot."""
        return any(vote.bal == b and vote.val == v for vote in self.votes[a])

    def did_not_vote(self, a: Acceptor, b: int) -> bool:
        """Whether it did not vote in this ballot."""
        return all(vote.bal != b for vote in self.votes[a])

    def is_quorum(self, q: Set[Acceptor]) -> bool:
        """Whether so many are a smallest majority."""
        return len(q) == len(Acceptor) // 2 + 1

    def chosen_at(self, b: int, v: Value) -> bool:
        """Whether a quorum voted for the value in this ballot."""
        return any(
            all(self.voted_for(a, b, v) for a in q) for q in subsets(Acceptor) if self.is_quorum(q)
        )

    def none_other(self, b: int, v: Value) -> bool:
        """Whether no other value was or will be chosen in this ballot."""
        return any(
            all(
                self.voted_for(a, b, v) or (self.max_bal[a] > b and self.did_not_vote(a, b))
                for a in q
            )
            for q in subsets(Acceptor)
            if self.is_quorum(q)
        )

    @action
    def increase_max_bal(self, a: Acceptor, b: Ballot) -> None:
        """Promise not to vote in earlier ballots."""
        when(b > self.max_bal[a])
        self.max_bal[a] = b

    @action
    def vote_for(self, a: Acceptor, b: Ballot, v: Value) -> None:
        """Vote, if the votes of a quorum in earlier ballots show that the value is safe."""
        when(self.max_bal[a] <= b and self.did_not_vote(a, b))
        when(
            all(
                vote.bal != b or vote.val == v for c in Acceptor if c != a for vote in self.votes[c]
            )
        )
        q = any_of([q for q in subsets(Acceptor) if self.is_quorum(q)])
        when(all(self.max_bal[x] >= b for x in q))
        last = any_of(range(-1, b))
        if last >= 0:
            _ = any_of([x for x in q if self.voted_for(x, last, v)])
        when(all(self.did_not_vote(x, d) for d in range(last + 1, b) for x in q))
        self.votes[a].add(Vote(b, v))
        self.max_bal[a] = b

    @invariant
    def votes_safe(self, a: Acceptor, b: Ballot, v: Value) -> bool:
        """Only what is safe is voted for."""
        return not self.voted_for(a, b, v) or all(self.none_other(c, v) for c in range(b))

    @invariant
    def one_value_per_ballot(self, a: Acceptor, c: Acceptor) -> bool:
        """Nobody votes for two values in a ballot, nor do two acceptors for different ones."""
        return all(
            mine.bal != other.bal or mine.val == other.val
            for mine in self.votes[a]
            for other in self.votes[c]
        )

    @terminal
    def done(self) -> bool:
        """Nothing has to happen."""
        return True

    @reachable
    def can_choose(self) -> bool:
        """Some value can be chosen in the first ballot."""
        return any(self.chosen_at(0, v) for v in Value)

    @refines(Consensus)
    def consensus(self) -> Mapping[str, object]:
        """What quorums voted for is chosen, once and for all."""
        return {"chosen": Set(v for v in Value if any(self.chosen_at(b, v) for b in every(Ballot)))}
