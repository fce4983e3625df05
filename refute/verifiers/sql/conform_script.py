"""Running an extended sqllogictest file on an engine: its nodes in order, on a fresh database.

What is counted, confirmed and given up is as in `conform_file`. Records are told apart by their
number in the run, since a loop or an include runs one line several times; the order of a run
depends on nothing the engine answers, so that the second run meets the same numbers.

A dialect that runs otherwise derives from `ScriptRun` and is named in `RUNNERS`.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from refute.errors import RefuteError, UnreadableInput, Unsupported
from refute.oracles.sqllogictest.expect import Labels, Mismatch, fingerprint
from refute.oracles.sqllogictest.extended.dialects import AUTO, detected, read_program
from refute.oracles.sqllogictest.extended.program import (
    Control,
    Halt,
    HashThreshold,
    Include,
    Let,
    Loop,
    Node,
    Place,
    Program,
    Query,
    Record,
    Sleep,
    Statement,
    Subtest,
    System,
)
from refute.oracles.sqllogictest.reader import Conditions
from refute.verifiers.sql.conform_engine import EngineCannot, EngineLost
from refute.verifiers.sql.conform_file import Failure, FileResult, Run, leaves_effects, told
from refute.verifiers.sql.conform_script_chosen import Narrowed
from refute.verifiers.sql.conform_task import ENVIRONMENT, digest_of

TICK_S = 0.1  # of a sleep, between two looks at whether the run is over

RUNNERS = {
    "rs": "refute.verifiers.sql.conform_script_rs:RsRun",
    "duckdb": "refute.verifiers.sql.conform_duckdb:DuckDBRun",
}
"""Dialect → the class that runs its programs."""


class Ended(Exception):
    """No more of the file is run, and nothing is wrong with that."""


def run_script(
    run: Run, path: str, data: bytes, confirm: int, refused: UnreadableInput | None = None
) -> FileResult:
    """Run a file of an extended dialect; the first `confirm` failures again in a second run.

    refused: why it is not SQLite's dialect, where no dialect was said. An error in the file, or a
    lost engine, is part of the result. Raises KeyboardInterrupt.
    """
    started = time.monotonic()
    try:
        program = _program(run, path, data, refused)
    except UnreadableInput as error:
        return FileResult(path, error=told(error))
    first = runner_of(run, program, 0)
    result = first.all()
    first.doubt_last(data)
    if result.failures and not (result.cut or result.error) and confirm:
        _confirm(run, program, result, first.numbers[:confirm])
    if leaves_effects(result):
        followed = importlib.import_module("refute.verifiers.sql.conform_followed")
        followed.mark_script(result, first.trace, first.numbers)
    result.unstable = result.unstable or run.engine.unstable
    result.wall_s = time.monotonic() - started
    return result


def runner_of(run: Run, program: Program, hash_seed: int) -> ScriptRun:
    """What runs programs of this dialect."""
    module, _, name = RUNNERS[program.dialect].partition(":")
    made: ScriptRun = getattr(importlib.import_module(module), name)(run, program, hash_seed)
    return made


def _program(run: Run, path: str, data: bytes, refused: UnreadableInput | None) -> Program:
    if run.dialect == AUTO and refused is not None:
        return detected(data, path, refused)
    return read_program(data, path, run.dialect)


def _confirm(run: Run, program: Program, result: FileResult, numbers: Sequence[int]) -> None:
    """Run the file again, up to the last of the failures, and mark those that fail again."""
    second = runner_of(run, program, 1)
    again = second.all(until=numbers[-1])
    seen = set(second.numbers)
    whole = not (again.cut or again.lost or again.error)
    passed = ""
    for failure, number in zip(result.failures, numbers, strict=False):
        failure.confirmed = True if number in seen else False if whole else None
        if failure.confirmed is False:
            passed = passed or f"{failure.path or result.path}:{failure.line}"
    if passed:
        result.unstable = f"{passed} failed and then passed on a fresh database"


class ScriptRun:
    """One run of one program under a hash seed, from an empty database.

    numbers: of the records that failed, counted from 1 as they are run or skipped, in the order of
    `result.failures`. bound: what the loops around the current node stand at. asked: the text of
    the current record, as it was run, answered: what came. trace: number, place and text of all
    that was run.
    """

    def __init__(self, run: Run, program: Program, hash_seed: int) -> None:
        self.run = run
        self.engine = run.engine
        self.program = program
        self.hash_seed = hash_seed
        self.result = FileResult(program.path, reads=dict(program.reads))
        self.labels: Labels = {}
        self.numbers: list[int] = []
        self.number = 0
        self.until = float("inf")
        self.at = Place(program.path, 1)
        self.asked = ""
        self.answered: Sequence[Any] = ()
        self.trace: list[tuple[int, Place, str]] = []
        self.narrowed = Narrowed(program, run.chosen) if run.chosen is not None else None
        self.bound: dict[str, str] = {}
        self.variables: dict[str, str] = {}
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._handlers: dict[type[Node], Callable[[Any], None]] = self.handlers()

    def handlers(self) -> dict[type[Node], Callable[[Any], None]]:
        """What is done at each type of node; a dialect adds its own. Records end in `record`."""
        return {
            Statement: self.record,
            Query: self.record,
            Let: self.record,
            System: self.record,
            Control: self.control,
            HashThreshold: self.nothing,
            Subtest: self.nothing,
            Sleep: self.sleep,
            Halt: self.halt,
            Include: self.include,
            Loop: self.loop,
        }

    def all(self, until: float = float("inf")) -> FileResult:
        """Run the records up to the one of this number; what came of them."""
        self.until = until
        result = self.result
        try:
            self.check()
            self.engine.start(self.hash_seed)
            self.nodes(self.program.nodes)
        except Ended:
            pass
        except (EngineLost, EngineCannot) as error:
            lost = isinstance(error, EngineLost)
            result.lost = str(error) if lost else f"{self.at}: {error.args[0]}"
            result.not_run = self._rest() - (not self.number)  # none has begun
        except RefuteError as error:  # something that the file says cannot be done
            result.error = told(error)
        except KeyboardInterrupt:
            result.cut = result.interrupted = True
        finally:
            self.close()
            if self._directory is not None:
                self._directory.cleanup()
                self._directory = None
        return result

    def check(self) -> None:
        """Refuse, before anything is run, what the file may not do. Raises RefuteError."""

    def close(self) -> None:
        """End what the file began outside of the engine."""

    def nodes(self, nodes: Sequence[Node]) -> None:
        """Run them one after the other."""
        for node in nodes:
            handler = self._handlers.get(type(node))
            if handler is None:
                raise Unsupported(f"{node.place}: {type(node).__name__} cannot be run")
            self.at = node.place
            handler(node)

    # What a file says besides its records.

    def control(self, node: Control) -> None:
        """Note what holds from here on. A dialect overrides this."""
        raise Unsupported(f"{node.place}: control {node.name} cannot be run")

    def nothing(self, node: Node) -> None:
        """What changes nothing when results are only verified."""

    def halt(self, node: Halt) -> None:
        """End here, where the conditions let this engine through."""
        if self.runs(node.conditions):
            raise Ended

    def include(self, node: Include) -> None:
        """Run what the other files say."""
        self.nodes(node.body)

    def loop(self, node: Loop) -> None:
        """Run the body once for each value."""
        for value in node.values:
            self.bound[node.name] = value
            self.nodes(node.body)
        self.bound.pop(node.name, None)

    def sleep(self, node: Sleep) -> None:
        """Wait, unless the run is over."""
        self.wait(node.seconds)

    def wait(self, seconds: float) -> None:
        """Sleep so long, or until the run is over. Raises Ended."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._look()
            time.sleep(min(left, TICK_S))

    # Records.

    def record(self, record: Record) -> None:
        """Run and judge a record, as often as its retry says, or skip it."""
        self.number += 1
        if self.number > self.until:
            raise Ended
        self._look()
        checked = self.narrowed is None or self.narrowed.picks(record)
        if not checked and self.narrowed is not None and self.narrowed.leaves_out(record):
            self.result.unchosen += 1
        elif not self.runs(record.conditions):
            self.result.skipped += 1
        else:
            self._run(record, checked)

    def _run(self, record: Record, checked: bool) -> None:
        """Run a record and note what came of it."""
        result = self.result
        self.asked = getattr(record, "sql", getattr(record, "command", ""))
        self.answered = ()
        mismatch = self.tried(record)
        self.run.progress(1)
        if not checked:
            result.setup += 1
            result.unchosen += 1
            if mismatch is not None:
                told = f"expected {mismatch.expected}, got {mismatch.got}"
                result.setup_failed.append(f"{record.place}: {told}")
            return
        result.run += 1
        if mismatch is not None:
            self.failed(record, mismatch)
            if len(result.failures) >= self.run.most:
                result.stopped = True
                result.not_run = self._rest() - 1
                raise Ended

    def runs(self, conditions: Conditions) -> bool:
        """Whether the conditions let this engine through."""
        return not any((kind == "skipif") == (who in self.names()) for kind, who in conditions)

    def names(self) -> frozenset[str]:
        """What the engine is called in conditions, in lower case."""
        return frozenset((self.run.name,))

    def tried(self, record: Record) -> Mismatch | None:
        """Run and judge a record; the mismatch of the last of its tries."""
        attempts = record.retry.attempts if record.retry else 1
        mismatch = None
        for attempt in range(attempts):
            if attempt and record.retry:
                self.wait(record.retry.backoff_s)
            mismatch = self.once(record)
            if mismatch is None:
                break
        return mismatch

    def once(self, record: Record) -> Mismatch | None:
        """Run and judge a record once. A dialect overrides this."""
        raise Unsupported(f"{record.place}: {type(record).__name__} cannot be run")

    def answer(self, record: Record, sql: str) -> Sequence[Any]:
        """The engine's answer on the record's connection. Raises EngineLost or EngineCannot."""
        self.asked = sql
        self.answered = self.ask(record.connection, sql)
        self.trace.append((self.number, record.place, sql))
        return self.answered

    def ask(self, connection: str, sql: str) -> Sequence[Any]:
        """The engine's answer on a connection. A dialect may have asked for it before."""
        return self.engine.answer_on(connection, sql)

    def failed(self, record: Record, mismatch: Mismatch) -> None:
        """Note a failure, at its own place."""
        place = record.place
        failure = Failure(place.line, self.asked, mismatch.expected, mismatch.got)
        failure.kind = mismatch.kind
        failure.answer = fingerprint("", self.answered) if self.answered else ""
        failure.path = place.path if place.path != self.program.path else ""
        failure.round = ", ".join(f"{name}={value}" for name, value in self.bound.items())
        self.result.failures.append(failure)
        self.numbers.append(self.number)
        self.note(record)

    def note(self, record: Record) -> None:
        """Called with each record that failed, while its answer is at hand."""

    def doubt_last(self, data: bytes) -> None:
        """A failure that the end of the file explains is the file's: it looks as if it was cut off.

        As in `conform_file`: a file that is cut off anywhere but between lines has no line end.
        """
        result = self.result
        last = result.failures[-1] if result.failures else None
        if last is None or last.path or data.endswith(b"\n") or not may_be_cut(last):
            return
        if all(line.strip() for line in data.split(b"\n")[last.line - 1 :]):
            result.failures.pop()
            self.numbers.pop()
            result.error = (
                f"{result.path}:{last.line}: the file seems to be cut off in this record, which "
                f"fails: expected {last.expected}, got {last.got}"
            )

    def test_directory(self) -> str:
        """A directory of this run's own, made when it is first asked for."""
        if self._directory is None:
            self._directory = tempfile.TemporaryDirectory(prefix="refute-test-")
        return self._directory.name

    def environment(self, name: str) -> str | None:
        """A variable of the environment, for dialects that let files read it."""
        value = os.environ.get(name)
        known = "" if value is None else digest_of(value.encode())
        self.result.reads[f"{ENVIRONMENT}{name}"] = known
        return value

    def _look(self) -> None:
        """Raises Ended when the run is over."""
        if self.run.stop():
            self.result.cut = True
            raise Ended

    def _rest(self) -> int:
        """How many records there would have been from this one on."""
        return max(0, sum(1 for _ in records_of(self.program.nodes)) - self.number + 1)


def may_be_cut(failure: Failure) -> bool:
    """Whether a longer record could have passed: half a statement, or the first of its lines."""
    ends = failure.expected.endswith("and no more") or failure.expected == "no rows"
    return failure.kind == "error" or (failure.kind == "values" and ends)


def records_of(nodes: Sequence[Node]) -> Iterator[Record]:
    """The records that a program runs or skips, in order, up to a `halt` without conditions."""
    with contextlib.suppress(Ended):
        yield from _records_of(nodes)


def _records_of(nodes: Sequence[Node]) -> Iterator[Record]:
    for node in nodes:
        if isinstance(node, Record):
            yield node
        elif isinstance(node, Include):
            yield from _records_of(node.body)
        elif isinstance(node, Loop):
            for _ in node.values:
                yield from _records_of(node.body)
        elif isinstance(node, Halt) and not node.conditions:
            raise Ended
