"""`refute check`: the machines and claims of one file, judged where they stand.

The file is never imported here: claims are described, and machines translated, in workers.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from refute.budget import Budget, parse_duration, parse_size
from refute.check import EnginesFor
from refute.cli.ahead import begun_ahead
from refute.cli.check_run import judge
from refute.cli.output import Outputs, add_outputs, progress_line
from refute.cli.parsing import Parser, count, natural, path_text, whole_number
from refute.cli.place import Place, place_of, split_target
from refute.cli.targets import claims_of
from refute.config import read_config
from refute.errors import UsageError
from refute.frozen import frozen
from refute.record import Run
from refute.report.witness_file import FOLDER, save_all
from refute.site import Site
from refute.specs.machine.settings import parse_settings
from refute.verifiers import Verifier
from refute.verifiers.model.choice import ENGINES, INDUCT, SYMBOLIC, Choice
from refute.verifiers.registry import engines_for

EXAMPLES = """
refute check examples/journalfs/rename_spec.py
refute check spec.py:TwoPhase --set RM=3
refute check spec.py:TwoPhase --set RM=2..6
refute check spec.py:agreement --set RM=3
refute check spec.py:TwoPhase --set RM=10 --memory 8GiB --budget 10m
refute check spec.py:TwoPhase --set RM=12 --memory 64GiB --budget 8h --checkpoint kept/
refute check spec.py:TwoPhase --set RM=40 --simulate 10000 --depth 300
refute check spec.py:TwoPhase --set RM=10 --engine symbolic --depth 12
refute check spec.py:TwoPhase --set RM=any
refute check claims.py:"rename is atomic" --budget 2m
refute check spec.py --json - | jq .decision
"""


ABOUT = """\
Check the machines and claims of one file.

Exit 0: every claim is established. 1: one is refuted. 2: the input cannot be read.
3: something is not established."""
_NAME = "NAME: a machine, a property, MACHINE.PROPERTY or a claim; by default everything"
_ENGINE = """for machines: auto (plain, native when there is more, symbolic where these do not
decide), plain, native, or symbolic (formulas: bounded search and proofs)"""
_EXACT = "keep states whole, as by default; nothing rests on hashes"
_HASHED = "keep only hashes of states of more than 64 bits; the evidence lists the assumption"
_WALKS = "for machines: so many random walks instead of a search"
_DEPTH = "of a random walk at most (1000), or of a bounded search (as many as the budget allows)"
_INDUCT = f"for formulas: k-induction up to this k ({INDUCT}; 5 without a number; 0: none)"
_SYMMETRY = "for machines: search up to permutations of Sorts; not for temporal properties"
_CHECKPOINT = "for machines: keep searches here, and go on from what is kept of them"
_EVERY = "how often (60s); when it is interrupted or the budget ends, too"
_NO_WALKS = "--simulate keeps nothing to go on from: --seed repeats its walks"
_NO_DEPTH = "without --simulate or --engine symbolic; a search has no depth"
_SET = "a constant of a machine; 2..6 sweeps; any: a Sort of any size; may be repeated"
MORE = 5  # the largest k of `--induct` without a number


@frozen
class Options:
    """The command's arguments."""

    target: str
    settings: tuple[str, ...]
    budget: Budget
    choice: Choice
    outputs: Outputs


def parser() -> Parser:
    """The command's arguments."""
    made = Parser("check", ABOUT, EXAMPLES)
    made.add_argument("target", metavar="FILE[:NAME]", help=_NAME)
    made.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help=_SET, dest="settings"
    )
    made.add_argument("--budget", default="60s", metavar="DURATION", help="wall-clock cap (60s)")
    made.add_argument(
        "--cases", type=whole_number, default=1000, metavar="N", help="cases at most (1000)"
    )
    made.add_argument("--memory", default="2GiB", metavar="SIZE", help="of each worker (2GiB)")
    made.add_argument("--engine", choices=ENGINES, default="auto", help=_ENGINE)
    kept = made.add_mutually_exclusive_group()
    kept.add_argument("--exact", action="store_true", help=_EXACT)
    kept.add_argument("--hashed", action="store_true", help=_HASHED)
    made.add_argument("--symmetry", action="store_true", help=_SYMMETRY)
    made.add_argument("--simulate", type=count, metavar="WALKS", help=_WALKS)
    made.add_argument("--depth", type=count, metavar="STEPS", help=_DEPTH)
    made.add_argument("--induct", type=natural, nargs="?", const=MORE, metavar="K", help=_INDUCT)
    made.add_argument("--seed", type=whole_number, default=0, metavar="N", help="repeats a run")
    made.add_argument("--checkpoint", type=path_text, metavar="DIR", help=_CHECKPOINT)
    made.add_argument("--checkpoint-every", metavar="DURATION", help=_EVERY)
    add_outputs(made)
    return made


def run(argv: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    parsed = _options(parser().read(argv))
    path, name = split_target(parsed.target)
    place = place_of(path)
    parsed.outputs.spare(_taken(place, parsed.choice))
    roots = place.roots(read_config(place.tree).roots)
    progress = progress_line(sys.stderr)
    site = Site(place.tree, place.tree, roots)
    with begun_ahead(parsed.budget, parsed.choice) as begin:
        claims = claims_of(place, roots, name, parse_settings(parsed.settings), begin)
        record = judge(claims, site, parsed.budget, progress, engines_as(parsed.choice))
    progress("")
    parsed.outputs.write(record, save(record, place, roots))
    return record.exit_code


def _options(given: argparse.Namespace) -> Options:
    seconds = parse_duration(given.budget)
    memory = parse_size(given.memory)
    _refuse_contradictions(given)
    choice = Choice(
        engine=given.engine,
        walks=given.simulate or 0,
        depth=given.depth or Choice.depth,
        hashed=given.hashed,
        symmetry=given.symmetry,
        checkpoint=given.checkpoint or "",
        bound=0 if given.simulate else given.depth or 0,
        induct=INDUCT if given.induct is None else given.induct,
        every_s=parse_duration(given.checkpoint_every or "60s"),
    )
    budget = Budget(given.cases, seconds, seconds, memory, given.seed)
    outputs = Outputs(given.json, given.sarif, given.junit, given.trace)
    return Options(given.target, tuple(given.settings), budget, choice, outputs)


def _refuse_contradictions(given: argparse.Namespace) -> None:
    """Raises UsageError where one option would do nothing, or cannot be had, beside the others."""
    plain = given.engine == "plain"
    formulas = given.engine == SYMBOLIC
    searches = given.engine in ("plain", "native") or given.simulate
    for thing, there, other, why in (
        ("--symmetry", given.simulate, given.symmetry, "--simulate keeps no states"),
        ("--hashed", given.simulate, given.hashed, "--simulate keeps no states"),
        ("--exact", given.simulate, given.exact, "--simulate keeps no states"),
        ("--hashed", plain, given.hashed, "--engine plain keeps states whole"),
        ("--checkpoint", given.simulate, given.checkpoint, _NO_WALKS),
        ("--depth", not given.simulate and not formulas, given.depth, _NO_DEPTH),
        ("--induct", searches, given.induct is not None, "only formulas are proved by induction"),
        ("--simulate", formulas, given.simulate, "--engine symbolic takes no walks"),
        ("--symmetry", formulas, given.symmetry, "--engine symbolic renames members by itself"),
        ("--hashed", formulas, given.hashed, "--engine symbolic keeps no states"),
        ("--exact", formulas, given.exact, "--engine symbolic keeps no states"),
        (
            "--checkpoint",
            formulas,
            given.checkpoint,
            "--engine symbolic keeps no search",
        ),
        ("--checkpoint-every", not given.checkpoint, given.checkpoint_every, "no --checkpoint"),
    ):
        if there and other:
            raise UsageError(f"{thing}: {why}", thing=thing, next_step="see `refute check --help`")


def _taken(place: Place, choice: Choice) -> dict[str, str]:
    """What the run reads or writes besides its documents."""
    taken = {
        str(place.tree / place.file): "the file that is checked",
        str(place.tree / FOLDER): f"what is saved in {FOLDER}",
    }
    if choice.checkpoint:
        taken[choice.checkpoint] = "what --checkpoint keeps"
    return taken


def engines_as(choice: Choice) -> EnginesFor:
    """The registry's engines; those of machines that are chosen, to search as chosen."""

    def engines(kind: str) -> Sequence[Verifier]:
        found = engines_for(kind)
        for engine in found:
            if hasattr(engine, "choice"):
                engine.choice = choice
        return [e for e in found if choice.engine in getattr(e, "chosen", ENGINES)]

    return engines


def save(record: Run, place: Place, roots: Sequence[str]) -> dict[str, str]:
    """Save the witnesses under the project's `.refute/`; claim digest → path to type."""
    saved, problem = save_all(record.results, roots, place.tree / FOLDER)
    if problem:
        print(f"refute: {problem}", file=sys.stderr)
    return {digest: os.path.relpath(path) for digest, path in saved.items()}
