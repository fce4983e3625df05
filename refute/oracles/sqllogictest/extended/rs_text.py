"""Values as the drivers of sqllogictest-rs write them, and when two texts are one value.

Drivers differ: a boolean is `t`, `true` or `1`, a real number has an exponent or not, bytes are
text or hexadecimal. A notation is one way to write all values of a result; in one notation no two
values of a type have the same text.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from itertools import product
from typing import Any, NamedTuple

from refute.oracles.sqllogictest.extended.program import Place, Query

_SPACE = " \t\n\f\r"
TRUTHS = {"t": "t", "true": "t", "1": "t", "f": "f", "false": "f", "0": "f"}
_BOOLEANS = (("t", "f"), ("true", "false"), ("1", "0"))
BOOLEAN_TYPES = frozenset(("bool", "boolean"))
_DOUBLE_TYPES = frozenset(("double", "float8", "float64", "double precision"))
_SINGLE_TYPES = frozenset(("real", "float4", "float32", "float", "halffloat", "float16"))
_DIGITS = 12  # after the point, as DataFusion's own runner rounds

Kinds = Sequence[str]
"""Of each column: "boolean", "real", "single" (a real of 32 bits), "number" or "text".

A "number" is compared letter by letter, like text, unless numbers are rounded.
"""


def texts_of(answer: Sequence[Any]) -> list[list[str]]:
    """The rows of an answer as texts, in the first of the notations."""
    kinds = kinds_of(Query(Place("", 0)), answer)
    return next(written(answer[2], kinds))


def written(
    rows: Sequence[Sequence[Any]], kinds: Kinds, spelled: bool = False
) -> Iterator[list[list[str]]]:
    """The rows as texts, in one notation after the other; `true` before `t` if `spelled`."""
    truths: Sequence[tuple[str, str]] = _BOOLEANS if "boolean" in kinds else _BOOLEANS[:1]
    truths = sorted(truths, key=lambda pair: pair != ("true", "false")) if spelled else truths
    found = {type(value) for row in rows for value in row}
    reals = _REALS if float in found else _REALS[:1]
    blobs = _BLOBS if bytes in found else _BLOBS[:1]
    for notation in map(Notation._make, product(truths, reals, blobs)):
        yield [
            [_text(value, kind, notation) for value, kind in zip(row, kinds, strict=True)]
            for row in rows
        ]


def equal(expected: str, got: str, kind: str, rounded: bool) -> bool:
    """Whether two words are one value of this kind."""
    if kind == "boolean":
        truth = TRUTHS.get(expected.lower())
        return truth is not None and truth == TRUTHS.get(got.lower())
    if kind == "text":
        return False
    if rounded:
        number = rounded_number(got)
        return number is not None and number == rounded_number(expected)
    return kind != "number" and _same_real(expected, got, kind == "single")


def _same_real(expected: str, got: str, single: bool) -> bool:
    try:
        left, right = _number(expected), _number(got)
        if single:
            left, right = _to_single(left), _to_single(right)
    except (ValueError, OverflowError):
        return False
    return left == right or (left != left and right != right)


def _number(text: str) -> float:
    if "_" in text:  # which Python takes within digits
        raise ValueError(text)
    return float(text)


def _to_single(value: float) -> float:
    """The nearest number of 32 bits. Raises OverflowError."""
    nearest: float = struct.unpack("f", struct.pack("f", value))[0]
    return nearest


def _shortest_single(value: float) -> float:
    """The number with the fewest digits that is the same one in 32 bits."""
    for digits in range(6, 9):
        short = float(f"{value:.{digits}g}")
        if _to_single(short) == value:
            return short
    return value


def rounded_number(text: str) -> Decimal | None:
    """The number that the text is, with 12 digits after the point; None when it is none."""
    try:
        number = Decimal("" if "_" in text else text)
        context = Context(prec=400, rounding=ROUND_HALF_EVEN)
        whole = number.quantize(Decimal(1).scaleb(-_DIGITS), context=context)
    except InvalidOperation:
        return None
    return whole.normalize(context)


def kinds_of(query: Query, answer: Sequence[Any]) -> list[str]:
    """The kind of each column, by what the engine says of it, the file, and its values."""
    width = len(answer[1])
    letters = query.types if len(query.types) == width else "?" * width
    found = []
    for at, letter in enumerate(letters):
        told = type_of(answer, at)
        if told in BOOLEAN_TYPES or letter == "B":
            found.append("boolean")
        elif told in _SINGLE_TYPES:
            found.append("single")
        elif told in _DOUBLE_TYPES or any(type(row[at]) is float for row in answer[2]):
            found.append("real")
        else:
            found.append("number" if told.startswith("decimal") or letter == "R" else "text")
    return found


def kinds_of_rows(answer: Sequence[Any], kinds: Kinds) -> Sequence[Kinds]:
    """The kinds of each row: a text among real numbers, where types are the values', is a text."""
    mixed = {
        at
        for at, kind in enumerate(kinds)
        if kind == "real" and not type_of(answer, at) and any(type(r[at]) is str for r in answer[2])
    }
    if not mixed:
        return [kinds] * len(answer[2])
    return [
        ["text" if at in mixed and type(row[at]) is str else k for at, k in enumerate(kinds)]
        for row in answer[2]
    ]


def type_of(answer: Sequence[Any], at: int) -> str:
    """What the engine calls the type of a column, in lower case; empty when it does not say."""
    return str(answer[3][at]).lower() if len(answer) > 3 else ""


def _plain(value: float) -> str:
    """As Rust writes a number: never with an exponent, and without a point where it is whole."""
    if value != value or value in (float("inf"), float("-inf")):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    text = f"{Decimal(repr(value)):f}"
    return text.removesuffix(".0")


def _short(value: float) -> str:
    """As PostgreSQL writes a number."""
    if value != value or value in (float("inf"), float("-inf")):
        return _plain(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    power = len(digits) + exponent - 1
    if -4 <= power < 15:
        return _plain(value)
    first, *rest = map(str, digits)
    return f"{'-' * sign}{first}{'.' * bool(rest)}{''.join(rest)}e{power:+03d}"


_REALS: tuple[Callable[[float], str], ...] = (_plain, repr, _short)


def _as_words(value: bytes) -> str:
    """Bytes as text where they are printable ASCII, else in hexadecimal."""
    if all(0x20 <= byte <= 0x7E and byte != 0x5C for byte in value):
        return value.decode("ascii")
    return f"\\x{value.hex()}"


def _as_utf8(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return f"\\x{value.hex()}"


_BLOBS: tuple[Callable[[bytes], str], ...] = (
    *(_as_words, lambda value: f"\\x{value.hex()}"),
    *(bytes.hex, _as_utf8, lambda value: f"\\x{value.hex().upper()}"),
)


class Notation(NamedTuple):
    """How a driver writes booleans, real numbers and bytes."""

    truth: tuple[str, str]
    real: Callable[[float], str]
    blob: Callable[[bytes], str]


def _text(value: Any, kind: str, notation: Notation) -> str:
    """A value as a driver writes it."""
    if value is None:
        return "NULL"
    if kind == "boolean" and (known := TRUTHS.get(str(value).lower())):
        return notation.truth[known == "f"]
    if type(value) is float:
        return notation.real(_shortest_single(value) if kind == "single" else value)
    if type(value) is bytes:
        return notation.blob(value) or "(empty)"
    return str(value) or "(empty)"


def hashed(values: Sequence[str]) -> str:
    """The values as a file has them that hashes results; bytes that are no UTF-8 stay distinct."""
    whole = "".join(f"{value}\n" for value in values)
    try:
        data = whole.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that stand for no byte
        data = whole.encode("utf-8", "surrogatepass")
    digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
    return f"{len(values)} values hashing to {digest}"


def words(text: str) -> list[str]:
    """The text's words; what is not ASCII separates none."""
    if text.isascii() and text.isprintable():
        return text.split()
    for space in _SPACE[1:]:
        text = text.replace(space, " ")
    return [word for word in text.split(" ") if word]


def folded(text: str) -> str:
    """The text with all white space made one space."""
    return " ".join(words(text))
