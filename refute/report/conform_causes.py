"""The causes of a run's failures, in its reports: title, number, examples and the smallest script.

They come from `refute.verifiers.sql.conform_causes`; a run without that search has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from refute.report.visible import shortened, visible
from refute.verifiers.sql.conform_run import ConformRun

SHOWN = 20  # causes in text
PLACES = 3  # of one cause in text
STATEMENTS = 12  # of one script in text
WIDEST = 160


def causes_of(run: ConformRun) -> list[Any]:
    """The causes (`conform_causes.Cause`), most failures first."""
    return [] if run.causes is None else list(run.causes.causes)


def cause_lines(run: ConformRun) -> list[str]:
    """The causes for people: two lines and a script for each."""
    if run.causes is None:
        return []
    causes = causes_of(run)
    lines = []
    if causes:
        later = any(cause.follow == cause.count for cause in causes[1:])
        last = ", those that may follow from earlier failures last" if later else ""
        number = f"{len(causes)} cause{'' if len(causes) == 1 else 's'}"
        lines.append(f"{number}, most failures first{last}:")
    for cause in causes[:SHOWN]:
        places = ", ".join(cause.places[:PLACES])
        more = " …" if cause.count > PLACES else ""
        lines.append(visible(f"  {cause.number}. {cause.title}: {told(cause)}, {places}{more}"))
        lines += [f"       {visible(shortened(s, WIDEST))}" for s in cause.statements[:STATEMENTS]]
        if len(cause.statements) > STATEMENTS:
            lines.append(f"       … {len(cause.statements) - STATEMENTS} more statements")
        if cause.statements:
            lines.append(f"       expected {visible(cause.expected)}, got {visible(cause.got)}")
    if len(causes) > SHOWN:
        lines.append(f"  … and {len(causes) - SHOWN} more causes, which the JSON has")
    return lines + _note_lines(causes[:SHOWN]) + rest_lines(run)


def _note_lines(causes: Sequence[Any]) -> list[str]:
    """Why nothing but the file says what is right, and for which causes."""
    numbers: dict[str, list[int]] = {}
    for cause in causes:
        if cause.note:
            numbers.setdefault(cause.note, []).append(cause.number)
    return [f"  {_listed(of, len(causes))}: {note}" for note, of in numbers.items()]


def _listed(numbers: Sequence[int], all_of_them: int) -> str:
    if len(numbers) == all_of_them > 1:
        return "all of them"
    return f"cause{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


def rest_lines(run: ConformRun) -> list[str]:
    """How many failures no cause was found for, and why the search ended early."""
    lines = []
    if run.causes is not None and run.causes.unknown:
        lines.append(f"no cause was found for {_failures(run.causes.unknown)}")
    if run.causes is not None and run.causes.ended:
        lines.append(f"the search for causes ended early: {visible(run.causes.ended)}")
    return lines


def told(cause: Any) -> str:
    """Its number of failures, and what that number rests on."""
    parts = [f"{cause.by_signature:,} of them by what they use"] if cause.by_signature else []
    if cause.follow == cause.count:
        parts.append("may follow from an earlier one")
    elif cause.follow:
        parts.append(f"{cause.follow:,} may follow from earlier ones")
    return _failures(cause.count) + (f" ({'; '.join(parts)})" if parts else "")


def cause_data(run: ConformRun) -> dict[str, Any] | None:
    """The same as JSON data; None for a run without a search for causes."""
    if run.causes is None:
        return None
    return {
        "causes": [
            {
                "number": cause.number,
                "title": cause.title,
                "kind": cause.kind,
                "count": cause.count,
                "reduced": cause.reduced,
                "located": cause.located,
                "by_signature": cause.by_signature,
                "files": cause.files,
                "places": cause.places,
                "script": cause.script,
                "expected": cause.expected,
                "got": cause.got,
                "verified": cause.verified,
                "oracle": "sqlite" if cause.oracle else "file",
                "note": cause.note,
                "follow": cause.follow,
            }
            for cause in causes_of(run)
        ],
        "unknown": run.causes.unknown,
        "ended": run.causes.ended,
    }


def _failures(number: int) -> str:
    return f"{number:,} failure{'' if number == 1 else 's'}"
