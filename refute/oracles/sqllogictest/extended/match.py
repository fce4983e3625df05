"""Whether an answer is what a record of an extended file expects, as sqllogictest-rs compares.

Answers have the driver's form (`refute.oracles.sql.driver`). Results are compared line by line,
the values of a row with a space between them and white space made one space, so that types and
the number of columns do not matter unless they are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from refute.oracles.sqllogictest.expect import Mismatch
from refute.oracles.sqllogictest.extended.program import Either, Fails, Succeeds

WIDEST = 200  # characters of a message that are shown


def judge_statement(expects: Succeeds | Fails | Either, answer: Sequence[Any]) -> Mismatch | None:
    """None when the answer is what is expected of a statement."""
    if answer[0] in ("rows", "done"):
        if isinstance(expects, Fails):
            return Mismatch(error_wanted(expects), "no error")
        if isinstance(expects, Succeeds) and expects.rows >= 0:
            return _judge_rows(expects.rows, answer)
        return None
    if isinstance(expects, Succeeds):
        return Mismatch("no error", said(answer))
    return judge_error(expects.fails if isinstance(expects, Either) else expects, answer)


def judge_error(fails: Fails, answer: Sequence[Any]) -> Mismatch | None:
    """None when the answer is the error that is expected."""
    if answer[0] != "error":
        got = "no error" if answer[0] in ("rows", "done") else said(answer)
        return Mismatch(error_wanted(fails), got)
    message = str(answer[2])
    state = answer[3] if len(answer) > 3 else ""
    fits = (
        (not fails.state or fails.state == state)
        and (not fails.part or fails.part in message)
        and (fails.message is None or fails.message.strip() == message.strip())
        and (not fails.pattern or re.search(fails.pattern, message) is not None)
    )
    if fits:
        return None
    told = f"SQLSTATE {state or 'unknown'}, " if fails.state else ""
    return Mismatch(error_wanted(fails), f"{told}{said(answer)}")


def error_wanted(fails: Fails) -> str:
    """What is expected, for people."""
    if fails.state:
        return f"an error with SQLSTATE {fails.state}"
    if fails.message is not None:
        return f"the error {shown(fails.message)}"
    if fails.pattern:
        return f"an error matching {shown(fails.pattern)}"
    return f"an error with {shown(fails.part)}" if fails.part else "an error"


def shown(text: str) -> str:
    """A text on one line, shortened."""
    line = " ".join(text.split())
    return line if len(line) <= WIDEST else f"{line[: WIDEST - 1]}…"


def said(answer: Sequence[Any]) -> str:
    """An answer that is no result set, for people."""
    match answer[0]:
        case "error":
            return shown(f"error {answer[1].rpartition('.')[2]}: {answer[2]}")
        case "crash":
            return shown(f"the engine failed with {answer[1]}: {answer[2]}")
        case "unfit":
            return str(answer[1])
        case "lost":
            return f"the engine {answer[1]}"
        case "done":
            return "no result set"
    return "a result set"


def _judge_rows(wanted: int, answer: Sequence[Any]) -> Mismatch | None:
    """Whether a statement affected, or returned, so many rows."""
    known = answer[1] if len(answer) > 1 else -1
    found = len(answer[2]) if answer[0] == "rows" else known
    if found == wanted:
        return None
    got = f"{found} rows" if found >= 0 else "an engine that does not say how many"
    return Mismatch(f"{wanted} rows affected or returned", got)
