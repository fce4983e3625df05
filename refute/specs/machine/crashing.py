"""Crashes: one action more, in which all processes end and volatile variables begin anew.

What `@recover` does belongs to the same step, so that nothing sees the state in between; one that
yields is a process that a crash begins, and begins again when the next crash comes before its end.
A part crashes by itself: only its own processes end, and what it has sent is on its way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from refute.specs.machine import types as t
from refute.specs.machine.ir import (
    CRASH,
    Action,
    Die,
    Expr,
    Param,
    Property,
    Stmt,
    Variable,
    Write,
)
from refute.specs.machine.placing import Placed, at_place, everywhere, nested, some_value
from refute.specs.machine.values import pack_value

BOOL = t.Bool()


@dataclasses.dataclass(frozen=True)
class Fall:
    """A part that crashes: its prefix, the parameters that say which one, and its recovery.

    recovering: instead of `recovery`, one in steps.
    """

    prefix: str
    params: tuple[Param, ...]
    recovery: tuple[Stmt, ...]
    line: int
    recovering: Placed | None = None


def crash_action(
    variables: Sequence[Variable], volatile: frozenset[str], recovery: tuple[Stmt, ...], line: int
) -> Action:
    """The action of a crash. volatile: names; each of these has one starting value."""
    resets = [
        Write(v.name, (), Expr("const", v.type, (), v.initial[0]), v.type, line)
        for v in variables
        if v.name in volatile
    ]
    return Action(CRASH, (), (Die(line), *resets, *recovery), line=line)


def begun(placed: Placed, keys: tuple[Expr, ...], line: int) -> tuple[Stmt, ...]:
    """What a crash does with a recovery in steps: it begins, whatever it was at before.

    keys: which part it is of.
    """
    start, kind = _const(t.Int(0, 0), 0), t.Int(0, placed.done)
    place = Write(placed.place.name, keys, start, kind, line)
    forgotten = [
        Write(variable.name, keys, _const(kind, some_value(kind)), kind, line)
        for variable, kind in placed.kept()
    ]
    return (place, *forgotten)


def waiting(placed: Placed) -> tuple[Variable, ...]:
    """The variables of a recovery in steps, before the first crash."""
    ended = pack_value(everywhere(placed.kinds, placed.done))
    place = dataclasses.replace(placed.place, initial=(ended,))
    return (place, *placed.locals.values())


def observed(placed: Placed, prop: Property) -> Property:
    """An `@observe` as a property of the steps that end the recovery."""
    done = _const(t.Int(placed.done, placed.done), placed.done)
    place = at_place(placed.place, prop.keys)
    ends = Expr("!=", BOOL, (place, done)), Expr("==", BOOL, (_later(place), done))
    other = Expr("not", BOOL, (Expr("and", BOOL, ends),))
    predicate = Expr("or", BOOL, (other, _later(prop.predicate)))
    return dataclasses.replace(prop, kind="transition", predicate=predicate)


def _later(expr: Expr) -> Expr:
    """What the expression is in the state after."""
    op = "next" if expr.op == "read" else expr.op
    return dataclasses.replace(expr, op=op, args=tuple(map(_later, expr.args)))


def part_crash(fall: Fall, own: Sequence[Placed], volatile: Sequence[Variable]) -> Action:
    """The action of a part's crash. own: its processes; volatile: its variables that are lost."""
    keys = tuple(Expr("local", p.type, (), p.name) for p in fall.params)
    ends = [stmt for placed in own for stmt in _ended(placed, keys, fall.line)]
    resets = [_again(variable, keys, fall.line) for variable in volatile]
    recovery = fall.recovery
    if fall.recovering is not None:
        recovery = begun(fall.recovering, keys, fall.line)
    return Action(fall.prefix + CRASH, fall.params, (*ends, *resets, *recovery), line=fall.line)


def _ended(placed: Placed, keys: tuple[Expr, ...], line: int) -> Iterator[Stmt]:
    """All processes of one kind that belong to the part have returned."""
    rest = placed.kinds[len(keys) :]
    values: list[tuple[Variable, t.Type, object]] = [
        (placed.place, t.Int(0, placed.done), placed.done),
        *((variable, kind, some_value(kind)) for variable, kind in placed.kept()),
    ]
    for variable, kind, value in values:
        inner = nested(rest, kind)
        yield Write(variable.name, keys, _const(inner, everywhere(rest, value)), inner, line)


def _again(variable: Variable, keys: tuple[Expr, ...], line: int) -> Stmt:
    """A variable as it began."""
    found = Expr("const", variable.type, (), variable.initial[0])
    for key in keys:
        assert isinstance(found.type, t.MapOf)
        found = Expr("index", found.type.value, (found, key))
    return Write(variable.name, keys, found, found.type, line)


def _const(kind: t.Type, value: object) -> Expr:
    return Expr("const", kind, (), pack_value(value))
