"""SQLite's five storage classes as Python values, and how one becomes another.

NULL is None, INTEGER an int of 64 bits, REAL a float that is never NaN, TEXT a str, BLOB bytes.
Text becomes a number by its longest numeric prefix (https://sqlite.org/lang_expr.html#castexpr);
a number becomes text with 15 significant digits.
"""

from __future__ import annotations

import re

from minidb.errors import OperationalError

Value = int | float | str | bytes | None

SMALLEST, LARGEST = -(1 << 63), (1 << 63) - 1
_SPACE = " \t\n\v\f\r"
_NUMBER = re.compile(
    rf"[{_SPACE}]*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)([{_SPACE}]*)"
)
_INTEGER = re.compile(rf"[{_SPACE}]*([+-]?[0-9]+)")


def fits(number: int) -> bool:
    """Whether the integer has a place in 64 bits."""
    return SMALLEST <= number <= LARGEST


def _number(digits: str) -> int | float:
    if digits.lstrip("+-").isdigit() and fits(whole := int(digits)):
        return whole
    return float(digits)


def characters(value: str | bytes) -> str:
    """The text of a value; bytes that are no UTF-8 raise OperationalError."""
    if isinstance(value, str):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise OperationalError("could not decode a BLOB to UTF-8 text") from None


def looks_numeric(text: str) -> int | float | None:
    """The number that the whole text is, spaces around it aside; None where it is none."""
    found = _NUMBER.match(text)
    return _number(found[1]) if found and found.end() == len(text) else None


def numeric(value: int | float | str | bytes) -> int | float:
    """The operand of an arithmetic operator: of text, its numeric prefix or 0."""
    if isinstance(value, int | float):
        return value
    found = _NUMBER.match(value if isinstance(value, str) else value.decode("latin-1"))
    return _number(found[1]) if found else 0


def to_real(value: int | float | str | bytes) -> float:
    """The value as REAL."""
    return float(numeric(value))


def to_integer(value: int | float | str | bytes) -> int:
    """The value as INTEGER: reals lose their fraction, what is too large becomes the largest."""
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if value <= SMALLEST or value >= LARGEST:
            return SMALLEST if value < 0 else LARGEST
        return int(value)
    found = _INTEGER.match(value if isinstance(value, str) else value.decode("latin-1"))
    return max(SMALLEST, min(LARGEST, int(found[1]))) if found else 0


def real_text(number: float) -> str:
    """A REAL as SQLite writes it: 15 significant digits, always with a point or as Inf."""
    if number in (float("inf"), float("-inf")):
        return "Inf" if number > 0 else "-Inf"
    digits, exponent, power = format(number + 0.0, ".15g").partition("e")
    return digits + ("" if "." in digits else ".0") + exponent + power


def to_text(value: int | float | str | bytes) -> str:
    """The value as TEXT."""
    if isinstance(value, float):
        return real_text(value)
    return str(value) if isinstance(value, int) else characters(value)


def truth(value: Value) -> bool | None:
    """What a condition takes the value for: NULL is unknown, a number is true unless zero."""
    if value is None:
        return None
    return (value if isinstance(value, int) else to_real(value)) != 0


def real(number: float) -> float | None:
    """The result of an operation on reals: there is no NaN in SQL, it is NULL."""
    return number if number == number else None


def kind(value: Value) -> str:
    """What `typeof` says."""
    if value is None:
        return "null"
    names = {int: "integer", float: "real", str: "text", bytes: "blob"}
    return names[type(value)]
