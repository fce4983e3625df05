"""Leader election in a ring by Chang and Roberts, for every number of nodes and identities.

Source: E. Chang, R. Roberts: "An improved algorithm for decentralized extrema-finding in circular
configurations of processes", CACM 22(5), 1979, as the Ivy paper has it (O. Padon et al., PLDI 2016;
`leader_election_ring` in the benchmarks of Ivy and mypyvy). Identities are any that differ, and the
largest one wins. `chang_roberts` is the same with the identities 1..N in order, and its liveness.

No search for lemmas is expected to find that no larger identity is passed on the way; the three
invariants that make the proof are here.
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
    """ids: of the nodes; pending: the identities on their way to each node."""

    ids: Var[Map[Node, Id]] = var(one_of=anything)
    pending: Var[Map[Node, Set[Id]]] = var(each=empty_set)
    leaders: Var[Set[Node]] = var(empty_set)

    @initial
    def all_differ(self) -> bool:
        """No two nodes have one identity."""
        return all(n == m or self.ids[n] != self.ids[m] for n in Node for m in Node)

    @action
    def stand(self, n: Node, m: Node) -> None:
        """A node sends its identity to the next one."""
        when(follows(n, m))
        self.pending[m].add(self.ids[n])

    @action
    def hear(self, n: Node, m: Node, i: Id) -> None:
        """A larger identity goes on to the next node, a smaller one stops, the own one wins."""
        when(i in self.pending[n] and follows(n, m))
        self.pending[n].discard(i)
        if i == self.ids[n]:
            self.leaders.add(n)
        elif self.ids[n] < i:
            self.pending[m].add(i)

    @invariant
    def one_leader(self, n: Node, m: Node) -> bool:
        """At most one node is elected."""
        return n == m or n not in self.leaders or m not in self.leaders

    @invariant
    def identities(self, n: Node, m: Node) -> bool:
        """No two nodes have one identity, then as at first."""
        return n == m or self.ids[n] != self.ids[m]

    @invariant
    def largest_so_far(self, n: Node, m: Node, to: Node) -> bool:
        """An identity on its way has passed smaller ones only."""
        passed = self.ids[n] in self.pending[to] and between(n, m, to)
        return not passed or self.ids[m] < self.ids[n]

    @invariant
    def largest_of_all(self, n: Node, m: Node) -> bool:
        """What comes back to its node, and who is elected, is the largest."""
        around = self.ids[n] in self.pending[n] or n in self.leaders
        return not around or n == m or self.ids[m] < self.ids[n]

    @reachable
    def elected(self) -> bool:
        """Somebody wins."""
        return any(n in self.leaders for n in Node)

    @reachable
    def several_stand(self) -> bool:
        """Two identities wait for one node."""
        return any(
            i != j and i in self.pending[n] and j in self.pending[n]
            for n in Node
            for i in Id
            for j in Id
        )
