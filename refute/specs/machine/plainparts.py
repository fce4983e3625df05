"""Names of a machine with parts, looked up on a run of the real class.

`workers[].run` with the parameters (2, 0) is the method `run` of the part `workers[2]`, called with
0; `links[].lose` is the loss of a message of one channel.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from refute.specs.machine.channels import Channel, ChannelVar
from refute.specs.machine.ir import Param
from refute.specs.machine.marks import mark_of
from refute.specs.machine.parts import Seat, seated
from refute.specs.machine.values import Value, domain, text

_PIECE = re.compile(r"(\w+)((?:\[[^\]]*\])*)\.?")


def inside(machine: Any, name: str, live: Sequence[Any]) -> tuple[Any, str, list[Any]]:
    """Whose method a name means, the method, and the arguments left for it."""
    *way, (method, _) = _PIECE.findall(name)
    rest = list(live)
    at = machine
    for piece, brackets in way:
        if isinstance(inspect.getattr_static(type(at), piece), ChannelVar):
            at = getattr(at, piece)
            for _ in range(brackets.count("[")):
                at = at[rest.pop(0)]
        else:
            seat: Seat = at._front.seats[piece]
            at = seated(at, seat, _keys(at, seat, brackets.strip("[]"), rest))
    return at, method, rest


def _keys(machine: Any, seat: Seat, shown: str, rest: list[Any]) -> tuple[Any, ...]:
    if seat.key is None:
        return ()
    if not shown:
        return (rest.pop(0),)
    found = [v for v in domain(seat.key) if text(v, seat.key) == shown]
    return (machine._front.resolver.thaw(found[0], seat.key),)


def declaring(front: Any, name: str) -> tuple[type, str]:
    """The class that a method is of, whichever of several parts is meant, and its name there."""
    *way, (method, _) = _PIECE.findall(name)
    for piece, _ in way:
        front = front.seats[piece].front
    return front.cls, method


def called(machine: Any, name: str, live: Sequence[Any]) -> Any:
    """What a method gives."""
    at, method, rest = inside(machine, name, live)
    return at._lose() if isinstance(at, Channel) else getattr(type(at), method)(at, *rest)


def apart(
    sender: tuple[str, tuple[Value, ...]],
    receiver: tuple[str, tuple[Value, ...]],
    processes: AbstractSet[str],
) -> bool:
    """Whether two steps may meet: of two parts, two processes, or two actions outside of parts."""
    owners = [name.rpartition(".")[0] for name, _ in (sender, receiver)]
    keys = owners[0].count("[]")
    if owners[0] != owners[1] or sender[1][:keys] != receiver[1][:keys]:
        return True
    both = sender[0] in processes and receiver[0] in processes
    return sender != receiver and (both or not owners[0])


def may_stop(
    machine: Any,
    finished: AbstractSet[tuple[str, tuple[Value, ...]]],
    params: Mapping[str, Sequence[Param]],
    prefix: str = "",
    keys: tuple[Value, ...] = (),
) -> bool:
    """Whether every part may stop: its @terminal holds, or its processes have returned.

    finished: processes that returned. params: those of actions and processes, by their names.
    """
    cls = type(machine)
    marks = {n: mark_of(inspect.getattr_static(cls, n)) for n in dir(cls)}
    kinds = {n: mark.kind for n, mark in marks.items() if mark is not None}
    processes = [prefix + n for n, kind in kinds.items() if kind == "process"]
    terminals = [n for n, kind in kinds.items() if kind == "terminal"] if prefix else []
    if processes and cls._crashes and prefix:
        functions = ((n, getattr(cls, n)) for n, kind in kinds.items() if kind == "recover")
        processes += [prefix + n for n, made in functions if inspect.isgeneratorfunction(made)]
    done = bool(processes) and all(
        (name, (*keys, *rest)) in finished
        for name in processes
        for rest in itertools.product(*(domain(p.type) for p in params[name][len(keys) :]))
    )
    waits = bool(processes) or (prefix and "action" in kinds.values())
    if waits and not done and not any(getattr(cls, n)(machine) for n in terminals):
        return False
    for seat in machine._front.seats.values():
        several = "" if seat.key is None else "[]"
        for value in (None,) if seat.key is None else domain(seat.key):
            own = () if seat.key is None else (value,)
            live = tuple(machine._front.resolver.thaw(v, seat.key) for v in own)
            part = seated(machine, seat, live)
            name = f"{prefix}{seat.name}{several}."
            if not may_stop(part, finished, params, name, (*keys, *own)):
                return False
    return True
