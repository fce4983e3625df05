"""Running many sqllogictest files on an engine: in this process, or a share in each of several.

Every file begins with an empty database, so files are independent and their order does not matter.
Results are handed over in the order of the files as soon as they are there, so that an interrupted
run has already said what it knew.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import stat
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from refute.errors import EXIT_ESTABLISHED, EXIT_NOT_ESTABLISHED, EXIT_REFUTED, EXIT_USAGE
from refute.oracles.sql.sqlite import VERSION
from refute.verifiers.sql.conform_engine import Embedded, Engine
from refute.verifiers.sql.conform_file import AUTO, FileResult, Rules, Run, run_file

SQLITE = "sqlite"
STDIN = "-"  # a path that stands for standard input
CONFIRMED = 20  # failures of a file that are looked for in a second run
LARGEST = 64 * 2**20  # bytes of one file
SHARE = 3 * 2**20  # bytes of files that are worth a process of their own

Found = Callable[[FileResult], None]
Progress = Callable[[int], None]
Stop = Callable[[], bool]


@dataclasses.dataclass(frozen=True)
class Choice:
    """Which engine, and how it is run; can be sent to other processes.

    engine: "sqlite" or "module:function". name: for skipif and onlyif, lower case. timeout_s: wall
    seconds for one statement. tree, files, roots: where the engine's code is; see `open_worker`.
    dialect: of the files; "auto" looks at each. rules: for extended dialects.
    """

    engine: str
    name: str
    timeout_s: float
    tree: Path = Path()
    files: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    dialect: str = AUTO
    rules: Rules = Rules()

    def open(self) -> Engine:
        """The engine. Only one that needs a worker loads the sandbox."""
        if self.engine == SQLITE:
            return Embedded(self.timeout_s)
        module = importlib.import_module("refute.verifiers.sql.conform_engines")
        opened: Engine = module.open_engine(self)
        return opened


@dataclasses.dataclass
class ConformRun:
    """What came of all files. number: of files to run; fewer results when it was interrupted."""

    choice: Choice
    number: int
    files: list[FileResult] = dataclasses.field(default_factory=list)
    interrupted: bool = False
    wall_s: float = 0.0
    isolation: str = ""

    @property
    def version(self) -> str:
        """The engine's version, where it is known without asking the engine."""
        return f"SQLite {VERSION}" if self.choice.engine == SQLITE else ""

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
        """Records that failed."""
        return sum(len(file.failures) for file in self.files)

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
        """The exit code in words."""
        return {
            EXIT_ESTABLISHED: "established",
            EXIT_REFUTED: "refuted",
            EXIT_USAGE: "unreadable",
            EXIT_NOT_ESTABLISHED: "not established",
        }[self.exit_code]

    @property
    def reasons(self) -> list[str]:
        """Why it is not established that the engine passes, most important first."""
        found = [file.error for file in self.files if file.error]
        confirmed = sum(file.confirmed for file in self.files)
        if confirmed:
            all_again = confirmed == self.failed
            again = "all of them" if all_again else f"the {confirmed} that were tried"
            again = "and" if self.failed == 1 else again
            found.append(f"{_records(self.failed)} failed, {again} again on a fresh database")
        found += [file.lost for file in self.files if file.lost]
        found += [file.unstable for file in self.files if file.unstable]
        if self.failed and not confirmed:
            found.append(f"{_records(self.failed)} failed, none of them seen twice")
        not_run = sum(file.not_run for file in self.files)
        if not_run:
            found.append(f"{_records(not_run)} not run")
        if self.interrupted:
            found.append(f"interrupted after {len(self.files)} of {self.number} files")
        if not self.run:
            found.append("no record was run")
        return found


def run_files(
    choice: Choice, paths: Sequence[str], jobs: int, found: Found, progress: Progress
) -> ConformRun:
    """Run the files in up to `jobs` processes. After Ctrl-C the run holds what was known.

    found: called with each file's result, in order. progress: told how many records were run.
    Raises RefuteError when the engine does not exist.
    """
    started = time.monotonic()
    result = ConformRun(choice, len(paths))

    def keep(file: FileResult) -> None:
        result.files.append(file)
        result.interrupted = result.interrupted or file.cut
        found(file)

    processes = min(jobs, len(paths), 1 + sum(map(_size, paths)) // SHARE)
    try:
        if processes > 1:
            pool = importlib.import_module("refute.verifiers.sql.conform_pool")
            pool.run_in_processes(choice, paths, processes, keep, progress)
        else:
            run_share(choice, paths, keep, progress, lambda: False)
    except KeyboardInterrupt:
        result.interrupted = True
    result.wall_s = time.monotonic() - started
    return result


def run_share(
    choice: Choice, paths: Sequence[str], found: Found, progress: Progress, stop: Stop
) -> None:
    """Run the files one after the other in this process, until one was cut."""
    engine = choice.open()
    run = Run(engine, choice.name, stop, progress, choice.dialect, choice.rules)
    try:
        for path in paths:
            file = _run_path(run, path)
            found(file)
            if file.cut:
                return
    finally:
        engine.close()


def _run_path(run: Run, path: str) -> FileResult:
    try:
        data = _read(path)
    except OSError as error:
        return FileResult(path, error=f"{path}: cannot be read: {error.strerror or error}")
    return run_file(run, "<stdin>" if path == STDIN else path, data, CONFIRMED)


def _read(path: str) -> bytes:
    """The bytes of a regular file. Raises OSError for anything else, and for a huge one."""
    if path == STDIN:
        return sys.stdin.buffer.read(LARGEST)
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is not a regular file")
        if status.st_size > LARGEST:
            raise OSError(f"it is larger than {LARGEST} bytes")
        return file.read()


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for a writer, should it be a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def _records(number: int) -> str:
    return f"{number:,} record{'' if number == 1 else 's'}"


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
