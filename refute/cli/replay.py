"""`refute replay`: does a saved counterexample still break its claim on the code of today?

The verdict is about this one case. Exit 1: it still breaks the claim. Exit 0: it was played and
does not, which says nothing about any other case, and the text says so. Exit 3: it could not be
played. For a claim that something is reachable the case is an example: exit 0 while it still shows
what the claim says, 3 when it no longer does (another example may exist).
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from refute.claim import is_command
from refute.cli.parsing import parse
from refute.cli.printing import print_all
from refute.cli.to_test import write_test
from refute.errors import (
    EXIT_ESTABLISHED,
    EXIT_NOT_ESTABLISHED,
    EXIT_REFUTED,
    UsageError,
)
from refute.replay import Replayed
from refute.report.trace import trace_lines
from refute.report.visible import visible
from refute.report.witness_file import FOLDER, WitnessFile, load, play

EXAMPLES = """
refute replay .refute/witnesses/rename-is-atomic-1f2e3d4c.json
refute replay WITNESS.json --tree ../other-checkout
refute replay WITNESS.json --to-test tests/test_rename_regression.py
git bisect run refute replay /path/to/WITNESS.json --tree .
"""


@dataclasses.dataclass(frozen=True)
class Options:
    """The command's arguments."""

    witness: Path
    tree: str
    to_test: str
    json: str


def options(
    witness: Annotated[Path, typer.Argument(metavar="WITNESS.json", show_default=False)],
    tree: Annotated[
        str, typer.Option(metavar="DIR", help="The tree to play it on; by default the witness's.")
    ] = "",
    to_test: Annotated[
        str, typer.Option(metavar="FILE", help="Write a pytest file that replays it.")
    ] = "",
    json_: Annotated[
        str, typer.Option("--json", metavar="-", help="Print the outcome as JSON on stdout.")
    ] = "",
) -> Options:
    """Play a saved counterexample again, in fresh workers, on the code of today.

    Exit 0: it does not break the claim now. 1: it still does. 2: the file cannot be read.
    3: it could not be played.
    """
    return Options(witness, tree, to_test, json_)


def run(argv: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    parsed = parse(options, "replay", argv, EXAMPLES)
    if isinstance(parsed, int):
        return parsed
    if parsed.json not in ("", "-"):
        raise UsageError("--json of replay prints to stdout", thing="--json", possible=("-",))
    file = load(parsed.witness)
    tree = _tree(parsed)
    if parsed.to_test:
        path = write_test(file, tree, Path(parsed.to_test))
        print(f"wrote {path}: it fails while the case breaks the claim; run it with pytest")
        return EXIT_ESTABLISHED
    return _report(file, play(file, tree), tree, parsed)


def _tree(parsed: Options) -> Path:
    if parsed.tree:
        tree = Path(parsed.tree)
    else:
        folder = parsed.witness.absolute().parent
        home = folder.parents[len(FOLDER.parts) - 1]
        tree = home if folder == home / FOLDER else Path.cwd()
    if not tree.is_dir():
        raise UsageError(
            f"{tree} is not a directory",
            thing="--tree",
            value=tree,
            next_step="give the top directory of the code that the case is to be played on",
        )
    return tree.resolve()


def _report(file: WitnessFile, replayed: Replayed, tree: Path, parsed: Options) -> int:
    code, word, sentence = _verdict(file, replayed)
    if parsed.json == "-":
        print_all(json.dumps(_document(file, replayed, code, word), indent=2) + "\n", sys.stdout)
    lines = [f"{word}  {visible(file.claim.name)}: {sentence}"]
    if is_command(file.claim.subject):
        lines.append(f"  subject: {visible(file.claim.subject)}")
    lines += [f"  {line}" for line in trace_lines(file.case, steps_shown=1000)]
    lines += ["", f"played on {os.path.relpath(tree)}"]
    print_all("\n".join(lines) + "\n", sys.stderr if parsed.json == "-" else sys.stdout)
    return code


def _verdict(file: WitnessFile, replayed: Replayed) -> tuple[int, str, str]:
    times = f"{replayed.broke} of {replayed.runs} replays"
    if file.claim.statement.existential:
        if replayed.broke:
            return EXIT_ESTABLISHED, "SHOWN", f"the example still shows it, in {times}"
        if replayed.runs and not replayed.errors:
            return EXIT_NOT_ESTABLISHED, "NOT SHOWN", "this example no longer shows it"
    elif replayed.broke:
        flaky = "flaky, " if replayed.broke < replayed.runs else ""
        return EXIT_REFUTED, "REFUTED", f"the case still breaks it ({flaky}{times})"
    elif replayed.runs and not replayed.errors:
        return (
            EXIT_ESTABLISHED,
            "NOT BROKEN",
            f"this case does not break it in {replayed.runs} replays; others may",
        )
    return EXIT_NOT_ESTABLISHED, "NOT ESTABLISHED", replayed.reason


def _document(file: WitnessFile, replayed: Replayed, code: int, word: str) -> dict[str, object]:
    return {
        "schema": "refute.replay/1",
        "verdict": word,
        "exit_code": code,
        "claim": file.claim.name,
        "broke": replayed.broke,
        "runs": replayed.runs,
        "deterministic": replayed.deterministic,
        "errors": list(replayed.errors),
    }
