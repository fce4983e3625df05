"""Results of files as plain JSON data, and back, strictly: what was kept, sent or merged.

A result that comes from a file or from another machine is judged by its form before it is
believed: every field is there, has its type, and no count is negative. The form is read off the
dataclasses themselves, so that a field that is added to a result is kept and sent without a word
here.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from pathlib import Path
from typing import Any, TypeVar

from refute.verifiers.sql.conform_file import FileResult

_T = TypeVar("_T")


def as_data(value: Any) -> Any:
    """A result, choice or part of one as JSON-able data. Raises TypeError for other things."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: as_data(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if type(value) in (list, tuple):
        return [as_data(item) for item in value]
    if type(value) is dict:
        return {str(key): as_data(item) for key, item in value.items()}
    if isinstance(value, Path):
        return str(value)
    if type(value) is frozenset:
        return sorted(as_data(item) for item in value)
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise TypeError(f"{type(value).__name__} is no data of a result")


def result_of(data: Any) -> FileResult:
    """The result that `as_data` made data of. Raises ValueError saying what is wrong with it."""
    result = made_of(FileResult, data)
    counts = (result.run, result.skipped, result.unchecked, result.not_run)
    if min(counts) < 0 or result.unchecked > result.run:
        raise ValueError(f"it counts {counts}")
    if len({failure.line for failure in result.failures}) > result.run + result.skipped:
        raise ValueError(f"it has {len(result.failures)} failures, more than records")
    return result


def made_of(kind: type[_T], data: Any, where: str = "it") -> _T:
    """An instance of a dataclass from data, each field checked. Raises ValueError."""
    if type(data) is not dict:
        raise ValueError(f"{where} is no object")
    hints = _hints(typing.cast(typing.Hashable, kind))
    if data.keys() != hints.keys():
        other = sorted(data.keys() ^ hints.keys())
        raise ValueError(f"{where} has other fields: {', '.join(other)[:200]}")
    made: _T = kind(**{name: _value(hints[name], data[name], name) for name in hints})
    return made


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {f.name: hints[f.name] for f in dataclasses.fields(kind) if f.init}


def _value(hint: Any, data: Any, where: str) -> Any:
    """The data as a value of the type. Raises ValueError."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return _one_of(arguments, data, where)
    if hint is Any or (hint in (str, int, bool, types.NoneType) and type(data) is hint):
        return data
    if hint is float and type(data) in (int, float) and math.isfinite(data):
        return float(data)
    if hint is Path and type(data) is str:
        return Path(data)
    if dataclasses.is_dataclass(hint):
        return made_of(typing.cast(type[Any], hint), data, where)
    if origin is dict and type(data) is dict:
        key, item = arguments
        return {_key(key, k, where): _value(item, v, where) for k, v in data.items()}
    if origin in (list, tuple, frozenset) and type(data) is list:
        return origin(_items(arguments, data, where))
    raise ValueError(f"{where} is {str(data)[:60]!r}")


def _one_of(hints: tuple[Any, ...], data: Any, where: str) -> Any:
    for hint in hints:
        try:
            return _value(hint, data, where)
        except ValueError:
            continue
    raise ValueError(f"{where} is {str(data)[:60]!r}")


def _key(hint: Any, key: str, where: str) -> Any:
    if hint is int and key.removeprefix("-").isdecimal():
        return int(key)
    return _value(hint, key, where)


def _items(hints: tuple[Any, ...], data: list[Any], where: str) -> list[Any]:
    if len(hints) == 1 or hints[1:] == (Ellipsis,):
        return [_value(hints[0], item, where) for item in data]
    if len(hints) != len(data):
        raise ValueError(f"{where} has {len(data)} items")
    return [_value(hint, item, where) for hint, item in zip(hints, data, strict=True)]
