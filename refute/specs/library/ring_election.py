"""Leader election in a ring by Chang and Roberts, for every number of nodes and identities.

Source: E. Chang, R. Roberts: "An improved algorithm for decentralized extrema-finding in circular
configurations of processes", CACM 22(5), 1979, as the Ivy paper has it (O. Padon et al., PLDI 2016;
`leader_election_ring` in the benchmarks of Ivy and mypyvy). Identities are any that differ, and the
largest one wins. `chang_roberts` is the same with the identities 1..N in order, and its liveness.

No search for lemmas is expected to find that an identity on its way has passed smaller ones only;
the invariants that make the proof are here.
"""

from __future__ import annotations

from refute.machine import (
    Machine,
    Map,
    OrderedSort,
    Set,
    Var,
    action,
    anything,
    empty_set,
    initial,
    invariant,
    reachable,
    var,
    when,
)
from refute.specs.library.ring import Node, between, follows


class Id(OrderedSort):
    """What nodes are called; there may be more of them than nodes."""


class RingElection(Machine):
    """ids: of the nodes; sent: by each node, the identities that are on their way to the next."""

    ids: Var[Map[Node, Id]] = var(one_of=anything)
    sent: Var[Map[Node, Set[Id]]] = var(each=empty_set)
    leaders: Var[Set[Node]] = var(empty_set)

    @initial
    def all_differ(self) -> bool:
        """No two nodes have one identity."""
        return all(n == m or self.ids[n] != self.ids[m] for n in Node for m in Node)

    @action
    def stand(self, n: Node) -> None:
        """A node sends its identity."""
        self.sent[n].add(self.ids[n])

    @action
    def hear(self, n: Node, m: Node, i: Id) -> None:
        """The next node sends a larger identity on, stops a smaller one, and wins by its own."""
        when(i in self.sent[n] and follows(n, m))
        self.sent[n].discard(i)
        if i == self.ids[m]:
            self.leaders.add(m)
        elif self.ids[m] < i:
            self.sent[m].add(i)

    @invariant
    def one_leader(self, n: Node, m: Node) -> bool:
        """At most one node is elected."""
        return n == m or n not in self.leaders or m not in self.leaders

    @invariant
    def identities(self, n: Node, m: Node) -> bool:
        """No two nodes have one identity, then as at first."""
        return n == m or self.ids[n] != self.ids[m]

    @invariant
    def larger_than_passed(self, n: Node, m: Node, at: Node) -> bool:
        """An identity on its way is larger than those of the nodes that it has passed."""
        passed = between(n, m, at) or (m == at and n != at)
        return not passed or self.ids[n] not in self.sent[at] or self.ids[m] < self.ids[n]

    @invariant
    def largest_wins(self, n: Node, m: Node) -> bool:
        """Who is elected has the largest identity."""
        return n not in self.leaders or n == m or self.ids[m] < self.ids[n]

    @reachable
    def elected(self) -> bool:
        """Somebody wins."""
        return any(n in self.leaders for n in Node)

    @reachable
    def several_stand(self) -> bool:
        """Two identities are on their way to one node."""
        return any(
            i != j and i in self.sent[n] and j in self.sent[n] for n in Node for i in Id for j in Id
        )
