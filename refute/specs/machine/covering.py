"""Whether a way through a helper exists: what the tests on it leave of the values of a type.

`match` and chains of `if` often have a case for every option of a union, every member of an Enum or
both values of a bool. The way behind the last one is then no way at all, as type checkers know too.
Tests are looked at one value at a time; what cannot be told counts as possible.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from refute.frozen import frozen
from refute.plain import Plain
from refute.specs.machine import types as t
from refute.specs.machine.expressions import comparable
from refute.specs.machine.ir import Expr
from refute.specs.machine.values import domain, is_instance, pack_value, said

Facts = Sequence[tuple[Expr, bool]]
SAME = "same"  # the operation of a fact that a local has the value of an expression
MOST = 64  # numbers that are tried one by one


@frozen
class Unit:
    """An option of a type, or one value of it. data: the value, packed, where known."""

    option: t.Type
    known: bool = False
    data: Plain = None


def left_over(facts: Facts) -> str | None:
    """What the tests that led here leave of a value that they are about: "" for nothing, which
    means that nothing leads here, and None where they say nothing."""
    asked = list(dict.fromkeys(s for test, _ in facts for s in subjects(test)))
    told: list[tuple[int, str]] = []
    for subject in reversed(asked):
        rest = [u for u in units(subject.type) if possible(subject, u, facts)]
        if not rest:
            return ""
        if subject.op in ("local", "read"):
            name = str(subject.data).split(".")[0]
            shown = "the value" if name.startswith("matched_") else name
            told.append((len(rest), f"{shown} is {' or '.join(map(_shown, rest[:3]))}"))
    return min(told)[1] if told else None


def settled(found: Expr, kind: t.Type) -> Expr:
    """What gives no value, as an expression of this type."""
    if found.type != t.NEVER or found.op not in ("fail", "let", "if"):
        return found
    first = 1 if found.args else 0
    args = [*found.args[:first], *(settled(a, kind) for a in found.args[first:])]
    return dataclasses.replace(found, type=kind, args=tuple(args))


def units(kind: t.Type) -> Iterator[Unit]:
    """The options of a type, and of those with few values each one."""
    for option in t.options(kind):
        match option:
            case t.Bool() | t.Text() | t.Nothing():
                few = True
            case t.Atoms(kind=sort):
                few = sort == "enum"
            case t.Int(lo, hi):
                few = lo is not None and hi is not None and hi - lo < MOST
            case _:
                few = False
        if few:
            yield from (Unit(option, True, pack_value(v)) for v in domain(option))
        else:
            yield Unit(option)


def _shown(unit: Unit) -> str:
    return repr(unit.data) if type(unit.data) is str else _said(unit)


def _said(unit: Unit) -> str:
    if not unit.known:
        return t.show(unit.option)
    return str(unit.data[3]) if isinstance(unit.data, tuple) else said(unit.data)


def subjects(test: Expr) -> Iterator[Expr]:
    """What a test is about."""
    if test.op in ("and", "or", "not"):
        for part in test.args:
            yield from subjects(part)
    elif test.op in ("==", "!="):
        yield from (a for a in test.args if a.op != "const")
    elif test.op == "isa":
        yield test.args[0]
    elif test.op not in ("const", SAME):
        yield test


def possible(subject: Expr, unit: Unit, facts: Facts) -> bool:
    """Whether the tests may have come out so if the subject is this."""
    return all(_holds(test, subject, unit) is not (not truth) for test, truth in facts)


def _holds(test: Expr, subject: Expr, unit: Unit) -> bool | None:
    """Whether the test is true if the subject is this; None where that is not known."""
    if test == subject and unit.known and isinstance(unit.option, t.Bool):
        return bool(unit.data)
    match test.op:
        case "const" if isinstance(test.type, t.Bool):
            return bool(test.data)
        case "not":
            return _opposite(_holds(test.args[0], subject, unit))
        case "and" | "or":
            ends = test.op == "or"
            parts = [_holds(part, subject, unit) for part in test.args]
            return ends if ends in parts else (None if None in parts else not ends)
        case "==" | "!=":
            same = _equal(test, subject, unit)
            return same if test.op == "==" else _opposite(same)
        case "isa" if test.args[0] == subject:
            return _instance(unit, test.data)
    return None


def _opposite(found: bool | None) -> bool | None:
    return None if found is None else not found


def _equal(test: Expr, subject: Expr, unit: Unit) -> bool | None:
    left, right = test.args
    other = right if left == subject else left if right == subject else None
    if other is None or other.op != "const":
        return None
    if not any(comparable(unit.option, o) for o in t.options(other.type)):
        return False
    if t.Nothing() in (unit.option, other.type):
        return unit.option == other.type
    return bool(unit.data == other.data) if unit.known else None


def _instance(unit: Unit, kinds: Plain) -> bool | None:
    wanted = tuple(kinds)
    match unit.option:
        case t.Rec(name=name):
            return any(isinstance(k, t.Rec) and k.name == name for k in wanted)
        case t.Atoms(name=name):
            return any(isinstance(k, t.Atoms) and k.name == name for k in wanted)
        case t.Int() | t.Bool() | t.Text() | t.Nothing() if unit.known:
            return is_instance(unit.data, wanted)
    return None
