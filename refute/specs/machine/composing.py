"""Machines with parts: each part's class translated in its place, and all of it as one machine.

A variable `x` of the part `sender` is the variable `sender.x`, and of several parts `workers` the
map `workers[].x`; actions and processes get one parameter more, which says whose step it is. So
engines know nothing of parts.
"""

from __future__ import annotations

import inspect
import itertools
import math
import types
import typing
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from refute.errors import UsageError
from refute.specs.machine import types as t
from refute.specs.machine.channels import Channel
from refute.specs.machine.containers import Map
from refute.specs.machine.expressions import constant
from refute.specs.machine.ir import Expr, Variable
from refute.specs.machine.language import Const, Var
from refute.specs.machine.marks import mark_of
from refute.specs.machine.parts import Part, Port, Seat, Wire
from refute.specs.machine.placing import nested
from refute.specs.machine.scope import Build
from refute.specs.machine.values import MAX_DOMAIN, Value, domain, pack_value, text, unpack_value

if TYPE_CHECKING:
    from refute.specs.machine.declared import Declared

ENDED = "every-part-may-stop"


def seats_of(front: Declared) -> dict[str, Seat]:
    """The places for parts in a machine, each with a frontend of its own. Raises Unsupported."""
    hints = front.hints(front.cls)
    found: dict[str, Seat] = {}
    for name, made in front.members.items():
        if isinstance(made, Part):
            found[name] = _seat(front, name, made, hints.get(name))
    return found


def _seat(front: Declared, name: str, made: Part[Any], hint: Any) -> Seat:
    refuse = front.refuser(front.cls)
    instead = f"{name}: Part[Sender] = part(Sender), or Part[Map[K, Sender]] for several"
    if typing.get_origin(hint) is not Part:
        raise refuse(f"{name} without a type", instead)
    (inner,) = typing.get_args(hint)
    key = None
    if typing.get_origin(inner) is Map:
        key_hint, inner = typing.get_args(inner)
        key = front.resolver.type_of(key_hint, refuse)
        for sort in t.open_sorts(key):
            what = f"{name}, a part for each of {sort}, which has any number of members,"
            raise refuse(what, f"variables that are Maps from {sort}, and actions of {sort}")
        domain(key)
    if not (isinstance(made.cls, type) and hasattr(made.cls, "_admit")):
        raise refuse(f"{made.cls!r} as a part", "a class that derives from Machine")
    if inner is not made.cls:
        raise refuse(f"{name}, declared as another class than {made.cls.__name__},", instead)
    seat = Seat(name, made.cls, key, line=front.line)
    members = {n: inspect.getattr_static(made.cls, n) for n in dir(made.cls)}
    unknown = [n for n in made.given if not isinstance(members.get(n), Port | Const)]
    if unknown:
        ports = ", ".join(n for n, m in members.items() if isinstance(m, Port | Const)) or "none"
        what = f"{unknown[0]}=, which {made.cls.__name__} has no port or constant for,"
        raise refuse(what, f"one of its ports and constants: {ports}")
    for given, value in made.given.items():
        if isinstance(members[given], Const):
            seat.constants[given] = front.resolver.number(value)
    seat.front = front.inside(seat)
    for port in (n for n, m in members.items() if isinstance(m, Port)):
        seat.wires[port] = _wire(front, seat, port, made.given)
    return seat


def _wire(front: Declared, seat: Seat, port: str, given: dict[str, Any]) -> Wire:
    refuse = front.refuser(front.cls)
    source = given.get(port, front.members.get(port))
    if isinstance(source, types.FunctionType) and mark_of(source) is None:
        return Wire("call", _function(front, seat, port, source))
    if isinstance(source, Var):
        return Wire(_way(front, seat, port, source), source.name)
    if isinstance(source, Port | Const | Part):
        return Wire("member", source.name)
    hint = typing.get_args(seat.front.hints(seat.cls).get(port) or object)
    if port in given:
        return Wire("value", source)
    if seat.key is not None and hint and typing.get_origin(hint[0]) is not Channel:
        ports = [n for n, m in seat.front.members.items() if isinstance(m, Port)]
        mine = [n for n in ports if n not in given and _is_key(seat, n)]
        if mine == [port]:
            return Wire("key")
    what = f"the port {port} of {seat.name}, connected to nothing,"
    ways = "a variable, or a function of self"
    if seat.key is not None:
        ways += f" and the key: {port}=lambda self, key: key"
    raise refuse(what, f"part({seat.cls.__name__}, {port}=…), {ways}")


def _function(
    front: Declared, seat: Seat, port: str, function: types.FunctionType
) -> types.FunctionType:
    wanted = ["self"] if seat.key is None else ["self", "key"]
    if function.__code__.co_argcount != len(wanted):
        what = f"the function for the port {port} of {seat.name}, with other arguments,"
        raise front.refuser(function)(what, f"lambda {', '.join(wanted)}: …")
    return function


def _is_key(seat: Seat, port: str) -> bool:
    """Whether a port is of the type that tells several parts apart."""
    (hint,) = typing.get_args(seat.front.hints(seat.cls).get(port))
    if getattr(hint, "__origin__", None) in (Channel, Map):
        return False
    kind: t.Type = seat.front.resolver.type_of(hint, seat.front.refuser(seat.cls))
    return kind == seat.key


def _way(front: Declared, seat: Seat, port: str, source: Var[Any]) -> str:
    """Whether a port is connected to all of a variable, or to the entry of the part's key."""
    (hint,) = typing.get_args(seat.front.hints(seat.cls).get(port)) or (None,)
    kind = front.build.variables[source.name]
    several = isinstance(kind, t.MapOf) and kind.key == seat.key
    return "entry" if several and typing.get_origin(hint) is not Map else "member"


def placed_variable(front: Declared, variable: Variable) -> Variable:
    """A variable in the place of its part: for several parts, a map with one for each."""
    build = front.build
    if build.seat is None:
        return variable
    starts = [unpack_value(v) for v in variable.initial]
    for key in reversed(build.keys):
        count = len(domain(key))
        if len(starts) ** count > MAX_DOMAIN:
            raise UsageError(f"more than {MAX_DOMAIN} starting values", thing=variable.name)
        starts = list(itertools.product(starts, repeat=count))
    packed = tuple(map(pack_value, starts))
    kind = nested(build.keys, variable.type)
    return Variable(build.prefix + variable.name, kind, packed, variable.line)


def keyed_variable(front: Declared, variable: Variable, rows: list[list[Value]]) -> Variable:
    """A variable whose starting values depend on which of the parts it belongs to."""
    if math.prod(map(len, rows)) > MAX_DOMAIN:
        raise UsageError(f"more than {MAX_DOMAIN} starting values", thing=variable.name)
    packed = tuple(map(pack_value, itertools.product(*rows)))
    kind = nested(front.build.keys, variable.type)
    return Variable(front.build.prefix + variable.name, kind, packed, variable.line)


def each_part(front: Declared) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    """The names of all parts that a frontend's class stands for, and their keys."""
    build = front.build
    for values in itertools.product(*map(domain, build.keys)):
        shown = iter(text(v, k) for v, k in zip(values, build.keys, strict=True))
        pieces = build.prefix.split("[]")
        name = pieces[0] + "".join(f"[{next(shown)}]{rest}" for rest in pieces[1:])
        yield name, tuple(constant(v, k) for v, k in zip(values, build.keys, strict=True))


def settle(build: Build, seat: Seat, outer: Build) -> None:
    """Let what is known of a part's class share with the machine around it what is one for both."""
    build.seat, build.outer = seat, outer
    several = seat.key is not None
    build.prefix = f"{outer.prefix}{seat.name}{'[]' if several else ''}."
    build.keys = (*outer.keys, seat.key) if seat.key is not None else outer.keys
    build.numbers, build.loose, build.inlining = outer.numbers, outer.loose, outer.inlining
    build.connections = outer.connections
    mine, theirs = build.resolver, outer.resolver
    mine.sizes, mine.unsized, mine.classes = theirs.sizes, theirs.unsized, theirs.classes


def constants_of(front: Declared) -> dict[str, int | str]:
    """The constants of a machine and, where they are not given for a part alone, of its parts.

    Raises UsageError.
    """
    found: dict[str, int | str] = {**front.build.constants}
    for seat in front.seats.values():
        for name, value in constants_of(seat.front).items():
            if name in seat.constants:
                continue
            if found.setdefault(name, value) != value:
                raise UsageError(
                    f"{name} is {found[name]} and {value} in different parts",
                    thing=name,
                    next_step=f"give it: part({seat.cls.__name__}, {name}={value})",
                )
        for name, value in seat.front.resolver.used.items():
            if name not in seat.constants:
                found.setdefault(name, value)
    return found


def missing_of(front: Declared) -> list[str]:
    """The constants that have no value."""
    parts = [n for seat in front.seats.values() for n in missing_of(seat.front)]
    return list(dict.fromkeys([*front.missing, *parts]))
