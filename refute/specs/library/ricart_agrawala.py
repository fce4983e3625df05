"""Mutual exclusion by asking everybody, after Ricart and Agrawala, for any number of nodes.

Source: G. Ricart, A. Agrawala: "An optimal algorithm for mutual exclusion in computer networks",
CACM 24(1), 1981, as the benchmarks of DistAI and SWISS have it (J. Yao et al.: "DistAI: Data-Driven
Automated Invariant Learning for Distributed Protocols", OSDI 2021; T. Hance et al.: "Finding
Invariants of Distributed Systems: It's a Small (Enough) World After All", NSDI 2021). Timestamps
decide in the algorithm between two that ask each other; here either may yield, so that what is
shown is safety alone: without timestamps nodes may wait for each other in a circle.
"""

from __future__ import annotations

from refute.machine import (
    Machine,
    Map,
    Set,
    Sort,
    Var,
    action,
    empty_set,
    invariant,
    reachable,
    terminal,
    var,
    when,
)


class Node(Sort):
    """Who wants to enter its critical section."""


class RicartAgrawala(Machine):
    """asked: by each node, those with its request; allowed: those that have replied to it."""

    asked: Var[Map[Node, Set[Node]]] = var(each=empty_set)
    allowed: Var[Map[Node, Set[Node]]] = var(each=empty_set)
    critical: Var[Set[Node]] = var(empty_set)

    @action
    def request(self, n: Node, to: Node) -> None:
        """A node asks another one."""
        when(n != to and to not in self.asked[n])
        self.asked[n].add(to)

    @action
    def reply(self, n: Node, to: Node) -> None:
        """Who is not inside, and has no leave of the other one, lets it go first."""
        when(n != to and n in self.asked[to])
        when(n not in self.critical and n not in self.allowed[to])
        when(to not in self.allowed[n])
        self.asked[to].discard(n)
        self.allowed[to].add(n)

    @action
    def enter(self, n: Node) -> None:
        """With the leave of all others, a node enters."""
        when(all(n == m or m in self.allowed[n] for m in Node))
        self.critical.add(n)

    @action
    def leave(self, n: Node) -> None:
        """It leaves, and what it was allowed is over."""
        when(n in self.critical)
        self.critical.discard(n)
        self.allowed[n].clear()

    @invariant
    def mutual_exclusion(self, n: Node, m: Node) -> bool:
        """No two nodes are in their critical sections."""
        return n == m or n not in self.critical or m not in self.critical

    @terminal
    def waiting_around(self) -> bool:
        """Every node has asked or been allowed by all others, and nobody is inside."""
        return not self.critical and all(
            n == m or m in self.asked[n] or m in self.allowed[n] for n in Node for m in Node
        )

    @reachable
    def contended(self) -> bool:
        """One is inside, and every other one has asked all others."""
        inside = any(n in self.critical for n in Node)
        return inside and all(
            n in self.critical or all(n == m or m in self.asked[n] for m in Node) for n in Node
        )

    @reachable
    def half_way(self) -> bool:
        """Somebody has a leave and is not inside."""
        return any(self.allowed[n] and n not in self.critical for n in Node)
