"""The alternating bit protocol: one message after the other over channels that fail.

`AlternatingBit` is AlternatingBit.tla of Lamport's Specifying Systems, chapter 14, made of its two
ends: channels of any length that lose messages, cut off at LEN by the constraint. `Reliable` is
what it implements, ABCorrectness there.

The protocol is also right where channels deliver a message twice, and wrong where one message may
overtake another: an old acknowledgement is taken for a new one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from refute.machine import (
    Channel,
    Const,
    Formula,
    Machine,
    Part,
    Port,
    Sort,
    Var,
    action,
    anything,
    channel,
    const,
    constraint,
    initial,
    leads_to,
    part,
    port,
    refines,
    temporal,
    var,
    when,
)

ANY_BIT = (False, True)


class Data(Sort, size=2):
    """What is sent."""


@dataclasses.dataclass(frozen=True)
class Message:
    """A value and the bit that tells it from the one before."""

    bit: bool
    data: Data


class Reliable(Machine):
    """Values that arrive in order, each once."""

    sent_bit: Var[bool] = var(one_of=ANY_BIT)
    acked: Var[bool] = var(one_of=ANY_BIT)
    received_bit: Var[bool] = var(one_of=ANY_BIT)
    sent: Var[Data] = var(one_of=anything)
    received: Var[Data] = var(one_of=anything)

    @initial
    def agreed(self) -> bool:
        """All bits are the same."""
        return self.sent_bit == self.acked == self.received_bit

    @action
    def send(self, value: Data) -> None:
        """A new value is sent."""
        when(self.acked == self.sent_bit)
        self.sent = value
        self.sent_bit = not self.sent_bit

    @action
    def receive(self) -> None:
        """The value arrives."""
        when(self.received_bit != self.sent_bit)
        self.received_bit = self.sent_bit
        self.received = self.sent

    @action
    def acknowledge(self) -> None:
        """That it did, arrives."""
        when(self.received_bit != self.acked)
        self.acked = self.received_bit


class Sender(Machine):
    """Sends a value until it is acknowledged."""

    out: Port[Channel[Message]] = port()
    acks: Port[Channel[bool]] = port()
    bit: Var[bool] = var(one_of=ANY_BIT)
    acked: Var[bool] = var(one_of=ANY_BIT)
    sent: Var[Data] = var(one_of=anything)

    @action
    def send(self, value: Data) -> None:
        """A new value."""
        when(self.acked == self.bit)
        self.bit = not self.bit
        self.sent = value
        self.out.send(Message(self.bit, value))

    @action(fair="weak")
    def again(self) -> None:
        """The same once more."""
        when(self.acked != self.bit)
        self.out.send(Message(self.bit, self.sent))

    @action(fair="strong")
    def hear(self) -> None:
        """Take an acknowledgement."""
        self.acked = self.acks.receive()


class Receiver(Machine):
    """Takes values, and keeps telling which bit came last."""

    into: Port[Channel[Message]] = port()
    acks: Port[Channel[bool]] = port()
    bit: Var[bool] = var(one_of=ANY_BIT)
    received: Var[Data] = var(one_of=anything)

    @action(fair="strong")
    def take(self) -> None:
        """Take a message."""
        message = self.into.receive()
        self.bit = message.bit
        self.received = message.data

    @action(fair="weak")
    def answer(self) -> None:
        """Acknowledge what came last."""
        self.acks.send(self.bit)


class AlternatingBit(Machine):
    """Both ends, and two channels that lose messages."""

    LEN: Const[int] = const(2)
    data: Var[Channel[Message]] = channel(lossy=True)
    acks: Var[Channel[bool]] = channel(lossy=True)
    sender: Part[Sender] = part(Sender, out=lambda self: self.data)
    receiver: Part[Receiver] = part(Receiver, into=lambda self: self.data)

    @initial
    def agreed(self) -> bool:
        """All bits are the same."""
        return self.sender.bit == self.sender.acked == self.receiver.bit

    @constraint
    def short(self) -> bool:
        """No more than LEN messages are on their way."""
        return len(self.data) <= self.LEN and len(self.acks) <= self.LEN

    @refines(Reliable)
    def reliable(self) -> Mapping[str, object]:
        """Each value arrives once, in order."""
        return {
            "sent_bit": self.sender.bit,
            "acked": self.sender.acked,
            "received_bit": self.receiver.bit,
            "sent": self.sender.sent,
            "received": self.receiver.received,
        }

    @temporal
    def arrives(self, value: Data) -> Formula:
        """What is sent is received at last."""
        return leads_to(
            lambda: self.sender.sent == value and self.sender.bit != self.sender.acked,
            lambda: self.receiver.received == value,
        )


class Duplicating(AlternatingBit):
    """Channels with room for LEN messages that lose some and deliver some again and again."""

    data: Var[Channel[Message]] = channel(capacity="LEN", lossy=True, duplicating=True)
    acks: Var[Channel[bool]] = channel(capacity="LEN", lossy=True, duplicating=True)


class Reordering(AlternatingBit):
    """Channels on which messages overtake each other: the protocol is wrong."""

    data: Var[Channel[Message]] = channel(capacity="LEN", reordering=True)
    acks: Var[Channel[bool]] = channel(capacity="LEN", reordering=True)
