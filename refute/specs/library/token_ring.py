"""Mutual exclusion by a token that goes around a ring, for every number of nodes.

Source: G. Le Lann, "Distributed systems: towards a formal approach", IFIP Congress 1977, without
the loss of tokens; "token ring" among the benchmarks of Ivy and its successors. A node may be in
its critical section while it holds the token. When it does not want the section itself, it passes
the token on to the next node, which gets it some time later. With the fairness given here whoever
wants to enter does, at every number of nodes that is tried; what is shown for all is safety.
"""

from __future__ import annotations

from refute.machine import (
    Machine,
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
from refute.specs.library.ring import Node, follows


class TokenRing(Machine):
    """One token in a ring of nodes."""

    holding: Var[Set[Node]] = var(one_of=anything)
    coming: Var[Set[Node]] = var(empty_set)
    wanting: Var[Set[Node]] = var(empty_set)
    critical: Var[Set[Node]] = var(empty_set)

    @initial
    def one_token(self) -> bool:
        """One node has the token at first, whichever it is."""
        alone = all(n == m for n in self.holding for m in self.holding)
        return alone and any(n in self.holding for n in Node)

    @action
    def want(self, n: Node) -> None:
        """A node wants to enter its critical section."""
        when(n not in self.critical)
        self.wanting.add(n)

    @action(fair="weak")
    def enter(self, n: Node) -> None:
        """With the token, it does."""
        when(n in self.wanting and n in self.holding)
        self.wanting.discard(n)
        self.critical.add(n)

    @action(fair="weak")
    def leave(self, n: Node) -> None:
        """The critical section ends; the token stays."""
        when(n in self.critical)
        self.critical.discard(n)

    @action(fair="strong")
    def pass_on(self, n: Node, m: Node) -> None:
        """The token is sent to the next node."""
        when(n in self.holding and n not in self.critical and n not in self.wanting)
        when(follows(n, m))
        self.holding.discard(n)
        self.coming.add(m)

    @action(fair="weak")
    def receive(self, n: Node) -> None:
        """The token arrives."""
        when(n in self.coming)
        self.coming.discard(n)
        self.holding.add(n)

    @invariant
    def mutual_exclusion(self, n: Node, m: Node) -> bool:
        """No two nodes are in their critical sections."""
        return n == m or n not in self.critical or m not in self.critical

    @reachable
    def contended(self) -> bool:
        """One is inside while all others wait."""
        inside = any(n in self.critical for n in Node)
        return inside and all(n in self.critical or n in self.wanting for n in Node)

    @reachable
    def travelling(self) -> bool:
        """The token is on its way."""
        return any(n in self.coming for n in Node)
