"""What the compiled source of a machine calls: operations that Python has no operator for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from refute.specs.machine import types as t
from refute.specs.machine.errors import MOST_ROUNDS, Endless, check_depth
from refute.specs.machine.values import Tag, order


def is_record(value: Any) -> bool:
    """Whether a tuple is a record's value."""
    return type(value) is tuple and bool(value) and type(value[0]) is Tag


def field_of(value: Any, name: str) -> Any:
    """A record's field where the static type leaves several records open."""
    if not is_record(value):
        raise AttributeError(name)
    return value[value[0].position[name]]


def ordered(items: frozenset[Any]) -> tuple[Any, ...]:
    """The elements of a set in canonical order."""
    return tuple(sorted(items, key=order))


def remembering(kind: t.Type) -> Callable[[frozenset[Any]], tuple[Any, ...]]:
    """`ordered` for sets of one element type, remembering results: True and 1 are equal keys, so
    sets of different types must not share them."""

    @functools.lru_cache(maxsize=1 << 12)
    def known(items: frozenset[Any]) -> tuple[Any, ...]:
        return tuple(sorted(items, key=order))

    inside = repr(kind)
    return ordered if "Bool(" in inside and "Int(" in inside else known


def removed(base: frozenset[Any], element: Any) -> frozenset[Any]:
    """`set.remove` on a value."""
    if element not in base:
        raise KeyError(element)
    return base - {element}


def popped(base: tuple[Any, ...], at: int) -> tuple[Any, ...]:
    """`list.pop` on a value, without the element."""
    items = list(base)
    items.pop(at)
    return tuple(items)


def put(base: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    """A sequence with one element replaced; IndexError outside it."""
    items = list(base)
    items[at] = value
    return tuple(items)


def extreme(pick: Callable[..., Any], items: Any) -> Any:
    """min or max in canonical order; ValueError of nothing."""
    return pick(items, key=order)


def recursive(body: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose body calls itself through its first argument."""
    depth = 0

    def call(*args: Any) -> Any:
        nonlocal depth
        check_depth(depth + 1)
        depth += 1
        try:
            return body(call, *args)
        finally:
            depth -= 1

    return call


def looped(values: tuple[Any, ...], body: Callable[..., tuple[Any, ...]]) -> tuple[Any, ...]:
    """What a `while` leaves; the last value says whether it goes on."""
    for _ in range(MOST_ROUNDS):
        if not values[-1]:
            return values
        values = body(*values)
    raise Endless(f"a while loop of one step goes round {MOST_ROUNDS} times")
