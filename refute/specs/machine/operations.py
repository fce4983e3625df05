"""Operations of the IR on values, as the tree walk defines them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

from refute.errors import UnreadableInput
from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr
from refute.specs.machine.values import (
    Atom,
    Tag,
    Value,
    conforms,
    domain,
    is_instance,
    members,
    order,
    said,
    tag,
)

_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "==": operator.eq,
    "!=": operator.ne,
    "|": operator.or_,
    "&": operator.and_,
    "^": operator.xor,
    "diff": operator.sub,
    "cat": operator.add,
    "subset": operator.le,
    "disjoint": lambda a, b: not a & b,
}
_ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def elements(value: Value, kind: t.Type) -> Iterable[Value]:
    """The elements of a container in canonical order."""
    if isinstance(kind, t.SetOf):
        return sorted(value, key=order)
    if isinstance(kind, t.MapOf):
        return domain(kind.key)
    return tuple(value)


def apply(expr: Expr, values: list[Value]) -> Value:
    """The node's operation on the values of its arguments. Raises what Python raises."""
    if expr.op in _TWO:
        return _TWO[expr.op](*values)
    kinds = [a.type for a in expr.args]
    match expr.op:
        case "not":
            return not values[0]
        case "neg":
            return -values[0]
        case "abs":
            return abs(values[0])
        case "<" | "<=" | ">" | ">=":
            return _ORDER[expr.op](*map(_rank, values))
        case "in":
            inside = isinstance(kinds[1], t.SetOf)
            return values[0] in (values[1] if inside else elements(values[1], kinds[1]))
        case "index":
            at = values[1]
            if isinstance(kinds[0], t.MapOf):
                at = position(kinds[0].key, at)
            return values[0][at]
        case "slice":
            return values[0][values[1] : values[2]]
        case "field":
            return _field(values[0], expr.data)
        case "tuple" | "seq":
            return tuple(values)
        case "setof":
            return frozenset(values)
        case "dict":
            return total(expr.type, dict(zip(values[::2], values[1::2], strict=True)))
        case "make":
            return _made(expr.type, values)
        case "range":
            return tuple(range(*values))
    return _containers(expr, values, kinds)


def _containers(expr: Expr, values: list[Value], kinds: list[t.Type]) -> Value:
    items = tuple(elements(values[0], kinds[0])) if expr.args and _iterable(kinds[0]) else ()
    match expr.op:
        case "toset":
            return frozenset(items)
        case "toseq" | "keys":
            return items
        case "sorted":
            return tuple(sorted(items, key=order))
        case "values":
            return tuple(values[0])
        case "items":
            return tuple(zip(items, values[0], strict=True))
        case "len":
            return len(items)
        case "sum":
            return sum(items)
        case "min":
            return min(items, key=order)
        case "max":
            return max(items, key=order)
        case "least":
            return min(values, key=order)
        case "most":
            return max(values, key=order)
        case "ordinal":
            return values[0].i
        case "successor":
            return _successor(expr.type, values[0])
        case "domain":
            return _members_of(expr.type)
        case "fail":
            return fail()
        case "only":
            return only(values[0], expr.type)
        case "removed":
            if values[1] not in values[0]:
                raise KeyError(values[1])
            return values[0] - {values[1]}
        case "popped":
            at = range(len(values[0]))[values[1]]
            return values[0][:at] + values[0][at + 1 :]
        case "isa":
            return is_instance(values[0], tuple(expr.data))
    raise UnreadableInput(f"unknown operation {expr.op!r} in a machine", thing="machine")


def _iterable(kind: t.Type) -> bool:
    return isinstance(kind, t.SetOf | t.SeqOf | t.MapOf | t.Tuple)


def _members_of(kind: t.Type) -> tuple[Value, ...]:
    if not isinstance(kind, t.SeqOf):
        raise UnreadableInput("a domain of no type", thing="machine")
    return domain(kind.elem)


def _rank(value: Value) -> int:
    return value.i if type(value) is Atom else value


def fail() -> Value:
    """A false `assert` of a helper. Raises AssertionError."""
    raise AssertionError


def only(value: Value, kind: t.Type) -> Value:
    """The value; TypeError of None and what else is not of the type, where Python would meet it."""
    if not conforms(value, kind):
        raise TypeError(f"{said(value)} where {t.show(kind)} is wanted")
    return value


def position(kind: t.Type, key: Value) -> int:
    """The place of a key in a map with this key type; KeyError when it is no key."""
    return _positions(kind)[key]


@functools.cache
def _positions(kind: t.Type) -> dict[Value, int]:
    return {key: at for at, key in enumerate(domain(kind))}


def _field(value: Value, name: str) -> Value:
    if type(value) is not tuple or not value or type(value[0]) is not Tag:
        raise AttributeError(name)
    return dict(zip(value[0].fields, value[1:], strict=True))[name]


def _made(kind: t.Type, values: list[Value]) -> Value:
    if not isinstance(kind, t.Rec):
        raise UnreadableInput("make of no record", thing="machine")
    return (tag(kind.name, tuple(n for n, _ in kind.fields)), *values)


def _successor(kind: t.Type, value: Value) -> Value:
    (atoms,) = [o for o in t.options(kind) if isinstance(o, t.Atoms)]
    after = members(atoms)[value.i + 1 :]
    return after[0] if after else None


def total(kind: t.Type, entries: dict[Value, Value]) -> Value:
    """The map with these entries; KeyError unless they match its key type."""
    if not isinstance(kind, t.MapOf) or set(entries) != set(domain(kind.key)):
        raise KeyError("a map's entries do not match its key type")
    return tuple(entries[k] for k in domain(kind.key))
