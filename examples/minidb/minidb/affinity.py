"""Type affinity: what a column prefers to store, and what a comparison converts first.

The rules are those of https://sqlite.org/datatype3.html, sections 3 and 4. An expression without
an affinity has None; BLOB is the affinity of a column that was declared without a type.
"""

from __future__ import annotations

from enum import Enum

from minidb.values import (
    LARGEST,
    SMALLEST,
    Value,
    looks_numeric,
    numeric,
    to_integer,
    to_real,
    to_text,
)


class Affinity(Enum):
    """The five affinities of columns."""

    BLOB = "BLOB"
    TEXT = "TEXT"
    NUMERIC = "NUMERIC"
    INTEGER = "INTEGER"
    REAL = "REAL"


NUMBERS = frozenset({Affinity.NUMERIC, Affinity.INTEGER, Affinity.REAL})


def affinity_of_type(declared: str) -> Affinity:
    """The affinity of a column by the words of its declared type, in this order."""
    name = declared.upper()
    if "INT" in name:
        return Affinity.INTEGER
    if any(word in name for word in ("CHAR", "CLOB", "TEXT")):
        return Affinity.TEXT
    if "BLOB" in name or not name:
        return Affinity.BLOB
    if any(word in name for word in ("REAL", "FLOA", "DOUB")):
        return Affinity.REAL
    return Affinity.NUMERIC


def stored(value: Value, affinity: Affinity | None) -> Value:
    """The value as a column of this affinity keeps it; what cannot be converted stays as it is."""
    if value is None or isinstance(value, bytes) or affinity in (None, Affinity.BLOB):
        return value
    if affinity is Affinity.TEXT:
        return to_text(value)
    number = looks_numeric(value) if isinstance(value, str) else value
    if number is None:
        return value
    return float(number) if affinity is Affinity.REAL else _integer_if_same(number)


def _integer_if_same(number: int | float) -> int | float:
    if isinstance(number, float) and SMALLEST < number < LARGEST and int(number) == number:
        return int(number)
    return number


def compared_as(left: Affinity | None, right: Affinity | None) -> Affinity | None:
    """What both operands of a comparison are converted to: NUMERIC where either is a number,
    TEXT where one is text and the other has no affinity, otherwise nothing.
    """
    if left is not None and right is not None:
        return Affinity.NUMERIC if left in NUMBERS or right in NUMBERS else None
    only = left if left is not None else right
    if only in NUMBERS:
        return Affinity.NUMERIC
    return Affinity.TEXT if only is Affinity.TEXT else None


def converted(value: Value, affinity: Affinity | None) -> Value:
    """An operand of a comparison under the affinity that `compared_as` found."""
    if affinity is Affinity.NUMERIC and isinstance(value, str):
        number = looks_numeric(value)
        return value if number is None else number
    if affinity is Affinity.TEXT and isinstance(value, int | float):
        return to_text(value)
    return value


def cast(value: Value, affinity: Affinity) -> Value:
    """`CAST(value AS type)`: unlike storing, it converts whatever it gets."""
    if value is None:
        return None
    if affinity is Affinity.BLOB:
        return value if isinstance(value, bytes) else to_text(value).encode()
    if affinity is Affinity.TEXT:
        return to_text(value)
    if affinity is Affinity.INTEGER:
        return to_integer(value)
    if affinity is Affinity.REAL:
        return to_real(value)
    return _cast_to_number(value)


def _cast_to_number(value: int | float | str | bytes) -> int | float:
    if isinstance(value, int | float):
        return value
    number = numeric(value)
    if isinstance(number, float) and abs(number) < 1 << 51 and int(number) == number:
        return int(number)
    return number
