"""`refute fuzz sql`: generated databases and queries against an SQL engine, judged by oracles.

The run is `refute.verifiers.sql.fuzz_run`; here stand what it is given and what becomes of it.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import logging
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from refute.budget import parse_duration
from refute.cli.conform_place import choice_of
from refute.cli.fuzz_files import Files, check_folder, version_of
from refute.cli.fuzz_options import (
    DIALECTS,
    Limits,
    dialect_of,
    features_of,
    limits_of,
    oracles_of,
    parser,
    repeated,
)
from refute.cli.fuzz_progress import FuzzProgress
from refute.cli.places import check_made, check_targets, write_document
from refute.cli.printing import HelpShown, print_all
from refute.errors import UsageError
from refute.report.fuzz import json_text, summary
from refute.report.fuzz_verdict import FuzzReport, KnownUse
from refute.verifiers.sql.conform_names import SQLITE, name_of
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_known import KnownFile, read_known_bugs
from refute.verifiers.sql.fuzz_known_write import write_known_bugs
from refute.verifiers.sql.fuzz_plan import FuzzRun, KnownBugs, NothingKnown, Plan
from refute.verifiers.sql.fuzz_run import fuzz
from refute.verifiers.sql.fuzz_seeds import read_seeds
from refute.verifiers.sql.fuzz_state import NAME as STATE
from refute.verifiers.sql.fuzz_writing import dialect_of as spoken

KINDS = ("sql",)
_HELP = """\
usage: refute fuzz sql --engine ENGINE [OPTIONS]

Look for wrong results of an SQL engine. `refute fuzz sql --help` has the options.
"""


def run(argv: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    if argv[:1] in (["--help"], ["-h"]):
        print_all(_HELP, sys.stdout)
        raise HelpShown
    if argv[:1] != ["sql"]:
        raise UsageError(
            f"there is nothing to fuzz by the name {argv[0]!r}" if argv else "fuzz what?",
            thing="refute fuzz",
            value=argv[0] if argv else "",
            possible=KINDS,
            next_step="see `refute fuzz sql --help`",
        )
    return _sql(parser().read(argv[1:]))


def _sql(given: argparse.Namespace) -> int:
    logging.getLogger("sqlglot").disabled = True  # what it cannot write it would tell a terminal
    plan, limits = _plan(given)
    _check_places(given)
    people = sys.stderr if given.json == "-" else sys.stdout
    again = _again(given, plan)
    files = Files(plan.choice, given.save, again)
    progress = FuzzProgress(people, sys.stderr, given.show, again, _left(limits), files.found)
    kept = Path(given.resume) if given.resume else None
    goes_on = kept is not None and (kept / STATE).exists()
    began = time.monotonic()
    result = fuzz(plan, progress, kept)
    progress.clear()
    result = _known_marked(plan, result)
    report = FuzzReport(
        plan,
        result,
        time.monotonic() - began,
        plan.choice.shown,
        again,
        _known_use(plan.known, result),
        files.of(result.findings),
        (*_dialect_doubted(plan, result.version), *files.notes),
        goes_on,
    )
    return _finished(given, report, people)


def _plan(given: argparse.Namespace) -> tuple[Plan, Limits]:
    """What is to be run. Raises UsageError, or UnreadableInput for a file."""
    limits = limits_of(given)
    oracles, features, dialect = oracles_of(given), features_of(given), dialect_of(given)
    choice = _choice(given, dialect)
    seeds = read_seeds(given.seed_sql, choice.name) if given.seed_sql else ()
    once = repeated(given, len(seeds))
    plan = Plan(
        choice=choice,
        oracles=oracles,
        seed=given.seed,
        programs=limits.programs,
        queries=given.queries,
        time_s=limits.time_s,
        jobs=given.jobs or os.cpu_count() or 1,
        features=features,
        seeds=seeds,
        known=_known(given, choice),
    )
    if once is not None:
        seed, program = once
        plan = dataclasses.replace(plan, seed=seed, first=program, programs=1, time_s=None, jobs=1)
    return plan, limits


def _choice(given: argparse.Namespace, dialect: str) -> Choice:
    """The engine. Raises UsageError."""
    timeout_s = parse_duration(given.timeout)
    if given.engine == SQLITE:
        choice = Choice(SQLITE, SQLITE, timeout_s)
    else:
        choice = choice_of(given.engine, "", timeout_s, Path.cwd())
    return dataclasses.replace(choice, native=False, kind=dialect)


def _known(given: argparse.Namespace, choice: Choice) -> KnownBugs:
    """The file of known bugs. Raises UnreadableInput."""
    if not given.known:
        return NothingKnown()
    entries = read_known_bugs(given.known)
    names = tuple(dict.fromkeys((choice.name, choice.engine, name_of(choice.engine))))
    version = version_of(choice) if any(entry.versions for entry in entries) else ""
    return KnownFile(given.known, entries, names, version, datetime.date.today())


def _check_places(given: argparse.Namespace) -> None:
    """Raises UsageError for what would otherwise be noticed once all was run."""
    taken = {path: f"{path}, which is read" for path in given.seed_sql}
    for path in (given.known, given.write_known):
        if path:
            taken[path] = f"{path}, the file of known bugs"
    if given.json:
        check_targets([("--json", given.json)], taken)
    for option in ("save", "resume"):
        if folder := getattr(given, option):
            check_folder(f"--{option}", folder)
    if given.write_known:
        check_made("--write-known", given.write_known, folder=False)
        if Path(given.write_known).exists():
            read_known_bugs(given.write_known)


def _again(given: argparse.Namespace, plan: Plan) -> str:
    """The command that plays a program of this run again, up to its seed and number."""
    words = ["refute", "fuzz", "sql", "--engine", plan.choice.shown]
    for option in ("oracle", "features", "without", "seed_sql"):
        for value in getattr(given, option):
            words += [f"--{option.replace('_', '-')}", value]
    if given.dialect:
        words += ["--as", given.dialect]
    if given.queries != Plan.queries:
        words += ["--queries", str(given.queries)]
    return shlex.join([*words, "--repeat"])


def _left(limits: Limits) -> Callable[[float, int], str]:
    """What is left of a run, in words, by seconds spent and programs done."""

    def left(elapsed_s: float, programs: int) -> str:
        if limits.time_s is not None:
            return f"{max(0.0, limits.time_s - elapsed_s):,.0f} s"
        if limits.programs is None:
            return ""
        number = max(0, limits.programs - programs)
        return f"{number:,} database{'' if number == 1 else 's'}"

    return left


def _dialect_doubted(plan: Plan, version: str) -> Iterator[str]:
    """A note where an engine that is asked in SQLite's dialect says that it is another."""
    for name in DIALECTS[1:]:  # PostgreSQL says its name with or without its end
        if spoken(plan.choice) == DIALECTS[0] and name[:8] in version.lower():
            yield (
                f"the engine says that it is {version}, and was asked in SQLite's dialect, whose "
                f"differences look like bugs: give --as {name}"
            )


def _known_marked(plan: Plan, result: FuzzRun) -> FuzzRun:
    """With the known ones as the file has them now: a run that goes on may have begun without."""
    marked = (dataclasses.replace(f, known=plan.known.match(f)) for f in result.findings)
    return dataclasses.replace(result, findings=tuple(marked))


def _known_use(known: KnownBugs, result: FuzzRun) -> KnownUse | None:
    if not isinstance(known, KnownFile):
        return None
    findings = result.findings
    return KnownUse(
        known.path,
        known.suppressed(findings),
        tuple(known.idle(findings)),
        tuple(known.ended()),
        len(known.unreviewed(findings)),
    )


def _finished(given: argparse.Namespace, report: FuzzReport, people: TextIO) -> int:
    """Save, print and write what was found; the exit code."""
    with contextlib.ExitStack() as said:  # what is known is told even where writing fails
        said.callback(lambda: print_all(summary(report), people))
        if given.json:
            said.callback(lambda: write_document("--json", given.json, json_text(report)))
        if given.write_known:
            name = report.plan.choice.name
            number = write_known_bugs(given.write_known, report.run.findings, name)
            if number:
                entries = "1 entry" if number == 1 else f"{number:,} entries"
                note = f"{given.write_known}: {entries} added, to be reviewed\n"
                said.callback(lambda: print_all(note, people))
    return report.exit_code
