"""`refute conform`: does an SQL engine pass the records of sqllogictest files?

What the embedded SQLite needs is all that is imported here: the reader and the judging. An engine
of a tree is run in workers, whose modules are loaded when one is named.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from refute.budget import parse_duration
from refute.cli.conform_files import collect
from refute.cli.output import check_targets, write_document
from refute.cli.parsing import Parser, whole_number
from refute.cli.printing import print_all
from refute.errors import UsageError
from refute.report.conform import SHOWN, file_lines, json_text, summary
from refute.verifiers.sql.conform_file import FileResult
from refute.verifiers.sql.conform_run import SQLITE, STDIN, Choice, ConformRun, run_files

ABOUT = """\
Run sqllogictest files on an SQL engine.

Exit 0: every record that was run passed. 1: one failed, and failed again on a fresh database.
2: a file cannot be read, or wrong usage. 3: nothing was run, or the engine was lost or unstable."""

EXAMPLES = """
refute conform tests/sql
refute conform select1.test select2.test --engine minidb:connect
refute conform tests/sql --engine minidb:connect --as sqlite --json - | jq .records
"""

_ENGINE = 'sqlite, or module:function, a factory of DB-API connections ("sqlite")'


def parser() -> Parser:
    """The command's arguments."""
    made = Parser("conform", ABOUT, EXAMPLES)
    files = "sqllogictest files, or directories with *.test and *.slt files; - for standard input"
    made.add_argument("files", nargs="+", metavar="FILE_OR_DIR", help=files)
    made.add_argument("--engine", default=SQLITE, metavar="ENGINE", help=_ENGINE)
    made.add_argument(
        "--as", default="", metavar="NAME", dest="name", help="the engine's name for skipif, onlyif"
    )
    made.add_argument("--timeout", default="30s", metavar="DURATION", help="for each query (30s)")
    made.add_argument("--jobs", type=whole_number, default=0, metavar="N", help="processes at most")
    made.add_argument(
        "--show", type=whole_number, default=SHOWN, metavar="N", help=f"failures a file ({SHOWN})"
    )
    made.add_argument("--json", default="", metavar="FILE|-", help="write the run as JSON")
    made.add_argument("--junit", default="", metavar="FILE|-", help="write JUnit XML")
    return made


def run(argv: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    given = parser().read(argv)
    targets = {o: t for o, t in (("--json", given.json), ("--junit", given.junit)) if t}
    check_targets(list(targets.items()))  # wrong places are found before anything is read
    paths = collect(given.files)
    read = {path: f"the file {path}, which is run" for path in paths if path != STDIN}
    check_targets(list(targets.items()), read)
    jobs = _number("--jobs", given.jobs, least=0) or os.cpu_count() or 1
    show = _number("--show", given.show, least=0)
    choice = _choice(given.engine, given.name, parse_duration(given.timeout))
    people = sys.stderr if "-" in targets.values() else sys.stdout
    progress = _Progress(sys.stderr, len(paths))

    def found(file: FileResult) -> None:
        progress.ended(file)
        lines = file_lines(file, show)
        if lines:
            progress.clear()
            print_all("\n".join(lines) + "\n", people)

    with _seldom_collecting():
        result = run_files(choice, paths, jobs, found, progress.ran)
    progress.clear()
    try:
        _write(targets, result)
    finally:  # what is known is said even where a document cannot be written
        print_all(summary(result), people)
    return result.exit_code


@contextlib.contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Results are freed by their reference counts; looking for cycles often costs a tenth."""
    before = gc.get_threshold()
    gc.set_threshold(100_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _Progress:
    """One changing line on a terminal: files, records, rate, failures. Nothing elsewhere."""

    def __init__(self, stream: TextIO, files: int) -> None:
        self._stream = stream if stream.isatty() else None
        self._files = files
        self._ended = self._records = self._failed = 0
        self._started = time.monotonic()
        self._due = 0.0

    def ran(self, records: int) -> None:
        """So many more records were run."""
        self._records += records
        now = time.monotonic()
        if self._stream is None or now < self._due:
            return
        self._due = now + 0.1
        rate = self._records / max(now - self._started, 0.001)
        words = f"{self._ended}/{self._files} files, {self._records:,} records, {rate:,.0f}/s"
        failed = f", {self._failed:,} failed" if self._failed else ""
        self._stream.write(f"\r\x1b[2K{words}{failed}")
        self._stream.flush()

    def ended(self, file: FileResult) -> None:
        """A file is done."""
        self._ended += 1
        self._failed += len(file.failures)

    def clear(self) -> None:
        """Take the line away."""
        if self._stream is not None:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()


def _choice(engine: str, name: str, timeout_s: float) -> Choice:
    if engine == SQLITE:
        return Choice(SQLITE, (name or SQLITE).lower(), timeout_s)
    module = importlib.import_module("refute.cli.conform_place")
    made: Choice = module.choice_of(engine, name, timeout_s, Path.cwd())
    return made


def _number(option: str, value: int, least: int) -> int:
    if value < least:
        raise UsageError(
            f"{option} must be at least {least}",
            thing=option,
            value=value,
            next_step="give a larger number",
        )
    return value


def _junit_text(result: ConformRun) -> str:
    module = importlib.import_module("refute.report.conform_junit")  # few runs need XML
    made: str = module.junit_text(result)
    return made


_RENDERERS: dict[str, Callable[[ConformRun], str]] = {"--json": json_text, "--junit": _junit_text}


def _write(targets: dict[str, str], result: ConformRun) -> None:
    for option, target in targets.items():
        write_document(option, target, _RENDERERS[option](result))
