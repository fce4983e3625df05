"""Records of DuckDB's dialect on an engine: what stands for variables, and how answers are judged.

An engine in a worker answers with DuckDB's own texts (`conform_duckdb_worker`); any other with the
values of its driver.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
import secrets
import shutil
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from refute.errors import Unsupported
from refute.oracles.sqllogictest.expect import Mismatch
from refute.oracles.sqllogictest.extended import duckdb_match as match
from refute.oracles.sqllogictest.extended.duckdb import root_of
from refute.oracles.sqllogictest.extended.duckdb_nodes import SKIPPED, Comparison, comparison
from refute.oracles.sqllogictest.extended.program import (
    Either,
    Node,
    Place,
    Program,
    Query,
    Record,
    Returns,
    Statement,
    Succeeds,
)
from refute.oracles.sqllogictest.reader import Conditions
from refute.verifiers.sql.conform_duckdb_data import data_files
from refute.verifiers.sql.conform_duckdb_worker import TextWorker
from refute.verifiers.sql.conform_engine import Engine
from refute.verifiers.sql.conform_file import FileResult, Run
from refute.verifiers.sql.conform_script import Ended, ScriptRun
from refute.verifiers.sql.conform_task import digest_of
from refute.verifiers.sql.conform_worker import InWorker

_NAMED = re.compile(r"\{|__")  # what could stand for something else is in a text with one of these


class Records(ScriptRun):
    """The part of a run that asks and judges. texts: the engine, where it runs in a worker."""

    def __init__(self, run: Run, program: Program, hash_seed: int) -> None:
        super().__init__(run, program, hash_seed)
        self.texts: TextWorker | None = None
        self.ignored: tuple[str, ...] = ()
        self.always_fail: tuple[str, ...] = match.ALWAYS_FAIL
        self.folder = ""  # of the test, where the engine sees it
        self.serial = 0
        self.come: Sequence[Any] | None = None  # the answer to the next record, where it is here
        self.root = _root(program.path)
        self.engine = self._with_texts(run.engine)

    def all(self, until: float = float("inf")) -> FileResult:
        """As for any dialect; the engine with texts is closed again."""
        try:
            return super().all(until)
        finally:
            if self.texts is not None:
                self.result.version = self.texts.version
                self.texts.close()
                self.run.engine.unstable = self.run.engine.unstable or self.texts.unstable
            if self.folder:  # where no file system of its own could be given to the worker
                for folder in (self.folder, f"{self.folder}.work"):
                    shutil.rmtree(folder, ignore_errors=True)

    def nodes(self, nodes: Sequence[Node]) -> None:
        """As for any dialect, once the engine has a place to work in."""
        if self.texts is not None:
            self.test_folder()
        super().nodes(nodes)

    def _with_texts(self, engine: Engine) -> Engine:
        """The engine, answering with texts if it runs in a worker."""
        if isinstance(engine, InWorker):
            self.texts = TextWorker.of(engine, self.root, self._data)
        return engine if self.texts is None else self.texts

    def _data(self) -> tuple[str, ...]:
        """The files that the SQL of this file names."""
        found = data_files(self.root, self.program.nodes, _without_folder)
        for path in (Path(self.root, name) for name in found):
            self.result.reads[str(path)] = digest_of(path.read_bytes())
        return found

    def working_folder(self) -> str:
        """The root, as the engine sees it: it is the current directory of a worker."""
        return self.root if self.texts is None else "."

    # Records.

    def runs(self, conditions: Conditions) -> bool:
        """Whether the conditions let this engine through, and what the loops stand at."""
        for kind, who in conditions:
            asked = comparison(who) if kind != SKIPPED else None
            holds = self._holds(asked) if asked else who in self.names()
            if kind == SKIPPED or (kind == "skipif") == holds:
                return False
        return True

    def _holds(self, asked: Comparison) -> bool:
        value = next(v for name, v in self.bound.items() if name.lower() == asked.name)
        if asked.operator in ("=", "<>"):
            return (value == asked.value) == (asked.operator == "=")
        try:
            left, right = int(value), int(asked.value)
        except ValueError:
            problem = f"{asked.name} is {value!r}, which {asked.operator} cannot compare"
            raise Unsupported(problem) from None
        return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[
            asked.operator
        ]

    def once(self, record: Record) -> Mismatch | None:
        """Run and judge a record."""
        assert isinstance(record, (Statement, Query))
        return self.judged(record, self.answer(record, self.text(record.sql)))

    def ask(self, connection: str, sql: str) -> Sequence[Any]:
        """The engine's answer on a connection, unless it was asked for before."""
        return self.engine.answer_on(connection, sql) if self.come is None else self.come

    def judged(self, record: Statement | Query, answer: Sequence[Any]) -> Mismatch | None:
        """Judge a record's answer. Raises Ended for an error that the file ignores."""
        if answer[0] == "error":
            expected = isinstance(record, Statement) and type(record.expects) is not Succeeds
            self._look_away(answer, expected)
        try:
            if isinstance(record, Statement):
                found = match.judge_statement(record.expects, answer, self.text, self.always_fail)
                self.result.unchecked += type(record.expects) is Either
                return found
            wanted = self.wanted(record)
            match.regular(wanted or ())
            return match.judge_query(record, answer, wanted, self.labels)
        except re.error as error:
            problem = f"{record.place}: a regular expression that cannot be read: {error}"
            raise Unsupported(problem) from None

    def wanted(self, record: Query) -> list[str] | None:
        """The lines that a query has to return, with what their variables stand for."""
        assert isinstance(record.expects, Returns)
        lines = record.expects.lines
        if lines is None:
            return None
        if len(lines) == 1 and lines[0].startswith(match.FILE):
            return self._from_file(record.place, self.text(lines[0][len(match.FILE) :]))
        return [self.text(line) for line in lines]

    def _look_away(self, answer: Sequence[Any], expected: bool) -> None:
        """End the file on an error that it says to ignore, unless errors are expected here."""
        part = next((part for part in self.ignored if part in answer[2]), "")
        if part and not expected:
            self.number -= 1  # this record is among those that are not run
            self.leave(f"an error with {part!r}, which the file ignores")

    def _from_file(self, place: Place, name: str) -> list[str]:
        """Values of a file with `|` between them, a header, and nothing for NULL."""
        path = Path(self.root, name)
        try:
            data = path.read_bytes()
            lines = io.StringIO(data.decode("utf-8"), newline="")
            rows = list(csv.reader(lines, delimiter="|"))[1:]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            problem = f"{place}: the result in {name} cannot be read: {error}"
            raise Unsupported(problem) from None
        self.result.reads[str(path)] = digest_of(data)
        return [value or "NULL" for row in rows for value in row]

    # Variables.

    def written(self, sql: str) -> str:
        """The text of a record as it was run."""
        return self.text(sql)

    def text(self, text: str) -> str:
        """The text with values in place of variables."""
        if not _NAMED.search(text):
            return text
        text = self._known(text)
        for name, value in self.bound.items():
            values = self._known(value).split(",") if "," in name else [self._known(value)]
            names = name.split(",") if "," in name else [name]
            if len(values) != len(names):
                raise Unsupported(f"{len(names)} names, {name}, for {len(values)} values: {value}")
            for one, stands in zip(names, values, strict=True):
                text = text.replace(f"${{{one}}}", stands).replace(f"{{{one}}}", stands)
        return text

    def _known(self, text: str) -> str:
        """The text with values in place of what is no variable of a loop."""
        for name, value in self.variables.items():
            text = text.replace(f"${{{name}}}", value).replace(f"{{{name}}}", value)
        for name, makes in _BUILT_IN.items():
            if name in text:
                text = text.replace(name, makes(self))
        if "BUILD_DIRECTORY" in text:
            raise Unsupported("{BUILD_DIRECTORY}: DuckDB's build is not here")
        return text

    def test_folder(self) -> str:
        """The folder of the test, as the engine sees it; it vanishes after the run."""
        if self.texts is None:
            return self.test_directory()
        if not self.folder:
            self.folder = f"/tmp/refute-test-{secrets.token_hex(6)}"
            self.texts.directory(self.folder)
        return self.folder

    def name_of_test(self) -> str:
        """The file's path from the root, else its whole name."""
        whole = Path(self.program.path).absolute()
        with contextlib.suppress(ValueError):
            return whole.relative_to(self.root).as_posix()
        return whole.name

    def identifier(self) -> str:
        """Another one each time, the same ones in each run."""
        self.serial += 1
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.program.path}#{self.serial}"))

    def leave(self, reason: str) -> None:
        """Leave the rest of the file out, and say why. Raises Ended."""
        rest = max(0, self._rest() - 1)
        self.result.skipped += rest
        self.result.unmet = f"{reason} ({rest} record{'' if rest == 1 else 's'})"
        raise Ended


def _without_folder(text: str) -> str:
    """A path with the root left out, and the data's folder as it lies there."""
    for name in ("__WORKING_DIRECTORY__/", "{WORKING_DIRECTORY}/", "{WORKING_DIR}/"):
        text = text.replace(name, "")
    return text.replace("{DATA_DIR}", "data")


def _root(path: str) -> str:
    """The folder that paths in the file start from."""
    with contextlib.suppress(OSError):
        if found := root_of(Path(path).read_bytes(), path):
            return found
    return str(Path.cwd())


_BUILT_IN: dict[str, Callable[[Records], str]] = {
    "__TEST_DIR__": Records.test_folder,
    "{TEST_DIR}": Records.test_folder,
    "{TEMP_DIR}": Records.test_folder,
    "__WORKING_DIRECTORY__": Records.working_folder,
    "{WORKING_DIRECTORY}": Records.working_folder,
    "{WORKING_DIR}": Records.working_folder,
    "{DATA_DIR}": lambda run: f"{run.working_folder()}/data".removeprefix("./"),
    "{TEST_NAME}": Records.name_of_test,
    "{BASE_TEST_NAME}": lambda run: run.name_of_test().replace("/", "_"),
    "{TEST_NAME__NO_SLASH}": lambda run: run.name_of_test().replace("/", "_"),
    "{UUID}": Records.identifier,
}
