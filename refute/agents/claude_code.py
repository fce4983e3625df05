"""The hook protocol of Claude Code, as far as a gate needs it.

At the end of a turn the Stop hook gets a JSON object on stdin. Exit code 2 keeps the agent going
and hands it what stands on stderr; 0 lets it stop; every other code is only shown to the user, so
it must never be used for "not accepted". `stop_hook_active` says that the agent is going on because
of a Stop hook. It changes nothing here: a change that is still wrong is still blocked. Claude Code
itself ends the turn after eight blocks in a row without a tool call (raised by the variable
CLAUDE_CODE_STOP_HOOK_BLOCK_CAP), so an agent that cannot mend its change is not held for ever.
Source: https://code.claude.com/docs/en/hooks, sections "Exit code 2 behavior per event" and "Stop".
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path

from refute.errors import EXIT_ESTABLISHED, EXIT_USAGE, UnreadableInput, UsageError
from refute.record import Coverage, Run
from refute.report.text import Look, headline, refuted_first, result_lines, summary
from refute.report.visible import shortened, visible

JUDGED = ("Stop", "SubagentStop", "TaskCompleted")
LARGEST = 16 * 2**20
LINES = 40
REASONS = 5


@dataclasses.dataclass(frozen=True)
class Event:
    """name: hook_event_name. cwd: where the agent was. repeated: stop_hook_active."""

    name: str
    cwd: Path
    repeated: bool = False


def read_event(data: bytes) -> Event:
    """The event on stdin. Raises UnreadableInput, or UsageError for an event that cannot block."""
    if len(data) > LARGEST:
        raise _unreadable(f"more than {LARGEST >> 20} MiB")
    try:
        fields = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _unreadable(str(error)) from error
    if type(fields) is not dict:
        raise _unreadable(f"a JSON {type(fields).__name__}, not an object")
    name, cwd = fields.get("hook_event_name"), fields.get("cwd", ".")
    if type(name) is not str or type(cwd) is not str:
        raise _unreadable("hook_event_name and cwd must be strings")
    if name not in JUDGED:
        raise UsageError(
            f"the hook judges at the end of work, not at {name!r}",
            thing="hook_event_name",
            value=name,
            possible=JUDGED,
            next_step="register `refute hook claude-code` under Stop in .claude/settings.json",
        )
    return Event(name, Path(cwd), fields.get("stop_hook_active") is True)


def _unreadable(why: str) -> UnreadableInput:
    return UnreadableInput(
        f"stdin is not the JSON of a Claude Code hook: {why}",
        thing="stdin",
        next_step="let Claude Code run this command as a Stop hook; see docs/cli.md",
    )


def answer(run: Run, files: Mapping[str, str], event: Event) -> tuple[int, str]:
    """The exit code and what to say. An empty difference lets the agent stop: it changed nothing.

    files: claim digest → saved witness file.
    """
    if run.exit_code == EXIT_ESTABLISHED and run.decision == "accepted":
        return EXIT_ESTABLISHED, f"refute: ACCEPTED, {summary(run)}\n"
    if run.decision == "nothing to judge":
        return EXIT_ESTABLISHED, "refute: nothing changed, so there is nothing to judge\n"
    return EXIT_USAGE, feedback(run, files, event)


def feedback(run: Run, files: Mapping[str, str], event: Event) -> str:
    """What an agent needs to mend its change, short: the decision, one case, the reasons."""
    again = ", still" if event.repeated else ""
    lines = [f"refute{again}: {headline(run)}. The change is not accepted; mend it, then stop."]
    found = refuted_first(run)
    if found:
        lines += ["", *result_lines(found[0], Look(files=files))]
    lines += [f"not covered: {c.file}:{c.line} {visible(c.unit)}" for c in _uncovered(run)]
    if not found or len(run.reasons) > 1:
        lines += ["", *(f"- {shortened(visible(r), 300)}" for r in run.reasons[:REASONS])]
        lines += [f"- … and {len(run.reasons) - REASONS} more"] * (len(run.reasons) > REASONS)
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], "… run `refute gate` for the rest"]
    return "\n".join(lines) + "\n"


def _uncovered(run: Run) -> list[Coverage]:
    return [c for c in run.coverage if c.status not in ("covered", "exempt")][:REASONS]
