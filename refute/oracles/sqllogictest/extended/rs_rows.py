"""Whether a result is what a query of sqllogictest-rs expects.

Its runner compares lines: the texts that a driver makes of the values of a row, with a space
between them, all white space made one space. Texts differ from driver to driver where the values
do not (`t`, `true`, `1`; `1`, `1.0`; `1e20`), so a file would only fit the engine it was written
with. Here a boolean is whichever of those, and a real number is any text of the same number;
everything else is compared letter by letter. What is sorted or hashed is so in each of the usual
notations, one after the other, until one fits; in one notation no two values have the same text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from refute.oracles.sqllogictest.expect import Mismatch
from refute.oracles.sqllogictest.extended.match import kind_of, said, shown
from refute.oracles.sqllogictest.extended.program import Query, Returns
from refute.oracles.sqllogictest.extended.rs_text import (
    BOOLEAN_TYPES,
    TRUTHS,
    Kinds,
    equal,
    folded,
    hashed,
    kinds_of,
    kinds_of_rows,
    rounded_number,
    type_of,
    words,
    written,
)

IGNORED = "<slt:ignore>"
SHOWN = 6  # lines of a result that are shown, from the first difference on


class Modes(NamedTuple):
    """How results are compared: sort, by value or by row, whether types are checked.

    as_datafusion: whether numbers are rounded to 12 digits after the point, and the lines of a plan
    are rows of their own with numbers before them, as in DataFusion's own runner. spelled: whether
    the engine writes `true` where others write `t`; that only matters for what is shown.
    """

    sort: str = "nosort"
    by_value: bool = False
    strict: bool = False
    as_datafusion: bool = False
    spelled: bool = False


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
    kinds = kinds_of(query, answer)
    sort = query.sort or modes.sort
    first: Result | None = None
    own = kinds_of_rows(answer, kinds)
    for rows in written(answer[2], kinds, modes.spelled):
        result = _laid_out(rows, own, sort, modes.by_value)
        result = _expanded(result) if modes.as_datafusion else result
        if _fits(wanted, result, modes.as_datafusion):
            return None
        first = first or result
    assert first is not None  # there is always one notation
    return _difference(wanted, first, modes.as_datafusion)


def lines_of(query: Query, answer: Sequence[Any], modes: Modes) -> list[str]:
    """The lines that a file would have for this result, in the first notation."""
    kinds = kinds_of(query, answer)
    rows = next(iter(written(answer[2], kinds, modes.spelled)))
    own = kinds_of_rows(answer, kinds)
    result = _laid_out(rows, own, query.sort or modes.sort, modes.by_value)
    result = _expanded(result) if modes.as_datafusion else result
    return [" ".join(line) for line in result.lines]


class Result(NamedTuple):
    """Texts of values, line by line, and the kind of each."""

    lines: list[Sequence[str]]
    kinds: list[Kinds]


def _laid_out(rows: list[list[str]], kinds: Sequence[Kinds], sort: str, by_value: bool) -> Result:
    """The texts, sorted, as the lines that the file has. kinds: of each row."""
    pairs = list(zip(rows, kinds, strict=True))
    if sort == "rowsort":
        pairs.sort(key=lambda pair: pair[0])
    if sort != "valuesort" and not by_value:
        return Result([row for row, _ in pairs], [own for _, own in pairs])
    values = [(value, kind) for row, own in pairs for value, kind in zip(row, own, strict=True)]
    if sort == "valuesort":
        values.sort(key=lambda pair: pair[0])
    return Result([(value,) for value, _ in values], [(kind,) for _, kind in values])


def _fits(wanted: Sequence[str], result: Result, as_datafusion: bool) -> bool:
    """Whether a result is what the lines say."""
    if any(IGNORED in line for line in wanted):
        return _fits_around(wanted, result)
    if _differs_at(wanted, result, as_datafusion) is None:
        return True
    if len(wanted) == 1 and " values hashing to " in wanted[0]:
        return wanted[0].strip() == _hashed(result)
    return [folded(line) for line in wanted] == _broken(result)


def _expanded(result: Result) -> Result:
    """The lines of a last value, as of a plan, as lines of their own: `01)`, `-` for a space."""
    lines: list[Sequence[str]] = []
    kinds: list[Kinds] = []
    for line, own in zip(result.lines, result.kinds, strict=True):
        parts = line[-1].rstrip("\n").split("\n") if line else []
        lines.append(line if len(parts) < 2 else line[:-1])
        kinds.append(own[: len(lines[-1])])
        for number, part in enumerate(parts if len(parts) > 1 else (), 1):
            bare = part.lstrip()
            lines.append((f"{number:02}){'-' * (len(part) - len(bare))}{bare}",))
            kinds.append(("text",))
    return Result(lines, kinds)


def _differs_at(wanted: Sequence[str], result: Result, rounded: bool) -> int | None:
    """The first line that is not the expected one; None when all are."""
    lines = zip_longest(wanted, result.lines)
    for at, (expected, line) in enumerate(lines):
        if expected is None or line is None:
            return at
        if folded(expected) != folded(" ".join(line)) and not _same(
            words(expected), line, result.kinds[at], rounded
        ):
            return at
    return None


def _same(expected: list[str], values: Sequence[str], kinds: Kinds, rounded: bool) -> bool:
    """Whether the words of a line are the values, each as its kind has it."""
    at = 0
    for value, kind in zip(values, kinds, strict=True):
        own = words(value)
        given = expected[at : at + len(own)]
        at += len(own)
        if given != own and not (
            len(own) == len(given) == 1 and equal(given[0], own[0], kind, rounded)
        ):
            return False
    return at == len(expected)


def _fits_around(wanted: Sequence[str], result: Result) -> bool:
    """Whether the result is the expected text, but for what stands where IGNORED does.

    Unlike in sqllogictest-rs, what stands before the first mark must begin the result, and what
    stands behind the last one must end it.
    """
    parts = "\n".join(folded(line) for line in wanted).split(IGNORED)
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


def _hashed(result: Result) -> str:
    """The result as a file has it that hashes it."""
    return hashed([value for line in result.lines for value in line])


def _broken(result: Result) -> list[str]:
    """The lines, with those of a value of several lines as lines of their own."""
    return [folded(part) for line in result.lines for part in " ".join(line).split("\n")]


def _difference(wanted: Sequence[str], result: Result, rounded: bool) -> Mismatch:
    """Both from the first line that differs on."""
    got = [folded(" ".join(line)) for line in result.lines]
    at = _differs_at(wanted, result, rounded) or 0
    if len(wanted) == 1 and " values hashing to " in wanted[0]:
        return Mismatch(wanted[0].strip(), f"{_hashed(result)} ({_listed(got, 0)})", "values")
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
        wrong = next((v for v in values if not _is_a(letter, v, type_of(answer, at))), None)
        if wrong is not None:
            got = f"{shown(repr(wrong))} in column {at + 1}, {names[at]}"
            return Mismatch(f"values of type {letter}", got, "columns")
    return None


def _is_a(letter: str, value: Any, told: str) -> bool:
    """Whether a value can be one of a column of this letter. told: the engine's name of its type"""
    if letter == "B":
        return told in BOOLEAN_TYPES if told else value in (0, 1) or str(value).lower() in TRUTHS
    if letter == "I":
        return (type(value) is int and told not in BOOLEAN_TYPES) or _whole(value)
    if letter == "R":
        return type(value) is not bytes and rounded_number(str(value)) is not None
    if letter == "T":
        return type(value) is str or (bool(told) and type(value) is not float)
    return True


def _whole(value: Any) -> bool:
    """Whether a text is a whole number, as of one that is too large for 64 bits."""
    return type(value) is str and value.removeprefix("-").isdecimal()


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
