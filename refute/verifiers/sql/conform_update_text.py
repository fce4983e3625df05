"""New expectations in the text of a file of SQLite's dialect, every other byte as it was.

A record keeps its way of saying what it expects: listed or hashed, as far as `hash-threshold` lets
it, with its comments and line ends. What the dialect has no words for is refused: a query that
fails, a value that would be read as a comment or as the end of the record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from refute.oracles.sqllogictest.reader import QueryRecord, StatementRecord
from refute.oracles.sqllogictest.render import digest, joined

_EXPECTED = re.compile(rb"(\s*statement\s+)(ok|error)\b")
_OUTCOME = re.compile(rb"^(\s*statement\s+)(ok|error)(\s*)$")
_RULE = b"----"


class CannotSay(Exception):
    """The file's dialect has no words for what the engine gave, or it is none to be expected."""


class Text:
    """The lines of a file, some of them replaced."""

    def __init__(self, data: bytes) -> None:
        self._lines = data.splitlines(keepends=True) if b"\r" not in data else _lines(data)
        self._new: dict[int, tuple[int, list[bytes]]] = {}  # first line → how many, by what

    def data(self) -> bytes:
        """The text as it is now."""
        parts: list[bytes] = []
        at = 0
        for first, (number, lines) in sorted(self._new.items()):
            parts += self._lines[at:first]
            parts += lines
            at = first + number
        return b"".join([*parts, *self._lines[at:]])

    def undo(self, keys: Sequence[int]) -> None:
        """Take replacements back."""
        for key in keys:
            self._new.pop(key, None)

    def threshold(self, line: int) -> int:
        """The number of the `hash-threshold` at a line."""
        words = self._lines[line - 1].split()
        return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0

    def expect_statement(self, record: StatementRecord) -> int:
        """Have a statement expect the other of success and failure; returns the key to undo it."""
        at = record.line - 1
        wanted = b"ok" if record.fails else b"error"
        line, number = _EXPECTED.subn(rb"\g<1>" + wanted, self._lines[at], count=1)
        if number != 1:
            raise CannotSay("the directive is not where it should be")
        self._new[at] = (1, [line])
        return at

    def expect_values(self, record: QueryRecord, rows: Sequence[Any], threshold: int) -> int:
        """Have a query expect these rows; returns the key to undo it. Raises CannotSay."""
        got = joined(record.types, rows, record.sort)
        values = got.split("\n") if got else []
        rule, end = self._expected_at(record.line - 1)
        if _hashed(record, len(values), threshold):
            lines = [f"{len(values)} values hashing to {digest(got)}"]
        else:
            if any(not value.strip() or value.startswith("#") for value in values):
                raise CannotSay("a value would be read as a comment or as an empty line")
            lines = values
        self._new[rule + 1] = (end - rule - 1, self._written(rule, end, lines))
        return rule + 1

    def expect_lines(self, line: int, lines: Sequence[str]) -> int:
        """Have the query at a line expect these lines; returns the key. Raises CannotSay."""
        rule, end = self._expected_at(line - 1)
        if any(not text.strip() or len(text.splitlines()) != 1 for text in lines):
            raise CannotSay("a line of the result would be an empty one, or several")
        self._new[rule + 1] = (end - rule - 1, self._written(rule, end, lines, comments=False))
        return rule + 1

    def expect_outcome(self, line: int, fails: bool) -> int:
        """Have a statement expect to fail, or to succeed; returns the key. Raises CannotSay."""
        wanted = b"error" if fails else b"ok"
        text, number = _OUTCOME.subn(rb"\g<1>" + wanted + rb"\g<3>", self._lines[line - 1])
        if number != 1:
            raise CannotSay("the directive says more than ok or error")
        self._new[line - 1] = (1, [text])
        return line - 1

    def _expected_at(self, at: int) -> tuple[int, int]:
        """Index of a record's `----`, and of what comes after its lines."""
        rule = self._rule(at)
        end = rule + 1
        while end < len(self._lines) and self._lines[end].strip():
            end += 1
        return rule, end

    def _rule(self, at: int) -> int:
        """Index of the record's `----`."""
        while at < len(self._lines) and self._lines[at].strip():
            if self._lines[at].rstrip(b"\r\n") == _RULE:
                return at
            at += 1
        raise CannotSay("the record has no `----`")

    def _written(
        self, rule: int, end: int, values: Sequence[str], *, comments: bool = True
    ) -> list[bytes]:
        """The lines after `----`: values, and the comments among the old ones where they stood."""
        ending = self._lines[rule][len(_RULE) :]
        old = self._lines[rule + 1 : end]
        lines = [value.encode() + ending for value in values]
        for at, line in enumerate(old):
            if comments and line.startswith(b"#"):
                whole = line if line.endswith(b"\n") else line + ending
                lines.insert(min(at, len(lines)), whole)
        if not ending:  # nothing follows the rule, not even a line end
            raise CannotSay("the file ends within the record")
        if lines and old and not old[-1].endswith(b"\n"):
            lines[-1] = lines[-1].rstrip(b"\r\n")
        return lines


def _lines(data: bytes) -> list[bytes]:
    """Lines with their ends, which are `\\n` alone, whatever stands before it."""
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _hashed(record: QueryRecord, number: int, threshold: int) -> bool:
    """Whether a result of so many values is to be hashed.

    The C runner hashes above the threshold, so a record that does as it says goes on doing so; one
    that does otherwise keeps its own way.
    """
    was_hashed = record.values is None
    before = record.number if record.values is None else len(record.values)
    if was_hashed == (0 < threshold < before):
        return 0 < threshold < number
    return was_hashed
