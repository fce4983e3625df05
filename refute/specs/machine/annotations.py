"""Annotations that stand for others: builtin containers, NewType, Literal, type aliases.

They are read as the types that a machine's values have: `set[T]` is `Set[T]`, as what is written
to a variable comes back as a value.
"""

from __future__ import annotations

import collections.abc
import enum
import typing
from collections.abc import Callable
from typing import Any

from refute.errors import UsageError
from refute.specs.machine import types as t
from refute.specs.machine.containers import Map, Seq, Set
from refute.specs.machine.language import Const

_SAME: dict[Any, Any] = {
    set: Set,
    frozenset: Set,
    collections.abc.Set: Set,
    list: Seq,
    collections.abc.Sequence: Seq,
    dict: Map,
    collections.abc.Mapping: Map,
}
_INSTEAD = {
    str: 'strings of a known set, Literal["a", "b"], or an Enum',
    float: "whole numbers, Annotated[int, Range(lo, hi)]",
    object: "the type of its values",
    set: "set[T]",
    frozenset: "frozenset[T]",
    list: "Annotated[list[T], Upto(n)]",
    tuple: "tuple[A, B]",
    dict: "dict[K, V], with an entry for every key",
}


def unnamed(annotation: Any) -> Any:
    """What a NewType or an alias by `type X = …` (from Python 3.12 on) stands for."""
    while True:
        if type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        else:
            return annotation


def whole(bound: Any) -> int:
    """A bound that is no string. Raises UsageError for what is no number either."""
    if isinstance(bound, int):
        return bound
    name = bound.name if isinstance(bound, Const) else ""
    raise UsageError(
        f"the bound {name or repr(bound)} is no whole number",
        thing="bound",
        value=name or bound,
        next_step=f'write the constant in a string: "{name or "N - 1"}"',
    )


def container_of(origin: Any) -> Any:
    """The machine's own container for a builtin or abstract one."""
    try:
        return _SAME.get(origin, origin)
    except TypeError:  # not hashable, so none of these
        return origin


def instead_of(annotation: Any, otherwise: str) -> str:
    """What to write in place of a type that no value of a machine has."""
    try:
        return _INSTEAD.get(annotation, otherwise)
    except TypeError:
        return otherwise


def literal(values: tuple[Any, ...], refuse: Callable[[str, str], Exception]) -> t.Type:
    """The type of `Literal[…]`: strings, None, or numbers without a gap."""
    kinds: list[t.Type] = []
    numbers = sorted(v for v in values if type(v) is int)
    if numbers and numbers[-1] - numbers[0] + 1 != len(numbers):
        raise refuse(f"Literal of {numbers} with a gap", "Annotated[int, Range(lo, hi)], an Enum")
    if numbers:
        kinds.append(t.Int(numbers[0], numbers[-1]))
    for value in values:
        if type(value) is str:
            kinds.append(t.text_of((value,)))
        elif value is None:
            kinds.append(t.Nothing())
        elif isinstance(value, enum.Enum) or type(value) is not int:
            raise refuse(f"Literal[{value!r}]", "the whole type, bool or the Enum")
    return t.join(kinds)


def named_fields(cls: type) -> tuple[str, ...] | None:
    """The fields of a NamedTuple; None for any other class."""
    fields = getattr(cls, "_fields", None)
    return fields if issubclass(cls, tuple) and isinstance(fields, tuple) else None
