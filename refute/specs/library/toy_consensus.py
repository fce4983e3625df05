"""Consensus in one round of votes, for every number of nodes, values and quorums.

Source: `toy_consensus` of the Ivy and mypyvy benchmarks (github.com/wilcoxjay/mypyvy,
examples/toy_consensus_epr.pyv; also in those of IC3PO, A. Goel, K. Sakallah: "On Symmetry and
Quantification: A New Approach to Verify Distributed Protocols", NFM 2021). A node votes once; what
a quorum has voted for may be decided. A quorum is any set of nodes of a family in which any two
share a member.

The invariant that needs an alternation of quantifiers, a quorum behind every decision, is here, as
no search for lemmas is expected to find it.
"""

from __future__ import annotations

from refute.machine import (
    Machine,
    Map,
    Set,
    Sort,
    Var,
    action,
    anything,
    empty_set,
    initial,
    invariant,
    reachable,
    terminal,
    var,
    when,
)


class Node(Sort):
    """Who votes."""


class Value(Sort):
    """What is voted for."""


class Quorum(Sort):
    """A set of nodes that is enough."""


class ToyConsensus(Machine):
    """members: of the quorums; votes: of each node; decided: in all."""

    members: Var[Map[Quorum, Set[Node]]] = var(one_of=anything)
    votes: Var[Map[Node, Set[Value]]] = var(each=empty_set)
    decided: Var[Set[Value]] = var(empty_set)

    @initial
    def quorums_meet(self) -> bool:
        """Any two quorums share a member."""
        return all(
            any(n in self.members[q] and n in self.members[r] for n in Node)
            for q in Quorum
            for r in Quorum
        )

    @action
    def vote(self, n: Node, v: Value) -> None:
        """A node that has not voted does."""
        when(not self.votes[n])
        self.votes[n].add(v)

    @action
    def decide(self, q: Quorum, v: Value) -> None:
        """A quorum has voted for a value."""
        when(all(v in self.votes[n] for n in self.members[q]))
        self.decided.add(v)

    @invariant
    def agreement(self, v: Value, w: Value) -> bool:
        """At most one value is decided."""
        return v == w or v not in self.decided or w not in self.decided

    @invariant
    def one_vote(self, n: Node, v: Value, w: Value) -> bool:
        """No node votes for two values."""
        return v == w or v not in self.votes[n] or w not in self.votes[n]

    @invariant
    def backed(self, v: Value) -> bool:
        """Behind a decision is a quorum of votes."""
        return v not in self.decided or any(
            all(v in self.votes[n] for n in self.members[q]) for q in Quorum
        )

    @invariant
    def quorums(self, q: Quorum, r: Quorum) -> bool:
        """Any two quorums share a member, then as at first."""
        return any(n in self.members[q] and n in self.members[r] for n in Node)

    @terminal
    def all_voted(self) -> bool:
        """Every node has voted, for different values perhaps."""
        return all(self.votes[n] for n in Node)

    @reachable
    def agreed(self) -> bool:
        """Something is decided."""
        return any(v in self.decided for v in Value)

    @reachable
    def split(self) -> bool:
        """The votes differ."""
        return any(
            v != w and v in self.votes[n] and w in self.votes[m]
            for n in Node
            for m in Node
            for v in Value
            for w in Value
        )
