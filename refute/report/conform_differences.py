"""Expected differences and what could not be asked, in the reports of a conformance run."""

from __future__ import annotations

from collections import Counter
from typing import Any

from refute.report.visible import visible
from refute.verifiers.sql.conform_file import Failure, FileResult
from refute.verifiers.sql.conform_run import ConformRun

SHOWN = 12  # constructs
WIDEST = 300  # of a statement; JSON has all of it


def difference_lines(run: ConformRun) -> list[str]:
    """How many records differ as is expected, and how many could not be asked, and why."""
    lines = []
    differ = _totals([file.differences for file in run.files])
    if differ:
        lines.append(f"expected differences in {_records(differ)}: {_listed(differ)}")
    unasked = _totals([file.inexpressible for file in run.files])
    if unasked:
        lines.append(f"not asked, {_records(unasked)}: {_listed(unasked)}")
    return lines


def asked_lines(failure: Failure) -> list[str]:
    """The record's statement and what was asked instead, where it was written for the engine."""
    if not failure.asked:
        return []
    return [
        f"    {title}: {visible(_short(text))}"
        for title, text in (("record", failure.sql), ("asked", failure.asked))
    ]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def difference_data(file: FileResult) -> dict[str, Any]:
    """The same of one file as JSON data: lines by class, and by construct."""
    return {"differences": file.differences, "inexpressible": file.inexpressible}


def _totals(found: list[dict[str, list[int]]]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for lines in found:
        totals.update({name: len(numbers) for name, numbers in lines.items()})
    return totals


def _listed(totals: Counter[str]) -> str:
    """Names with their numbers, the largest first."""
    parts = [f"{visible(name)} {number:,}" for name, number in totals.most_common(SHOWN)]
    if len(totals) > SHOWN:
        parts.append(f"and {len(totals) - SHOWN} more kinds")
    return ", ".join(parts)


def _records(totals: Counter[str]) -> str:
    number = sum(totals.values())
    return f"{number:,} record{'' if number == 1 else 's'}"
