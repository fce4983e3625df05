"""`refute prove`: the contracts of functions, proved for all inputs or refuted with one.

What is proved is what the file says: each contract becomes the claim that its function meets it,
which needs PROVED. The files are read as syntax; functions run in workers only.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from refute.budget import Budget, parse_duration
from refute.check import unknown
from refute.claim import Claim, Verdict, Where
from refute.cli.check_run import INTERRUPTED, judge, record
from refute.cli.output import Outputs, add_outputs, progress_line
from refute.cli.parsing import Parser, whole_number
from refute.cli.place import Place, place_of, split_target
from refute.closure import parse
from refute.config import read_config
from refute.errors import UnreadableInput, UsageError
from refute.evidence import Evidence
from refute.record import ClaimResult, Run
from refute.report.witness_file import FOLDER, save_all
from refute.site import Site
from refute.specs.contract import MeetsContract
from refute.specs.contract_names import definitions, inner_definitions
from refute.specs.contract_source import contracts_in

EXAMPLES = """
refute prove bitmap.py
refute prove bitmap.py:first_free
refute prove src/pkg/*.py --budget 2m
refute prove bitmap.py --json - | jq .decision
"""

ABOUT = """\
Prove that functions meet the contracts above them, for all inputs, or refute it with one.

A contract is written with icontract's require, ensure and snapshot; loops need invariants
(refute.specs.contract). See docs/prove.md.

Exit 0: every contract is proved. 1: one is refuted. 2: the input cannot be read.
3: something is neither."""
_BUDGET = "wall-clock cap for each function (60s)"
_TARGET = "a function with a contract; by default every one in the file"


@dataclasses.dataclass(frozen=True)
class Options:
    """The command's arguments."""

    targets: tuple[str, ...]
    budget: Budget
    outputs: Outputs


@dataclasses.dataclass
class Group:
    """Claims of files that are judged in one tree with the same import roots."""

    place: Place
    roots: tuple[str, ...]
    claims: list[Claim]


def parser() -> Parser:
    """The command's arguments."""
    made = Parser("prove", ABOUT, EXAMPLES)
    made.add_argument("targets", metavar="FILE[:FUNCTION]", nargs="+", help=_TARGET)
    made.add_argument("--budget", default="60s", metavar="DURATION", help=_BUDGET)
    made.add_argument(
        "--cases", type=whole_number, default=1000, metavar="N", help="cases at most (1000)"
    )
    made.add_argument("--seed", type=whole_number, default=0, metavar="N", help="repeats a run")
    add_outputs(made)
    return made


def run(argv: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    parsed = _options(parser().read(argv))
    groups = groups_of(parsed.targets)
    for group in groups:
        parsed.outputs.spare({str(group.place.tree / FOLDER): f"what is saved in {FOLDER}"})
    for target in parsed.targets:
        parsed.outputs.spare({str(split_target(target)[0]): "a file that is proved"})
    progress = progress_line(sys.stderr)
    done, files = _judge(groups, parsed.budget, progress)
    progress("")
    parsed.outputs.write(done, files)
    return done.exit_code


def _options(given: argparse.Namespace) -> Options:
    seconds = parse_duration(given.budget)
    budget = Budget(cases=given.cases, cpu_s=seconds, wall_s=seconds, seed=given.seed)
    outputs = Outputs(given.json, given.sarif, given.junit, given.trace)
    return Options(tuple(given.targets), budget, outputs)


def groups_of(targets: Sequence[str]) -> list[Group]:
    """The claims that the targets name, once each. Raises UsageError or UnreadableInput."""
    groups: dict[tuple[Path, tuple[str, ...]], Group] = {}
    for target in targets:
        path, name = split_target(target)
        place = place_of(path)
        roots = place.roots(read_config(place.tree).roots)
        group = groups.setdefault((place.tree, roots), Group(place, roots, []))
        group.claims += [c for c in _claims(place, name) if c not in group.claims]
    return list(groups.values())


def _claims(place: Place, name: str) -> list[Claim]:
    source = (place.tree / place.file).read_bytes()
    module = parse(source)
    if module is None:
        raise UnreadableInput(
            f"{place.file} is not Python that can be parsed{_where(source)}",
            thing="FILE",
            value=place.file,
            next_step="repair the file",
        )
    found = contracts_in(module)
    chosen = [(qualname, line) for qualname, line in found if name in ("", qualname)]
    if not chosen:
        raise _nothing(place, name, module, [qualname for qualname, _ in found])
    return [_claim(place, qualname, line) for qualname, line in dict(chosen).items()]


def _where(source: bytes) -> str:
    """What stands in the way of parsing, with the line, where Python says so."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except SyntaxError as error:
        return f": line {error.lineno}: {error.msg}" if error.lineno else f": {error.msg}"
    except (RecursionError, MemoryError):
        return ": it is nested too deeply"
    except ValueError as error:
        return f": {error}"
    return ""


def _claim(place: Place, qualname: str, line: int) -> Claim:
    return Claim(
        name=f"{place.file}:{qualname} meets its contract",
        statement=MeetsContract(f"{place.module}:{qualname}"),
        where=Where(place.file, line),
        covers=(place.file,),
        need=Verdict.PROVED(),
    )


def _nothing(place: Place, name: str, module: ast.Module, named: Sequence[str]) -> UsageError:
    known = [qualname for qualname, _ in (*definitions(module), *inner_definitions(module))]
    if name and name not in known:
        return UsageError(
            f"{place.file} has no function called {name!r}",
            thing="FILE:FUNCTION",
            value=name,
            possible=named,
            next_step="name a function of the file that has a contract",
        )
    return UsageError(
        f"{place.file}:{name} has no contract" if name else f"{place.file} holds no contract",
        thing="FILE:FUNCTION" if name else "FILE",
        value=name or place.file,
        possible=named,
        next_step="write @icontract.ensure(lambda result: …) above the function; see docs/prove.md",
    )


def _judge(
    groups: Sequence[Group], budget: Budget, progress: Callable[[str], None]
) -> tuple[Run, dict[str, str]]:
    """One run over all groups, and claim digest → saved witness file."""
    started = time.monotonic()
    claims: list[Claim] = []
    evidence: list[Evidence] = []
    files: dict[str, str] = {}
    interrupted = False
    for group in groups:
        site = Site(group.place.tree, group.place.tree, group.roots)
        results: list[ClaimResult] = []
        for claim in group.claims:  # each with the whole budget: a hard one takes from no other
            claims.append(claim)
            if interrupted:
                evidence.append(unknown(claim, INTERRUPTED))
                continue
            done = judge([claim], site, budget, progress)
            interrupted = done.interrupted
            results += done.results
            evidence.append(done.results[0].evidence)
        saved, problem = save_all(results, group.roots, group.place.tree / FOLDER)
        if problem:
            print(f"refute: {problem}", file=sys.stderr)
        files |= {digest: os.path.relpath(path) for digest, path in saved.items()}
    wall = time.monotonic() - started
    whole = record(claims, evidence, budget, wall, interrupted=interrupted)
    return dataclasses.replace(whole, command="prove"), files
