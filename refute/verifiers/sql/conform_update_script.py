"""Update mode for extended dialects, as far as what a record expects is plain text.

As in `conform_update`: a record is rewritten where it failed in both runs, was answered in a third
and passes in a fourth with the new text. What stands for more than itself is left to a person: a
variable, a regular expression, an ignored part, a message of an error, a hash, a record in a loop
or in an included file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from refute.errors import UnreadableInput
from refute.oracles.sqllogictest.extended import duckdb_match, rs_rows
from refute.oracles.sqllogictest.extended.dialects import READERS, detected, read_program
from refute.oracles.sqllogictest.extended.program import (
    Fails,
    Program,
    Query,
    Record,
    Returns,
    Statement,
    Succeeds,
)
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.conform_file import Failure, FileResult, Run
from refute.verifiers.sql.conform_script import ScriptRun, records_of, runner_of
from refute.verifiers.sql.conform_update import REFUSED, Updated, keep_what_passes
from refute.verifiers.sql.conform_update_text import CannotSay, Text

_MORE = ("$", "<slt:", "<REGEX>", "<!REGEX>", "<FILE>", " values hashing to ")

Given = dict[int, tuple[Record, Sequence[Any], Any]]


def update_script(run: Run, file: FileResult, data: bytes, refused: UnreadableInput) -> Updated:
    """As `conform_update.update`. refused: why the file is not in SQLite's dialect."""
    if run.dialect in READERS:
        program = read_program(data, file.path, run.dialect)
    else:
        program = detected(data, file.path, refused)
    return _Update(run, file, data, program).made()


class _Update:
    def __init__(self, run: Run, file: FileResult, data: bytes, program: Program) -> None:
        self._run = run
        self._file = file
        self._program = program
        self._text = Text(data)
        self._done = Updated(file.path, data, data)
        self._keys: dict[int, int] = {}  # line of a record → key of its replacement

    def made(self) -> Updated:
        """Rewrite, and take back whatever does not pass."""
        failures = self._eligible()
        if failures:
            given, _ = self._played(self._program, 2)
            for line, failure in failures.items():
                self._rewrite(line, failure, given.get(line))
            keep_what_passes(
                self._text, self._keys, self._done.left, lambda seed: self._wrong(3 + seed)
            )
        self._done.lines = sorted(self._keys)
        self._done.data = self._text.data() if self._keys else self._done.before
        return self._done

    def _eligible(self) -> dict[int, Failure]:
        found: dict[int, Failure] = {}
        for failure in self._file.failures:
            why = REFUSED.get(failure.kind, "")
            if failure.path:
                why = f"it stands in {failure.path}, which this file includes"
            elif failure.round:
                why = "it stands in a loop"
            elif not failure.confirmed:
                why = "it did not fail in both runs"
            if why and not failure.known:
                self._done.left[failure.line] = why
            elif not failure.known:
                found[failure.line] = failure
        return found

    def _played(self, program: Program, seed: int) -> tuple[Given, list[int]]:
        """Records that failed, by line, with their answers; and the numbers of all that did."""
        given: Given = {}
        player = runner_of(self._run, program, seed)

        def note(record: Record) -> None:
            if record.place.path == program.path:
                given[record.place.line] = (record, player.answered, modes_of(player))

        player.note = note  # type: ignore[method-assign]
        result = player.all()
        if result.interrupted:
            raise KeyboardInterrupt
        if result.lost or result.error:
            raise EngineLost(result.lost or result.error)
        return given, player.numbers

    def _rewrite(
        self, line: int, failure: Failure, given: tuple[Record, Sequence[Any], Any] | None
    ) -> None:
        try:
            if given is None:
                raise CannotSay("it did not fail again")
            record, answer, modes = given
            if isinstance(record, Statement):
                self._keys[line] = self._outcome(line, record, answer)
            elif isinstance(record, Query) and isinstance(record.expects, Returns):
                lines = self._lines(record, record.expects, answer, modes)
                self._keys[line] = self._text.expect_lines(line, lines)
            else:
                raise CannotSay("what it expects is more than a text")
        except CannotSay as error:
            self._done.left[line] = str(error)

    def _outcome(self, line: int, record: Statement, answer: Sequence[Any]) -> int:
        if answer[0] not in ("rows", "done", "error"):
            raise CannotSay(REFUSED["crash"])
        if record.expects not in (Succeeds(), Fails()):
            raise CannotSay("what it expects is more than success or failure")
        return self._text.expect_outcome(line, fails=answer[0] == "error")

    def _lines(
        self, record: Query, expects: Returns, answer: Sequence[Any], modes: Any
    ) -> list[str]:
        if answer[0] == "error":
            raise CannotSay("a query that fails is for a person to expect")
        if answer[0] != "rows":
            raise CannotSay(REFUSED["unfit"])
        old = expects.lines or ()
        if any(word in text for text in old for word in _MORE):
            raise CannotSay("what it expects is more than a text")
        if self._program.dialect == "rs":
            lines = rs_rows.lines_of(record, answer, modes)
        else:
            lines = duckdb_match.lines_of(record, answer, old)
        if any(word in text for text in lines for word in _MORE):
            raise CannotSay("a value would be read as something else")
        return lines

    def _wrong(self, seed: int) -> dict[int, str]:
        """Rewritten records that the new text does not have as it should, or that fail with it."""
        why = "the new lines would be read as something else"
        try:
            new = read_program(self._text.data(), self._program.path, self._program.dialect)
        except UnreadableInput as error:
            return dict.fromkeys(self._keys, f"{why}: {error.message}")
        before, after = list(records_of(self._program.nodes)), list(records_of(new.nodes))
        if list(map(_asked, before)) != list(map(_asked, after)):
            return dict.fromkeys(self._keys, why)
        back = {a.place: b.place.line for a, b in zip(after, before, strict=True)}
        given, _ = self._played(new, seed)
        failed = {back[record.place] for record, _, _ in given.values()}
        return {
            line: "the engine answered otherwise again" for line in self._keys if line in failed
        }


def modes_of(player: ScriptRun) -> Any:
    """How results are compared at this moment, where the dialect lets that change."""
    return getattr(player, "modes", None)


def _asked(record: Record) -> tuple[str, str]:
    """What a record is, but for what it expects."""
    return type(record).__name__, str(getattr(record, "sql", ""))
