"""The options of `refute fuzz sql`, in the groups that `--help` shows, and what they mean.

A group adds its options and nothing else; numbers, names and places are read here, so that all that
is wrong with a command line is told before an engine is started.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from refute.budget import parse_duration
from refute.cli.parsing import Parser, count, natural, path_text, whole_number
from refute.cli.printing import HelpShown, print_all
from refute.errors import UsageError
from refute.specs.sql import FEATURES
from refute.verifiers.sql.fuzz_oracles import ORACLES, chosen
from refute.verifiers.sql.fuzz_plan import ORACLES as USUAL
from refute.verifiers.sql.fuzz_plan import QUERIES

ABOUT = """\
Look for wrong results, crashes and hangs of an SQL engine with generated databases and queries.

Exit 0: something was compared, and nothing was found. 1: a bug was found that is not in the file of
known ones. 2: wrong usage, or a file that cannot be read. 3: nothing was compared, the engine was
lost, the run was interrupted, or what it met was not looked into."""

EXAMPLES = """
refute fuzz sql --engine turso --budget 30m --save found
refute fuzz sql --engine minidb:connect --oracle sqlite,tlp,norec --seed 7
refute fuzz sql --engine duckdb --seed-sql bugs.sql --known known-bugs.toml
refute fuzz sql --engine turso --repeat 7/203
"""

BUDGET = "60s"
ALL = "all"
REPEAT = "--repeat"
SHOWN = 10
MOST_DIGITS = 15
DIALECTS = ("sqlite", "duckdb", "datafusion", "postgresql", "mysql")
_ALIKE = {"turso": "sqlite", "postgres": "postgresql", "mariadb": "mysql"}
_ENGINE = (
    "sqlite, sqlite:PATH (a library), duckdb, turso, datafusion, module:function (a factory of "
    "DB-API connections), postgresql://…, mysql://…, or cmd:PROGRAM; docs/engines.md"
)
_REPEAT = re.compile(r"(-?[0-9]{1,18})/(-?[0-9]{1,9})")


class _Listing(argparse.Action):
    """Prints the features, and that is all."""

    def __call__(self, *_: object) -> None:
        """As `--help` does. Raises HelpShown."""
        width = max(map(len, FEATURES))
        lines = [f"{name:<{width}}  {meaning}\n" for name, meaning in FEATURES.items()]
        print_all("".join(lines), sys.stdout)
        raise HelpShown


class _Fuzz(Parser):
    """The parser of the command: `--repeat -5/3` is no option that begins with a hyphen."""

    def read(self, argv: Sequence[str]) -> argparse.Namespace:
        """As for any command."""
        told = list(argv)
        for place, word in enumerate(told[:-1]):
            if word == REPEAT and _REPEAT.fullmatch(told[place + 1]):
                told[place : place + 2] = [f"{REPEAT}={told[place + 1]}"]
                break
        return super().read(told)


class Limits(NamedTuple):
    """How long a run is. programs: None for as long as there is time; time_s: the other way."""

    programs: int | None
    time_s: float | None


def parser() -> Parser:
    """The command's arguments."""
    made = _Fuzz("fuzz sql", ABOUT, EXAMPLES)
    for add in (_engine, _generated, _running, _findings):
        add(made)
    return made


def _engine(made: Parser) -> None:
    group = made.add_argument_group("engine")
    group.add_argument("--engine", required=True, metavar="ENGINE", help=_ENGINE)
    group.add_argument(
        "--as",
        dest="dialect",
        default="",
        metavar="DIALECT",
        help=f"write statements for {', '.join(DIALECTS)} (its own, or sqlite)",
    )
    group.add_argument(
        "--timeout", default="10s", metavar="DURATION", help="for each statement (10s)"
    )


def _generated(made: Parser) -> None:
    group = made.add_argument_group("what is asked")
    group.add_argument(
        "--oracle",
        action="append",
        default=[],
        metavar="NAME,…",
        help=f"of {', '.join(ORACLES)}; or all ({','.join(USUAL)})",
    )
    group.add_argument(
        "--features", action="append", default=[], metavar="NAME,…", help="generate only these"
    )
    group.add_argument(
        "--without", action="append", default=[], metavar="NAME,…", help="generate none of these"
    )
    group.add_argument(
        "--list-features", action=_Listing, nargs=0, help="describe the features and run nothing"
    )
    group.add_argument(
        "--seed-sql",
        action="append",
        default=[],
        type=path_text,
        metavar="FILE|DIR",
        help="begin with these: SQL, *.test, *.slt, or JSON with statements",
    )
    group.add_argument(
        "--seed", type=whole_number, default=0, metavar="N", help="repeats a run (0)"
    )
    group.add_argument(
        "--queries", type=count, default=QUERIES, metavar="N", help=f"on one database ({QUERIES})"
    )
    group.add_argument(
        REPEAT, default="", metavar="SEED/PROGRAM", help="one database of an earlier run again"
    )


def _running(made: Parser) -> None:
    group = made.add_argument_group("running")
    group.add_argument(
        "--budget",
        default="",
        metavar="TIME|N",
        help=f"a time, such as 30m, or a number of queries, such as 10000 ({BUDGET})",
    )
    group.add_argument("--programs", type=natural, metavar="N", help="databases at most")
    group.add_argument(
        "--jobs", type=count, default=0, metavar="N", help="processes at most (all cores)"
    )
    group.add_argument(
        "--resume", type=path_text, metavar="DIR", help="keep the run there, and go on with it"
    )


def _findings(made: Parser) -> None:
    group = made.add_argument_group("findings")
    group.add_argument(
        "--known", type=path_text, metavar="FILE", help="bugs that are known, to be passed over"
    )
    group.add_argument(
        "--write-known",
        type=path_text,
        metavar="FILE",
        help="add entries for what is new; they suppress nothing until reviewed",
    )
    group.add_argument(
        "--save", type=path_text, metavar="DIR", help="write each as NAME.test and NAME.py"
    )
    group.add_argument(
        "--show", type=natural, default=SHOWN, metavar="N", help=f"findings in text ({SHOWN})"
    )
    group.add_argument("--json", default="", metavar="FILE|-", help="write the run as JSON")


def limits_of(given: argparse.Namespace) -> Limits:
    """How long the run is. Raises UsageError."""
    budget: str = given.budget
    if re.fullmatch(r"[0-9]+", budget.strip()):
        queries = int(budget) if len(budget) <= MOST_DIGITS else 0
        if not queries:
            raise _no_budget(budget)
        programs = -(-queries // given.queries)
        return Limits(programs if given.programs is None else min(programs, given.programs), None)
    if not budget:
        seconds = None if given.programs is not None else parse_duration(BUDGET)
        return Limits(given.programs, seconds)
    try:
        return Limits(given.programs, parse_duration(budget))
    except UsageError as error:
        raise _no_budget(budget) from error


def _no_budget(budget: str) -> UsageError:
    return UsageError(
        f"--budget {budget}: this is neither a time nor a number of queries above 0",
        thing="--budget",
        value=budget,
        possible=("60s", "30m", "2h", "10000"),
        next_step="give a time with its unit, or how many queries",
    )


def oracles_of(given: argparse.Namespace) -> tuple[str, ...]:
    """The oracles by name. Raises UsageError."""
    names = _names(given.oracle)
    _refuse_others("--oracle", "oracle", names, (*ORACLES, ALL))
    if ALL in names:
        return tuple(ORACLES)
    return chosen(names) if given.oracle else USUAL


def features_of(given: argparse.Namespace) -> frozenset[str] | None:
    """What is generated; None for everything. Raises UsageError."""
    if not (given.features or given.without):
        return None
    wanted, unwanted = _names(given.features), _names(given.without)
    for option, names in (("features", wanted), ("without", unwanted)):
        if getattr(given, option) and not names:
            raise UsageError(
                f"--{option} names no feature",
                thing=f"--{option}",
                possible=tuple(FEATURES),
                next_step="name some, with commas between; --list-features describes them",
            )
    _refuse_others("--features", "feature", wanted, FEATURES)
    _refuse_others("--without", "feature", unwanted, FEATURES)
    return frozenset(wanted if given.features else FEATURES) - frozenset(unwanted)


def dialect_of(given: argparse.Namespace) -> str:
    """The dialect that was asked for; "" for the engine's own. Raises UsageError."""
    name = given.dialect.lower()
    if not name:
        return ""
    name = _ALIKE.get(name, name)
    _refuse_others("--as", "dialect", [name], DIALECTS)
    return str(name)


def repeated(given: argparse.Namespace, scripts: int) -> tuple[int, int] | None:
    """Seed and program of --repeat. scripts: how many are given. Raises UsageError."""
    if not given.repeat:
        return None
    match = _REPEAT.fullmatch(given.repeat)
    if match is not None and int(match[2]) < -scripts:
        raise UsageError(
            f"--repeat {given.repeat}: a negative number is a script of --seed-sql, and "
            f"{'none is' if not scripts else f'only {scripts} are'} given",
            thing="--repeat",
            value=given.repeat,
            next_step="give the options that the finding was found with",
        )
    other = next((o for o in ("budget", "resume") if getattr(given, o)), "")
    if given.programs is not None:
        other = "programs"
    if match is None or other:
        what = f"--repeat with --{other}" if match else f"--repeat {given.repeat}"
        raise UsageError(
            f"{what}: one database is played again, by its seed and number",
            thing="--repeat",
            value=given.repeat,
            possible=("SEED/PROGRAM",),
            next_step="give what the finding says, such as --repeat 0/17, and no length of the run",
        )
    return int(match[1]), int(match[2])


def _names(given: Iterable[str]) -> list[str]:
    return [name.strip().lower() for text in given for name in text.split(",") if name.strip()]


def _refuse_others(option: str, what: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise UsageError for a name that is not known, with those that are like it."""
    possible = tuple(known)
    for name in names:
        if name not in possible:
            like = difflib.get_close_matches(name, possible, 3, 0.5)
            raise UsageError(
                f"there is no {what} {name!r}",
                thing=option,
                value=name,
                possible=possible,
                next_step=f"did you mean {' or '.join(like)}?" if like else "name one of these",
            )
