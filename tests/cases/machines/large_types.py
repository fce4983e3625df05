"""Machines over types that have no bound or too many values for a bit each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from refute.machine import (
    Bag,
    Machine,
    Map,
    Range,
    Seq,
    Set,
    Sort,
    Upto,
    Var,
    action,
    any_of,
    constraint,
    empty_set,
    invariant,
    reachable,
    transition,
    var,
    when,
)


class Node(Sort, size=2):
    """Servers."""


Term = Annotated[int, Range(0, 3)]


@dataclass(frozen=True)
class Entry:
    """Of a log."""

    term: Term
    value: int


@dataclass(frozen=True)
class Append:
    """Entries for a follower."""

    source: Node
    entries: Annotated[Seq[Entry], Upto(2)]
    previous: int | None


@dataclass(frozen=True)
class Reply:
    """What a follower has."""

    source: Node
    matched: int


class Replication(Machine):
    """Logs of records, a set of messages with sequences in them, and a bag of replies."""

    log: Var[Map[Node, Seq[Entry]]] = var(each=())
    sent: Var[Set[Append | Reply]] = var(empty_set)
    net: Var[Bag[Append | Reply]] = var(Bag())
    clock: Var[int] = var(0)
    last: Var[tuple[int, int] | None] = var(None)
    seen: Var[Set[tuple[int, Node] | int | None]] = var(empty_set)

    @constraint
    def small(self) -> bool:
        short = all(len(self.log[n]) <= 2 for n in Node)
        return self.clock <= 3 and self.net.total() <= 2 and len(self.sent) <= 2 and short

    @action
    def write(self, n: Node) -> None:
        self.clock += 1
        self.log[n] = self.log[n] + Seq([Entry(self.clock % 4, self.clock * 1000)])

    @action
    def send(self, n: Node) -> None:
        when(len(self.log[n]) > 0)
        before = None if len(self.log[n]) < 2 else self.log[n][-2].value
        m = Append(n, self.log[n][-2:], before)
        self.net.add(m)
        self.sent.add(m)

    @action
    def receive(self) -> None:
        m = any_of(self.net.distinct())
        match m:
            case Append(source, entries, previous):
                when(previous is None or previous in (1000, 2000))
                self.net.remove(m)
                self.net.add(Reply(source, len(entries)))
                last = entries[-1]
                self.last = (last.term, last.value)
            case Reply(source, matched):
                self.net.discard(m)
                self.sent.add(Reply(source, matched + 1_000_000))
                self.seen = self.seen | Set([matched, (matched, source)])

    @action
    def forget(self) -> None:
        when(self.last is not None)
        self.seen.add(None)
        self.last = None
        self.sent = Set(m for m in self.sent if isinstance(m, Append))

    @invariant
    def terms_fit(self) -> bool:
        return all(e.term < 4 for n in Node for e in self.log[n])

    @invariant
    def few_replies(self) -> bool:
        return sum(1 for m in self.sent if isinstance(m, Reply)) < 2

    @transition
    def logs_grow(self, after: Replication, n: Node) -> bool:
        return self.log[n] == after.log[n][: len(self.log[n])]

    @reachable
    def replied(self) -> bool:
        return any(self.net.count(m) > 1 for m in self.net.distinct()) and len(self.seen) > 1
