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

from refute.claim import is_command
from refute.cli.exports import write_diagram, write_itf
from refute.cli.parsing import Parser
from refute.cli.places import check_targets
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
refute replay WITNESS.json --itf trace.itf.json --diagram trace.mmd
git bisect run refute replay /path/to/WITNESS.json --tree .
"""


ABOUT = """\
Play a saved counterexample again, in fresh workers, on the code of today.

Exit 0: it does not break the claim now. 1: it still does. 2: the file cannot be read.
3: it could not be played."""
_ITF = "write a machine's trace in the Informal Trace Format instead"
_DIAGRAM = "write a machine's trace as a Mermaid sequence diagram instead"
_TREE = "the code to play it on; by default the project that holds the witness"


@dataclasses.dataclass(frozen=True)
class Options:
    """The command's arguments."""

    witness: Path
    tree: str
    to_test: str
    json: str
    itf: str
    diagram: str


def parser() -> Parser:
    """The command's arguments."""
    made = Parser("replay", ABOUT, EXAMPLES)
    made.add_argument("witness", type=Path, metavar="WITNESS.json")
    made.add_argument("--tree", default="", metavar="DIR", help=_TREE)
    made.add_argument(
        "--to-test", default="", metavar="FILE", help="write a pytest file that replays it instead"
    )
    made.add_argument("--itf", default="", metavar="FILE|-", help=_ITF)
    made.add_argument("--diagram", default="", metavar="FILE|-", help=_DIAGRAM)
    made.add_argument(
        "--json", default="", choices=["-"], metavar="-", help="print the outcome as JSON"
    )
    return made


def run(argv: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    given = parser().read(argv)
    parsed = Options(given.witness, given.tree, given.to_test, given.json, given.itf, given.diagram)
    file = load(parsed.witness)
    tree = _tree(parsed)
    if _written(parsed, file, tree):
        return EXIT_ESTABLISHED
    return _report(file, play(file, tree), tree, parsed)


def _written(parsed: Options, file: WitnessFile, tree: Path) -> bool:
    """Write what is asked for instead of a replay; whether anything is. Raises UsageError."""
    targets = [(o, t) for o, t in (("--itf", parsed.itf), ("--diagram", parsed.diagram)) if t]
    if (targets or parsed.to_test) and parsed.json:
        raise UsageError(
            "--json: nothing is replayed where a trace or test is written",
            thing="--json",
            next_step="drop --json, or replay in a run of its own",
        )
    kept = {
        str(tree / FOLDER): f"what is saved in {FOLDER}",
        str(parsed.witness): "the witness file",
    }
    check_targets(targets, kept | ({parsed.to_test: "the test"} if parsed.to_test else {}))
    people = sys.stderr if "-" in (parsed.itf, parsed.diagram) else sys.stdout
    if parsed.to_test:
        path = write_test(file, tree, Path(parsed.to_test))
        words = f"wrote {path}: it fails while the case breaks the claim; run it with pytest"
        print(words, file=people)
    if parsed.itf:
        write_itf(file, tree, parsed.itf, people)
    if parsed.diagram:
        write_diagram(file, parsed.diagram, people)
    return bool(targets or parsed.to_test)


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
    lines += ["", "the case, as it was found:"]
    lines += [f"  {line}" for line in trace_lines(file.case, steps_shown=None)]
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
