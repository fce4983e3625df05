"""Answers in the driver's form, as people read them: cut to one line, values as SQL writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from refute.plain import Plain

SHOWN_ROWS = 12
SHOWN_TEXT, SHOWN_BYTES = 60, 30


def said(answer: Sequence[Any]) -> str:
    """What came of a statement."""
    match answer[0]:
        case "rows":
            rows = [f"({', '.join(map(value_said, row))})" for row in answer[2][:SHOWN_ROWS]]
            more = len(answer[2]) - len(rows)
            return (", ".join(rows) if rows else "no rows") + (f" and {more} more" if more else "")
        case "done":
            return "done, without rows"
        case "error":
            return f"the error {answer[2]!r}"
        case "crash":
            return f"{answer[1]}, which is no DB-API error: {answer[2]}"
        case "lost":
            return str(answer[1])
    return f"an answer that is none: {answer[1]}"


def value_said(value: Plain) -> str:
    """A value as SQL writes it, a long one cut."""
    match value:
        case None:
            return "NULL"
        case str():
            text = value if len(value) <= SHOWN_TEXT else f"{value[:SHOWN_TEXT]}…"
            return "'" + text.replace("'", "''") + "'"
        case bytes():
            return f"X'{value[:SHOWN_BYTES].hex()}{'…' if len(value) > SHOWN_BYTES else ''}'"
    return repr(value)
