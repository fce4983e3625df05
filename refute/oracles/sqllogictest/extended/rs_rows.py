"""Whether a result is what a query of sqllogictest-rs expects.

Its runner compares lines: the texts that a driver makes of the values of a row, with a space
between them, all white space made one space. Texts differ from driver to driver where the values
do not (`t`, `true`, `1`; `1`, `1.0`; `1e20`), so a file would only fit the engine it was written
with. Here a boolean is whichever of those, and a real number is any text of the same number;
everything else is compared letter by letter. What is sorted or hashed is so in each of the usual
notations, one after the other, until one fits; in one notation no two values have the same text.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from itertools import product, zip_longest
from typing import Any, NamedTuple

from refute.oracles.sqllogictest.expect import Mismatch
from refute.oracles.sqllogictest.extended.match import kind_of, said, shown
from refute.oracles.sqllogictest.extended.program import Place, Query, Returns
from refute.oracles.sqllogictest.render import digest

IGNORED = "<slt:ignore>"
SHOWN = 6  # lines of a result that are shown, from the first difference on
_SPACE = " \t\n\f\r"

TRUTHS = {"t": "t", "true": "t", "1": "t", "f": "f", "false": "f", "0": "f"}
_BOOLEANS = (("t", "f"), ("true", "false"), ("1", "0"))
_BOOLEAN_TYPES = frozenset(("bool", "boolean"))
_DOUBLE_TYPES = frozenset(("double", "float8", "float64", "double precision"))
_SINGLE_TYPES = frozenset(("real", "float4", "float32", "float", "halffloat", "float16"))
_DIGITS = 12  # after the point, as DataFusion's own runner rounds

Kinds = Sequence[str]
"""Of each column: "boolean", "real", "single" (a real of 32 bits), "number" or "text".

A "number" is compared letter by letter, like text, unless numbers are rounded.
"""


class Modes(NamedTuple):
    """How results are compared: sort, by value or by row, whether types are checked.

    rounded: whether numbers are rounded to 12 digits after the point, as DataFusion's runner does.
    """

    sort: str = "nosort"
    by_value: bool = False
    strict: bool = False
    rounded: bool = False


def judge_query(query: Query, answer: Sequence[Any], modes: Modes) -> Mismatch | None:
    """None when the answer is the result that the query expects."""
    assert isinstance(query.expects, Returns)
    wanted = query.expects.lines or ()
    if answer[0] == "done":
        return Mismatch(_listed(wanted, 0), said(answer), "no rows") if wanted else None
    if answer[0] != "rows":
        return Mismatch(_listed(wanted, 0), said(answer), kind_of(answer))
    mismatch = _judge_columns(query, answer, modes.strict)
    if mismatch is not None:
        return mismatch
    kinds = _kinds(query, answer)
    sort = query.sort or modes.sort
    results = [_laid_out(rows, kinds, sort, modes.by_value) for rows in _written(answer[2], kinds)]
    if any(_fits(wanted, result, modes.rounded) for result in results):
        return None
    return _difference(wanted, results[0], modes.rounded)


def texts_of(answer: Sequence[Any]) -> list[list[str]]:
    """The rows of an answer as texts, in the first of the notations."""
    kinds = _kinds(Query(Place("", 0)), answer)
    return next(_written(answer[2], kinds))


class Result(NamedTuple):
    """Texts of values, line by line, and the kind of each."""

    lines: list[Sequence[str]]
    kinds: list[Kinds]


def _written(rows: Sequence[Sequence[Any]], kinds: Kinds) -> Iterator[list[list[str]]]:
    """The rows as texts, in one notation after the other."""
    truths: Sequence[tuple[str, str]] = _BOOLEANS if "boolean" in kinds else _BOOLEANS[:1]
    has_reals = any(type(value) is float for row in rows for value in row)
    for truth, real in product(truths, _REALS if has_reals else _REALS[:1]):
        yield [
            [_text(value, kind, truth, real) for value, kind in zip(row, kinds, strict=True)]
            for row in rows
        ]


def _laid_out(rows: list[list[str]], kinds: Kinds, sort: str, by_value: bool) -> Result:
    """The texts, sorted, as the lines that the file has."""
    if sort == "rowsort":
        rows.sort()
    if sort != "valuesort" and not by_value:
        return Result(list(rows), [kinds] * len(rows))
    values = [(value, kind) for row in rows for value, kind in zip(row, kinds, strict=True)]
    if sort == "valuesort":
        values.sort(key=lambda pair: pair[0])
    return Result([(value,) for value, _ in values], [(kind,) for _, kind in values])


def _fits(wanted: Sequence[str], result: Result, rounded: bool) -> bool:
    """Whether a result is what the lines say."""
    if any(IGNORED in line for line in wanted):
        return _fits_around(wanted, result)
    if _differs_at(wanted, result, rounded) is None:
        return True
    if len(wanted) == 1 and " values hashing to " in wanted[0]:
        values = [value for line in result.lines for value in line]
        return wanted[0].strip() == f"{len(values)} values hashing to {digest(_joined(values))}"
    return [_folded(line) for line in wanted] == _broken(result)


def _differs_at(wanted: Sequence[str], result: Result, rounded: bool) -> int | None:
    """The first line that is not the expected one; None when all are."""
    lines = zip_longest(wanted, result.lines)
    for at, (expected, line) in enumerate(lines):
        if expected is None or line is None:
            return at
        if _folded(expected) != _folded(" ".join(line)) and not _same(
            _words(expected), line, result.kinds[at], rounded
        ):
            return at
    return None


def _same(expected: list[str], values: Sequence[str], kinds: Kinds, rounded: bool) -> bool:
    """Whether the words of a line are the values, each as its kind has it."""
    at = 0
    for value, kind in zip(values, kinds, strict=True):
        words = _words(value)
        given = expected[at : at + len(words)]
        at += len(words)
        if given != words and not (
            len(words) == len(given) == 1 and _equal(given[0], words[0], kind, rounded)
        ):
            return False
    return at == len(expected)


def _equal(expected: str, got: str, kind: str, rounded: bool) -> bool:
    """Whether two words are one value of this kind."""
    if kind == "boolean":
        truth = TRUTHS.get(expected.lower())
        return truth is not None and truth == TRUTHS.get(got.lower())
    if kind == "text":
        return False
    if rounded:
        return (number := _rounded(got)) is not None and number == _rounded(expected)
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


def _rounded(text: str) -> Decimal | None:
    try:
        number = Decimal("" if "_" in text else text)
        context = Context(prec=400, rounding=ROUND_HALF_EVEN)
        whole = number.quantize(Decimal(1).scaleb(-_DIGITS), context=context)
    except InvalidOperation:
        return None
    return whole.normalize(context)


def _fits_around(wanted: Sequence[str], result: Result) -> bool:
    """Whether the result is the expected text, but for what stands where IGNORED does.

    Unlike in sqllogictest-rs, what stands before the first mark must begin the result, and what
    stands behind the last one must end it.
    """
    parts = "\n".join(_folded(line) for line in wanted).split(IGNORED)
    text = "\n".join(_broken(result))
    if not text.startswith(parts[0]):
        return False
    at = len(parts[0])
    for part in parts[1:-1]:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(text) - at >= len(parts[-1]) and text.endswith(parts[-1])


def _broken(result: Result) -> list[str]:
    """The lines, with those of a value of several lines as lines of their own."""
    return [_folded(part) for line in result.lines for part in " ".join(line).split("\n")]


def _difference(wanted: Sequence[str], result: Result, rounded: bool) -> Mismatch:
    """Both from the first line that differs on."""
    got = [_folded(" ".join(line)) for line in result.lines]
    at = _differs_at(wanted, result, rounded) or 0
    if len(wanted) == 1 and " values hashing to " in wanted[0]:
        values = [value for line in result.lines for value in line]
        hashed = f"{len(values)} values hashing to {digest(_joined(values))}"
        return Mismatch(wanted[0].strip(), f"{hashed} ({_listed(got, 0)})", "values")
    return Mismatch(_listed(wanted, at), _listed(got, at), "values")


def _judge_columns(query: Query, answer: Sequence[Any], strict: bool) -> Mismatch | None:
    """Names of columns where the file has some; number and types if they are to be checked."""
    names = [str(name[0]) if type(name) is tuple else str(name) for name in answer[1]]
    if query.names:
        same = len(names) == len(query.names) and all(
            expected in ("?", got) or expected.lower() == got.lower()
            for expected, got in zip(query.names, names, strict=True)
        )
        if not same:
            return Mismatch(_columns(query.names), _columns(names), "columns")
    if not strict or not query.types:
        return None
    if len(names) != len(query.types):
        wanted = f"{len(query.types)} columns, {query.types}"
        return Mismatch(wanted, f"{len(names)}: {_columns(names)}", "columns")
    for at, letter in enumerate(query.types):
        values = [row[at] for row in answer[2] if row[at] is not None]
        wrong = next((v for v in values if not _is_a(letter, v, _type_of(answer, at))), None)
        if wrong is not None:
            got = f"{shown(repr(wrong))} in column {at + 1}, {names[at]}"
            return Mismatch(f"values of type {letter}", got, "columns")
    return None


def _is_a(letter: str, value: Any, told: str) -> bool:
    """Whether a value can be one of a column of this letter. told: the engine's name of its type"""
    if letter == "B":
        return told in _BOOLEAN_TYPES if told else value in (0, 1) or str(value).lower() in TRUTHS
    if letter == "I":
        return (type(value) is int and told not in _BOOLEAN_TYPES) or _whole(value)
    if letter == "R":
        return type(value) is not bytes and _rounded(str(value)) is not None
    if letter == "T":
        return type(value) is str or (bool(told) and type(value) is not float)
    return True


def _whole(value: Any) -> bool:
    """Whether a text is a whole number, as of one that is too large for 64 bits."""
    return type(value) is str and value.removeprefix("-").isdecimal()


def _kinds(query: Query, answer: Sequence[Any]) -> list[str]:
    """The kind of each column, by what the engine says of it, the file, and its values."""
    width = len(answer[1])
    letters = query.types if len(query.types) == width else "?" * width
    found = []
    for at, letter in enumerate(letters):
        told = _type_of(answer, at)
        if told in _BOOLEAN_TYPES or letter == "B":
            found.append("boolean")
        elif told in _SINGLE_TYPES:
            found.append("single")
        elif told in _DOUBLE_TYPES or any(type(row[at]) is float for row in answer[2]):
            found.append("real")
        else:
            found.append("number" if told.startswith("decimal") or letter == "R" else "text")
    return found


def _type_of(answer: Sequence[Any], at: int) -> str:
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
    text = repr(value).removesuffix(".0")
    return text if "e" in text or len(text.lstrip("-")) <= 15 or "." in text else f"{value:.16e}"


_REALS: tuple[Callable[[float], str], ...] = (_plain, repr, _short)


def _text(value: Any, kind: str, truth: tuple[str, str], real: Callable[[float], str]) -> str:
    """A value as a driver writes it."""
    if value is None:
        return "NULL"
    if kind == "boolean" and (known := TRUTHS.get(str(value).lower())):
        return truth[0] if known == "t" else truth[1]
    if type(value) is float:
        return real(_shortest_single(value) if kind == "single" else value)
    if type(value) is bytes:
        return _of_bytes(value)
    return str(value) or "(empty)"


def _of_bytes(value: bytes) -> str:
    """Bytes as drivers write them: as text where they are printable ASCII, else in hexadecimal."""
    if not value:
        return "(empty)"
    if all(0x20 <= byte <= 0x7E and byte != 0x5C for byte in value):
        return value.decode("ascii")
    return f"\\x{value.hex()}"


def _words(text: str) -> list[str]:
    if text.isascii() and text.isprintable():
        return text.split()
    for space in _SPACE[1:]:
        text = text.replace(space, " ")
    return [word for word in text.split(" ") if word]


def _folded(text: str) -> str:
    """The text with all white space made one space."""
    return " ".join(_words(text))


def _joined(values: Sequence[str]) -> str:
    return "\n".join(values)


def _columns(names: Sequence[str]) -> str:
    return f"columns {', '.join(names)}"


def _listed(lines: Sequence[str], at: int) -> str:
    """The lines from `at` on, shortened, with their number."""
    number = f"{len(lines)} line{'' if len(lines) == 1 else 's'}"
    if not lines:
        return "no rows"
    if at >= len(lines):
        return f"{number} and no more"
    some = " | ".join(shown(line) for line in lines[at : at + SHOWN])
    return f"{number}: {'… ' if at else ''}{some}{' …' if len(lines) > at + SHOWN else ''}"
