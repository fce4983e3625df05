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
from collections.abc import Iterator

from refute.frozen import frozen
from refute.verifiers.sql.toml_entries import TomlEntry, TomlList

FORMAT = "refute.known/1"
UNREVIEWED = "unreviewed"

_KEYS = ("reason", "engine", "until", "records", "files", "kind", "sql", "got", "most")
_RECORD = re.compile(r"(\S.*):(\d+) ([0-9a-f]{12})(?: (\d+)/(\d+))?(?: (\S+=.*))?", re.DOTALL)
_STRING = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'")


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
    step = 'mend it; docs/conform.md describes the file ("Known failures")'
    absent = "name a file of known failures, or write one with --write-known"
    return _Reading(TomlList(path, "known", FORMAT, step, absent)).entries()


class _Reading:
    """One file in work."""

    def __init__(self, file: TomlList) -> None:
        self._file = file
        self._seen: dict[tuple[object, ...], list[tuple[KnownRecord, Entry]]] = {}

    def entries(self) -> list[Entry]:
        """All entries. Raises UnreadableInput."""
        return [self._entry(entry) for entry in self._file.entries]

    def _entry(self, given: TomlEntry) -> Entry:
        given.refuse_others(_KEYS)
        step = f'say why these failures are accepted, or "{UNREVIEWED}" until that is known'
        reason = given.needed("reason", "a known failure without a reason", step)
        entry = Entry(
            where=given.where,
            reason=reason,
            until=given.day("until"),
            engines=tuple(name.lower() for name in given.texts("engine")),
            files=given.texts("files"),
            kinds=given.texts("kind"),
            records=tuple(self._records(given)),
            sql=given.pattern("sql"),
            got=given.pattern("got"),
            most=_most(given),
        )
        _check_extent(entry, given)
        self._refuse_twice(entry)
        return entry

    def _records(self, given: TomlEntry) -> Iterator[KnownRecord]:
        value = given.given.get("records", [])
        if not isinstance(value, list):
            raise given.wrong("records", "`records` is no list")
        lines = self._lines_of_strings(given) if value else {}
        for text in value:
            found = lines.get(str(text), [given.start])
            line = found.pop(0) if len(found) > 1 else found[0]
            match = _RECORD.fullmatch(text) if isinstance(text, str) else None
            if match is None:
                step = "let --write-known write the line"
                form = "PATH:LINE DIGEST [K/N] [VARIABLE=VALUE]"
                raise self._file.wrong(line, f"{text!r} is no record", step, form)
            which, of = int(match[4] or 1), int(match[5] or 1)
            if not 1 <= which <= of:
                raise self._file.wrong(line, f"{text!r}: there is no {which} of {of}")
            where = f"{self._file.path}:{line}"
            path, round_ = match[1], match[6] or ""
            yield KnownRecord(where, path, int(match[2]), match[3], which, of, round_)

    def _lines_of_strings(self, given: TomlEntry) -> dict[str, list[int]]:
        """Where texts are quoted, without their escapes."""
        found: dict[str, list[int]] = {}
        for line in range(given.start, given.end):
            for match in _STRING.finditer(self._file.lines[line - 1]):
                found.setdefault(match[1] or match[2] or "", []).append(line)
        return found

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
                    line = int(record.where.rpartition(":")[2])
                    problem = f"{record.text!r} is there already, {other.where}"
                    raise self._file.wrong(line, problem, "take one of them away")
            same.append((record, entry))


def _check_extent(entry: Entry, given: TomlEntry) -> None:
    """An entry is for records, or for what matches and no more than a number of them."""
    if "records" in given.given:
        if not entry.records:
            raise given.wrong("", "an entry for no record", "name some, or delete it")
        if entry.files or entry.most:
            problem = "an entry is for `records`, or for `files` with `most`, not for both"
            raise given.wrong("", problem, "make it two entries")
    elif not (entry.files or entry.sql or entry.got):
        problem = "an entry that does not say what it is for"
        raise given.wrong("", problem, "", "records", "files", "sql", "got")
    elif not entry.most:
        step = "add most = N, so that it cannot grow to cover what nobody looked at"
        raise given.wrong("", "an entry by pattern without `most`", step)


def _most(given: TomlEntry) -> int:
    most = given.given.get("most", 0)
    if type(most) is not int or ("most" in given.given and most < 1):
        raise given.wrong("most", f"most = {most!r} is no number above 0")
    return most
