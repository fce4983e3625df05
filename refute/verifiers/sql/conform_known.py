"""Which failures of a run are known, and which entries of the list are out of date.

Nothing is excused that a person did not accept. An entry excuses a record whose text is the one
that was reviewed, wherever edits have moved it; a record that was changed has to be reviewed anew.
Entries nobody has reviewed, entries past their day and patterns that cover more than they may
excuse nothing, and the report says so. A list that no longer fits the run is no defect of the
engine, so it is not REFUTED, but it is not ESTABLISHED either, unless that is asked for.

The text of a record is what stands from its directive to the next empty line, without comments.
It does not depend on the dialect: records with the same text are told apart by their order, and
those that a loop makes of one text by where the loop stands.
"""

from __future__ import annotations

import bisect
import dataclasses
import datetime
import hashlib
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from refute.errors import UnreadableInput
from refute.globs import matches
from refute.oracles.sqllogictest.reader import read
from refute.verifiers.sql.conform_file import Failure, FileResult, selected
from refute.verifiers.sql.conform_known_file import Entry, KnownRecord, read_known

Load = Callable[[str], bytes]
Key = tuple[str, int, int, str]

_DIRECTIVE = re.compile(r"\s*(?:statement|query|let|system)\b")


class Mark(NamedTuple):
    """A record's text. line: where it stands now. which, of: among the records of equal text."""

    line: int
    digest: str
    which: int
    of: int


class Places:
    """The records of one file by their texts."""

    def __init__(self, data: bytes) -> None:
        self._lines = data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
        self._by_digest: dict[str, list[int]] = {}

    def mark(self, line: int) -> Mark | None:
        """The mark of the record whose directive stands at a line; None for an empty line."""
        if not 0 < line <= len(self._lines) or not self._lines[line - 1].strip():
            return None
        digest = _digest(self._text(line))
        same = self._same(digest) or [line]
        at = bisect.bisect_left(same, line)
        known = at < len(same) and same[at] == line
        return Mark(line, digest, at + 1 if known else 1, len(same))

    def find(self, record: KnownRecord) -> int:
        """The line where a record stands now; 0 when its text is not there as often as it was."""
        lines = self._same(record.digest)
        return lines[record.which - 1] if len(lines) == record.of else 0

    def _same(self, digest: str) -> list[int]:
        """Lines of the records with a text."""
        if not self._by_digest:
            for line, text in enumerate(self._lines, 1):
                if _DIRECTIVE.match(text):
                    self._by_digest.setdefault(_digest(self._text(line)), []).append(line)
        return self._by_digest.get(digest, [])

    def _text(self, line: int) -> str:
        kept = []
        at = line - 1
        while at < len(self._lines) and (text := self._lines[at]).strip():
            if not text.startswith("#"):
                kept.append(text.rstrip("\r"))
            at += 1
        return "\n".join(kept)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]


@dataclasses.dataclass
class KnownUse:
    """What came of a list of known failures in a run.

    strict: whether a list that is out of date keeps the run from being established. Each remark
    begins with the place of the entry. passing: of records that pass now. gone: of records that
    are not there any more, or not run. idle: of patterns that cover nothing. expired, over:
    of entries that excuse nothing because their day is past, or because they would cover more
    than they may. moved: of records that stand at another line now. covered, unreviewed: numbers
    of failures. not_run: records of files that this run has not run to their end.
    """

    path: str
    strict: bool = True
    covered: int = 0
    unreviewed: int = 0
    not_run: int = 0
    passing: list[str] = dataclasses.field(default_factory=list)
    gone: list[str] = dataclasses.field(default_factory=list)
    idle: list[str] = dataclasses.field(default_factory=list)
    expired: list[str] = dataclasses.field(default_factory=list)
    over: list[str] = dataclasses.field(default_factory=list)
    moved: list[str] = dataclasses.field(default_factory=list)

    @property
    def stale(self) -> list[str]:
        """Remarks on entries that do not fit the run any more."""
        return [*self.passing, *self.gone]

    @property
    def reasons(self) -> list[str]:
        """Why the list keeps the run from being established; nothing when it does not."""
        if not (self.strict and self.stale):
            return []
        number = len(self.stale)
        they = "known failures pass or cannot" if number > 1 else "known failure passes or cannot"
        return [f"{number} {they} be found: {self.stale[0]}{' …' if number > 1 else ''}"]


class Known:
    """A list of known failures as it is used in one run, on one engine.

    name: the engine's for skipif; entries may give it, or `engine`, as it was given to --engine.
    load: gives the bytes of a test file, or raises OSError.
    """

    def __init__(
        self,
        path: str,
        name: str,
        engine: str,
        load: Load,
        today: datetime.date,
        strict: bool = True,
    ) -> None:
        entries = read_known(path)
        wanted = {name.lower(), engine.lower()}
        self._name = name
        self.use = KnownUse(path, strict)
        self._entries = [e for e in entries if not e.engines or wanted & set(e.engines)]
        self._base = Path(os.path.realpath(path)).parent
        self._load = load
        self._today = today
        self._records: dict[str, dict[Key, list[tuple[KnownRecord, Entry]]]] = {}
        for entry in self._entries:
            for record in entry.records:
                place = os.path.realpath(self._base / record.path)
                listed = self._records.setdefault(place, {})
                listed.setdefault(record.key, []).append((record, entry))
        self._patterns = [entry for entry in self._entries if not entry.records]
        self._covered: dict[str, list[Failure]] = {entry.where: [] for entry in self._patterns}
        self._met: set[str] = set()  # patterns whose files were run
        self._used: set[str] = set()  # records that failed
        self._run: dict[str, bool] = {}  # real path of a file → whether it was run to its end
        self._texts: dict[str, Places | None] = {}

    def apply(self, file: FileResult) -> None:
        """Mark the failures of one file that are known."""
        complete = not (file.error or file.lost or file.cut or file.not_run or file.unchosen)
        for path in (file.path, *file.reads):
            place = os.path.realpath(path)
            self._run[place] = self._run.get(place, True) and complete
        places: dict[str, str] = {}
        for failure in file.failures:
            path = failure.path or file.path
            if path not in places:
                places[path] = os.path.realpath(path)
            self._match(failure, places[path])
        for entry in self._patterns:
            self._match_pattern(file, entry)
        self._texts.clear()

    def finish(self, files: Sequence[FileResult]) -> KnownUse:
        """What is to be said once all files were run. Patterns that cover too much excuse none."""
        use = self.use
        for entry in self._patterns:
            self._check_pattern(entry)
        for place, listed in self._records.items():
            records = [r for same in listed.values() for r, _ in same if r.where not in self._used]
            if self._run.get(place):
                self._remark(place, records)
                self._texts.clear()
            elif place in self._run or Path(place).exists():
                use.not_run += len(records)
            else:
                use.gone += [
                    f"{record.where}: there is no file {record.path}" for record in records
                ]
        failures = [failure for file in files for failure in file.failures]
        use.covered = sum(bool(failure.known) for failure in failures)
        use.unreviewed = sum(failure.listed.endswith(_UNREVIEWED) for failure in failures)
        return use

    def _match(self, failure: Failure, place: str) -> None:
        """Mark the failure if one of the records that are listed for its file is it."""
        candidates = self._records.get(place)
        if not candidates:
            return
        places = self._places(place)
        mark = places.mark(failure.line) if places is not None else None
        if mark is None:
            return
        for record, entry in candidates.get((mark.digest, mark.which, mark.of, failure.round), ()):
            self._used.add(record.where)
            if not _fits(entry, failure):
                failure.listed = f"{record.where}: for another kind of failure"
                continue
            if record.line != mark.line:
                self.use.moved.append(f"{record.where}: stands at line {mark.line} now")
            self._excuse(failure, entry, record.where)
            return

    def _match_pattern(self, file: FileResult, entry: Entry) -> None:
        place = os.path.realpath(file.path)
        relative = os.path.relpath(place, self._base).replace(os.sep, "/")
        if entry.files and not matches(relative, entry.files):
            return
        self._met.add(entry.where)
        for failure in file.failures:
            if not failure.known and _fits(entry, failure):
                self._excuse(failure, entry, entry.where)
                if failure.known:
                    self._covered[entry.where].append(failure)

    def _excuse(self, failure: Failure, entry: Entry, where: str) -> None:
        """Mark the failure as known, unless the entry cannot excuse anything; then say why."""
        if not entry.reviewed:
            failure.listed = f"{where}: {_UNREVIEWED}"
        elif entry.until is not None and entry.until < self._today:
            failure.listed = f"{where}: expired, it was accepted until {entry.until}"
            remark = f"{entry.where}: expired, until = {entry.until}: {entry.reason}"
            if remark not in self.use.expired:
                self.use.expired.append(remark)
        else:
            failure.known, failure.listed = entry.reason, where

    def _check_pattern(self, entry: Entry) -> None:
        """Take back what a pattern excuses if that is too much; say where it excuses nothing."""
        covered = self._covered[entry.where]
        if len(covered) > entry.most:
            number = f"{len(covered):,} failures match, more than most = {entry.most:,}"
            self.use.over.append(f"{entry.where}: {number}: it excuses none of them")
            for failure in covered:
                failure.known = ""
                failure.listed = f"{entry.where}: covers more than it may"
        elif not covered and entry.where in self._met:
            self.use.idle.append(f"{entry.where}: excuses no failure of this run")

    def _remark(self, place: str, records: Sequence[KnownRecord]) -> None:
        """Say of entries that excused nothing whether their records pass, or are not there."""
        if not records:
            return
        places = self._places(place)
        run = self._run_lines(place)
        for record in records:
            line = places.find(record) if places is not None else 0
            if not line:
                text = "is not in the file as it was reviewed: it was changed, or taken away"
                self.use.gone.append(f"{record.where}: {record.path}:{record.line} {text}")
            elif run is not None and line not in run:
                text = f"{record.path}:{line} is not run on this engine"
                self.use.gone.append(f"{record.where}: {text}")
            else:
                self.use.passing.append(f"{record.where}: {record.path}:{line} passes now")

    def _places(self, place: str) -> Places | None:
        """The records of a file; None when it cannot be read any more."""
        if place not in self._texts:
            try:
                self._texts[place] = Places(self._load(place))
            except OSError:
                self._texts[place] = None
        return self._texts[place]

    def _run_lines(self, place: str) -> set[int] | None:
        """Lines of the records that were run; None for a file in an extended dialect."""
        try:
            records = selected(read(self._load(place), place), self._name)
            return {record.line for record, runs in records if runs}
        except (UnreadableInput, OSError):
            return None


_UNREVIEWED = "listed, but nobody has reviewed it"


def _fits(entry: Entry, failure: Failure) -> bool:
    """Whether the entry is for a failure of this kind, SQL and answer."""
    if entry.kinds and failure.kind not in entry.kinds:
        return False
    if entry.sql is not None and not entry.sql.search(failure.sql):
        return False
    return entry.got is None or bool(entry.got.search(failure.got))
