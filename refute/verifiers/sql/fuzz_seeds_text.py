"""SQL scripts taken apart: statements without their comments, each with the line it begins on.

A semicolon ends a statement unless it stands in a string, a quoted name or a comment, or within
the body of a trigger, which ends with `; END;` as SQLite's own shell has it
(https://www.sqlite.org/c3ref/complete.html). Comments go: those of bug reports say what is right,
and no engine is to read that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
    |(?P<word>\w+)
    |(?P<end>;)
    |(?P<open>['"`])
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_SHELL = re.compile(r"^\.[a-z][^\n]*", re.MULTILINE)
_BEFORE_TRIGGER = ("CREATE", "OR", "REPLACE", "TEMP", "TEMPORARY")
_READS = ("SELECT", "VALUES", "TABLE", "FROM")
_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE")


class Found(NamedTuple):
    """A statement without the semicolon at its end. line: where it begins, from 1."""

    line: int
    sql: str


class NotClosed(Exception):
    """A quotation that has no end. line: where it begins."""

    def __init__(self, line: int, quote: str) -> None:
        super().__init__(f"no {quote} ends what this line begins with one")
        self.line = line


class _Pending:
    """The statement in work."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.words: list[str] = []  # in capitals, and semicolons; quotations are ""
        self.line = 0

    def add(self, text: str, word: str, line: int) -> None:
        """Take a token."""
        self.line = self.line or line
        self.parts.append(text)
        self.words.append(word)

    def ends(self) -> bool:
        """Whether a semicolon ends it here."""
        return not self._in_trigger() or self.words[-2:] == [";", "END"]

    def _in_trigger(self) -> bool:
        for word in self.words:
            if word not in _BEFORE_TRIGGER:
                return word == "TRIGGER" and self.words[0] == "CREATE"
        return False


def statements(text: str) -> Iterator[Found]:
    """The statements of a script, the last with or without a semicolon. Raises NotClosed.

    Commands of SQLite's shell between them, such as `.mode list`, are left out.
    """
    line, place, pending = 1, 0, _Pending()
    while place < len(text):
        shell = None if pending.parts else _SHELL.match(text, place)
        match = shell or _TOKEN.match(text, place)
        assert match is not None
        kind, token = match.lastgroup, match[0]
        if kind == "open":
            raise NotClosed(line, token)
        if kind in ("space", "comment"):
            if pending.parts:
                pending.parts.append(" " if kind == "comment" else token)
        elif kind == "end" and pending.ends():
            yield from _made(pending)
            pending = _Pending()
        elif shell is None:
            pending.add(token, "" if kind == "quoted" else token.upper(), line)
        place = match.end()
        line += token.count("\n")
    yield from _made(pending)


def _made(pending: _Pending) -> Iterator[Found]:
    sql = "".join(pending.parts).strip()
    if sql:
        yield Found(pending.line, sql)


def is_query(sql: str) -> bool:
    """Whether a statement asks and changes nothing; `sql` has no comments."""
    depth = 0
    for number, match in enumerate(m for m in _TOKEN.finditer(sql) if m.lastgroup != "space"):
        token = match[0].upper()
        if token in "()":
            depth += 1 if token == "(" else -1
            continue
        if number == depth or token == "WITH":  # the first word, behind parentheses
            if token in _READS:
                return True
            if token != "WITH":
                return False
        elif depth == 0 and token in (*_READS[:2], *_WRITES):
            return token in _READS
    return False
