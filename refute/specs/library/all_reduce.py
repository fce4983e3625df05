"""All-reduce: every rank ends with what all of them had, around a ring or at one stroke.

The ring: in each round a rank sends what it received last to the next one, and receives from the
one before. With buffered channels every order of the two works. With rendezvous, where a send is
one step with its receive, all send first and nobody receives, unless odd ranks receive first.

One-shot: each rank writes into every other's buffer and waits for theirs. Buffers are used in
turn. A rank can be one round ahead of another, not two. So two buffers are enough where flags are
round numbers and stay; where a rank clears the buffer of the round before after it has read, it may
wipe out what a faster one has written for the next round, and it takes three.
"""

from __future__ import annotations

from typing import Annotated, Self

from refute.machine import (
    Channel,
    Const,
    Machine,
    Map,
    Part,
    Port,
    Range,
    Set,
    Steps,
    Var,
    channel,
    const,
    every,
    invariant,
    part,
    port,
    process,
    reachable,
    var,
    when,
)

Rank = Annotated[int, Range(0, "N - 1")]
Iteration = Annotated[int, Range(0, "ROUNDS")]
Buffer = Annotated[int, Range(0, "BUFFERS - 1")]


class Worker(Machine):
    """One rank of the ring. ODD_FIRST: 1, odd ranks receive before they send."""

    N: Const[int] = const()
    ODD_FIRST: Const[int] = const(0)
    me: Port[Rank] = port()
    out: Port[Channel[Rank]] = port()
    into: Port[Channel[Rank]] = port()
    have: Var[Set[Rank]] = var(lambda rank: frozenset({rank}))
    done: Var[bool] = var(False)

    @process
    def rounds(self) -> Steps[Self]:
        """In each round send on what came last, and receive."""
        carry, left = self.me, self.N - 1
        while True:
            if self.ODD_FIRST == 1 and self.me % 2 == 1:
                got = self.into.receive()
                self.have.add(got)
                self = yield
                self.out.send(carry)
            else:
                self.out.send(carry)
                self = yield
                got = self.into.receive()
                self.have.add(got)
            carry = got
            left -= 1
            if left == 0:
                self.done = True
                return
            self = yield


class RingAllReduce(Machine):
    """Links hold CAPACITY messages; a send waits for room, or, at 0, for its receive."""

    N: Const[int] = const()
    CAPACITY: Const[int] = const(1)
    links: Var[Map[Rank, Channel[Rank]]] = channel(capacity="CAPACITY")
    ranks: Part[Map[Rank, Worker]] = part(
        Worker, out=lambda self, rank: self.links[(rank + 1) % self.N], into=links
    )

    @invariant
    def complete(self) -> bool:
        """Who is done has everything."""
        return all(len(rank.have) == self.N for rank in self.ranks.values() if rank.done)

    @reachable
    def ends(self) -> bool:
        """The end can be reached."""
        return all(rank.done for rank in self.ranks.values())


class RendezvousAllReduce(RingAllReduce):
    """A send waits for its receive: both are one step."""

    CAPACITY: Const[int] = const(0)


class OneShotAllReduce(Machine):
    """CLEAR: 1, the buffer of the round before is cleared after a read, and flags are just set."""

    N: Const[int] = const()
    BUFFERS: Const[int] = const(2)
    CLEAR: Const[int] = const(0)
    ROUNDS: Const[int] = const(4)
    mail: Var[Map[Rank, Map[Rank, Map[Buffer, Iteration]]]] = var(each=0)
    wrong: Var[bool] = var(False)

    @process
    def rank(self, me: Rank) -> Steps[Self]:
        """In each round: write to all others, wait for all of them, read, perhaps clear."""
        now = 0
        while now < self.ROUNDS:
            left = [p for p in every(Rank) if p != me]
            while len(left) > 0:
                self.mail[left[0]][me][now % self.BUFFERS] = now + 1
                left = left[1:]
                self = yield
            left = [p for p in every(Rank) if p != me]
            while len(left) > 0:
                found = self.mail[me][left[0]][now % self.BUFFERS]
                when(found > 0 if self.CLEAR == 1 else found > now)
                self.wrong = self.wrong or found != now + 1
                left = left[1:]
                self = yield
            if self.CLEAR == 1:
                left = [p for p in every(Rank) if p != me]
                while len(left) > 0:
                    self.mail[me][left[0]][(now - 1) % self.BUFFERS] = 0
                    left = left[1:]
                    self = yield
            now += 1
            self = yield

    @invariant
    def reads_are_right(self) -> bool:
        """Nobody reads a value of another round."""
        return not self.wrong
