"""`refute gate`: one git change judged against the claims of its base."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from refute.budget import Budget, parse_duration
from refute.cli.output import Outputs, add_outputs, progress_line
from refute.cli.parsing import Parser
from refute.cli.place import project_of
from refute.config import read_config
from refute.errors import RefuteError
from refute.gate.flow import gate
from refute.ledger.store import LEDGER_NAME
from refute.record import Run
from refute.report.witness_file import FOLDER, save_all

ABOUT = """\
Judge a change: the difference between a base and a head of the git repository here.

Exit 0: accepted. 1: refuted, with the smallest counterexample. 2: the input cannot be read.
3: not established, or nothing to judge."""
EXAMPLES = """
refute gate --base main
refute gate --base origin/main --head HEAD --budget 5m
refute gate --base origin/main --policy /etc/refute/policy.toml --junit gate.xml
refute gate --json - | jq -r .decision
"""
_BASE = "what to compare with; by default the merge base with the default branch"
_HEAD = 'a revision, or "worktree"; by default the worktree when it is dirty, else HEAD'
_POLICY = "configuration from outside the judged tree; needed for the gate to decide"


def parser() -> Parser:
    """The command's arguments."""
    made = Parser("gate", ABOUT, EXAMPLES)
    made.add_argument("--base", metavar="REF", help=_BASE)
    made.add_argument("--head", metavar="REF|worktree", help=_HEAD)
    made.add_argument("--budget", default="60s", metavar="DURATION", help="wall-clock cap (60s)")
    made.add_argument("--policy", type=Path, metavar="FILE", help=_POLICY)
    add_outputs(made)
    return made


def run(argv: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    given = parser().read(argv)
    outputs = Outputs(given.json, given.sarif, given.junit, given.trace)
    tree = project_of(Path.cwd())
    taken = {str(tree / p): f"what is kept in {p}" for p in (FOLDER, LEDGER_NAME)}
    outputs.spare(taken | ({str(given.policy): "the policy"} if given.policy else {}))
    progress = progress_line(sys.stderr)
    record = gate(Path.cwd(), given.base, given.head, _budget(given), given.policy, progress)
    progress("")
    files, problem = save_witnesses(record, Path.cwd())
    if problem:
        print(f"refute: {problem}", file=sys.stderr)
    outputs.write(record, files)
    return record.exit_code


def _budget(given: argparse.Namespace) -> Budget:
    seconds = parse_duration(given.budget)
    return Budget(cpu_s=seconds, wall_s=seconds)


def save_witnesses(record: Run, inside: Path) -> tuple[Mapping[str, str], str]:
    """Save the run's witnesses in the project that holds `inside`.

    Returns claim digest → path as a person types it, and why something was not saved.
    """
    if not any(r.evidence.witness for r in record.results):
        return {}, ""
    tree = project_of(inside)
    try:
        roots = read_config(tree).roots
    except RefuteError:
        return {}, f"no witness was saved: the configuration of {tree} cannot be read"
    saved, problem = save_all(record.results, roots, tree / FOLDER)
    return {digest: os.path.relpath(path) for digest, path in saved.items()}, problem
