"""Values of drivers as plain ones: None, int, float, str, bytes. Nothing is rounded or cut.

| a driver's value | is |
|---|---|
| bool | 1 or 0 |
| int of more than 64 bits | its digits, a text |
| Decimal | its digits, as many as it has, never with an exponent; `NaN`, `Infinity`, `-Infinity` |
| date, time, datetime | ISO 8601 with a space before the time, and the offset where it has one |
| timedelta | `3 days 04:05:06.000007`; `-1 day 23:00:00` has a negative number of days only |
| UUID | its usual text |
| list, tuple | `[1, NULL, x]` |
| dict | `{a: 1, b: NULL}` |
| bytearray, memoryview | bytes |
| an array scalar (`item()`) | as what it holds |

A text stands for itself within lists and dicts, too. Where the driver has lost what the engine had,
nothing brings it back: engines that are known by name are asked for texts of their own instead.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import math
import struct
import uuid
from collections.abc import Callable
from typing import Any

SIMPLE = frozenset({type(None), int, float, str, bytes})
INTEGERS = range(-(2**63), 2**63)


class Unfit(Exception):
    """A value of a type that has no plain form."""


def plain(value: Any) -> Any:
    """The value as a plain one. Raises Unfit."""
    kind = type(value)
    if kind is int:
        if value in INTEGERS:
            return value
        return f"{decimal.Decimal(value):f}"  # which has no limit of digits, as `str` has
    if kind in SIMPLE:
        return value
    convert = _FORMS.get(kind)
    if convert is not None:
        return convert(value)
    if kind.__module__ == "numpy" and hasattr(value, "item"):
        item = value.item()
        if type(item) is not kind:
            return plain(item)
    raise Unfit(f"a value of type {kind.__module__}.{kind.__qualname__}")


def shortest(value: float | None, code: str) -> float | None:
    """The double with the fewest digits that is the same number in fewer bits, as engines show it.

    code: of `struct`, "f" for 32 bits and "e" for 16.
    """
    if value is None or not math.isfinite(value):
        return value
    for digits in range(3, 9):
        shown = float(f"{value:.{digits}g}")
        with contextlib.suppress(OverflowError):  # rounded beyond the largest one
            if struct.unpack(code, struct.pack(code, shown))[0] == value:
                return shown
    return float(f"{value:.9g}")


def is_panic(error: BaseException) -> bool:
    """Whether this is a panic of Rust code, as PyO3 raises it."""
    return type(error).__name__ == "PanicException"


def _decimal(value: decimal.Decimal) -> str:
    return f"{value:f}"


def _timedelta(value: datetime.timedelta) -> str:
    minutes, seconds = divmod(value.seconds, 60)
    part = f".{value.microseconds:06}" if value.microseconds else ""
    clock = f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}{part}"
    if not value.days:
        return clock
    days = f"{value.days} day{'' if abs(value.days) == 1 else 's'}"
    return f"{days} {clock}" if clock.strip("0:") else days


def _inner(value: Any) -> str:
    """A value as it stands within a list or dict."""
    made = plain(value)
    if made is None:
        return "NULL"
    return made.hex() if type(made) is bytes else str(made)


def _list(value: list[Any] | tuple[Any, ...]) -> str:
    return f"[{', '.join(map(_inner, value))}]"


def _dict(value: dict[Any, Any]) -> str:
    return f"{{{', '.join(f'{_inner(k)}: {_inner(v)}' for k, v in value.items())}}}"


_FORMS: dict[type, Callable[[Any], Any]] = {
    bool: int,
    decimal.Decimal: _decimal,
    datetime.date: str,
    datetime.time: str,
    datetime.datetime: str,
    datetime.timedelta: _timedelta,
    uuid.UUID: str,
    list: _list,
    tuple: _list,
    dict: _dict,
    bytearray: bytes,
    memoryview: bytes,
}
