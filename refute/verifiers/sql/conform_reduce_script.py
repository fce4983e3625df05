"""Where failed records come from, with what runs before them, and reduced scripts as test files.

A file in SQLite's dialect is read again: its records are known by their lines. A file of another
dialect has loops and variables, so it is run once more on an engine that writes down what it is
asked; there is no record then that another answer could be held against.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from refute.errors import RefuteError, UnreadableInput
from refute.oracles.sqllogictest.layout import refuse_other
from refute.oracles.sqllogictest.reader import read
from refute.verifiers.sql.conform_file import (
    READS_ONLY,
    Engine,
    Failure,
    FileResult,
    Run,
    run_file,
    selected,
)
from refute.verifiers.sql.conform_reduce import Reduced
from refute.verifiers.sql.conform_reduce_trial import Runnable
from refute.verifiers.sql.conform_run import Choice

STDIN = "<stdin>"


@dataclasses.dataclass(frozen=True)
class Case:
    """A failed statement and the SQL of all that ran before it. record: None where only the SQL is
    known, and not what other answers would be right. kind: of its failure."""

    before: Sequence[str]
    sql: str
    record: Runnable | None
    kind: str = ""


class Sources:
    """Finds cases. The file that was read last is kept."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._path = ""
        self._records: list[Runnable] | None = None
        self._places: dict[int, int] = {}
        self._told: list[str] = []
        self._writing: list[int] = []
        self._setup: tuple[str, ...] = ()

    def case(self, file: FileResult, failure: Failure) -> Case | None:
        """The case of a failure; None where it cannot be had, such as from standard input."""
        if file.path == STDIN:
            return None
        if file.path != self._path:
            self._read(file.path)
        if self._records is None:
            return self._from_told(failure)
        place = self._places.get(failure.line)
        if place is None:
            return None
        record = self._records[place]
        if record.sql != failure.sql:  # the file was changed
            return None
        before = [earlier.sql for earlier in self._records[:place]]
        return Case(before, record.sql, record, failure.kind)

    def setup(self, failure: Failure) -> tuple[str, ...]:
        """What changes the database before a failure of the file that was asked for last."""
        assert self._records is not None
        number = bisect.bisect_left(self._writing, self._places[failure.line])
        if len(self._setup) != number:
            self._setup = tuple(self._records[place].sql for place in self._writing[:number])
        return self._setup

    def _read(self, path: str) -> None:
        self._path, self._records, self._places, self._told = path, None, {}, []
        self._writing, self._setup = [], ()
        try:
            data = Path(path).read_bytes()
        except OSError:
            return
        if self._choice.dialect in ("auto", "sqlite"):
            try:
                pairs = list(selected(read(data, path), self._choice.name))
                if self._choice.dialect == "auto":
                    refuse_other(data, path, pairs)
            except UnreadableInput:
                pass
            else:
                records: list[Any] = [record for record, runs in pairs if runs]
                self._records = records
                self._places = {record.line: place for place, record in enumerate(records)}
                self._writing = [
                    place
                    for place, record in enumerate(records)
                    if not READS_ONLY.match(record.sql)
                ]
                return
        self._told = self._listen(path, data)

    def _listen(self, path: str, data: bytes) -> list[str]:
        """What the engine is asked in the file; nothing where several connections are used."""
        engine = self._choice.open()
        listener: Any = _Listener(engine)
        run = Run(listener, self._choice.name, dialect=self._choice.dialect)
        try:
            run_file(run, path, data, 0)
        except RefuteError:
            return []
        finally:
            engine.close()
        return [] if listener.several else listener.asked

    def _from_told(self, failure: Failure) -> Case | None:
        if failure.sql not in self._told:
            return None
        place = self._told.index(failure.sql)
        return Case(self._told[:place], failure.sql, None, failure.kind)


class _Listener:
    """An engine that writes down what it is asked. several: whether more than one connection."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.asked: list[str] = []
        self.several = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        """As the engine's."""
        self.asked += statements
        return self._engine.answers(statements)

    def answer_on(self, connection: str, sql: str, timeout_s: float | None = None) -> Sequence[Any]:
        """As the engine's."""
        self.asked.append(sql)
        self.several = self.several or bool(connection)
        return self._engine.answer_on(connection, sql, timeout_s)


def test_text(reduced: Reduced, origin: str) -> str:
    """A reduced script as the text of a test file that fails as the record at `origin` did.

    Empty where the values that are expected are only known in another dialect.
    """
    script, found = reduced.script, reduced.difference
    if not (found.types or reduced.oracle or found.kind in ("error", "crash", "no error")):
        return ""
    lines = [f"# Reduced from {origin}.", ""]
    for place, sql in enumerate(script.setup):
        wanted = "error" if place in reduced.refused else "ok"
        lines += [f"statement {wanted}", *_lines(sql), ""]
    if found.types:
        lines += [f"query {found.types} {found.sort}", *_lines(script.sql), "----"]
        lines += [*found.expected, ""]
    else:
        wanted = "error" if found.kind == "no error" or found.fails else "ok"
        lines += [f"statement {wanted}", *_lines(script.sql), ""]
    return "\n".join(lines)


def _lines(sql: str) -> list[str]:
    """The SQL's lines; none is empty or looks like a comment of the file."""
    found = [line for line in sql.split("\n") if line.strip()]
    return [f" {line}" if line.startswith("#") else line for line in found]
