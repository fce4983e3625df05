"""Plays one case on its engine in a child process, and says whether the answers are right."""

from __future__ import annotations

import collections
import decimal
import json
import math
import subprocess
import sys
from typing import Any

from refute.verifiers.sql.saved.case import ASKED, ENGINE, RIGHT, SETUP, TIMEOUT_S
from refute.verifiers.sql.saved.sqlite import opened

OPENED = "the engine is opened"


def literal(value: Any) -> str:
    """A value as SQL writes it; equal texts are equal values of equal types."""
    if value is None:
        return "NULL"
    if isinstance(value, bool | int):
        return str(int(value))
    if isinstance(value, float):
        return repr(value + 0.0)
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"x'{bytes(value).hex()}'"
    return "'" + str(value).replace("'", "''") + "'"


def about(text: str) -> Any:
    """What a value is compared by where types and the last digits of numbers do not matter."""
    try:
        number = float(text.strip("'"))
    except ValueError:
        return text
    return f"{number:.9g}" if math.isfinite(number) else repr(number)


def same(left: list[Any], right: list[Any], exact: bool, ordered: bool, as_sets: bool) -> bool:
    """Whether rows of literals are the same."""
    forms = [[tuple(row) if exact else tuple(map(about, row)) for row in r] for r in (left, right)]
    if ordered:
        return forms[0] == forms[1]
    if as_sets:
        return set(forms[0]) == set(forms[1])
    return collections.Counter(forms[0]) == collections.Counter(forms[1])


def wrong(answers: list[Any], right: dict[str, Any]) -> str:
    """What is wrong with the answers; empty where nothing is.

    An answer is ["rows", rows of literals], ["done"], ["error", text] or ["crash", text].
    """
    for at, answer in enumerate(answers):
        if answer[0] == "crash":
            return f"statement {at + 1}: {answer[1]}"
        if answer[0] == "error" and right.get("never") and right["never"] in answer[1]:
            return f"statement {at + 1}: {answer[1]}"
    if right["is"] == "answers":
        return ""
    if right["is"] == "error":
        return "" if answers[right["at"]][0] == "error" else "it is accepted"
    for at in (*right["at"], *right.get("as", ())):
        if answers[at][0] != "rows":
            return f"statement {at + 1}: {answers[at]}"
    got = [row for at in right["at"] for row in answers[at][1]]
    if right["is"] == "some":
        return "" if got else "no rows"
    wanted = right["rows"] if "rows" in right else [r for at in right["as"] for r in answers[at][1]]
    if right.get("holds"):
        wanted = [row[:-1] for row in wanted if row[-1] == "1"]
    if right["is"] == "count":
        try:
            number = sum(float(row[0]) for row in wanted if row[0] != "NULL")
        except ValueError:
            return f"no numbers to count by: {shown(wanted)}"
        return "" if len(got) == number else f"{len(got)} rows, counted as {number:g}"
    how = bool(right.get("exact")), bool(right.get("ordered")), bool(right.get("sets"))
    if same(got, wanted, *how):
        return ""
    return f"expected {shown(wanted)}\nobserved {shown(got)}"


def shown(rows: list[Any]) -> str:
    """Rows of literals for people."""
    return ", ".join(f"({', '.join(row)})" for row in rows[:20]) or "no rows"


def played() -> list[Any]:
    """The answers of the engine."""
    ask = opened(ENGINE)
    print(OPENED, flush=True)
    for sql in SETUP:
        answered(ask, sql)
    return [answered(ask, sql) for sql in ASKED]


def answered(ask: Any, sql: str) -> list[Any]:
    """The answer to a statement."""
    try:
        rows = ask(sql)
    except BaseException as error:
        known = any(kind.__name__ == "Error" for kind in type(error).__mro__)
        return ["error" if known else "crash", f"{type(error).__name__}: {error}"]
    return ["done"] if rows is None else ["rows", [list(map(literal, row)) for row in rows]]


def main() -> int:
    """0: the engine is right. 1: it is not. 2: it cannot be asked."""
    if sys.argv[1:] == ["play"]:
        print("\n" + json.dumps(played()))
        return 0
    try:
        done = subprocess.run(
            [sys.executable, __file__, "play"],
            stdout=subprocess.PIPE,
            timeout=TIMEOUT_S * (len(SETUP) + len(ASKED)),
            check=False,
        )
    except subprocess.TimeoutExpired:
        print("the engine does not answer in time")
        return 1
    if done.returncode < 0:
        print(f"the engine ends its process by signal {-done.returncode}")
        return 1
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    try:
        answers = json.loads(lines[-1])
    except (ValueError, IndexError):
        began = OPENED in lines
        print("the engine ends its process" if began else "it cannot be asked; see above")
        return 1 if began else 2
    what = wrong(answers, RIGHT)
    print(what or "the engine is right")
    return 1 if what else 0


if __name__ == "__main__":
    sys.exit(main())
