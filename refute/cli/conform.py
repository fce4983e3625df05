"""`refute conform`: does an SQL engine pass the records of sqllogictest files?

What the embedded SQLite needs is all that is imported here: the reader and the judging. An engine
of a tree is run in workers, whose modules are loaded when one is named. The options stand in
`conform_options`.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import gc
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from refute.budget import parse_duration
from refute.cli.conform_files import selected
from refute.cli.conform_options import LOCAL, parser
from refute.cli.conform_progress import Progress, bytes_a_record
from refute.cli.places import check_made, check_targets, write_document
from refute.cli.printing import print_all
from refute.errors import UsageError
from refute.report.conform import file_lines, summary
from refute.verifiers.sql.conform_file import C, FileResult, Rules
from refute.verifiers.sql.conform_run import SQLITE, STDIN, Choice, ConformRun, run_files
from refute.verifiers.sql.conform_task import size_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from refute.cli.conform_judging import Judging


def run(argv: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    given = parser().read(argv)
    targets = {f"--{o}": t for o in _RENDERERS if (t := getattr(given, o))}
    check_targets(list(targets.items()))  # wrong places are found before anything is read
    _check(given)
    people = sys.stderr if "-" in targets.values() else sys.stdout
    if given.merge:
        result, judging = _merged(given, targets, people)
    else:
        result, judging = _made(given, targets, people)
    with contextlib.ExitStack() as said:  # what is known is told even where writing fails
        said.callback(lambda: print_all(summary(result), people))
        said.callback(lambda: _write(targets, result))
        _afterwards(given, result)
        if judging is not None:
            judging.finish(result, lambda words: print_all(words, people))
    return result.exit_code


def _check(given: argparse.Namespace) -> None:
    """Raises UsageError for what would otherwise be noticed once all was run."""
    parse_duration(given.reduce)
    if given.save_reduced:
        check_made("--save-reduced", given.save_reduced, folder=True)
    if given.write_known:
        check_made("--write-known", given.write_known, folder=False)


def _made(
    given: argparse.Namespace, targets: Mapping[str, str], people: TextIO
) -> tuple[ConformRun, Judging | None]:
    """Run the files; what was found is printed as they end."""
    selection = selected(given)
    paths = selection.paths
    read = {path: f"the file {path}, which is run" for path in paths if path != STDIN}
    if given.resume and not Path(given.resume).is_dir():
        read[given.resume] = f"{given.resume}, where results are kept"
    check_targets(list(targets.items()), read)
    choice = dataclasses.replace(_choice(given), dialect=given.dialect, rules=_rules(given))
    if given.dialect == C:
        module = importlib.import_module("refute.cli.conform_c")
        choice = module.fitting(given, choice, bool(selection.chosen))
    judging = _judging(given, choice)
    if judging is not None:
        choice = dataclasses.replace(choice, confirm=sys.maxsize)  # each is excused by itself
    sizes = {"<stdin>" if path == STDIN else path: size_of(path) for path in paths}
    a_record = bytes_a_record(sizes) if sys.stderr.isatty() or given.progress else 0.0
    progress = Progress(sys.stderr, sizes, often=given.progress, a_record=a_record)

    def found(file: FileResult) -> None:
        _tell(file, given.show, judging, people, progress.clear)

    with _seldom_collecting(), _executor(given.executor) as executor:
        result = run_files(
            choice,
            paths,
            given.jobs or os.cpu_count() or 1,
            found,
            progress.ran,
            executor=executor,
            chosen=selection.chosen,
            max_failures=given.max_failures,
            resume=_kept_at(given.resume),
            resume_name=selection.results_name,
            ended=progress.ended,
        )
    result.narrowed = selection.left_out
    if selection.shard is not None:
        identity = importlib.import_module("refute.verifiers.sql.conform_identity")
        options = identity.options_identity(choice, selection.everywhere, given.max_failures)
        result.shard = dataclasses.replace(selection.shard, options=options)
    progress.clear()
    return result, judging


def _merged(
    given: argparse.Namespace, targets: Mapping[str, str], people: TextIO
) -> tuple[ConformRun, Judging | None]:
    """The run that the reports of shards are of."""
    read = {path: f"{path}, which is merged" for path in given.files}
    check_targets(list(targets.items()), read)
    result: ConformRun = importlib.import_module("refute.report.conform_merge").merged(given.files)
    judging = _judging(given, result.choice)
    for file in result.files:
        _tell(file, given.show, judging, people, lambda: None)
    return result, judging


def _tell(
    file: FileResult,
    most: int,
    judging: Judging | None,
    people: TextIO,
    before: Callable[[], None],
) -> None:
    """Print what there is to say of a file."""
    if judging is not None:
        judging.found(file)
    lines = file_lines(file, most)
    if lines:
        before()
        print_all("\n".join(lines) + "\n", people)


def _choice(given: argparse.Namespace) -> Choice:
    """The engine and how files are run on it. Raises UsageError."""
    timeout_s = parse_duration(given.timeout)
    if given.engine == SQLITE:
        name = (given.name or SQLITE).lower()
        made = Choice(SQLITE, name, timeout_s, native=not given.no_native)
        if not (given.transpile or given.no_difference):
            return made
    else:
        place = importlib.import_module("refute.cli.conform_place")
        made = place.choice_of(given.engine, given.name, timeout_s, Path.cwd())
    differences = importlib.import_module("refute.cli.conform_differences")
    told: Choice = differences.with_differences(given, made)
    return told


def _judging(given: argparse.Namespace, choice: Choice) -> Judging | None:
    """What is to be done about known failures, if any is. Raises UsageError."""
    if not (given.known or given.write_known or given.update or given.dry_run):
        return None
    made: Judging = importlib.import_module("refute.cli.conform_judging").Judging(given, choice)
    return made


def _rules(given: argparse.Namespace) -> Rules:
    """What only extended dialects ask."""
    return Rules(
        tuple(given.label), given.allow_system, given.strict_types, parse_duration(given.timeout)
    )


def _afterwards(given: argparse.Namespace, result: ConformRun) -> None:
    """What is found out about failures once all files were run; the result is added to."""
    unknown = result.failed - result.known_failures
    looked = not (given.no_reduce or given.merge or given.dialect == C)
    if unknown and looked and not result.interrupted:
        importlib.import_module("refute.cli.conform_causes").add_causes(given, result)


def _kept_at(place: str | None) -> Path | None:
    """Where results are kept, if anywhere. Raises UsageError."""
    if place is None:
        return None
    made: Path = importlib.import_module("refute.verifiers.sql.conform_resume").place_of(place)
    return made


def _executor(where: str) -> AbstractContextManager[Executor | None]:
    """What runs the files; None: processes of this machine. Raises UsageError."""
    if where == LOCAL:
        return contextlib.nullcontext()
    if not where.startswith("dask://"):
        raise UsageError(
            f"--executor {where}: there is no such executor",
            thing="--executor",
            value=where,
            possible=(LOCAL, "dask://HOST:PORT"),
            next_step="leave it out for processes of this machine",
        )
    try:
        module = importlib.import_module("refute.verifiers.sql.conform_dask")
    except ImportError as error:
        raise UsageError(
            f"--executor {where}: {error}",
            thing="--executor",
            value=where,
            next_step="install Dask where refute is: pip install distributed",
        ) from error
    made: AbstractContextManager[Executor | None] = module.connected(where)
    return made


@contextlib.contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Results are freed by their reference counts; looking for cycles often costs a tenth."""
    before = gc.get_threshold()
    gc.set_threshold(100_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


# option → what renders the run for it; but for JSON, loaded when it is asked for
_RENDERERS = {
    "json": "refute.report.conform:json_text",
    "junit": "refute.report.conform_junit:junit_text",
    "html": "refute.report.conform_html:html_text",
    "annotations": "refute.report.conform_annotations:annotations_text",
}


def _write(targets: dict[str, str], result: ConformRun) -> None:
    for option, target in targets.items():
        module, _, name = _RENDERERS[option.removeprefix("--")].partition(":")
        render: Callable[[ConformRun], str] = getattr(importlib.import_module(module), name)
        write_document(option, target, render(result))
