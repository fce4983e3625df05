"""Update mode: records that fail are made to expect what the engine gave.

That is honest only where the engine gave something that can be relied on. So a record is rewritten
when it failed in both runs of the file, was answered again in a third, and passes in a fourth with
the new text; one that crashed, hung or answers differently each time keeps its expectation, as does
one that is listed as a known failure. What is rewritten is what the engine says, right or wrong:
the run never counts as established by it, and the diff is for a person to read.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from refute.errors import UnreadableInput
from refute.oracles.sqllogictest.expect import Mismatch
from refute.oracles.sqllogictest.reader import (
    ControlRecord,
    QueryRecord,
    Record,
    StatementRecord,
    read,
)
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.conform_file import Failure, FileResult, FileRun, Run, Runnable, selected
from refute.verifiers.sql.conform_update_text import CannotSay, Text

REFUSED = {
    "columns": "the number of columns differs, and their types say how values are shown",
    "label": "it differs from another record of its label, and which is right is not known",
    "crash": "the engine failed on it",
    "hang": "the engine did not answer",
    "unfit": "the answer is not one that can be expected",
    "no rows": "a query without a result set cannot be expected",
}
ROUNDS = 4  # of running what was rewritten, until all that is left of it passes


@dataclasses.dataclass
class Updated:
    """What became of one file. data: its new text. lines: of records that expect something else
    now. left: of those that could not be rewritten, why, by line."""

    path: str
    before: bytes
    data: bytes
    lines: list[int] = dataclasses.field(default_factory=list)
    left: dict[int, str] = dataclasses.field(default_factory=dict)

    def diff(self) -> Iterator[str]:
        """The change as a unified diff, without line ends."""
        old, new = (
            data.decode("utf-8", "surrogateescape").split("\n") for data in (self.before, self.data)
        )
        return difflib.unified_diff(old, new, self.path, self.path, lineterm="", n=2)


@dataclasses.dataclass
class UpdateReport:
    """What an update did. written: whether to the files. updated: lines by file. left: the records
    that it could not rewrite, each with its place and why."""

    written: bool = True
    updated: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    left: list[str] = dataclasses.field(default_factory=list)


def update(run: Run, file: FileResult, data: bytes) -> Updated:
    """New text for a file whose records failed as `file` says. Nothing is written.

    Raises EngineLost, UnreadableInput, KeyboardInterrupt.
    """
    return _Update(run, file, data).made()


class _Update:
    def __init__(self, run: Run, file: FileResult, data: bytes) -> None:
        self._run = run
        self._file = file
        self._text = Text(data)
        self._done = Updated(file.path, data, data)
        self._keys: dict[int, int] = {}  # line of a record → key of its replacement

    def made(self) -> Updated:
        """Rewrite, and take back whatever does not pass."""
        failures = dict(self._eligible())
        if failures:
            self._rewrite(failures)
            keep_what_passes(self._text, self._keys, self._done.left, self._wrong)
        self._done.lines = sorted(self._keys)
        self._done.data = self._text.data() if self._keys else self._done.before
        return self._done

    def _eligible(self) -> Iterator[tuple[int, Failure]]:
        for failure in self._file.failures:
            why = REFUSED.get(failure.kind, "")
            if failure.path:
                why = f"it stands in {failure.path}, which this file includes"
            elif not failure.confirmed:
                why = "it did not fail in both runs"
            if failure.known:
                continue  # the engine is wrong there, and that is known
            if why:
                self._done.left[failure.line] = why
            else:
                yield failure.line, failure

    def _rewrite(self, failures: dict[int, Failure]) -> None:
        answers = _Answers(self._run, self._file.path, set(failures))
        answers.all_of(self._done.before, until=max(failures))
        if answers.result.interrupted:
            raise KeyboardInterrupt
        thresholds = self._thresholds()
        for line in failures:
            if line not in answers.given:
                self._done.left[line] = "it did not fail again, or was not reached"
                continue
            record, answer = answers.given[line]
            try:
                self._keys[line] = self._said(record, answer, thresholds.get(line, 0))
            except CannotSay as error:
                self._done.left[line] = str(error)

    def _said(self, record: Runnable, answer: Sequence[Any], threshold: int) -> int:
        if type(record) is StatementRecord:
            if answer[0] not in ("rows", "done", "error"):
                raise CannotSay(REFUSED["crash"])
            return self._text.expect_statement(record)
        assert type(record) is QueryRecord
        if answer[0] == "error":
            raise CannotSay("a query that fails cannot be expected in this dialect")
        if answer[0] != "rows":
            raise CannotSay(REFUSED["unfit"])
        if not record.expects:
            raise CannotSay("it expects no values")
        return self._text.expect_values(record, answer[2], threshold)

    def _thresholds(self) -> dict[int, int]:
        """The hash threshold that holds at each record, by line."""
        found: dict[int, int] = {}
        threshold = 0
        for record in read(self._done.before, self._file.path):
            if type(record) is ControlRecord and _sets_threshold(record, self._run.name):
                threshold = self._text.threshold(record.line)
            found[record.line] = threshold
        return found

    def _wrong(self, seed: int) -> dict[int, str]:
        return self._unlike() or self._failing(seed)

    def _unlike(self) -> dict[int, str]:
        """Records that the new text does not have as it should."""
        old = list(read(self._done.before, self._file.path))
        why = "the new values would be read as something else"
        try:
            new = list(read(self._text.data(), self._file.path))
        except UnreadableInput as error:
            return dict.fromkeys(self._keys, f"{why}: {error.message}")
        if len(old) != len(new):
            return dict.fromkeys(self._keys, why)
        wrong = [a for a, b in zip(old, new, strict=True) if not self._as_it_should(a, b)]
        if any(record.line not in self._keys for record in wrong):
            return dict.fromkeys(self._keys, why)
        return dict.fromkeys((record.line for record in wrong), why)

    def _as_it_should(self, old: Record, new: Record) -> bool:
        """Whether a record is the same, but for what it expects if that was rewritten."""
        same = new._replace(line=old.line)
        if old.line in self._keys:
            if type(same) is StatementRecord and type(old) is StatementRecord:
                return same._replace(fails=old.fails) == old
            if type(same) is QueryRecord and type(old) is QueryRecord:
                values, number, digest = old.values, old.number, old.digest
                return same._replace(values=values, number=number, digest=digest) == old
        return same == old

    def _failing(self, seed: int) -> dict[int, str]:
        """Rewritten records that do not pass with the new text, by their old lines."""
        data = self._text.data()
        result = FileRun(self._run, self._file.path, hash_seed=3 + seed).all_of(data)
        if result.interrupted:
            raise KeyboardInterrupt
        if result.lost:
            raise EngineLost(result.lost)
        old = [r.line for r, _ in selected(read(self._done.before, ""), self._run.name)]
        new = [r.line for r, _ in selected(read(data, ""), self._run.name)]
        back = dict(zip(new, old, strict=True))
        failed = {back[failure.line] for failure in result.failures}
        return {
            line: "the engine answered otherwise again" for line in self._keys if line in failed
        }


class _Answers(FileRun):
    """A run that keeps the answers to some records that fail."""

    def __init__(self, run: Run, path: str, lines: set[int]) -> None:
        super().__init__(run, path, hash_seed=2)
        self._lines = lines
        self.given: dict[int, tuple[Runnable, Sequence[Any]]] = {}

    def _failed(self, record: Runnable, answer: Sequence[Any], mismatch: Mismatch) -> None:
        if record.line in self._lines and mismatch.kind not in REFUSED:
            self.given[record.line] = record, answer
        super()._failed(record, answer, mismatch)


def _sets_threshold(record: ControlRecord, name: str) -> bool:
    """Whether a record sets the hash threshold for the engine of this name."""
    lets = not any((kind == "skipif") == (who == name) for kind, who in record.conditions)
    return lets and record.name == "hash-threshold"


def keep_what_passes(
    text: Text,
    keys: dict[int, int],
    left: dict[int, str],
    wrong: Callable[[int], Mapping[int, str]],
) -> None:
    """Run the new text; what was rewritten and does not pass is taken back.

    keys: line of a record → key of its replacement, kept up. left: line → why it is left alone, is
    added to. wrong: runs the text with a seed, and says which of these lines do not pass, and why.
    """
    for seed in range(ROUNDS):
        found = wrong(seed) if keys else {}
        if not found:
            return
        for line, why in found.items():
            text.undo([keys.pop(line)])
            left[line] = why
    for line in list(keys):
        text.undo([keys.pop(line)])
        left[line] = "what was rewritten does not pass each time"
