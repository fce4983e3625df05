"""A buffer between two handshake channels, after InnerFIFO.tla of "Specifying Systems".

Source: tlaplus/Examples, specifications/SpecifyingSystems/FIFO/InnerFIFOInstanced.tla and
MCInnerFIFO.tla (L. Lamport). The queue is unbounded; the search keeps to at most three messages in
it. That repository's manifest gives 3864 distinct states and 9660 generated; three different
messages have those.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from refute.machine import (
    Machine,
    Range,
    Seq,
    Sort,
    Upto,
    Var,
    action,
    anything,
    constraint,
    initial,
    invariant,
    var,
    when,
)

Bit = Annotated[int, Range(0, 1)]


class Message(Sort, size=3):
    """What is sent."""


@dataclass(frozen=True)
class Channel:
    """A two-phase handshake: a value is there while the bits differ."""

    val: Message
    rdy: Bit
    ack: Bit


class InnerFIFO(Machine):
    """Messages go into the queue through one channel, and out through another."""

    into: Var[Channel] = var(one_of=anything)
    out: Var[Channel] = var(one_of=anything)
    q: Var[Annotated[Seq[Message], Upto(4)]] = var(())

    @initial
    def nothing_is_sent(self) -> bool:
        """Both channels are free."""
        return self.into.ack == self.into.rdy and self.out.ack == self.out.rdy

    @action
    def s_send(self, msg: Message) -> None:
        """The sender puts a message on its channel."""
        when(self.into.rdy == self.into.ack)
        self.into = replace(self.into, val=msg, rdy=1 - self.into.rdy)

    @action
    def buf_rcv(self) -> None:
        """The buffer takes it."""
        when(self.into.rdy != self.into.ack)
        self.into = replace(self.into, ack=1 - self.into.ack)
        self.q.append(self.into.val)

    @action
    def buf_send(self) -> None:
        """The buffer puts its first message on the receiver's channel."""
        when(len(self.q) > 0 and self.out.rdy == self.out.ack)
        self.out = replace(self.out, val=self.q[0], rdy=1 - self.out.rdy)
        self.q.pop(0)

    @action
    def r_rcv(self) -> None:
        """The receiver takes it."""
        when(self.out.rdy != self.out.ack)
        self.out = replace(self.out, ack=1 - self.out.ack)

    @constraint
    def short_queue(self) -> bool:
        """What the search keeps to (qConstraint)."""
        return len(self.q) <= 3

    @invariant
    def queue_is_bounded(self) -> bool:
        """The constraint is exceeded by one message at most."""
        return len(self.q) <= 4
