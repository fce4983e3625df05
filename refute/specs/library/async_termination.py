"""Termination detection with messages on their way, after AsyncTerminationDetection.tla.

Source: tlaplus/Examples, specifications/ewd998/AsyncTerminationDetection.tla (S. Merz, M. Kuppe):
what a detection algorithm may do, without saying how. Messages are counted, and the search keeps
to states with at most three pending at each node. That repository's manifest gives 4097 distinct
states and 53271 generated for four nodes.
"""

from __future__ import annotations

from typing import Annotated

from refute.machine import (
    Const,
    Formula,
    Machine,
    Map,
    Range,
    Set,
    Var,
    action,
    any_of,
    anything,
    const,
    constraint,
    initial,
    invariant,
    leads_to,
    temporal,
    transition,
    var,
    when,
)

Node = Annotated[int, Range(0, "N - 1")]


class AsyncTerminationDetection(Machine):
    """Nodes work, send, receive and stop; somebody may notice that all is over."""

    N: Const[int] = const()
    active: Var[Map[Node, bool]] = var(one_of=anything)
    pending: Var[Map[Node, Annotated[int, Range(0, 4)]]] = var(each=0)
    detected: Var[bool] = var(one_of=anything)

    def terminated(self) -> bool:
        """Nobody is active, and no message could change that."""
        return all(not self.active[n] and self.pending[n] == 0 for n in range(self.N))

    @initial
    def starts_right(self) -> bool:
        """It may be detected at once if nobody is active."""
        return not self.detected or self.terminated()

    @action
    def terminate(self, i: Node) -> None:
        """A node stops; if it was the last one, that may be detected at the same moment."""
        when(self.active[i])
        self.active[i] = False
        self.detected = any_of(Set([self.detected, self.terminated()]))

    @action
    def send_msg(self, i: Node, j: Node) -> None:
        """An active node sends a message."""
        when(self.active[i])
        self.pending[j] += 1

    @action
    def rcv_msg(self, i: Node) -> None:
        """A message makes its receiver active."""
        when(self.pending[i] > 0)
        self.active[i] = True
        self.pending[i] -= 1

    @action(fair="weak")
    def detect_termination(self) -> None:
        """All is over, and that is noticed."""
        when(self.terminated())
        self.detected = True

    @constraint
    def few_messages(self) -> bool:
        """StateConstraint: what the search keeps to."""
        return all(n <= 3 for n in self.pending.values())

    @invariant
    def safe(self) -> bool:
        """What is detected is true."""
        return not self.detected or self.terminated()

    @temporal
    def live(self) -> Formula:
        """What is over is noticed in the end."""
        return leads_to(self.terminated, lambda: self.detected)

    @transition
    def quiescence(self, after: AsyncTerminationDetection) -> bool:
        """What is over stays over."""
        return not self.terminated() or after.terminated()
