"""The ring of `refute.specs.library.all_reduce` by hand, as one machine without channels."""

from __future__ import annotations

import enum
from typing import Annotated

from refute.machine import (
    Const,
    Machine,
    Map,
    Range,
    Seq,
    Set,
    Upto,
    Var,
    action,
    const,
    every,
    invariant,
    reachable,
    terminal,
    var,
    when,
)

Rank = Annotated[int, Range(0, "N - 1")]
Round = Annotated[int, Range(0, "N - 1")]


class Next(enum.Enum):
    """What a rank does next."""

    SEND = enum.auto()
    RECEIVE = enum.auto()


class _Ring(Machine):
    """What both rings share. ODD_FIRST: 1, odd ranks receive before they send."""

    N: Const[int] = const()
    ODD_FIRST: Const[int] = const(0)
    have: Var[Map[Rank, Set[Rank]]] = var(each=lambda rank: frozenset({rank}))
    carry: Var[Map[Rank, Rank]] = var(each=lambda rank: rank)
    arrived: Var[Map[Rank, Rank | None]] = var(each=None)
    sent: Var[Map[Rank, Round]] = var(each=0)
    received: Var[Map[Rank, Round]] = var(each=0)

    def follower(self, i: int) -> int:
        """The next rank."""
        return (i + 1) % self.N

    def next(self, i: int) -> Next | None:
        """What rank i does next; None at the end."""
        if self.received[i] == self.N - 1 and self.sent[i] == self.N - 1:
            return None
        receives = self.ODD_FIRST == 1 and i % 2 == 1
        if self.sent[i] == self.received[i]:
            return Next.RECEIVE if receives else Next.SEND
        return Next.SEND if receives else Next.RECEIVE

    @terminal
    def done(self) -> bool:
        """All rounds are over."""
        return all(self.next(i) is None for i in every(Rank))

    @invariant
    def complete(self) -> bool:
        """At the end everybody has everything."""
        return not self.done() or all(len(found) == self.N for found in self.have.values())

    @reachable
    def ends(self) -> bool:
        """The end can be reached."""
        return self.done()


class RingAllReduce(_Ring):
    """Channels hold CAPACITY messages; a send waits for room."""

    CAPACITY: Const[int] = const(1)
    inbox: Var[Map[Rank, Annotated[Seq[Rank], Upto("CAPACITY")]]] = var(each=())

    @action
    def send(self, i: Rank) -> None:
        """Put a contribution into the next rank's channel."""
        when(self.next(i) == Next.SEND and len(self.inbox[self.follower(i)]) < self.CAPACITY)
        self.inbox[self.follower(i)].append(self.carry[i])
        self.sent[i] += 1
        waiting = self.arrived[i]
        if waiting is not None:
            self.carry[i] = waiting
            self.arrived[i] = None

    @action
    def receive(self, i: Rank) -> None:
        """Take one from the own channel."""
        when(self.next(i) == Next.RECEIVE and len(self.inbox[i]) > 0)
        got = self.inbox[i][0]
        self.inbox[i].pop(0)
        self.have[i].add(got)
        self.received[i] += 1
        if self.sent[i] < self.received[i]:
            self.arrived[i] = got
        else:
            self.carry[i] = got


class RendezvousAllReduce(_Ring):
    """A send waits for its receive: both are one step."""

    @action
    def meet(self, i: Rank) -> None:
        """Rank i sends and the next one receives."""
        j = self.follower(i)
        when(self.next(i) == Next.SEND and self.next(j) == Next.RECEIVE)
        got, waiting = self.carry[i], self.arrived[i]
        self.have[j].add(got)
        self.sent[i] += 1
        self.received[j] += 1
        if waiting is not None:
            self.carry[i] = waiting
            self.arrived[i] = None
        if self.sent[j] < self.received[j]:
            self.arrived[j] = got
        else:
            self.carry[j] = got
