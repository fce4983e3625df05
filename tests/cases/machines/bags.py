"""A network that may lose and duplicate messages: a machine with a Bag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from refute.machine import (
    Bag,
    Machine,
    Map,
    Range,
    Sort,
    Upto,
    Var,
    action,
    any_of,
    constraint,
    invariant,
    reachable,
    var,
    when,
)


class P(Sort, size=2):
    """Processes."""


@dataclass(frozen=True)
class Message:
    """To somebody."""

    to: P
    bit: bool


class Network(Machine):
    """Messages are counted."""

    net: Var[Annotated[Bag[Message], Upto(3)]] = var(Bag())
    got: Var[Bag[P]] = var(Bag())
    seen: Var[Map[tuple[P, bool], bool]] = var(each=False)
    last: Var[Annotated[int, Range(0, 9)]] = var(0)

    @action
    def send(self, to: P, bit: bool) -> None:
        self.net.add(Message(to, bit))

    @action
    def duplicate(self) -> None:
        m = any_of(self.net.distinct())
        when(self.net.count(m) < 2)
        self.net.add(m)

    @action
    def lose(self) -> None:
        when(self.net.total() > 1)
        p = any_of(P)
        self.net.discard(Message(p, True))

    @action
    def receive(self, p: P) -> None:
        m = any_of(m for m in self.net.distinct() if m.to == p)
        self.net.remove(m)
        self.got.add(p)
        self.seen[m.to, m.bit] = True
        self.last = self.net.total()

    @action
    def wrong(self) -> None:
        p = any_of(P)
        when(Message(p, True) in self.net)
        self.net.remove(Message(p, False))
        self.net.clear()

    @constraint
    def few(self) -> bool:
        return self.net.total() <= 2 and self.got.total() <= 1

    @invariant
    def small(self) -> bool:
        counted = all(not self.seen[p, b] for p in P for b in (False, True))
        return (self.net != Bag() or not self.net) and (counted or self.last >= 0)

    @reachable
    def twice(self) -> bool:
        return any(self.net.count(m) == 2 for m in self.net.distinct())
