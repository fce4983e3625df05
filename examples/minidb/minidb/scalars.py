"""The scalar functions, by their names in SQL (https://sqlite.org/lang_corefunc.html).

Each takes values and returns one. What is given too few or too many arguments is refused before
it runs; a function that is not in the table is unknown to minidb.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from minidb.collation import Fold, lower_ascii, order
from minidb.errors import OperationalError
from minidb.patterns import glob, like
from minidb.values import (
    SMALLEST,
    Value,
    kind,
    looks_numeric,
    to_integer,
    to_real,
    to_text,
)

_UPPER = {lower: lower - 32 for lower in range(ord("a"), ord("z") + 1)}


@dataclass(frozen=True)
class Scalar:
    """One function: how many arguments it takes, and whether it compares under a collation."""

    call: Callable[..., Value]
    least: int
    most: int | None
    collates: bool = False


def absolute(operand: Value) -> Value:
    """`abs(x)`; the smallest integer has no absolute value."""
    if operand is None:
        return None
    if operand == SMALLEST and isinstance(operand, int):
        raise OperationalError("integer overflow")
    return abs(operand) if isinstance(operand, int) else abs(to_real(operand))


def coalesce(*operands: Value) -> Value:
    """The first operand that is not NULL."""
    return next((operand for operand in operands if operand is not None), None)


def length(operand: Value) -> Value:
    """Characters of text up to a NUL, bytes of a blob, characters of a number's text."""
    if operand is None:
        return None
    if isinstance(operand, bytes):
        return len(operand)
    return len(to_text(operand).partition("\0")[0])


def lower(operand: Value) -> Value:
    """The letters A to Z in lower case."""
    return None if operand is None else lower_ascii(to_text(operand))


def upper(operand: Value) -> Value:
    """The letters a to z in upper case."""
    return None if operand is None else to_text(operand).translate(_UPPER)


def _as_int(value: int | float | str | bytes) -> int:
    """The low 32 bits, which is all that some functions look at."""
    return (to_integer(value) + (1 << 31)) % (1 << 32) - (1 << 31)


def substring(operand: Value, start: Value, count: Value = 1 << 30) -> Value:
    """`substr(x, y[, z])`: positions begin at 1, negative ones count from the end, a negative
    count takes what stands before; position 0 is one before the first.
    """
    if operand is None or start is None or count is None:
        return None
    text = operand if isinstance(operand, bytes) else to_text(operand)
    begin, size = _as_int(start), abs(_as_int(count))
    if begin < 0:
        begin += len(text)
        size = max(0, size + min(begin, 0))
        begin = max(begin, 0)
    elif begin > 0:
        begin -= 1
    elif size > 0:
        size -= 1
    if _as_int(count) < 0:
        begin -= size
        size += min(begin, 0)
        begin = max(begin, 0)
    return text[begin : begin + max(size, 0)]


def replace(operand: Value, pattern: Value, by: Value) -> Value:
    """Every occurrence of the pattern replaced; an empty pattern replaces nothing."""
    if operand is None or pattern is None:
        return None
    sought = to_text(pattern)
    if not sought:
        return to_text(operand)
    return None if by is None else to_text(operand).replace(sought, to_text(by))


def position(operand: Value, sought: Value) -> Value:
    """`instr(x, y)`: where y first stands in x, from 1; 0 if nowhere."""
    if operand is None or sought is None:
        return None
    if isinstance(operand, bytes) and isinstance(sought, bytes):
        return operand.find(sought) + 1
    return to_text(operand).find(to_text(sought)) + 1


def _trimmed(name: str) -> Callable[..., Value]:
    def trim(operand: Value, letters: Value = " ") -> Value:
        if operand is None or letters is None:
            return None
        strip = {"trim": str.strip, "ltrim": str.lstrip, "rtrim": str.rstrip}[name]
        chosen = to_text(letters)
        return strip(to_text(operand), chosen) if chosen else to_text(operand)

    return trim


def rounded(operand: Value, digits: Value = 0) -> Value:
    """`round(x, y)`: half away from zero, forgiving the last bits of x; always REAL."""
    if operand is None or digits is None:
        return None
    number, places = to_real(operand), max(0, min(30, to_integer(digits)))
    if not -4503599627370496.0 <= number <= 4503599627370496.0:
        return number
    if places == 0:
        return float(int(number + (-0.5 if number < 0 else 0.5)))
    size = Fraction(abs(number))
    near = size + Fraction(1, 2 * 10**places)
    if places + _binary_exponent(size) // 3 < 15:
        near += size * Fraction(3, 10**16)
    result = float(_first_digits(near, places))
    return -result if number < 0 else result


def _binary_exponent(size: Fraction) -> int:
    """The exponent e with 2**e <= size < 2**(e + 1)."""
    if not size:
        return -1023
    guess = size.numerator.bit_length() - size.denominator.bit_length()
    return guess if Fraction(2) ** guess <= size else guess - 1


def _first_digits(size: Fraction, places: int) -> Fraction:
    """The number cut after so many decimal places, and after 16 digits that are not leading 0."""
    whole = int(size)
    places = min(places, 16 - len(str(whole))) if whole else places
    return Fraction(int(size * 10**places), 10**places)


def sign(operand: Value) -> Value:
    """-1, 0 or 1; NULL for what is no number."""
    number = looks_numeric(operand) if isinstance(operand, str) else operand
    if number is None or isinstance(number, bytes | str):
        return None
    return (number > 0) - (number < 0)


def hexadecimal(operand: Value) -> Value:
    """The bytes of the value, two upper-case digits each; NULL has none."""
    if operand is None:
        return ""
    raw = operand if isinstance(operand, bytes) else to_text(operand).encode()
    return raw.hex().upper()


def quote(operand: Value) -> Value:
    """The value as an SQL literal."""
    if operand is None:
        return "NULL"
    if isinstance(operand, bytes):
        return f"X'{operand.hex().upper()}'"
    return "'" + operand.replace("'", "''") + "'" if isinstance(operand, str) else _literal(operand)


def _literal(number: int | float) -> str:
    text = to_text(number)
    if isinstance(number, int) or text in ("Inf", "-Inf"):
        return text if isinstance(number, int) else text.replace("Inf", "9.0e+999")
    if float(text) == number:
        return text
    digits, exponent, power = format(number, ".20e").partition("e")
    return digits + exponent + power


def letter_code(operand: Value) -> Value:
    """`unicode(x)`: the code of the first character."""
    text = "" if operand is None else to_text(operand)
    return ord(text[0]) if text and text[0] != "\0" else None


def letters(*codes: Value) -> Value:
    """`char(x, …)`: the characters of these codes."""
    numbers = [0 if code is None else to_integer(code) for code in codes]
    return "".join(chr(n) if 0 <= n <= 0x10FFFF else "\ufffd" for n in numbers)


def matches_like(pattern: Value, text: Value, *escape: Value) -> Value:
    """`like(pattern, text[, escape])`, which is `text LIKE pattern ESCAPE escape`."""
    if pattern is None or text is None or None in escape:
        return None
    mark = to_text(escape[0]) if escape and escape[0] is not None else None
    return int(bool(like(to_text(pattern), mark).fullmatch(lower_ascii(to_text(text)))))


def matches_glob(pattern: Value, text: Value) -> Value:
    """`glob(pattern, text)`, which is `text GLOB pattern`."""
    if pattern is None or text is None:
        return None
    return int(bool(glob(to_text(pattern)).fullmatch(to_text(text))))


def null_if_equal(fold: Fold, left: Value, right: Value) -> Value:
    """`nullif(x, y)`: NULL where they are equal, else x."""
    if left is None or right is None:
        return left
    return None if order(left, right, fold) == 0 else left


def _extreme(direction: int) -> Callable[..., Value]:
    def extreme(fold: Fold, *operands: Value) -> Value:
        best = operands[0]
        for operand in operands:
            if best is None or operand is None:
                return None
            if direction * order(operand, best, fold) > 0:
                best = operand
        return best

    return extreme


SCALARS = {
    "abs": Scalar(absolute, 1, 1),
    "char": Scalar(letters, 0, None),
    "coalesce": Scalar(coalesce, 2, None),
    "glob": Scalar(matches_glob, 2, 2),
    "hex": Scalar(hexadecimal, 1, 1),
    "ifnull": Scalar(coalesce, 2, 2),
    "instr": Scalar(position, 2, 2),
    "length": Scalar(length, 1, 1),
    "like": Scalar(matches_like, 2, 3),
    "lower": Scalar(lower, 1, 1),
    "ltrim": Scalar(_trimmed("ltrim"), 1, 2),
    "max": Scalar(_extreme(1), 2, None, collates=True),
    "min": Scalar(_extreme(-1), 2, None, collates=True),
    "nullif": Scalar(null_if_equal, 2, 2, collates=True),
    "quote": Scalar(quote, 1, 1),
    "replace": Scalar(replace, 3, 3),
    "round": Scalar(rounded, 1, 2),
    "rtrim": Scalar(_trimmed("rtrim"), 1, 2),
    "sign": Scalar(sign, 1, 1),
    "substr": Scalar(substring, 2, 3),
    "substring": Scalar(substring, 2, 3),
    "trim": Scalar(_trimmed("trim"), 1, 2),
    "typeof": Scalar(kind, 1, 1),
    "unicode": Scalar(letter_code, 1, 1),
    "upper": Scalar(upper, 1, 1),
}
