"""Machines made of parts of parts, with every kind of claim, some of them planted to fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from refute.machine import (
    Channel,
    Const,
    Formula,
    Machine,
    Map,
    Part,
    Port,
    Range,
    Sort,
    Steps,
    Var,
    action,
    channel,
    const,
    eventually,
    infinitely_often,
    invariant,
    part,
    port,
    process,
    reachable,
    refines,
    temporal,
    terminal,
    transition,
    var,
    when,
)


class Room(Sort, size=2):
    """Rooms of a town."""


class Seat(Sort, size=2):
    """Seats of each."""


class Toggle(Machine):
    on: Var[bool] = var(False)

    @action
    def flip(self) -> None:
        self.on = not self.on


class Guest(Machine):
    ask: Port[Channel[bool]] = port()
    me: Port[Seat] = port()
    here: Var[bool] = var(False)

    @process(fair="weak")
    def live(self) -> Steps[Self]:
        while True:
            self.ask.send(True)
            self.here = True
            self = yield
            self.ask.send(False)
            self.here = False
            self = yield

    @transition
    def any_change(self, after: Self) -> bool:
        return self.here != after.here

    @temporal
    def comes(self) -> Formula:
        return infinitely_often(lambda: self.here)

    @reachable
    def sits(self) -> bool:
        return self.here

    @refines(Toggle)
    def toggles(self) -> Mapping[str, object]:
        return {"on": self.here}


class Bar(Machine):
    where: Port[Room] = port()
    door: Var[Channel[bool]] = channel(capacity=0)
    guests: Part[Map[Seat, Guest]] = part(Guest, ask=lambda self, g: self.door)
    count: Var[Annotated[int, Range(0, 2)]] = var(0)

    @action
    def open(self) -> None:
        enters = self.door.receive()
        if enters:
            self.count += 1
        else:
            self.count -= 1

    @invariant
    def counted(self) -> bool:
        return self.count == sum(1 for g in self.guests.values() if g.here)

    @terminal
    def fine(self) -> bool:
        return True


class Town(Machine):
    bars: Part[Map[Room, Bar]] = part(Bar)

    @invariant
    def total(self) -> bool:
        return sum(b.count for b in self.bars.values()) == sum(
            1 for b in self.bars.values() for g in b.guests.values() if g.here
        )

    @reachable
    def full(self) -> bool:
        return all(g.here for r, b in self.bars.items() for g in b.guests.values())


class Deaf(Bar):
    """Planted: lets everybody in, and nobody out."""

    @action
    def open(self) -> None:
        enters = self.door.receive()
        when(enters)
        self.count += 1


class DeafTown(Machine):
    bars: Part[Map[Room, Deaf]] = part(Deaf)


class Miscounting(Bar):
    """Planted: counts those who leave as if they came."""

    @action
    def open(self) -> None:
        self.door.receive()
        self.count += 1


class MiscountingTown(Machine):
    bars: Part[Map[Room, Miscounting]] = part(Miscounting)


class Client(Machine):
    """Asks once and waits for the answer."""

    server: Port[Channel[bool]] = port()
    inbox: Port[Channel[bool]] = port()
    served: Var[bool] = var(False)

    @process(fair="strong")
    def run(self) -> Steps[Self]:
        self.server.send(True)
        self = yield
        self.served = self.inbox.receive()


class Server(Machine):
    """Answers; idle for ever when nobody asks."""

    requests: Port[Channel[bool]] = port()
    replies: Port[Channel[bool]] = port()

    @action(fair="strong")
    def serve(self) -> None:
        self.requests.receive()
        self.replies.send(True)

    @terminal
    def idle(self) -> bool:
        return True


class Service(Machine):
    ROOM: Const[int] = const(1)
    requests: Var[Channel[bool]] = channel(capacity="ROOM")
    replies: Var[Channel[bool]] = channel(capacity="ROOM")
    client: Part[Client] = part(Client, server=requests, inbox=replies)
    server: Part[Server] = part(Server)

    @temporal
    def is_served(self) -> Formula:
        return eventually(lambda: self.client.served)


class LossyService(Service):
    """Planted: the answer may be lost, and the client waits for good."""

    replies: Var[Channel[bool]] = channel(capacity="ROOM", lossy=True)


class Looking(Machine):
    """Sees another part through a port, and a number of its own."""

    peer: Port[Toggle] = port()
    MOST: Const[int] = const(3)
    seen: Var[Annotated[int, Range(0, "MOST")]] = var(0)

    @action
    def look(self) -> None:
        when(self.peer.on and self.seen < self.MOST)
        self.seen += 1

    @terminal
    def saw_enough(self) -> bool:
        return self.seen == self.MOST


class Lookers(Machine):
    MOST: Const[int] = const(1)
    toggle: Part[Toggle] = part(Toggle)
    few: Part[Looking] = part(Looking, peer=toggle)
    more: Part[Looking] = part(Looking, peer=toggle, MOST="MOST + 1")

    @reachable
    def all_seen(self) -> bool:
        return self.few.seen == 1 and self.more.seen == 2


class Porter(Machine):
    """Opens and closes; lets somebody in while it is open."""

    door: Port[Channel[bool]] = port()
    open: Var[bool] = var(False)

    @action(fair="weak")
    def turn(self) -> None:
        self.open = not self.open

    @action
    def admit(self) -> None:
        when(self.open)
        self.door.receive()


class Visitor(Machine):
    """Comes in once."""

    door: Port[Channel[bool]] = port()
    inside: Var[bool] = var(False)

    @process(fair="strong")
    def enter(self) -> Steps[Self]:
        self.door.send(True)
        self.inside = True
        self = yield


class House(Machine):
    door: Var[Channel[bool]] = channel(capacity=0)
    porter: Part[Porter] = part(Porter)
    visitor: Part[Visitor] = part(Visitor)

    @temporal
    def comes_in(self) -> Formula:
        return eventually(lambda: self.visitor.inside)


class ShyVisitor(Visitor):
    """Planted: waits until the door is open for good."""

    @process(fair="weak")
    def enter(self) -> Steps[Self]:
        self.door.send(True)
        self.inside = True
        self = yield


class ShyHouse(House):
    visitor: Part[ShyVisitor] = part(ShyVisitor)
