"""`send` and `receive` as statements of the IR.

A channel is a sequence, or a bag where messages may overtake each other; sending waits for room as
a `when` does. Over a channel without room two steps meet: `Meet` stands for that until `meeting`
has made one action of the two.
"""

from __future__ import annotations

import ast
import dataclasses
import typing
from typing import TYPE_CHECKING

from refute.frozen import frozen
from refute.specs.machine import bags, sugar, views
from refute.specs.machine import types as t
from refute.specs.machine.channels import Channel, ChannelVar, Kind
from refute.specs.machine.containers import Map
from refute.specs.machine.expressions import BOOL, number
from refute.specs.machine.ir import Assign, Choose, Expr, If, Meet, Stmt, When, Write
from refute.specs.machine.resolve import Refuse, Resolver
from refute.specs.machine.scope import Build

if TYPE_CHECKING:
    from refute.specs.machine.calls import Calls

SENDING = ("send", "receive")
_QUESTIONS = (*SENDING, "count", "distinct")


@frozen
class Place:
    """A channel of a variable, or, as long as `type` is a MapOf, several channels.

    held: what it holds, as an expression. keys: the way to it in the variable.
    """

    var: str
    kind: Kind
    room: int | None
    keys: tuple[Expr, ...]
    type: t.Type
    held: Expr

    @property
    def message(self) -> t.Type:
        """The type of a message."""
        if isinstance(self.type, t.BagOf):
            return bags.element_of(self.type)
        return self.type.elem if isinstance(self.type, t.SeqOf) else t.NEVER


def channel_type(
    resolver: Resolver, annotation: object, made: ChannelVar, refuse: Refuse
) -> t.Type:
    """The type of what a channel variable holds. annotation: inside Var[…]. Raises Unsupported."""
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    instead = "c: Var[Channel[T]] or c: Var[Map[K, Channel[T]]] = channel(capacity=…)"
    if origin is Channel:
        room = resolver.bound(made.kind.capacity)
        fancy = made.kind.lossy or made.kind.duplicating or made.kind.reordering
        if room is not None and (room < 0 or (room == 0 and fancy)):
            what = "a channel without room that is lossy, duplicating or reordering"
            raise refuse(what if room == 0 else f"a channel for {room} messages", "a capacity")
        elem = resolver.type_of(args[0], refuse)
        if made.kind.reordering:
            return t.BagOf(t.Tuple((elem, t.Int(1, room))))
        return t.SeqOf(elem, room)
    if origin is Map:
        key = resolver.type_of(args[0], refuse)
        return t.MapOf(key, channel_type(resolver, args[1], made, refuse))
    raise refuse("a channel(…) that is no Channel", instead)


def channel_at(calls: Calls, node: ast.expr) -> Place | None:
    """The channel that an expression names: a variable, an entry of one, or a port."""
    if isinstance(node, ast.Attribute):
        state = views.viewed(calls, node.value)
        if not state:
            return None
        found = calls.scope.member(node.attr, state)
        if views.is_port(found):
            connected, inside = views.wired(calls, state, node.attr, node)
            return _connected(calls, node, state, channel_at(connected, inside))
        if not isinstance(found, ChannelVar):
            return None
        view = state if isinstance(state, views.View) else views.View.of(state, calls.build)
        kind, name = view.build.variables[node.attr], view.build.prefix + node.attr
        room = view.build.rooms[node.attr]
        return Place(name, found.kind, room, view.keys, kind, view.variable(node.attr))
    if isinstance(node, ast.Subscript):
        base = channel_at(calls, node.value)
        if base is None or not isinstance(base.type, t.MapOf):
            return None
        key = calls.expr(node.slice)
        held = calls.index(base.held, key, node)
        return dataclasses.replace(base, keys=(*base.keys, key), type=base.type.value, held=held)
    return None


def _connected(calls: Calls, node: ast.Attribute, state: str, place: Place | None) -> Place | None:
    """The channel of a port, if it is what the port was declared to be. Raises Unsupported."""
    assert isinstance(state, views.View)
    seat = state.build.seat
    (hint,) = typing.get_args(seat.front.hints(seat.cls).get(node.attr)) or (None,)
    if typing.get_origin(hint) is not Channel:
        return place
    shown = f"the port {node.attr} of {state.build.prefix.rstrip('.')}"
    (message,) = typing.get_args(hint)
    kind = seat.front.resolver.type_of(message, calls.scope.refuser(node))
    if place is None or isinstance(place.type, t.MapOf):
        found = "no channel" if place is None else "several channels"
    elif place.message != kind:
        found = f"a channel of {t.show(place.message)}, not {t.show(kind)}"
    else:
        return place
    what = f"{shown}, connected to {found},"
    raise calls.scope.refuse(node, what, f"part({seat.cls.__name__}, {node.attr}=a channel)")


def asked(calls: Calls, node: ast.Call) -> Expr | None:
    """`len(c)`, `c.count(m)` and `c.distinct()` of a channel; None for anything else.

    Raises Unsupported for a `receive` in the middle of an expression.
    """
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute() | ast.Subscript() as inside]):
            place = channel_at(calls, inside)
            if place is not None and not isinstance(place.type, t.MapOf):
                _looked(calls, place, node)
                return length(calls, place)
        case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in _QUESTIONS:
            place = channel_at(calls, base)
            if place is not None and name in SENDING:
                what = f"{name}() inside an expression"
                raise calls.scope.refuse(node, what, "a statement of its own: m = c.receive()")
            if place is not None and not isinstance(place.type, t.MapOf):
                _looked(calls, place, node)
                return _answer(calls, place, node, name)
    return None


def _looked(calls: Calls, place: Place, node: ast.AST) -> None:
    if place.room == 0:
        what = f"a look into {place.var}, which never holds a message,"
        raise calls.scope.refuse(node, what, "a variable of the sender or the receiver")


def _answer(calls: Calls, place: Place, node: ast.Call, name: str) -> Expr | None:
    args = [calls.expr(a) for a in node.args]
    if isinstance(place.type, t.BagOf) or len(args) != (name == "count"):
        return None  # what a Bag says of it
    if name == "distinct":
        return Expr("toset", t.SetOf(place.message), (place.held,), "Set")
    return sugar.held(calls, args[0], lambda wanted: _count(calls, place, wanted))


def _count(calls: Calls, place: Place, wanted: Expr) -> Expr:
    each = calls.build.fresh("each")
    same = Expr("==", BOOL, (Expr("local", place.message, (), each), wanted))
    item = Expr("if", number(1).type, (same, Expr("item", number(1).type, (number(1),))))
    return Expr("total", t.Int(0, None), (Expr("for", item.type, (place.held, item), each),))


def is_transfer(calls: Calls, node: ast.expr, word: str = "") -> bool:
    """Whether a node is a call of `send` or `receive` of a channel."""
    match node:
        case ast.Call(func=ast.Attribute(value=base, attr=name)):
            wanted = name == word if word else name in SENDING
            return wanted and channel_at(calls, base) is not None
    return False


def _end(calls: Calls, node: ast.Call, args: int, loops: list[str]) -> Place:
    """The channel of a transfer. Raises Unsupported."""
    assert isinstance(node.func, ast.Attribute)
    name, place = node.func.attr, channel_at(calls, node.func.value)
    assert place is not None
    if len(node.args) != args or node.keywords:
        raise calls.scope.refuse(node, f"this {name}", "c.send(one message), m = c.receive()")
    if isinstance(place.type, t.MapOf):
        what = f"{name} of several channels"
        raise calls.scope.refuse(node, what, f"{ast.unparse(node.func.value)}[key].{name}(…)")
    choosing = name == "receive" and (place.kind.reordering or place.kind.duplicating)
    if "for" in loops and (place.room == 0 or choosing):
        what = f"{name} in a for loop, over a channel where that is a choice,"
        raise calls.scope.refuse(node, what, "a process with while, one message in each step")
    return place


def sent(calls: Calls, node: ast.Call, loops: list[str]) -> list[Stmt]:
    """`c.send(m)`. Raises Unsupported."""
    place = _end(calls, node, 1, loops)
    message = calls.expr(node.args[0], place.message)
    line = node.lineno
    if place.room == 0:
        return [Meet(place.var, "send", place.keys, message, "", place.message, line)]
    made: list[Stmt] = []
    if place.room is not None:
        made.append(When(Expr("<", BOOL, (length(calls, place), number(place.room))), line))
    if place.kind.reordering:
        value = bags.mutated(calls, place.held, "add", [message])
        assert value is not None
    else:
        more = Expr("seq", t.SeqOf(message.type, 1), (message,))
        elem = t.join((place.message, message.type))
        value = Expr("cat", t.SeqOf(elem), (place.held, more))
    return [*made, Write(place.var, place.keys, value, place.type, line)]


def received(calls: Calls, node: ast.Call, loops: list[str]) -> tuple[Expr, list[Stmt]]:
    """`c.receive()`: the message, and the statements that take it out. Raises Unsupported."""
    place = _end(calls, node, 0, loops)
    name, line = calls.build.fresh("message"), node.lineno
    message = Expr("local", place.message, (), name)
    if place.room == 0:
        return message, [Meet(place.var, "receive", place.keys, None, name, place.message, line)]
    if place.kind.reordering:
        made: list[Stmt] = [Choose(name, _distinct(calls, place), place.message, line)]
    else:
        some = Expr(">", BOOL, (length(calls, place), number(0)))
        first = Expr("index", place.message, (place.held, number(0)))
        made = [When(some, line), Assign(name, first, line)]
    if not place.kind.duplicating:
        return message, [*made, without(calls, place, number(0), message, line)]
    stays = calls.build.fresh("stays")
    both = Expr("seq", t.SeqOf(BOOL, 2), tuple(Expr("const", BOOL, (), b) for b in (False, True)))
    gone = without(calls, place, number(0), message, line)
    keep = If(Expr("local", BOOL, (), stays), (), (gone,), line)
    return message, [*made, Choose(stays, both, BOOL, line), keep]


def lost(build: Build, place: Place, calls: Calls, line: int) -> tuple[Stmt, ...]:
    """The step of a lossy channel: any one message is gone."""
    name = build.fresh("lost")
    if place.kind.reordering:
        message = Expr("local", place.message, (), name)
        chosen = Choose(name, _distinct(calls, place), place.message, line)
        return chosen, without(calls, place, number(0), message, line)
    upto = None if place.room is None else place.room - 1
    at = t.Int(0, upto)
    places = Expr("range", t.SeqOf(at), (number(0), length(calls, place), number(1)))
    index = Expr("local", at, (), name)
    return Choose(name, places, at, line), without(calls, place, index, number(0), line)


def without(calls: Calls, place: Place, at: Expr, message: Expr, line: int) -> Stmt:
    """The channel without the message at a place, or, reordering, without one like this."""
    if place.kind.reordering:
        value = bags.mutated(calls, place.held, "discard", [message])
        assert value is not None
    else:
        value = Expr("popped", place.type, (place.held, at))
    return Write(place.var, place.keys, value, place.type, line)


def length(calls: Calls, place: Place) -> Expr:
    """How many messages are in a channel."""
    if isinstance(place.type, t.BagOf):
        return bags.copies(calls, place.held)
    return Expr("len", t.Int(0, place.room), (place.held,))


def _distinct(calls: Calls, place: Place) -> Expr:
    return bags.different(calls, place.held)
