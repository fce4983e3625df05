"""Values as sqllogictest writes them, sorted and hashed; the C runner's rendering for SQLite.

The type is the file's, not the value's: an `I` column shows the low 32 bits of what SQLite makes of
the value as an integer (`sqlite3_column_int`), so 3.7 is 3 and 'abc' is 0; `R` shows three digits
after the point; `T` has `@` in place of each byte that is no printable ASCII.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

Value = None | int | float | str | bytes

_MOST_KNOWN = 20_000  # rendered numbers that are remembered
_TIE = "5" + "0" * 29
_LOW, _HIGH = -(2**63), 2**63 - 1
_INTEGER = re.compile(rb"[ \t\n\v\f\r]*([+-]?[0-9]+)")
_REAL = re.compile(rb"[ \t\n\v\f\r]*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")


class _Integers(dict[Value, str]):
    """Value → its text in an `I` column. Equal values of different types have the same text."""

    def __missing__(self, value: Value) -> str:
        text = self[value] = _integer(value)
        return text


class _Reals(dict[Value, str]):
    """Value → its text in an `R` column. Equal values of different types have the same text."""

    def __missing__(self, value: Value) -> str:
        text = self[value] = _real(value)
        return text


_integers, _reals = _Integers(), _Reals()


def joined(types: str, rows: Sequence[Sequence[Value]], sort: str) -> str:
    """The values of the rows as texts, row after row, sorted as the record says, one on each line.

    Every row has one value for each type. No text has a line end, and none has a character below
    it, so rows sort as lines of their texts as they would column by column.
    """
    if len(_integers) > _MOST_KNOWN or len(_reals) > _MOST_KNOWN:
        _integers.clear()
        _reals.clear()
    if types.count("I") == len(types):
        flat: Iterator[str] = map(_integers.__getitem__, chain.from_iterable(rows))
        if sort == "rowsort" and len(types) > 1:
            return "\n".join(sorted(map("\n".join, zip(*[flat] * len(types), strict=True))))
    else:
        columns = map(_column, types, zip(*rows, strict=True))
        by_row = zip(*columns, strict=True)
        if sort == "rowsort":
            return "\n".join(sorted(map("\n".join, by_row)))
        flat = chain.from_iterable(by_row)
    return "\n".join(flat if sort == "nosort" else sorted(flat))


def texts(types: str, rows: Sequence[Sequence[Value]], sort: str) -> list[str]:
    """As `joined`, as a list."""
    return joined(types, rows, sort).split("\n") if rows else []


def digest(text: str) -> str:
    """The MD5 of a result's lines, each with a line end; the empty text is the empty result."""
    whole = f"{text}\n" if text else ""
    return hashlib.md5(whole.encode(), usedforsecurity=False).hexdigest()


def _column(kind: str, values: Iterable[Value]) -> list[str]:
    if kind == "T":
        return [
            v if type(v) is str and v.isascii() and v.isprintable() and v else _words(v)
            for v in values
        ]
    known = _integers if kind == "I" else _reals
    return list(map(known.__getitem__, values))


def whole(digits: str | bytes) -> int:
    """The number of some digits with or without a sign; of more than 20, one beyond 64 bits.

    Python itself refuses texts of more than 4,300 digits, and an engine may answer with such.
    """
    text = digits if isinstance(digits, str) else digits.decode("ascii")
    number = int(text.lstrip("+-").lstrip("0")[:20] or "0")
    return -number if text.startswith("-") else number


def _integer(value: Value) -> str:
    """As `%d` shows the value's `sqlite3_column_int`."""
    if value is None:
        return "NULL"
    if type(value) is float:
        number = 0 if math.isnan(value) else int(max(_LOW, min(_HIGH, value)))
    elif type(value) is int:
        number = value
    else:
        match = _INTEGER.match(_bytes(value))
        number = whole(match[1]) if match else 0
    number = max(_LOW, min(_HIGH, number)) & 0xFFFFFFFF
    return str(number - 2**32 if number >= 2**31 else number)


def number_of(value: int | float | str | bytes) -> float:
    """The value's `sqlite3_column_double`."""
    if type(value) is float or type(value) is int:
        return float(value)
    match = _REAL.match(_bytes(value))
    return float(match[1]) if match else 0.0


def _real(value: Value) -> str:
    """As `%.3f` shows the value's `sqlite3_column_double`."""
    if value is None:
        return "NULL"
    number = number_of(value)
    if not math.isfinite(number):
        return _not_finite(number)
    if abs(number) >= 1e13:  # SQLite's printf stops at 16 significant digits
        number = _past_tie(number, f"{number:.45e}".partition("e")[0])
        digits, _, exponent = f"{number:.15e}".replace(".", "").partition("e")
        whole = int(exponent) + 1 + digits.startswith("-")
        return f"{digits[:whole]:0<{whole}}.{digits[whole : whole + 3]:0<3}"
    number = _past_tie(number, f"{number:.33f}")
    return f"{number + 0.0:.3f}"  # -0.0 has no sign there


def _past_tie(number: float, digits: str) -> float:
    """The number, or if it lies between two roundings the next one outwards, as SQLite rounds.

    digits: the number with 30 more digits than are shown.
    """
    return (
        math.nextafter(number, math.copysign(math.inf, number)) if digits.endswith(_TIE) else number
    )


def _words(value: Value) -> str:
    """The value's `sqlite3_column_text`, `@` for each byte that is no printable ASCII."""
    if value is None:
        return "NULL"
    if type(value) is float:
        return _shortest(value)
    if type(value) is int:
        return str(value)
    data = _bytes(value)
    end = data.find(b"\0")
    if end >= 0:
        data = data[:end]
    if not data:
        return "(empty)"
    return "".join([chr(byte) if 0x20 <= byte <= 0x7E else "@" for byte in data])


def _bytes(value: Value) -> bytes:
    if type(value) is bytes:
        return value
    try:
        return str(value).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that stand for no byte
        return str(value).encode("utf-8", "surrogatepass")


def _shortest(value: float) -> str:
    """SQLite's text of a real number, printf's `%!.15g`."""
    if not math.isfinite(value):
        return _not_finite(value)
    value = _past_tie(value, f"{value:.44e}".partition("e")[0])
    text = f"{value + 0.0:.15g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{e}{exponent}"


def _not_finite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Inf" if value > 0 else "-Inf"
