"""Leader election on a ring by Chang and Roberts, after S. Merz's ChangRoberts.tla.

Source: tlaplus/Examples, specifications/chang_roberts/ChangRoberts.tla and MCChangRoberts.tla (E.
Chang, R. Roberts: "An improved algorithm for decentralized extrema-finding in circular
configurations of processes", CACM 22(5), 1979). Node n has the identity n, and the smallest one
among the initiators is elected. That repository's manifest gives 137 distinct states and 227
generated for three nodes.
"""

from __future__ import annotations

import enum
from typing import Annotated, Self

from refute.machine import (
    Const,
    Formula,
    Machine,
    Map,
    Range,
    Set,
    Steps,
    Var,
    any_of,
    anything,
    const,
    empty_set,
    eventually,
    implies,
    initial,
    invariant,
    process,
    reachable,
    temporal,
    terminal,
    var,
)

Node = Annotated[int, Range(1, "N")]


class Standing(enum.Enum):
    """What a node knows about itself."""

    CANDIDATE = enum.auto()
    LOST = enum.auto()
    WON = enum.auto()


class ChangRoberts(Machine):
    """Identities travel along the ring; larger ones stop at smaller initiators."""

    N: Const[int] = const()
    msgs: Var[Map[Node, Set[Node]]] = var(each=empty_set)
    initiator: Var[Map[Node, bool]] = var(one_of=anything)
    state: Var[Map[Node, Standing]] = var(each_of=(Standing.CANDIDATE, Standing.LOST))

    @initial
    def initiators_stand(self) -> bool:
        """Exactly the initiators are candidates."""
        return all(
            (standing == Standing.CANDIDATE) == self.initiator[n]
            for n, standing in self.state.items()
        )

    def successor(self, n: int) -> int:
        """The next node along the ring."""
        return 1 if n == self.N else n + 1

    @process(fair="weak")
    def node(self, n: Node) -> Steps[Self]:
        """Send the own identity if an initiator; then handle one message at a time."""
        if self.initiator[n]:
            self.msgs[self.successor(n)].add(n)
        self = yield
        while True:
            identity = any_of(self.msgs[n])
            self.msgs[n].discard(identity)
            if self.state[n] == Standing.LOST:
                self.msgs[self.successor(n)].add(identity)
            elif identity < n:
                self.state[n] = Standing.LOST
                self.msgs[self.successor(n)].add(identity)
            elif identity == n:
                self.state[n] = Standing.WON
            self = yield

    @invariant
    def correctness(self, n: Node, m: Node) -> bool:
        """Who wins is the initiator with the smallest identity, and all others have lost."""
        if self.state[n] != Standing.WON or m == n:
            return True
        lost = self.state[m] == Standing.LOST
        return self.initiator[n] and lost and (not self.initiator[m] or m > n)

    @temporal
    def elects(self) -> Formula:
        """If there is an initiator, somebody wins (Liveness)."""
        return implies(
            lambda: any(s == Standing.CANDIDATE for s in self.state.values()),
            eventually(lambda: any(s == Standing.WON for s in self.state.values())),
        )

    @terminal
    def quiet(self) -> bool:
        """No message is on its way."""
        return all(not waiting for waiting in self.msgs.values())

    @reachable
    def can_elect(self) -> bool:
        """Somebody can win."""
        return any(s == Standing.WON for s in self.state.values())
