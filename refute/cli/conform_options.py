"""The options of `refute conform`, in the groups that `--help` shows: one function for each.

A group adds its options and nothing else; what they mean is read where they are used.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from refute.cli.parsing import Parser, natural, path_text
from refute.cli.printing import HelpShown, print_all
from refute.oracles.sqllogictest.extended.dialects import AUTO, CHOICES
from refute.report.conform import SHOWN
from refute.verifiers.sql.conform_names import DIALECTS
from refute.verifiers.sql.conform_run import SQLITE

ABOUT = """\
Run sqllogictest files on an SQL engine.

Exit 0: every record that was run passed, or failed as a reviewed list says. 1: one failed, and
failed again on a fresh database. 2: a file cannot be read, or wrong usage. 3: nothing was run, the
engine was lost or unstable, or the list of known failures is out of date."""

EXAMPLES = """
refute conform tests/sql
refute conform select1.test select2.test --engine minidb:connect
refute conform tests/sql --engine minidb:connect --as sqlite --json - | jq .records
"""

TRANSPILE, OWN = "--transpile", "auto"  # OWN: the engine's own dialect
LOCAL = "local"  # where files are run unless an executor is named
_ENGINE = (
    "sqlite, duckdb, turso, datafusion, module:function (a factory of DB-API connections), "
    'postgresql://…, mysql://…, or cmd:PROGRAM; docs/engines.md describes them ("sqlite")'
)


class _Listing(argparse.Action):
    """Prints the classes of expected difference, and that is all."""

    def __call__(self, *_: object) -> None:
        """As `--help` does. Raises HelpShown."""
        module = importlib.import_module("refute.cli.conform_differences")
        print_all(module.listing(), sys.stdout)
        raise HelpShown


class _Conform(Parser):
    """The parser of the command: `--transpile FILE` takes no dialect."""

    def read(self, argv: Sequence[str]) -> argparse.Namespace:
        """As for any command."""
        told = list(argv)
        for place, word in enumerate(told[:-1]):
            if word == "--":
                break
            if word == TRANSPILE and _is_file(told[place + 1]):
                told[place] = f"{TRANSPILE}={OWN}"
        return super().read(told)


def _is_file(word: str) -> bool:
    """Whether a word after `--transpile` is a file to run; a plain word may be a wrong dialect."""
    if word.lower() in (OWN, *DIALECTS):
        return False
    return re.fullmatch(r"[A-Za-z0-9_]*", word) is None or Path(word).exists()


def parser() -> Parser:
    """The command's arguments."""
    made = _Conform("conform", ABOUT, EXAMPLES)
    files = "sqllogictest files, or directories with *.test and *.slt files; - for standard input"
    made.add_argument("files", nargs="+", metavar="FILE_OR_DIR", help=files)
    for add in (_engine, _dialect, _selection, _running, _judging, _causes, _reports):
        add(made)
    return made


def _engine(made: Parser) -> None:
    """Which engine, under which name, in which dialect of files."""
    group = made.add_argument_group("engine")
    group.add_argument("--engine", default=SQLITE, metavar="ENGINE", help=_ENGINE)
    group.add_argument(
        "--as", default="", metavar="NAME", dest="name", help="the engine's name for skipif, onlyif"
    )
    group.add_argument("--timeout", default="30s", metavar="DURATION", help="for each query (30s)")


def _dialect(made: Parser) -> None:
    """In which dialect the files are, and what only some dialects have."""
    group = made.add_argument_group("dialect of the files")
    group.add_argument(
        "--dialect",
        default=AUTO,
        choices=CHOICES,
        help="sqlite: the C runner's; c: that, with its own verdict, traps included; rs: "
        "sqllogictest-rs' (auto: whichever a file can only be)",
    )
    group.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="NAME",
        help="one more name for skipif, onlyif (rs)",
    )
    group.add_argument(
        "--allow-system",
        action="store_true",
        help="files may run commands on this machine with `system` (rs)",
    )
    group.add_argument(
        "--strict-types", action="store_true", help="check number and types of columns (rs)"
    )


def _selection(made: Parser) -> None:
    """Which of the files and records are run."""
    group = made.add_argument_group(
        "selection (what is left out is told; files may be given as PATH:LINE or PATH:FIRST-LAST)"
    )
    for option, words in (
        ("--only", "files whose path or name fits one; * stops at /, ** does not"),
        ("--skip", "no file that fits"),
    ):
        group.add_argument(option, action="append", default=[], metavar="GLOB", help=words)
    for option, words in (("--tag", "files that have one of these"), ("--no-tag", "none of these")):
        group.add_argument(option, action="append", default=[], metavar="TAG", help=words)
    group.add_argument(
        "--record",
        default="",
        metavar="LINES|REGEX",
        help="records at lines, or whose SQL has a match; what they need before them runs, too",
    )
    group.add_argument(
        "--shard", default="", metavar="K/N", help="the K-th of N parts of the files, by size"
    )


def _running(made: Parser) -> None:
    """How and where they are run."""
    group = made.add_argument_group("running")
    group.add_argument(
        "--no-native", action="store_true", help="run sqlite without compiled code of refute's"
    )
    group.add_argument("--jobs", type=natural, default=0, metavar="N", help="processes at most")
    group.add_argument(
        "--executor",
        default=LOCAL,
        metavar="WHERE",
        help="local, or dask://HOST:PORT: the scheduler of a Dask cluster (local)",
    )
    group.add_argument(
        "--resume",
        type=path_text,
        metavar="FILE|DIR",
        help="keep the result of each file there, and do not run again what it holds already",
    )
    group.add_argument(
        "--merge",
        action="store_true",
        help="run nothing: the files are JSON reports of shards; one report is made of them",
    )
    group.add_argument(
        "--max-failures",
        type=natural,
        default=0,
        metavar="N",
        help="end after N failed records, known ones among them",
    )
    group.add_argument(
        "--fail-fast",
        action="store_const",
        const=1,
        dest="max_failures",
        help="end after the first",
    )
    group.add_argument(
        "--progress", action="store_true", help="often, also where stderr is no terminal"
    )


def _judging(made: Parser) -> None:
    """What counts as a failure: known failures, expected differences, transpiling."""
    group = made.add_argument_group("judging")
    group.add_argument(
        TRANSPILE,
        nargs="?",
        const=OWN,
        default="",
        metavar="DIALECT",
        help="write SQLite's statements for the engine (auto: its own dialect)",
    )
    group.add_argument(
        "--no-difference",
        action="append",
        default=[],
        metavar="CLASS",
        help="let a class of expected difference fail; all for each of them",
    )
    group.add_argument(
        "--list-differences",
        action=_Listing,
        nargs=0,
        help="describe the classes of expected difference and run nothing",
    )
    group.add_argument(
        "--known",
        default="",
        metavar="FILE",
        help="failures that are accepted, with reasons (TOML)",
    )
    group.add_argument(
        "--known-passing",
        choices=("fail", "warn"),
        default="fail",
        help="what a known failure does that passes or cannot be found (fail: exit 3)",
    )
    group.add_argument(
        "--write-known",
        default="",
        metavar="FILE",
        help="add entries for the failures that are not listed; they excuse nothing until reviewed",
    )
    group.add_argument(
        "--update",
        action="store_true",
        help="rewrite the files: records that fail expect what the engine gave",
    )
    group.add_argument(
        "--dry-run", action="store_true", help="with --update: show the change, write nothing"
    )


def _causes(made: Parser) -> None:
    """From failures to causes: reduction and grouping."""
    group = made.add_argument_group("causes")
    group.add_argument(
        "--reduce",
        default="60s",
        metavar="DURATION",
        help="time at most for reducing failures to their causes (60s)",
    )
    group.add_argument(
        "--no-reduce", action="store_true", help="do not look for the causes of failures"
    )
    group.add_argument(
        "--save-reduced",
        default="",
        metavar="DIR",
        help="write the smallest failing script of each cause as a test file",
    )


def _reports(made: Parser) -> None:
    """What is printed and written."""
    group = made.add_argument_group("reports")
    group.add_argument(
        "--show", type=natural, default=SHOWN, metavar="N", help=f"failures a file ({SHOWN})"
    )
    group.add_argument("--json", default="", metavar="FILE|-", help="write the run as JSON")
    group.add_argument("--junit", default="", metavar="FILE|-", help="write JUnit XML")
    group.add_argument(
        "--html", default="", metavar="FILE|-", help="write one HTML file that needs nothing else"
    )
    group.add_argument(
        "--annotations",
        default="",
        metavar="FILE|-",
        help="write workflow commands of GitHub Actions, which mark the lines of a change",
    )
