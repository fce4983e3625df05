"""Termination detection on a ring by Dijkstra's EWD 840, after S. Merz's EWD840.tla.

Source: tlaplus/Examples, specifications/ewd840/EWD840.tla (Dijkstra, Feijen, van Gasteren:
"Derivation of a termination detection algorithm for distributed computations"). That repository's
manifest gives 302 distinct states and 2001 generated; three nodes have those. TLC takes a step for
each disjunct of a guard that is true, and so does `reason` here.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
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
    fair,
    initial,
    invariant,
    leads_to,
    reachable,
    refines,
    temporal,
    terminal,
    var,
    when,
)

Node = Annotated[int, Range(0, "N - 1")]


class Color(enum.Enum):
    """Of nodes and of the token; black: not conclusive."""

    WHITE = enum.auto()
    BLACK = enum.auto()


class SyncTermination(Machine):
    """What a detection algorithm may do, without saying how (SyncTerminationDetection.tla)."""

    N: Const[int] = const()
    active: Var[Map[Node, bool]] = var(one_of=anything)
    known: Var[bool] = var(one_of=anything)

    def terminated(self) -> bool:
        """Nobody is active."""
        return not any(self.active.values())

    @initial
    def starts_right(self) -> bool:
        """It may be known at once if nobody is active."""
        return not self.known or self.terminated()

    @action
    def terminate(self, i: Node) -> None:
        """A node stops; if it was the last one, that may be known at the same moment."""
        when(self.active[i])
        self.active[i] = False
        self.known = any_of(Set([self.known, self.terminated()]))

    @action
    def wakeup(self, i: Node, j: Node) -> None:
        """An active node activates another."""
        when(self.active[i])
        self.active[j] = True

    @action(fair="weak")
    def detect(self) -> None:
        """All is over, and that is noticed."""
        when(self.terminated())
        self.known = True

    @invariant
    def right(self) -> bool:
        """What is known is true (TDCorrect)."""
        return not self.known or self.terminated()


class EWD840(Machine):
    """A token collects the news that everybody is inactive."""

    N: Const[int] = const()
    active: Var[Map[Node, bool]] = var(one_of=anything)
    color: Var[Map[Node, Color]] = var(one_of=anything)
    tpos: Var[Node] = var(one_of=anything)
    tcolor: Var[Color] = var(Color.BLACK)

    @action
    def initiate_probe(self) -> None:
        """Node 0 has the token and no conclusion: it sends a white one around."""
        when(self.tpos == 0)
        reason = any_of([self.tcolor == Color.BLACK, self.color[0] == Color.BLACK])
        when(reason)
        self.tpos = self.N - 1
        self.tcolor = Color.WHITE
        self.color[0] = Color.WHITE

    @action
    def pass_token(self, i: Node) -> None:
        """An inactive node, or one that makes the round inconclusive, passes the token on."""
        when(i != 0 and self.tpos == i)
        black = self.color[i] == Color.BLACK
        reason = any_of([not self.active[i], black, self.tcolor == Color.BLACK])
        when(reason)
        self.tpos = i - 1
        if black:
            self.tcolor = Color.BLACK
        self.color[i] = Color.WHITE

    @action
    def send_msg(self, i: Node, j: Node) -> None:
        """An active node activates another; against the token's direction it becomes black."""
        when(self.active[i] and j != i)
        self.active[j] = True
        if j > i:
            self.color[i] = Color.BLACK

    @action
    def deactivate(self, i: Node) -> None:
        """An active node may become inactive at any moment."""
        when(self.active[i])
        self.active[i] = False

    @fair("weak")
    def system(self, after: EWD840) -> bool:
        """WF of System, the steps of the token."""
        return self.tpos != after.tpos

    def terminated(self) -> bool:
        """Nobody is active."""
        return not any(self.active.values())

    def detected(self) -> bool:
        """What node 0 sees when all is over."""
        white = self.tcolor == Color.WHITE and self.color[0] == Color.WHITE
        return self.tpos == 0 and white and not self.active[0]

    @invariant
    def detection_is_right(self) -> bool:
        """TerminationDetection."""
        return not self.detected() or self.terminated()

    @invariant
    def dijkstra(self) -> bool:
        """Dijkstra's inductive invariant (Inv)."""
        behind = all(not self.active[i] for i in range(self.tpos + 1, self.N))
        black = any(self.color[j] == Color.BLACK for j in range(self.tpos + 1))
        return behind or black or self.tcolor == Color.BLACK

    @temporal
    def detects(self) -> Formula:
        """Termination is detected in the end (Liveness)."""
        return leads_to(self.terminated, self.detected)

    @refines(SyncTermination)
    def detection(self) -> Mapping[str, object]:
        """It implements termination detection (TD!Spec), and gets there."""
        return {"active": self.active, "known": self.detected()}

    @terminal
    def over(self) -> bool:
        """Termination was detected."""
        return self.detected()

    @reachable
    def can_detect(self) -> bool:
        """It can be detected."""
        return self.detected()
