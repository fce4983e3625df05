"""Reader of sqllogictest files: records with their lines, or an error that names file and line.

A file is read strictly, because a line that is skipped in silence is a test that never ran: an
unknown directive, a leftover word or a record that is cut off makes the file unreadable. Lines that
begin with `#` are comments wherever they stand, also between expected values, as in the C runner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from refute.errors import UnreadableInput
from refute.oracles.sqllogictest.render import whole

TYPES = "TIR"
SORTS = ("nosort", "rowsort", "valuesort")
DIRECTIVES = ("statement", "query", "skipif", "onlyif", "hash-threshold", "halt")

_HASHED = re.compile(r"(\d+) values hashing to ([0-9a-f]{32})")
_BLANK = re.compile(r"^[ \t\v\f\r]+$", re.MULTILINE)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_HASHING = " values hashing to "
_RULE = re.compile(r"\s*-{3,}\s*")
_HEADS = frozenset(("state", "query"))
_GLUED = re.compile(
    r"(?:statement\s+(?:ok|error)|query\s+[TIR]+(?:\s+(?:nosort|rowsort|valuesort)(?:\s+\S+)?)?)\s*"
)

Conditions = tuple[tuple[str, str], ...]


class StatementRecord(NamedTuple):
    """`statement ok` or `statement error`. conditions: ("skipif" or "onlyif", engine) pairs."""

    line: int
    sql: str
    conditions: Conditions
    fails: bool


class QueryRecord(NamedTuple):
    """A query and its expected values.

    types: one of T, I, R for each column. sort: one of SORTS. label: queries with equal labels
    have equal results; empty for none. values: as listed, None when they are hashed or when the
    record expects nothing. number, digest: of hashed values; -1 and "" otherwise.
    """

    line: int
    sql: str
    conditions: Conditions
    types: str
    sort: str
    label: str
    values: list[str] | None
    number: int
    digest: str

    @property
    def expects(self) -> bool:
        """Whether the record says what the result is."""
        return self.values is not None or self.number >= 0


class ControlRecord(NamedTuple):
    """`halt` or `hash-threshold`; the latter changes nothing when results are only verified."""

    line: int
    conditions: Conditions
    name: str


Record = StatementRecord | QueryRecord | ControlRecord


def read(data: bytes, path: str) -> Iterator[Record]:
    """The records of a file, one by one. Raises UnreadableInput with file and line."""
    return _Reader(_text(data, path), path).records()


def refuse(path: str, line: int, problem: str, *possible: str, next_step: str = "") -> None:
    """Raise UnreadableInput for a line of a file."""
    raise UnreadableInput(
        f"{path}:{line}: {problem}",
        thing=f"{path}:{line}",
        value=problem,
        possible=possible,
        next_step=next_step or "mend the line; docs/conform.md describes the format",
    )


def decoded(data: bytes, path: str) -> str:
    """The file's text. Raises UnreadableInput for what is no UTF-8 text, with the line."""
    zero = data.find(b"\0")
    if zero >= 0:
        line = data.count(b"\n", 0, zero) + 1
        refuse(path, line, "a zero byte: this is not a text file", next_step="give a text file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        refuse(path, line, "this is not UTF-8 text", next_step="convert the file to UTF-8")
        raise


def _text(data: bytes, path: str) -> str:
    """The file's text with `\\n` line ends, and lines of white space only made empty."""
    text = decoded(data, path)
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r")
    return _BLANK.sub("", text)


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self.ended = text.endswith("\n") or not text
        self.text = text
        self.comments = text.startswith("#") or "\n#" in text
        self.expecting = False  # whether a query so far had a `----`
        self.glued = any(text.count(f"\n{d}") > text.count(f"\n\n{d}") for d in DIRECTIVES[:2])

    def records(self) -> Iterator[Record]:
        """All records in order; no more of the file is taken apart than one record."""
        for block, line, final in self._blocks():
            if self.comments and any(text.startswith("#") for text in block):
                numbered = [(n, t) for n, t in enumerate(block, line) if t[0] != "#"]
            else:
                numbered = []
            if numbered or block[0][0] != "#":
                yield self._record(block, line, numbered, final)

    def _blocks(self) -> Iterator[tuple[list[str], int, bool]]:
        """Lines between empty ones, the number of the first, and whether only comments follow."""
        text, line, start = self.text, 1, 0
        last = self._last()
        while start < last:
            if text[start] == "\n":
                start += 1
                line += 1
                continue
            end = text.find("\n\n", start)
            if end < 0:
                end = len(text) - text.endswith("\n")
            block = text[start:end].split("\n")
            yield block, line, end >= last
            line += len(block)
            start = end + 1

    def _last(self) -> int:
        """The end of the last line that is neither empty nor a comment; 0 when there is none."""
        end = len(self.text)
        while end > 0:
            start = self.text.rfind("\n", 0, end) + 1
            if start < end and self.text[start] != "#":
                return end
            end = start - 1
        return 0

    def _record(
        self, block: list[str], line: int, numbered: list[tuple[int, str]], final: bool
    ) -> Record:
        """The record of one block. numbered: its lines with numbers when it has comments."""
        if numbered:
            block = [text for _, text in numbered]
            line = numbered[0][0]
        words = _uncommented(block[0])
        conditions: Conditions = ()
        body = 1
        while words[0] in ("skipif", "onlyif"):
            conditions += (self._condition(line, words),)
            if body == len(block):
                refuse(self.path, line, f"{words[0]} stands before nothing")
            line = numbered[body][0] if numbered else line + 1
            words = _uncommented(block[body])
            body += 1
        if self.glued and words[0] in DIRECTIVES[:2]:  # after conditions, or an empty line misses
            self._refuse_glued(line, block[body:])
        match words[0]:
            case "query":
                return self._query(line, conditions, words, block[body:], final)
            case "statement":
                return self._statement(line, conditions, words, block[body:], final)
            case "halt" | "hash-threshold":
                return self._control(line, conditions, words, block[body:])
        refuse(self.path, line, f"unknown directive {words[0]!r}", *DIRECTIVES)
        raise AssertionError(words)

    def _refuse_glued(self, line: int, body: list[str]) -> None:
        """Refuse a directive inside of a record, which would be a test that is never run."""
        if _HEADS.isdisjoint([text[:5] for text in body]):
            return
        found = next((text for text in body if _GLUED.fullmatch(text)), None)
        if found is not None:
            refuse(self.path, line, f"{found!r} stands in this record: no empty line before it")

    def _condition(self, line: int, words: list[str]) -> tuple[str, str]:
        given = self._plain(line, words, 2)
        if len(given) < 2:
            refuse(self.path, line, f"{given[0]} names no engine")
        return given[0], given[1].lower()

    def _plain(self, line: int, words: list[str], most: int) -> list[str]:
        """The words, if there are not too many. A word left over would be a test not done."""
        if len(words) > most:
            refuse(self.path, line, f"{words[most]!r} is not understood after {words[0]!r}")
        return words

    def _statement(
        self, line: int, conditions: Conditions, words: list[str], body: list[str], final: bool
    ) -> StatementRecord:
        expected = words[1] if len(words) > 1 else ""
        if expected not in ("ok", "error"):
            refuse(self.path, line, f"statement {expected or '(nothing)'}", "ok", "error")
        self._plain(line, words, 2)
        if not body:
            refuse(self.path, line, "a statement without SQL: the record is cut off")
        sql = "\n".join(body)
        if final and not self.ended and (_cut(sql) if expected == "ok" else sql[-1] != ";"):
            # Half a statement is an error, too, so this one would pass whatever the engine does.
            problem = "the file may end within this statement: it has no line end there"
            refuse(self.path, line, problem)
        return StatementRecord(line, sql, conditions, expected == "error")

    def _query(
        self, line: int, conditions: Conditions, words: list[str], body: list[str], final: bool
    ) -> QueryRecord:
        types, sort, label = self._asked(line, words)
        values, number, digest = None, -1, ""
        if "----" in body:
            self.expecting = True
            at = body.index("----")
            body, values = body[:at], body[at + 1 :]
            match = _HASHED.fullmatch(values[0]) if len(values) == 1 else None
            if match:
                values, number, digest = None, whole(match[1]), match[2]
            elif final or len(values) == 1:
                self._check_listed(line, types, values, final)
        elif final and self.expecting:
            refuse(self.path, line, "the file ends within this query: it has no `----`")
        elif any(map(_RULE.fullmatch, body)):  # a comment of SQL, with the values after it
            refuse(self.path, line, "a line of dashes that is not `----` alone")
        if not body:
            refuse(self.path, line, "a query without SQL: the record is cut off")
        sql = "\n".join(body)
        return QueryRecord(line, sql, conditions, types, sort, label, values, number, digest)

    def _asked(self, line: int, words: list[str]) -> tuple[str, str, str]:
        """Types, sort method and label of a query."""
        self._plain(line, words, 4)
        types = words[1] if len(words) > 1 else ""
        if not types or types.strip(TYPES):
            refuse(self.path, line, f"column types {types or '(none)'!r}", *TYPES)
        sort = words[2] if len(words) > 2 else "nosort"
        if sort not in SORTS:
            refuse(self.path, line, f"unknown sort method {sort!r}", *SORTS)
        return types, sort, words[3] if len(words) > 3 else ""

    def _check_listed(self, line: int, types: str, values: list[str], final: bool) -> None:
        """Refuse hashes that are cut off, and rows that are, at the end of the file."""
        if len(values) == 1 and _hash_is_cut(values[0], at_end=final and not self.ended):
            refuse(self.path, line, f"{values[0]!r} is not a whole hash")
        if final and len(values) % len(types):
            problem = f"the file ends with {len(values)} values, in rows of {len(types)}"
            refuse(self.path, line, problem)

    def _control(
        self, line: int, conditions: Conditions, words: list[str], body: list[str]
    ) -> ControlRecord:
        wanted = 2 if words[0] == "hash-threshold" else 1
        words = self._plain(line, words, wanted)
        if wanted == 2 and not (len(words) == 2 and words[1].isdecimal()):
            refuse(self.path, line, "hash-threshold takes a number of values")
        if body:
            refuse(self.path, line + 1, f"an empty line must follow {words[0]!r}")
        return ControlRecord(line, conditions, words[0])


def _uncommented(line: str) -> list[str]:
    """The words of a line before one that begins with `#`; the whole line if that is the first."""
    words = line.split()
    if "#" in line:
        words = words[: next((i for i, w in enumerate(words) if w[0] == "#"), len(words))]
    return words or [line]


def _hash_is_cut(text: str, *, at_end: bool) -> bool:
    """Whether the only expected line is the beginning of a hash, or a hash that is malformed."""
    count, _, _ = text.partition(" ")
    if not count.isdecimal():
        return False
    rest = text[len(count) :]
    if rest.startswith(_HASHING):
        return True
    return at_end and len(rest) > 1 and _HASHING.startswith(rest)


def _cut(sql: str) -> bool:
    """Whether SQL ends within a quotation, a comment or parentheses."""
    bare = _QUOTED.sub(" ", sql)
    return bare.count("(") != bare.count(")") or any(c in bare for c in ("'", '"', "/*"))
