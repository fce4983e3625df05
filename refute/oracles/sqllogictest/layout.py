"""Whether a file that SQLite's dialect could be is none, by how its results are laid out.

That dialect has one value on each line, and three digits behind the point of a real number. Other
runners' files have a row on each line, and numbers as the engine writes them. Both can be read
without an error, so it is the results that tell. The first result that only one of the two can
have decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from refute.oracles.sqllogictest.reader import QueryRecord, Record, refuse

OTHER_LAYOUT = "this result is none of SQLite's dialect"

_DOUBTFUL = re.compile(
    rb"\n----\r?\n(?:(?!\d+ values hashing)[^\n ]+[ \t]+[^\s]|-?\d+\.(?!\d{3}\r?\n))"
)
_HEADED = re.compile(
    rb"(?:#[^\n]*\n|\r?\n)*?(# name:) [^\n]+\n(?:#[^\n]*\n|\r?\n)*?# group: \[[^\n]+\]\r?\n"
)
_REAL = re.compile(r"-?\d+\.\d{3}|NULL|-?Inf|NaN")
_INTEGER = re.compile(r"-?\d+|NULL")


def may_be_other(data: bytes) -> bool:
    """Whether it is worth reading the file's results; costs next to nothing."""
    return _DOUBTFUL.search(data) is not None


def headed(data: bytes) -> int:
    """The line with the file's name in the header that DuckDB's files begin with, else 0."""
    match = _HEADED.match(data)
    return data.count(b"\n", 0, match.start(1)) + 1 if match else 0


def refuse_other(data: bytes, path: str, known: Iterable[tuple[Record, bool]]) -> None:
    """Raise UnreadableInput for a file that is not in SQLite's dialect, by its layout.

    known: its records, each with whether it is run.
    """
    if line := headed(data):
        refuse(path, line, "this header is that of DuckDB's files")
    if may_be_other(data) and (line := other_layout(record for record, _ in known)):
        refuse(path, line, OTHER_LAYOUT)


def other_layout(records: Iterable[Record]) -> int:
    """The line of a query whose result SQLite's dialect cannot have; 0 when it is that dialect."""
    as_shown = line = 0
    for record in records:
        if type(record) is not QueryRecord or not record.values:
            continue
        width = len(record.types)
        by_value = _by_value(record.types, record.values)
        by_row = all(len(value.split()) >= width for value in record.values)
        if by_row and not by_value:
            return record.line
        if width > 1 and by_value and not by_row:
            return 0
        if not by_value:
            continue
        if not _as_shown(record.types, record.values):
            as_shown -= 1
            line = line or record.line
        elif "R" in record.types:
            as_shown += 1
    return line if as_shown < 0 else 0


def _by_value(types: str, values: list[str]) -> bool:
    """Whether the lines can be values, row after row."""
    width = len(types)
    if len(values) % width:
        return False
    return not any(" " in text.strip() for _, text in _numbers(types, values))


def _as_shown(types: str, values: list[str]) -> bool:
    """Whether the numbers among the values are as the C runner shows them."""
    return all(
        (_REAL if kind == "R" else _INTEGER).fullmatch(text)
        for kind, text in _numbers(types, values)
    )


def _numbers(types: str, values: list[str]) -> Iterator[tuple[str, str]]:
    """The values of columns of numbers, each with the letter of its type."""
    for at, kind in enumerate(types):
        if kind != "T":
            yield from ((kind, text) for text in values[at :: len(types)])
