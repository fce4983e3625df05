"""Machines made of machines: parts, what connects them, and how a run of the real class sees them.

A part is a machine class of its own. It has its variables to itself; what it knows of the rest it
is given through ports: a channel, a value, a look at somebody's state. The machine around it may
read everything of its parts and write nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, MutableMapping
from typing import Any, Generic, TypeVar, overload

from refute.errors import UsageError
from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.channels import Ends
from refute.specs.machine.containers import Map, Seq

T = TypeVar("T")


@frozen
class Wire:
    """What a port is connected to.

    way: "call" (a function of the machine around, and the key), "member" (a variable of that
    machine), "entry" (the key's place in one), "key" (which of the parts it is), "value".
    """

    way: str
    of: Any = None


@dataclasses.dataclass
class Seat:
    """A place for parts in a machine. key: the type that tells several apart; None for one.

    front: the frontend of the part's class, in this place. constants: given for this part alone.
    """

    name: str
    cls: type
    key: t.Type | None
    front: Any = None
    wires: dict[str, Wire] = dataclasses.field(default_factory=dict)
    constants: dict[str, int] = dataclasses.field(default_factory=dict)
    line: int = 0


class Part(Generic[T]):
    """A part, `Part[Sender]`, or one for each value of a type, `Part[Map[Rank, Worker]]`."""

    def __init__(self, cls: type, given: dict[str, Any]) -> None:
        self.cls = cls
        self.given = given
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Part[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        seat: Seat = instance._front.seats[self.name]
        keys = seat_keys(instance._front, seat)
        if keys is None:
            return seated(instance, seat, ())
        return Map({key: seated(instance, seat, (key,)) for key in keys})


class Port(Generic[T]):
    """Something that the machine around a part gives it; see `port`."""

    def __init__(self) -> None:
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Port[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        around = instance._around
        if around is None:
            raise UsageError(f"the port {self.name} is connected to nothing", thing=self.name)
        outer, seat, keys = around
        wire: Wire = seat.wires[self.name]
        if wire.way == "call":
            return wire.of(outer, *keys)
        if wire.way in ("key", "value"):
            return keys[0] if wire.way == "key" else wire.of
        found = getattr(outer, wire.of)
        return found[keys[0]] if wire.way == "entry" else found


def part(cls: type, **given: Any) -> Any:
    """A part of this machine: `sender: Part[Sender] = part(Sender, out=data, N=2)`.

    Each port of the part is given a variable of this machine, or a function of this machine (and,
    if there are several parts, of which one): `out=lambda self, r: self.links[(r + 1) % self.N]`.
    Without, it is the variable with its name here; with several parts, a port of the type that
    tells them apart is that. Constants are numbers or arithmetic in a string; without, those with
    the same names here.
    """
    return Part(cls, given)


def port() -> Any:
    """`out: Port[Channel[Packet]] = port()`: what the machine around this part connects."""
    return Port()


class Inside(MutableMapping[str, Any]):
    """The state of one part, within that of the machine around it."""

    def __init__(self, around: Any, name: str, own: tuple[Any, ...]) -> None:
        self.around = around
        self.name = name
        self.own = own

    @property
    def outer(self) -> MutableMapping[str, Any]:
        """The state around, as it is now."""
        state: MutableMapping[str, Any] = self.around._state
        return state

    def __getitem__(self, name: str) -> Any:
        found = self.outer[f"{self.name}.{name}"]
        return found[self.own[0]] if self.own else found

    def __setitem__(self, name: str, value: Any) -> None:
        place = f"{self.name}.{name}"
        if self.own:
            value = Map({**self.outer[place]._entries, self.own[0]: value})
        self.outer[place] = value

    def __contains__(self, name: object) -> bool:
        return f"{self.name}.{name}" in self.outer

    def __delitem__(self, name: str) -> None:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        start = f"{self.name}."
        return (n.removeprefix(start) for n in self.outer if n.startswith(start))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def seat_keys(front: Any, seat: Seat) -> list[Any] | None:
    """The keys of the parts in a seat, as the machine's own code sees them; None for one part."""
    return None if seat.key is None else list(front.resolver.thawed(seat.key))


def seated(outer: Any, seat: Seat, keys: tuple[Any, ...]) -> Any:
    """One part of a running machine."""
    made: Any = object.__new__(seat.cls)
    made._state = Inside(outer, seat.name + ("" if seat.key is None else "[]"), keys)
    made._constants = seat.front.build.constants
    made._types = (seat.front.resolver, seat.front.build.variables)
    made._front = seat.front
    made._around = (outer, seat, keys)
    return made


def ends_of(machine: Any, name: str) -> Ends:
    """Where a channel variable of a running machine lies."""
    front, keys, around = machine._front, (), machine._around
    while around is not None:
        outer, _, own = around
        keys, around = (*own, *keys), outer._around
    kind: t.Type = front.build.variables[name]
    elem = kind
    while isinstance(elem, t.MapOf):
        elem = elem.value

    def empty(inside: t.Type) -> Any:
        if isinstance(inside, t.MapOf):
            return Map({key: empty(inside.value) for key in front.resolver.thawed(inside.key)})
        return Seq()

    def admit(message: Any) -> None:
        assert isinstance(elem, t.SeqOf)
        front.resolver.freeze(message, elem.elem)

    room = front.build.rooms[name]
    return Ends(front.build.prefix + name, keys, room, empty(kind) if room == 0 else None, admit)
