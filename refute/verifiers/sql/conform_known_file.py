"""The file of known failures: TOML, read strictly, every error with its line.

A reviewed list lives from its diff. So one reason stands once, over the records that it is given
for, and each record is one line: a record that is added or taken away is one changed line, and a
reason that is rewritten is one. TOML, because editors know it, other programs can write it, and
dates and comments are part of it.

    [[known]]
    reason = "integer division, issue 812"
    engine = "minidb"
    until = 2027-03-31
    records = [
        "select1.test:204 9f8e7d6c5b4a",
        "select1.test:310 0a1b2c3d4e5f 2/3",
    ]

A record is its place, the digest of its text (see `conform_known`), and, where the file has the
same text several times, which of them it is; one in a loop has its variables. An entry may instead
cover whatever matches: `files` (globs), `sql` and `got` (regular expressions), and then must say
how many it covers at `most`.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from refute.errors import UnreadableInput
from refute.frozen import frozen

FORMAT = "refute.known/1"
UNREVIEWED = "unreviewed"
LARGEST = 64 * 2**20  # bytes

_KEYS = ("reason", "engine", "until", "records", "files", "kind", "sql", "got", "most")
_RECORD = re.compile(r"(\S.*):(\d+) ([0-9a-f]{12})(?: (\d+)/(\d+))?(?: (\S+=.*))?", re.DOTALL)
_HEADER = re.compile(r"\s*\[\[\s*known\s*\]\]")
_STRING = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'")
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)|\(at end of document\)")


@frozen
class KnownRecord:
    """One record of an entry. where: its line in the file of known failures, `known.toml:12`.

    path: relative to the directory of that file. which, of: among the records of equal text.
    round: where the loops around it stand, as "i=3", empty for a record that is run once.
    """

    where: str
    path: str
    line: int
    digest: str
    which: int = 1
    of: int = 1
    round: str = ""

    @property
    def text(self) -> str:
        """As it stands in the file."""
        several = f" {self.which}/{self.of}" if self.of > 1 else ""
        looped = f" {self.round}" if self.round else ""
        return f"{self.path}:{self.line} {self.digest}{several}{looped}"

    @property
    def key(self) -> tuple[str, int, int, str]:
        """What tells it from other records of its file, wherever it stands."""
        return self.digest, self.which, self.of, self.round


@dataclasses.dataclass(frozen=True)
class Entry:
    """Failures that are known, and why.

    engines: names, lower case; empty for every engine. until: the last day on which the entry
    excuses anything. records: those it is for; empty when files, sql and got say it, and then
    most is the largest number that may be covered. kinds: of failures, empty for all.
    """

    where: str
    reason: str
    engines: tuple[str, ...] = ()
    until: datetime.date | None = None
    records: tuple[KnownRecord, ...] = ()
    files: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    sql: re.Pattern[str] | None = None
    got: re.Pattern[str] | None = None
    most: int = 0

    @property
    def reviewed(self) -> bool:
        """Whether a person has said why."""
        return self.reason.strip().lower().rstrip(".!") != UNREVIEWED


def read_known(path: str) -> list[Entry]:
    """The entries of a file. Raises UnreadableInput with file and line."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(LARGEST).decode()
    except OSError as error:
        raise UnreadableInput(
            f"{path} cannot be read: {error.strerror}",
            thing="--known",
            value=path,
            next_step="name a file of known failures, or write one with --write-known",
        ) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise _wrong(path, line, "this is not UTF-8 text", "convert the file") from error
    return _Reading(path, text).entries()


def _wrong(path: str, line: int, problem: str, next_step: str = "", *possible: str) -> Exception:
    return UnreadableInput(
        f"{path}:{line}: {problem}",
        thing=f"{path}:{line}",
        value=problem,
        possible=possible,
        next_step=next_step or 'mend it; docs/conform.md describes the file ("Known failures")',
    )


class _Reading:
    """One file in work; where its entries and strings stand is found in the text."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._lines = text.split("\n")
        self._text = text
        self._seen: dict[tuple[object, ...], list[tuple[KnownRecord, Entry]]] = {}

    def entries(self) -> list[Entry]:
        """All entries. Raises UnreadableInput."""
        try:
            data = tomllib.loads(self._text.replace("\r\n", "\n"))
        except tomllib.TOMLDecodeError as error:
            place = _AT_LINE.search(str(error))
            line = int(place[1]) if place and place[1] else len(self._lines)
            what = _AT_LINE.sub("", str(error)).strip()
            raise _wrong(self._path, line, f"no TOML: {what}") from error
        given = data.get("known", [])
        unknown = [key for key in data if key not in ("known", "format")]
        if unknown:
            raise _wrong(self._path, 1, f"unknown key {unknown[0]!r}", "", "format", "[[known]]")
        if data.get("format", FORMAT) != FORMAT:
            raise _wrong(self._path, 1, f"format {data['format']!r}", "", FORMAT)
        if not (isinstance(given, list) and all(isinstance(e, dict) for e in given)):
            raise _wrong(self._path, 1, "`known` is no table", "", "[[known]]")
        starts = self._starts(len(given))
        ends = [*starts, len(self._lines) + 1][1:]
        made = zip(given, starts, ends, strict=True)
        return [self._entry(entry, start, end) for entry, start, end in made]

    def _starts(self, number: int) -> list[int]:
        """The line of each entry's header; 1 where that cannot be told."""
        found = [n for n, text in enumerate(self._lines, 1) if _HEADER.match(text)]
        return found if len(found) == number else [1] * number

    def _entry(self, given: dict[str, Any], start: int, end: int) -> Entry:
        for key in given:
            if key not in _KEYS:
                raise _wrong(
                    self._path, self._line_of(key, start, end), f"unknown key {key!r}", "", *_KEYS
                )
        reason = given.get("reason", "")
        if not (isinstance(reason, str) and reason.strip()):
            step = f'say why these failures are accepted, or "{UNREVIEWED}" until that is known'
            line = self._line_of("reason", start, end)
            raise _wrong(self._path, line, "a known failure without a reason", step)
        until = given.get("until")
        if until is not None and type(until) is not datetime.date:
            line = self._line_of("until", start, end)
            raise _wrong(self._path, line, f"until = {until!r} is no date", "", "2027-01-31")
        texts = {k: self._texts(given, k, start, end) for k in ("engine", "files", "kind")}
        entry = Entry(
            where=f"{self._path}:{start}",
            reason=reason.strip(),
            engines=tuple(name.lower() for name in texts["engine"]),
            until=until,
            records=tuple(self._records(given, start, end)),
            files=texts["files"],
            kinds=texts["kind"],
            sql=self._pattern(given, "sql", start, end),
            got=self._pattern(given, "got", start, end),
            most=self._most(given, start, end),
        )
        self._check_extent(entry, given, start)
        self._refuse_twice(entry)
        return entry

    def _check_extent(self, entry: Entry, given: dict[str, Any], start: int) -> None:
        """An entry is for records, or for what matches and no more than a number of them."""
        if "records" in given:
            if not entry.records:
                raise _wrong(self._path, start, "an entry for no record", "name some, or delete it")
            if entry.files or entry.most:
                problem = "an entry is for `records`, or for `files` with `most`, not for both"
                raise _wrong(self._path, start, problem, "make it two entries")
        elif not (entry.files or entry.sql or entry.got):
            problem = "an entry that does not say what it is for"
            raise _wrong(self._path, start, problem, "", "records", "files", "sql", "got")
        elif not entry.most:
            step = "add most = N, so that it cannot grow to cover what nobody looked at"
            raise _wrong(self._path, start, "an entry by pattern without `most`", step)

    def _most(self, given: dict[str, Any], start: int, end: int) -> int:
        most = given.get("most", 0)
        if type(most) is not int or ("most" in given and most < 1):
            line = self._line_of("most", start, end)
            raise _wrong(self._path, line, f"most = {most!r} is no number above 0")
        return most

    def _texts(self, given: dict[str, Any], key: str, start: int, end: int) -> tuple[str, ...]:
        """A text or a list of texts."""
        value = given.get(key, [])
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(t, str) and t for t in texts):
            line = self._line_of(key, start, end)
            raise _wrong(self._path, line, f"{key} = {value!r} is no text, nor a list of texts")
        return tuple(texts)

    def _pattern(
        self, given: dict[str, Any], key: str, start: int, end: int
    ) -> re.Pattern[str] | None:
        value = given.get(key)
        if value is None:
            return None
        line = self._line_of(key, start, end)
        if not isinstance(value, str):
            raise _wrong(self._path, line, f"{key} = {value!r} is no text")
        try:
            return re.compile(value, re.DOTALL)
        except re.error as error:
            raise _wrong(self._path, line, f"{key}: no regular expression: {error}") from error

    def _records(self, given: dict[str, Any], start: int, end: int) -> Iterator[KnownRecord]:
        value = given.get("records", [])
        if not isinstance(value, list):
            line = self._line_of("records", start, end)
            raise _wrong(self._path, line, "`records` is no list")
        lines = self._lines_of_strings(start, end) if value else {}
        for text in value:
            found = lines.get(str(text), [start])
            line = found.pop(0) if len(found) > 1 else found[0]
            match = _RECORD.fullmatch(text) if isinstance(text, str) else None
            if match is None:
                step = "let --write-known write the line"
                form = "PATH:LINE DIGEST [K/N] [VARIABLE=VALUE]"
                raise _wrong(self._path, line, f"{text!r} is no record", step, form)
            which, of = int(match[4] or 1), int(match[5] or 1)
            if not 1 <= which <= of:
                raise _wrong(self._path, line, f"{text!r}: there is no {which} of {of}")
            where = f"{self._path}:{line}"
            path, round_ = match[1], match[6] or ""
            yield KnownRecord(where, path, int(match[2]), match[3], which, of, round_)

    def _lines_of_strings(self, start: int, end: int) -> dict[str, list[int]]:
        """Where texts are quoted, without their escapes."""
        found: dict[str, list[int]] = {}
        for line in range(start, end):
            for match in _STRING.finditer(self._lines[line - 1]):
                found.setdefault(match[1] or match[2] or "", []).append(line)
        return found

    def _line_of(self, key: str, start: int, end: int) -> int:
        """The line where a key of the entry is set, or that of the entry."""
        wanted = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
        return next((n for n in range(start, end) if wanted.match(self._lines[n - 1])), start)

    def _refuse_twice(self, entry: Entry) -> None:
        """Two reasons for one record would make one of them a dead letter."""
        for record in entry.records:
            same = self._seen.setdefault((record.path, *record.key), [])
            for other, earlier in same:
                engines = not (earlier.engines and entry.engines) or (
                    set(earlier.engines) & set(entry.engines)
                )
                kinds = not (earlier.kinds and entry.kinds) or set(earlier.kinds) & set(entry.kinds)
                if engines and kinds:
                    path, _, line = record.where.rpartition(":")
                    problem = f"{record.text!r} is there already, {other.where}"
                    raise _wrong(path, int(line), problem, "take one of them away")
            same.append((record, entry))
