"""Frozen dataclasses that cost little to define.

`dataclasses.dataclass(frozen=True)` writes and compiles six methods for each class, half a
millisecond; a command that is to answer in less than half a second imports a hundred such classes
in each of its processes. `frozen` gives a class that looks and behaves the same, also to
`dataclasses.fields`, `replace` and `match`, from methods that are shared; comparing two instances
takes twice as long. It has no options: classes that need some use the original.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import operator
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

_T = TypeVar("_T")
_MISSING = dataclasses.MISSING
_set = object.__setattr__
_consume = collections.deque
_cheap = dataclasses.dataclass(init=False, repr=False, eq=False)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def frozen(cls: type[_T]) -> type[_T]:
    """The class as a frozen dataclass; fields may have defaults and default factories."""
    made: Any = _cheap(cls)
    fields = dataclasses.fields(made)
    names = tuple(f.name for f in fields)
    methods = {
        "__init__": _init(fields, hasattr(cls, "__post_init__")),
        "__repr__": _repr(names),
        **_comparison(names),
        **_barriers(cls, frozenset(names)),
    }
    for name, method in methods.items():
        if name not in cls.__dict__ or (name == "__hash__" and cls.__dict__[name] is None):
            method.__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)
    return cls


def _init(fields: tuple[dataclasses.Field[Any], ...], post: bool) -> Callable[..., None]:
    names = tuple(f.name for f in fields)
    defaults = tuple(f.default for f in fields)
    # How many arguments are enough to take the rest from `defaults`.
    enough = max((at + 1 for at, value in enumerate(defaults) if value is _MISSING), default=0)
    most = len(fields)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if kwargs or not enough <= len(args) <= most:
            args = _given(self, fields, args, kwargs)
        elif len(args) < most:
            args += defaults[len(args) :]
        _consume(map(_set, itertools.repeat(self), names, args), 0)
        if post:
            self.__post_init__()

    return __init__


def _given(
    made: object,
    fields: tuple[dataclasses.Field[Any], ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, ...]:
    """The fields' values in order, from arguments and defaults. Raises TypeError."""
    name = f"{type(made).__name__}.__init__()"
    if len(args) > len(fields):
        raise TypeError(f"{name} takes {len(fields)} arguments but {len(args)} were given")
    values = list(args)
    for field in fields[: len(args)]:
        if field.name in kwargs:
            raise TypeError(f"{name} got multiple values for argument {field.name!r}")
    for field in fields[len(args) :]:
        if field.name in kwargs:
            values.append(kwargs.pop(field.name))
        elif field.default is not _MISSING:
            values.append(field.default)
        elif field.default_factory is not _MISSING:
            values.append(field.default_factory())
        else:
            raise TypeError(f"{name} missing the argument {field.name!r}")
    if kwargs:
        raise TypeError(f"{name} got an unexpected keyword argument {next(iter(kwargs))!r}")
    return tuple(values)


def _repr(names: tuple[str, ...]) -> Callable[[Any], str]:
    def __repr__(self: Any) -> str:
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({inside})"

    return __repr__


def _comparison(names: tuple[str, ...]) -> dict[str, Any]:
    values: Callable[[Any], tuple[Any, ...]]
    if len(names) > 1:
        values = operator.attrgetter(*names)
    else:

        def values(made: Any) -> tuple[Any, ...]:
            return tuple(getattr(made, name) for name in names)

    def __eq__(self: Any, other: object) -> Any:
        if other is self:
            return True
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _barriers(cls: Any, names: frozenset[str]) -> dict[str, Any]:
    """What refuses to change an instance, as the original does: for subclasses only the fields."""

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}
