"""Running many sqllogictest files on an engine: in this process, or a share in each of several.

Every file begins with an empty database, so files are independent and their order does not matter.
Results are handed over in the order of the files as soon as they are there, so that an interrupted
run has already said what it knew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from refute.errors import EXIT_ESTABLISHED, EXIT_NOT_ESTABLISHED, EXIT_REFUTED, EXIT_USAGE
from refute.oracles.sql.sqlite import VERSION
from refute.verifiers.sql.conform_chosen import Chosen
from refute.verifiers.sql.conform_engine import Embedded, Engine
from refute.verifiers.sql.conform_excuses import Excuses, claimed, kind_of
from refute.verifiers.sql.conform_file import AUTO, FileResult, Rules
from refute.verifiers.sql.conform_names import SQLITE as SQLITE
from refute.verifiers.sql.conform_names import shown
from refute.verifiers.sql.conform_results import Results
from refute.verifiers.sql.conform_shard import Shard
from refute.verifiers.sql.conform_task import LARGEST as LARGEST
from refute.verifiers.sql.conform_task import STDIN as STDIN
from refute.verifiers.sql.conform_task import Done, Task, run_task, size_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from refute.verifiers.sql.conform_known import KnownUse
    from refute.verifiers.sql.conform_update import UpdateReport

CONFIRMED = 20  # failures of a file that are looked for in a second run
EXCEPT = " except known failures"  # of a decision
UPDATED = "updated"  # a decision: what failed expects now what the engine gave
NATIVE_FROM = 64 * 2**10  # bytes of files that are worth loading compiled code
SHARE = 2**19  # bytes of files that are worth a process, where SQLite runs them

Found = Callable[[FileResult], None]
Progress = Callable[[int], None]


@dataclasses.dataclass(frozen=True)
class Choice:
    """Which engine, and how it is run; can be sent to other processes.

    engine: as `conform_names` lists them. name: for skipif and onlyif, lower case. timeout_s: wall
    seconds for one statement. tree, files, roots: where the engine's code is; see `open_worker`.
    dialect: of the files; "auto" looks at each. rules: for extended dialects.
    confirm: how many failures of a file are looked for in a second run. native: whether the
    embedded SQLite may have the help of compiled code (`conform_native`). transpile: the dialect
    that statements are written in, "" for as they stand. kind: which dialect that is when it is not
    said. without: classes of expected difference that are switched off.
    """

    engine: str
    name: str
    timeout_s: float
    tree: Path = Path()
    files: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    dialect: str = AUTO
    rules: Rules = Rules()
    confirm: int = CONFIRMED
    native: bool = True
    transpile: str = ""
    kind: str = ""
    without: frozenset[str] = frozenset()

    def open(self) -> Engine:
        """The engine, behind a translator if its statements are to be written for it."""
        engine = self._opened()
        if not self.transpile:
            return engine
        module = importlib.import_module("refute.verifiers.sql.conform_transpile")
        made: Engine = module.Transpiling(engine, self.transpile)
        return made

    def excuses(self) -> Excuses | None:
        """The classes of expected difference; None for SQLite, which has none to itself."""
        if self.engine == SQLITE and not self.transpile:
            return None
        kind = self.transpile or kind_of(self.engine)
        return Excuses(kind, bool(self.transpile), self.without)

    def _opened(self) -> Engine:
        """The engine. Only one that needs a worker loads the sandbox."""
        if self.engine == SQLITE:
            if self.native:
                module = importlib.import_module("refute.verifiers.sql.conform_native")
                assisted: Engine = module.Assisted(self.timeout_s)
                return assisted
            return Embedded(self.timeout_s)
        module = importlib.import_module("refute.verifiers.sql.conform_engines")
        opened: Engine = module.open_engine(self)
        return opened

    @property
    def shown(self) -> str:
        """The engine as it may be printed: a URL has no password."""
        return shown(self.engine)


@dataclasses.dataclass
class ConformRun:
    """What came of all files. number: of files to run; fewer results when it was interrupted.

    known: what came of the list of known failures, once all files were run; None without one.
    update: what an update of the files did; None without one. causes: of the failures, as
    `conform_causes.Causes`; None if they were not looked for.
    stopped: why it ended early; "" if it did not. kept: files whose results were kept from an
    earlier run, kept_records: of these; notes: what is to be told of those. narrowed: what was left
    out by filters, and shard: which of the shards of a larger run it is; missing: what is not in a
    run that was merged from such. told_version: the engine's, where the run was elsewhere.
    """

    choice: Choice
    number: int
    files: list[FileResult] = dataclasses.field(default_factory=list)
    interrupted: bool = False
    wall_s: float = 0.0
    isolation: str = ""
    known: KnownUse | None = None
    update: UpdateReport | None = None
    causes: Any = None
    stopped: str = ""
    kept: int = 0
    kept_records: int = 0
    notes: list[str] = dataclasses.field(default_factory=list)
    narrowed: list[str] = dataclasses.field(default_factory=list)
    shard: Shard | None = None
    missing: str = ""
    told_version: str = ""

    @property
    def version(self) -> str:
        """The engine's version, as far as it says one."""
        said = "" if self.choice.engine != SQLITE else f"SQLite {VERSION}"
        said = self.told_version or said
        return next((file.version for file in self.files if file.version), said)

    @property
    def run(self) -> int:
        """Records run."""
        return sum(file.run for file in self.files)

    @property
    def skipped(self) -> int:
        """Records skipped by their conditions."""
        return sum(file.skipped for file in self.files)

    @property
    def failed(self) -> int:
        """Records that failed, known failures among them."""
        return sum(len(file.failures) for file in self.files)

    @property
    def known_failures(self) -> int:
        """Records that failed as a reviewed list of known failures says."""
        return sum(bool(f.known) for file in self.files for f in file.failures)

    @property
    def updated(self) -> int:
        """Records that failed and expect now what the engine gave."""
        return sum(f.updated for file in self.files for f in file.failures)

    @property
    def exit_code(self) -> int:
        """2 when a file cannot be read, 1 when a failure was seen twice, 0 when all passed."""
        if any(file.error for file in self.files):
            return EXIT_USAGE
        if any(file.confirmed for file in self.files):
            return EXIT_REFUTED
        return EXIT_NOT_ESTABLISHED if self.reasons else EXIT_ESTABLISHED

    @property
    def decision(self) -> str:
        """The exit code in words; plain "established" only where nothing failed."""
        established = f"established{EXCEPT}" if self.known_failures else "established"
        return {
            EXIT_ESTABLISHED: UPDATED if self.updated else established,
            EXIT_REFUTED: "refuted",
            EXIT_USAGE: "unreadable",
            EXIT_NOT_ESTABLISHED: "not established",
        }[self.exit_code]

    @property
    def reasons(self) -> list[str]:
        """Why it is not established that the engine passes, most important first."""
        found = [file.error for file in self.files if file.error]
        confirmed = sum(file.confirmed for file in self.files)
        failed = self.failed - self.known_failures - self.updated
        if confirmed:
            again = "all of them" if confirmed == failed else f"the {confirmed} that were tried"
            again = "and" if failed == 1 else again
            found.append(f"{_records(failed)} failed, {again} again on a fresh database")
        found += [file.lost for file in self.files if file.lost]
        found += [file.unstable for file in self.files if file.unstable]
        if failed and not confirmed:
            found.append(f"{_records(failed)} failed, none of them seen twice")
        not_run = sum(file.not_run for file in self.files)
        if not_run:
            found.append(f"{_records(not_run)} not run")
        said = sum(map(claimed, self.files))
        if said:
            found.append(f"{_records(said)} not run, as the engine says it does not support that")
        found += [
            f"{words}, which only had to prepare" for f in self.files for words in f.setup_failed
        ]
        ended = f"{len(self.files)} of {self.number} files"
        if self.stopped:
            found.append(f"{self.stopped}, in {ended}")
        if self.missing:
            found.append(self.missing)
        if self.interrupted:
            found.append(f"interrupted after {ended}")
        if not self.run:
            unchosen = sum(file.unchosen for file in self.files)
            narrowed = [
                *self.narrowed,
                *([f"{_records(unchosen)} were not chosen"] if unchosen else []),
            ]
            found.append("; ".join(["no record was run", *narrowed]))
        return found + (self.known.reasons if self.known is not None else [])


def run_files(
    choice: Choice,
    paths: Sequence[str],
    jobs: int = 1,
    found: Found = lambda _: None,
    progress: Progress = lambda _: None,
    *,
    executor: Executor | None = None,
    chosen: Mapping[str, Chosen] = MappingProxyType({}),
    max_failures: int = 0,
    resume: Path | None = None,
    resume_name: str = "results",
    ended: Found = lambda _: None,
) -> ConformRun:
    """Run the files in up to `jobs` processes. After Ctrl-C the run holds what was known.

    found: called with each file's result, in the order of the paths. progress: told now and then
    how many more records were run. ended: called with each result as soon as it is there.

    executor: runs the files instead, each with its content as one task; any of
    `concurrent.futures`, of Dask or of others. The caller shuts it down.
    chosen: by path, which of a file's records are checked; see `Chosen`.
    max_failures: so many failed records end the run; 0: none do.
    resume: a file, or a directory where resume_name.jsonl is written, of results that are kept and
    not found anew; see `conform_resume`.

    Raises RefuteError when the engine does not exist, or `resume` cannot be used.
    """
    started = time.monotonic()
    result = ConformRun(choice, len(paths))
    most = max_failures or float("inf")
    with contextlib.ExitStack() as stack:
        kept, options = None, {}
        notes: list[str] = []
        if resume is not None:
            module = importlib.import_module("refute.verifiers.sql.conform_resume")
            kept = stack.enter_context(module.opened(choice, resume, resume_name))
            options = module.options_of(choice, paths, chosen, most)
        results = Results(result, found, ended, most, kept, options)
        tasks = [
            _task(path, i, chosen.get(path), most, kept is not None) for i, path in enumerate(paths)
        ]
        try:
            if kept is not None:
                tasks = kept.not_known(tasks, options, results.add)
                result.kept, result.kept_records = kept.number, kept.records
            if tasks and not result.stopped:
                helped, notes = _assisted(choice, tasks, here=executor is None)
                _run_tasks(helped, tasks, jobs, executor, results.take, progress)
        except KeyboardInterrupt:
            result.interrupted = True
        finally:
            result.notes = notes if kept is None else [*kept.notes, *notes]
            results.release_all()
    result.wall_s = time.monotonic() - started
    return result


def _run_tasks(
    choice: Choice,
    tasks: Sequence[Task],
    jobs: int,
    executor: Executor | None,
    take: Callable[[Task, Done], bool],
    progress: Progress,
) -> None:
    """Run the files where they are to be run. Raises KeyboardInterrupt and RefuteError."""
    if executor is not None:
        module = importlib.import_module("refute.verifiers.sql.conform_executor")
        module.run_on(executor, choice, tasks, jobs, take, progress)
        return
    share = SHARE if choice.engine == SQLITE else 1
    processes = min(jobs, len(tasks), 1 + sum(task.size for task in tasks) // share)
    if processes > 1:
        module = importlib.import_module("refute.verifiers.sql.conform_processes")
        module.run_in_processes(choice, tasks, processes, take, progress)
        return
    engine = choice.open()
    try:
        for task in tasks:
            done = run_task(choice, engine, task, lambda: False, progress)
            if not take(task, done):
                return
            if done.result.cut:
                raise KeyboardInterrupt
    finally:
        engine.close()


def _assisted(choice: Choice, tasks: Sequence[Task], *, here: bool) -> tuple[Choice, list[str]]:
    """The choice, with compiled code at hand if there is that much to run that it pays.

    And what is to be told of it, which is nothing unless that code is wrong.
    """
    size = sum(task.size for task in tasks)
    if choice.engine != SQLITE or not choice.native or size < NATIVE_FROM:
        return dataclasses.replace(choice, native=False), []
    if not here:
        return choice, []
    wrong = importlib.import_module("refute.verifiers.sql.conform_native").prepare(size)
    return choice, [wrong] if wrong else []


def _records(number: int) -> str:
    return f"{number:,} record{'' if number == 1 else 's'}"


def _task(path: str, number: int, chosen: Chosen | None, most: float, named: bool) -> Task:
    size = size_of(path)
    return Task(path, number, chosen, size, float(size), most, named)
