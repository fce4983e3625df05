"""What a conformance run did not do: files and records that were left out, shards, kept results.

A verdict holds for what was run. Whoever narrows a run knows that on the day, and not when the
report is read again; so the report says it, in words and as data.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from refute.report.visible import visible
from refute.verifiers.sql.conform_run import ConformRun


def scope_lines(run: ConformRun) -> list[str]:
    """For people, before the verdict; nothing where all was run, and now."""
    lines = [f"not checked: {words}" for words in run.narrowed]
    unchosen, setup = _sum(run, "unchosen"), _sum(run, "setup")
    if unchosen:
        were = "was" if unchosen == 1 else "were"
        lines.append(f"not checked: {_records(unchosen)} that {were} not chosen")
    if setup:
        lines.append(f"setup: {_records(setup)} before the chosen ones ran and were not checked")
    return [visible(line) for line in [*lines, *run.notes]]


def scope_data(run: ConformRun) -> dict[str, Any]:
    """As JSON data."""
    return {
        "left_out": run.narrowed,
        "unchosen": _sum(run, "unchosen"),
        "setup": _sum(run, "setup"),
        "kept_files": run.kept,
        "notes": run.notes,
        "stopped": run.stopped,
        "shard": None if run.shard is None else dataclasses.asdict(run.shard),
    }


def _sum(run: ConformRun, name: str) -> int:
    return sum(getattr(file, name) for file in run.files)


def _records(number: int) -> str:
    return f"{number:,} record{'' if number == 1 else 's'}"
