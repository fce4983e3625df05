"""Whether an answer is what a statement of an extended file expects, or the error it expects.

Answers have the driver's form (`refute.oracles.sql.driver`). An engine that fell over has not
failed as a statement fails, so no expected error is met by a crash.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from refute.oracles.sqllogictest.expect import SLOW, Mismatch
from refute.oracles.sqllogictest.extended.patterns import pattern_of
from refute.oracles.sqllogictest.extended.program import Either, Fails, Succeeds

_CHANGES_ROWS = re.compile(
    r"(?:\s|--[^\n]*\n)*(?:INSERT|UPDATE|DELETE|MERGE|REPLACE|COPY|WITH)\b", re.I
)

_OF_CLIENT = re.compile(r"ERROR \d+(?: \(\w+\))?: ")

WIDEST = 200  # characters of a message that are shown


def judge_statement(
    expects: Succeeds | Fails | Either, answer: Sequence[Any], sql: str = ""
) -> Mismatch | None:
    """None when the answer is what is expected of a statement. sql: its text."""
    if answer[0] in ("rows", "done"):
        if isinstance(expects, Fails):
            return Mismatch(error_wanted(expects), "no error", "no error")
        if isinstance(expects, Succeeds) and expects.rows >= 0:
            return _judge_rows(expects.rows, answer, sql)
        return None
    if isinstance(expects, Succeeds):
        return Mismatch("no error", said(answer), kind_of(answer))
    return judge_error(expects.fails if isinstance(expects, Either) else expects, answer)


def judge_error(fails: Fails, answer: Sequence[Any]) -> Mismatch | None:
    """None when the answer is the error that is expected."""
    if answer[0] in ("rows", "done"):
        return Mismatch(error_wanted(fails), "no error", "no error")
    if answer[0] != "error":
        return Mismatch(error_wanted(fails), said(answer), kind_of(answer))
    message = str(answer[2])
    state = answer[3] if len(answer) > 3 else ""
    if (not fails.state or fails.state == state) and any(
        _worded(fails, words) for words in wordings(answer[1], message, state)
    ):
        return None
    told = f"SQLSTATE {state or 'unknown'}, " if fails.state else ""
    got = f"{told}{said(answer)}"
    plain = " ".join(message.split())
    if not fails.state and any(_worded(fails, w) for w in wordings(answer[1], plain, state)):
        got += f" (with other white space: {message!r})"  # which is not seen in one line
    return Mismatch(error_wanted(fails), got, "error")


def wordings(kind: str, message: str, state: str) -> list[str]:
    """The message as drivers word it: Python's, and Rust's where it has other words around it.

    kind: the exception's name. tokio-postgres writes `db error: ERROR: ` before a server's message,
    and neither the line of the statement nor the mark below it, which libpq adds. DataFusion
    writes its name before, which its Python package leaves out. mysql_async quotes the words of
    MySQL's client.
    """
    if kind.startswith("datafusion."):
        return [message, f"DataFusion error: {message}"]
    if kind.startswith("pymysql."):
        return [message, _OF_CLIENT.sub("", message), f"Server error: `{message}'"]
    if not state:
        return [message]
    lines = message.split("\n")
    at = next((n for n, line in enumerate(lines) if line.startswith("LINE ")), None)
    if at is not None:
        lines[at : at + 2] = []
    bare = "\n".join(line for line in lines if line.strip())
    bare = bare.removeprefix("ERROR:").lstrip()
    return [message, f"db error: ERROR: {bare}", bare]


def _worded(fails: Fails, message: str) -> bool:
    if fails.pattern:
        pattern, _ = pattern_of(fails.pattern)
        return pattern is not None and pattern.search(message) is not None
    if fails.message is not None:
        return fails.message.strip() == message.strip()
    return fails.part in message


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


def kind_of(answer: Sequence[Any]) -> str:
    """What came instead of a result, as the kind of a mismatch."""
    if answer[0] == "lost":
        return "hang" if SLOW in answer[1] else "crash"
    return {"error": "error", "unfit": "unfit", "done": "no rows"}.get(answer[0], "crash")


def _judge_rows(wanted: int, answer: Sequence[Any], sql: str) -> Mismatch | None:
    """Whether a statement affected, or returned, so many rows."""
    found = _affected(answer, sql)
    if found == wanted or (found < 0 and wanted == 0 and not _CHANGES_ROWS.match(sql)):
        return None
    got = f"{found} rows" if found >= 0 else "an engine that does not say how many"
    return Mismatch(f"{wanted} rows affected or returned", got, "values")


def _affected(answer: Sequence[Any], sql: str) -> int:
    """How many rows were affected or returned; -1 when the engine does not say.

    Some engines return the number, as a column `count`, from what changes rows.
    """
    if answer[0] == "done":
        return int(answer[1]) if len(answer) > 1 else -1
    rows = answer[2]
    if len(rows) == len(answer[1]) == 1 and _CHANGES_ROWS.match(sql):
        name, value = answer[1][0], rows[0][0]
        if str(name).lower() == "count" and type(value) is int:
            return value
    return len(rows)
