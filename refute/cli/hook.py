"""`refute hook claude-code`: the gate where a coding agent wants to stop.

Every way out but acceptance (or an empty difference) is exit code 2, on which Claude Code keeps the
agent going; `refute.cli.main` maps all failures of this command to it, its own bugs included.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from refute.agents.claude_code import LARGEST, Event, answer, read_event
from refute.agents.deadline import Deadline
from refute.budget import Budget, parse_duration
from refute.change.git import Repository
from refute.cli.gate import save_witnesses
from refute.cli.parsing import Parser
from refute.cli.printing import print_all
from refute.errors import EXIT_ESTABLISHED, EXIT_USAGE, GitError, UsageError
from refute.gate.flow import gate

ABOUT = """\
Judge the tree when a coding agent wants to stop; reads the hook's JSON on stdin.

Exit 0: accepted, or nothing changed. 2: anything else, with what to mend on stderr."""
EXAMPLES = """
refute hook claude-code --base origin/main < event.json

in .claude/settings.json:
  {"hooks": {"Stop": [{"hooks": [{"type": "command", "timeout": 120,
    "command": "refute hook claude-code || exit 2"}]}]}}
"""
MARGIN_S = 15.0
PROJECT = "CLAUDE_PROJECT_DIR"


def parser() -> Parser:
    """The command's arguments."""
    made = Parser("hook", ABOUT, EXAMPLES)
    made.add_argument("agent", choices=["claude-code"], help="whose protocol is spoken")
    made.add_argument(
        "--base", metavar="REF", help="what to compare with; by default as for refute gate"
    )
    made.add_argument("--budget", default="60s", metavar="DURATION", help="wall-clock cap (60s)")
    return made


def run(argv: Sequence[str]) -> int:
    """Run the command; returns 0 or 2."""
    given = parser().read(argv)
    seconds = parse_duration(given.budget)
    signal.signal(signal.SIGHUP, _interrupt)
    late = f"refute: the gate did not answer within {seconds + MARGIN_S:.0f} s"
    with Deadline(seconds + MARGIN_S, EXIT_USAGE, late):
        if sys.stdin.isatty():
            raise UsageError(
                "stdin is a terminal; the hook reads an event there",
                thing="stdin",
                next_step="register the command in .claude/settings.json; see docs/cli.md",
            )
        event = read_event(sys.stdin.buffer.read(LARGEST + 1))
        for tree in _trees(event):
            code, words = _judge(tree, event, given.base, Budget(cpu_s=seconds, wall_s=seconds))
            print_all(words, sys.stdout if code == EXIT_ESTABLISHED else sys.stderr)
            if code != EXIT_ESTABLISHED:
                return EXIT_USAGE
    return EXIT_ESTABLISHED


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _judge(tree: Path, event: Event, base: str | None, budget: Budget) -> tuple[int, str]:
    record = gate(tree, base, None, budget)
    files, _ = save_witnesses(record, tree)
    return answer(record, files, event)


def _trees(event: Event) -> Iterator[Path]:
    """The project's worktree, and the linked one that the agent works in where that is another.

    Raises GitError when neither the project nor the agent's directory is in a repository.
    """
    places = [Path(os.environ.get(PROJECT) or event.cwd), event.cwd]
    found: list[Repository] = []
    problem: Exception | None = None
    for place in places:
        try:
            with Repository.open(place) as repository:
                found.append(repository)
        except (GitError, OSError) as error:
            problem = problem or error
    if not found and problem is not None:
        raise GitError(
            f"{places[0]} is in no git repository: {problem}",
            thing="cwd",
            value=places[0],
            next_step="run the hook in the repository that is to be judged",
        ) from problem
    yield found[0].root
    if found[-1].root != found[0].root and found[-1].common_dir == found[0].common_dir:
        yield found[-1].root
