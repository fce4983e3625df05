"""A machine and all of its parts as one: their steps and properties, and where it may stop."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from refute.specs.machine import types as t
from refute.specs.machine.calls import Calls
from refute.specs.machine.channels import LOSE, ChannelVar
from refute.specs.machine.crashing import Fall, observed, part_crash, waiting
from refute.specs.machine.expressions import BOOL
from refute.specs.machine.ir import CRASH, Action, Expr, Param, Property, Variable
from refute.specs.machine.meeting import Mover, joined, meets
from refute.specs.machine.placing import Placed, returned
from refute.specs.machine.scope import Build, Scope
from refute.specs.machine.sending import Place, lost
from refute.specs.machine.variables import starting
from refute.specs.machine.views import NO_NAMES, View

if TYPE_CHECKING:
    from refute.specs.machine.frontend import FrontEnd, Marked

ENDED = "every-part-may-stop"


def marked_names(front: FrontEnd) -> Marked:
    """The marked methods of a machine and of all of its parts, translated."""
    marked = front.marked()
    marked.actions += _losses(front)
    for seat in front.seats.values():
        inner = marked_names(seat.front)
        for mine, theirs in zip(vars(marked).values(), vars(inner).values(), strict=True):
            if isinstance(mine, list):
                mine += theirs
    return marked


def fronts(front: FrontEnd) -> Iterator[FrontEnd]:
    """A machine's frontend, and those of all of its parts."""
    yield front
    for seat in front.seats.values():
        yield from fronts(seat.front)


def whole(front: FrontEnd, marked: Marked) -> tuple[Variable, ...]:
    """All variables. Where parts or rendezvous need that, processes become actions.

    Raises Unsupported.
    """
    variables = [v for each in fronts(front) for v in starting(each)]
    ends = [m for a in marked.actions for m in meets(a.body)]
    ends += [m for p in marked.processes for b in p.blocks for m in meets(b.body)]
    if not front.seats and not ends:
        return tuple(variables)
    if front.crashes:
        what = "a crash of all of a machine with parts or rendezvous"
        raise front.refuser(front.cls)(what, "crashes=True on the parts, which crash one at a time")
    fresh = front.build.fresh
    every = [Placed(p, fresh) for p in marked.processes]
    keys = {each.build.prefix: len(each.build.keys) for each in fronts(front)}
    movers = [Mover(a, keys[_owner(a.name, keys)]) for a in marked.actions]
    movers += [Mover(p.action(), keys[_owner(p.process.name, keys)], True) for p in every]
    falls = [_fallen(front, fall, every, variables) for fall in marked.falls]
    recoveries = [(f.recovering, len(f.params)) for f in marked.falls]
    movers += [Mover(p.action(), count, True) for p, count in recoveries if p is not None]
    movers += [Mover(a, len(a.params)) for a in falls]
    variables += [v for p in every for v in p.variables]
    for fall in marked.falls:
        _recovering(marked, fall, variables)
    marked.properties += _may_stop(front, marked, every, list(keys))
    marked.actions[:] = joined(movers, fresh)
    marked.processes.clear()
    return tuple(variables)


def _fallen(front: FrontEnd, fall: Fall, every: list[Placed], variables: list[Variable]) -> Action:
    """The crash of a part. Raises Unsupported."""
    own = [p for p in every if p.process.name.rpartition(".")[0] + "." == fall.prefix]
    (part,) = [each for each in fronts(front) if each.build.prefix == fall.prefix]
    names = {fall.prefix + name for name, made in part.vars() if made.volatile}
    volatile = [v for v in variables if v.name in names]
    for variable in volatile:
        if len(variable.initial) != 1:
            what = f"{variable.name}, volatile,"
            raise part.refuser(part.cls)(what, "one starting value: what a crash leaves")
    return part_crash(fall, own, volatile)


def _recovering(marked: Marked, fall: Fall, variables: list[Variable]) -> None:
    """Where a part's recovery in steps is; what is observed of the part is so at its end."""
    placed = fall.recovering
    if placed is not None:
        variables += waiting(placed)
        own = fall.prefix + CRASH
        marked.properties[:] = [
            observed(placed, p) if p.kind == "observe" and p.crash == own else p
            for p in marked.properties
        ]


def _owner(name: str, prefixes: Iterable[str]) -> str:
    """Whose step it is: the longest prefix of a name that is a part's."""
    return max((p for p in prefixes if name.startswith(p)), key=len)


def _may_stop(
    front: FrontEnd, marked: Marked, every: list[Placed], prefixes: list[str]
) -> Iterator[Property]:
    """A machine may stop where each part may: its @terminal holds, or its processes have returned.

    Processes of the machine itself must have returned; its own @terminal is a property as always.
    """
    tests: list[Expr] = []
    for build in (each.build for each in fronts(front)):
        keys = [Param(build.fresh("part"), k) for k in build.keys]
        given = tuple(Expr("local", p.type, (), p.name) for p in keys)
        own = [p for p in every if _owner(p.process.name, prefixes) == build.prefix]
        if own:
            falls = [f for f in marked.falls if f.prefix == build.prefix]
            own += [f.recovering for f in falls if f.recovering is not None]
        ways = [_all_of([returned(p, given, build.fresh) for p in own])] if own else []
        ways += [made(given) for prefix, made in marked.terminals if prefix == build.prefix]
        steps = [a for a in marked.actions if a.name.rpartition(".")[0] + "." == build.prefix]
        if steps and not ways:
            return
        if ways:
            test = ways[0] if len(ways) == 1 else Expr("or", BOOL, tuple(ways))
            tests.append(_for_all(keys, test))
    if tests:
        yield Property(ENDED, "terminal", (), _all_of(tests), front.line)


def _for_all(params: list[Param], test: Expr) -> Expr:
    for param in reversed(params):
        item = Expr("item", BOOL, (test,))
        walk = Expr("for", BOOL, (Expr("domain", t.SeqOf(param.type)), item), param.name)
        test = Expr("all", BOOL, (walk,))
    return test


def _all_of(tests: list[Expr]) -> Expr:
    return tests[0] if len(tests) == 1 else Expr("and", BOOL, tuple(tests))


def _losses(front: FrontEnd) -> Iterator[Action]:
    """The steps that lossy channels have of their own."""
    build = front.build
    for name, made in front.members.items():
        if isinstance(made, ChannelVar) and made.kind.lossy:
            yield _loss(front, build, name, made)


def _loss(front: FrontEnd, build: Build, name: str, made: ChannelVar) -> Action:
    kinds, kind = list(build.keys), build.variables[name]
    while isinstance(kind, t.MapOf):
        kinds.append(kind.key)
        kind = kind.value
    params = tuple(Param(build.fresh("key"), k) for k in kinds)
    keys = tuple(Expr("local", p.type, (), p.name) for p in params)
    own = len(build.keys)
    held = View.of("read", build, keys[:own]).variable(name)
    for key in keys[own:]:
        assert isinstance(held.type, t.MapOf)
        held = Expr("index", held.type.value, (held, key))
    full = build.prefix + name
    place = Place(full, made.kind, build.rooms[name], keys, kind, held)
    tree = ast.FunctionDef(LOSE, ast.arguments([], [], None, [], [], None, []), [], [])
    calls = Calls(Scope(build, NO_NAMES, tree, front.file, {}))
    shown = "[]" * (len(kinds) - own)
    return Action(f"{full}{shown}.{LOSE}", params, lost(build, place, calls, front.line))
