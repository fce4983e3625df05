"""Running one sqllogictest file on an engine: every record, in order, on a fresh database.

A record that fails does not end the file, as in the C runner. What is counted is what was really
run; an engine that was given up, an interrupt or a line that cannot be read leaves records that
were not, and the result says so.
"""

from __future__ import annotations

import dataclasses
import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol, runtime_checkable

from refute.errors import RefuteError, UnreadableInput
from refute.oracles.sqllogictest.expect import (
    Labels,
    Mismatch,
    begins_well,
    fingerprint,
    judge,
    observe_skipped,
)
from refute.oracles.sqllogictest.layout import refuse_other
from refute.oracles.sqllogictest.reader import (
    ControlRecord,
    QueryRecord,
    Record,
    StatementRecord,
    read,
)
from refute.oracles.sqllogictest.release import depends
from refute.verifiers.sql.conform_arbiter import Arbiter
from refute.verifiers.sql.conform_chosen import READS_ONLY as READS_ONLY
from refute.verifiers.sql.conform_chosen import Chosen, Narrowed
from refute.verifiers.sql.conform_engine import Embedded as Embedded
from refute.verifiers.sql.conform_engine import Engine as Engine
from refute.verifiers.sql.conform_engine import EngineCannot as EngineCannot
from refute.verifiers.sql.conform_engine import EngineLost as EngineLost
from refute.verifiers.sql.conform_engine import cannot as cannot
from refute.verifiers.sql.conform_excuses import Excuses, excused

KEPT = 2**22  # bytes of a file whose records are kept between looking at them and running them
CHUNK = 64  # records that are sent to an engine at once
SQLITE, AUTO = "sqlite", "auto"  # dialects of files: the C runner's, or whichever it is
C = "c"  # SQLite's, with the C runner's own verdict

Runnable = StatementRecord | QueryRecord


@dataclasses.dataclass
class Failure:
    """A record that failed. confirmed: whether it failed again on a fresh database; None: not asked

    line: of the directive `statement` or `query`, in the included file `path` if that is not empty.
    round: where the loops around it stood. cut: a longer record could have passed. kind: one of
    `expect.KINDS`. known: why it was accepted (`conform_known`). listed: the place of its entry in
    the list of known failures, or why the entry does not excuse it. updated: whether the record
    expects now what the engine gave (`conform_update`). follows: line of an earlier
    record whose failure was shown to explain this one; may_follow: one that may (`conform_follow`);
    0 for none. answer: a digest of the engine's whole answer, "" where there is none. cause: number
    of its cause (`conform_causes`), 0 for none. asked: what the engine was asked where that is not
    `sql` itself.
    """

    line: int
    sql: str
    expected: str
    got: str
    confirmed: bool | None = None
    cut: bool = False
    kind: str = ""
    known: str = ""
    listed: str = ""
    updated: bool = False
    follows: int = 0
    may_follow: int = 0
    answer: str = ""
    path: str = ""
    round: str = ""
    asked: str = ""
    cause: int = 0


@dataclasses.dataclass
class FileResult:
    """What came of one file.

    run, skipped: records, as the C runner counts them. unchecked: queries that were run although
    the file does not say what they return. not_run: records after the engine was given up, for the
    reason in `lost`. error: why the file cannot be read; nothing of it was run, unless only its
    end seems to be missing. unstable: why the
    engine's answers are not the same each time. cut: the run was interrupted in this file.
    version: what the engine said it is, where it says so.

    Of records that were not chosen: setup: so many ran, and were not checked, since chosen ones
    come after them. setup_failed: those of them that did not do what the file says. unchosen: so
    many did not run. differences: lines of records that differ as is expected, by class.
    inexpressible: lines of records that could not be asked, by construct; they count as not run.
    reads: other files, and variables as $NAME, that were read, and the SHA-256 of each. stopped: so
    many records failed that the rest was not run. unmet: what the file requires and is not there;
    the records after it are skipped.

    by_release: lines of queries whose result depends on the release of SQLite (`release.depends`).
    native: the compiled helper ran it (`conform_native`); doubted: the plain path did, too. says:
    what the C runner prints of it, where the dialect is its own.
    """

    path: str
    run: int = 0
    skipped: int = 0
    unchecked: int = 0
    not_run: int = 0
    failures: list[Failure] = dataclasses.field(default_factory=list)
    error: str = ""
    lost: str = ""
    unstable: str = ""
    cut: bool = False
    interrupted: bool = False
    wall_s: float = 0.0
    version: str = ""
    setup: int = 0
    setup_failed: list[str] = dataclasses.field(default_factory=list)
    unchosen: int = 0
    reads: dict[str, str] = dataclasses.field(default_factory=dict)
    stopped: bool = False
    differences: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    inexpressible: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    unmet: str = ""
    by_release: list[int] = dataclasses.field(default_factory=list)
    native: bool = False
    doubted: bool = False
    says: str = ""

    @property
    def confirmed(self) -> int:
        """How many failures, those apart that are known or updated, were seen twice."""
        failures = (f for f in self.failures if not (f.known or f.updated))
        return sum(failure.confirmed is True for failure in failures)


@dataclasses.dataclass(frozen=True)
class Rules:
    """What only extended dialects ask. labels: more names for skipif and onlyif.

    allow_system: whether files may run commands on this machine. strict: whether the column types
    of sqllogictest-rs are checked. timeout_s: wall seconds for one of those commands.
    """

    labels: tuple[str, ...] = ()
    allow_system: bool = False
    strict: bool = False
    timeout_s: float = 30.0


@dataclasses.dataclass(frozen=True)
class Run:
    """How files are run. name: the engine's, for skipif and onlyif, in lower case.

    dialect: of the files, or "auto". rules: for those that are not SQLite's.

    stop: asked between chunks of records, whether the run is over. progress: told of every chunk
    how many records it had. chosen: which records are checked, if not all. most: so many failures
    end the file. excuses: for differences that are expected; None for none.
    """

    engine: Engine
    name: str
    stop: Callable[[], bool] = lambda: False
    progress: Callable[[int], None] = lambda _: None
    dialect: str = SQLITE
    rules: Rules = Rules()
    chosen: Chosen | None = None
    most: float = float("inf")
    excuses: Excuses | None = None


@runtime_checkable
class WholeFiles(Protocol):
    """An engine that can run some files faster than record by record."""

    def whole_file(self, run: Run, path: str, data: bytes) -> FileResult | None:
        """The result of a file; None if it is to be run record by record."""
        ...


def run_file(run: Run, path: str, data: bytes, confirm: int) -> FileResult:
    """Run the file's records. The first `confirm` failures are looked for in a second run.

    An error in the file, or a lost engine, is part of the result. Raises KeyboardInterrupt.
    """
    if run.chosen is not None:
        run = dataclasses.replace(run, chosen=run.chosen.within(data))
    if run.dialect == C:
        module = importlib.import_module("refute.verifiers.sql.conform_c")
        judged: FileResult = module.run_c(run, path, data, confirm)
        return judged
    if run.dialect not in (SQLITE, AUTO):
        return _run_script(run, path, data, confirm, None)
    if run.chosen is None and isinstance(run.engine, WholeFiles):
        whole = run.engine.whole_file(run, path, data)
        if whole is not None:
            return whole
    started = time.monotonic()
    first = FileRun(run, path, hash_seed=0)
    result = first.all_of(data)
    if first.refused is not None and run.dialect == AUTO:
        return _run_script(run, path, data, confirm, first.refused)
    _doubt_last(result, data)
    if result.failures and not result.cut and confirm:
        _confirm(run, result, data, result.failures[:confirm])
    if leaves_effects(result):
        importlib.import_module("refute.verifiers.sql.conform_followed").mark(run, result, data)
    result.unstable = result.unstable or run.engine.unstable
    result.wall_s = time.monotonic() - started
    return result


def leaves_effects(result: FileResult) -> bool:
    """Whether a failure may follow from a statement that did not do what the file says."""
    if not result.failures:
        return False
    excused = bool(result.differences or result.inexpressible)
    return excused or any(not READS_ONLY.match(failure.sql) for failure in result.failures)


def _run_script(
    run: Run, path: str, data: bytes, confirm: int, refused: UnreadableInput | None
) -> FileResult:
    """As `run_file`, for a file that is not in SQLite's dialect."""
    module = importlib.import_module("refute.verifiers.sql.conform_script")
    result: FileResult = module.run_script(run, path, data, confirm, refused)
    return result


def told(error: RefuteError) -> str:
    """An error as part of a file's result."""
    possible = f" (possible: {', '.join(error.possible)})" if error.possible else ""
    return error.message + possible


def _doubt_last(result: FileResult, data: bytes) -> None:
    """A failure that the end of the file explains is the file's: it looks as if it was cut off.

    A file that is cut off anywhere but between lines does not end with a line end.
    """
    last = result.failures[-1] if result.failures else None
    if last is None or not last.cut or data.endswith(b"\n"):
        return
    if all(line.strip() for line in data.split(b"\n")[last.line - 1 :]):
        result.failures.pop()
        result.error = (
            f"{result.path}:{last.line}: the file seems to be cut off in this record, which fails:"
            f" expected {last.expected}, got {last.got}"
        )


def _confirm(run: Run, result: FileResult, data: bytes, failures: Sequence[Failure]) -> None:
    """Run the file again, up to the last of the failures, and mark those that fail again."""
    again = FileRun(run, result.path, hash_seed=1).all_of(data, until=failures[-1].line)
    seen = {failure.line for failure in again.failures}
    whole = not (again.cut or again.lost)
    for failure in failures:
        failure.confirmed = True if failure.line in seen else False if whole else None
    passed = [failure.line for failure in failures if failure.confirmed is False]
    if passed:
        where = f"{result.path}:{passed[0]}"
        result.unstable = f"{where} failed and then passed on a fresh database"


def selected(records: Iterable[Record], name: str) -> Iterator[tuple[Record, bool]]:
    """The records up to `halt`, each with whether the engine of this name runs it."""
    for record in records:
        runs = not any((kind == "skipif") == (who == name) for kind, who in record.conditions)
        if runs and type(record) is ControlRecord:
            if record.name == "halt":
                return
            continue
        yield record, runs


@dataclasses.dataclass(frozen=True)
class _Reread:
    """The records of a file, read anew each time, because all at once take many times its size."""

    data: bytes
    path: str
    name: str

    def __iter__(self) -> Iterator[tuple[Record, bool]]:
        return selected(read(self.data, self.path), self.name)


class FileRun:
    """One run of one file under a hash seed, from an empty database."""

    def __init__(self, run: Run, path: str, hash_seed: int) -> None:
        self.run = run
        self.engine = run.engine
        self.hash_seed = hash_seed
        self.result = FileResult(path)
        self.labels: Labels = {}
        self.arbiter = Arbiter()
        self.embedded = isinstance(run.engine, Embedded)
        self.refused: UnreadableInput | None = None
        self.unasked = 0

    def all_of(self, data: bytes, until: float = float("inf")) -> FileResult:
        """Run the records that begin at or before the line `until`; what came of them."""
        result = self.result
        narrowed: Narrowed | None = None
        left = 0
        try:
            # The whole file first: of one that cannot be read nothing is run.
            known: Iterable[tuple[Record, bool]] = _Reread(data, result.path, self.run.name)
            if len(data) <= KEPT or self.run.chosen is not None:
                known = list(known)
            if self.run.dialect == AUTO:
                refuse_other(data, result.path, known)
            if self.run.chosen is not None:
                narrowed = Narrowed(known, self.run.chosen)  # type: ignore[arg-type]
                known = narrowed.kept
            left = sum(runs for _, runs in known)
            pairs = iter(known)
            self.engine.start(self.hash_seed)
            while chunk := list(islice(pairs, CHUNK)):
                if self.run.stop():
                    result.cut = True
                    break
                self._chunk([pair for pair in chunk if pair[0].line <= until])
                self.run.progress(len(chunk))
                if chunk[-1][0].line > until:
                    break
                if len(result.failures) >= self.run.most:
                    result.stopped = True
                    result.not_run = left - result.run
                    break
        except UnreadableInput as error:
            self.refused = error
            result.error = told(error)
        except EngineLost as error:
            result.lost = str(error)
            result.not_run = left - result.run
        except KeyboardInterrupt:
            result.cut = result.interrupted = True
        if narrowed is not None:
            narrowed.set_apart(result)
        return result

    def _chunk(self, chunk: list[tuple[Record, bool]]) -> None:
        """Run one chunk and judge its answers."""
        result, labels = self.result, self.labels
        todo: list[Runnable] = [r for r, runs in chunk if runs]  # type: ignore[misc]
        answers = self.engine.answers([record.sql for record in todo])
        done = result.run
        self.arbiter.later(todo)
        try:
            for record, runs in chunk:
                if runs:
                    answer = next(answers)
                    result.run += 1
                    mismatch = judge(record, answer, labels)  # type: ignore[arg-type]
                    if mismatch is not None:
                        self._failed(record, answer, mismatch)  # type: ignore[arg-type]
                    elif self.embedded and self._by_release(record, answer):
                        result.by_release.append(record.line)
                else:
                    result.skipped += 1
                    if type(record) is QueryRecord:
                        mismatch = observe_skipped(record, labels)
                        if mismatch is not None:
                            self._failed(record, ("skipped",), mismatch)
        finally:
            ran = todo[: result.run + self.unasked - done]
            self.unasked = 0
            result.unchecked += sum(type(r) is QueryRecord and not r.expects for r in ran)

    def _by_release(self, record: Record, answer: Sequence[Any]) -> bool:
        if type(record) is not QueryRecord or "R" not in record.types:
            return False
        return depends(record.types, answer[2])

    def _failed(self, record: Runnable, answer: Sequence[Any], mismatch: Mismatch) -> None:
        """Note a failure, unless it is the failure that the file is about; see `Arbiter`."""
        empty = type(record) is QueryRecord and (record.values == [] or record.number == 0)
        if empty and answer[0] == "error" and self.arbiter.fails_too(record):
            return
        result, before = self.result, self.result.run
        if excused(self.run.excuses, result, self.labels, record, answer, self.arbiter):
            self.unasked += before - result.run
            return
        failure = Failure(record.line, record.sql, mismatch.expected, mismatch.got)
        failure.cut = begins_well(record, answer)
        failure.kind = mismatch.kind
        failure.answer = fingerprint(getattr(record, "types", ""), answer)
        asked = "; ".join(getattr(self.engine, "asked", ()))
        failure.asked = asked if asked != record.sql else ""
        self.result.failures.append(failure)
