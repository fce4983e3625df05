"""A finding as a file in the format of sqllogictest, which `refute conform` runs on the engine.

A value there is shown by the type of its column, which may hide the difference, so forms are tried
until one passes on what is right and fails on what the engine gave; where none does, there is no
such file. Statements that have to give the same rows are two queries with one label.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from refute.oracles.sqllogictest.expect import judge
from refute.oracles.sqllogictest.reader import QueryRecord, StatementRecord, read
from refute.oracles.sqllogictest.render import digest, joined, texts
from refute.verifiers.sql.fuzz_saved import Answer, Kept
from refute.verifiers.sql.fuzz_saved_script import plain

SORTS = ("rowsort", "nosort")
_NAME = "finding.test"


def test_texts(kept: Kept, about: Sequence[str]) -> Iterator[str]:
    """Files that may do; none where the format cannot say it. about: lines for people."""
    head = "\n".join(f"# {plain(line)}".rstrip() for line in about)
    records = [_statement(sql, refused) for sql, refused in kept.setup]
    for body in _bodies(kept):
        if "" not in (*records, *body) and _tells(kept, "\n\n".join(body) + "\n"):
            yield "\n\n".join([head, *records, *body]) + "\n"


def _statement(sql: str, fails: bool = False) -> str:
    """The record of a statement; empty where the format has none for it."""
    lines = [line.rstrip() for line in sql.split("\n")]
    if any(not line or line == "----" or line.startswith("#") for line in lines):
        return ""
    return f"statement {'error' if fails else 'ok'}\n" + "\n".join(lines)


def _bodies(kept: Kept) -> Iterator[list[str]]:
    """The records of the question, in forms that may say it."""
    rule, asked = kept.rule, kept.asked
    match rule["is"]:
        case "answers":
            refused = [a[0] == "error" for a in kept.sqlite] or [False] * len(asked)
            yield [_statement(sql, fails) for sql, fails in zip(asked, refused, strict=True)]
        case "error":
            yield [*_before(kept, rule["at"]), _statement(asked[rule["at"]], True)]
        case "rows" if "rows" in rule:
            [at] = rule["at"]
            yield from ([*_before(kept, at), q] for q in _queries(kept, at, rule["rows"]))
        case "rows" if not rule.get("holds"):
            yield from _labelled(kept)


def _before(kept: Kept, at: int) -> list[str]:
    """The question's statements before one of them, such as settings."""
    pairs = zip(kept.asked[:at], kept.answers[:at], strict=True)
    return [_statement(sql, answer[0] == "error") for sql, answer in pairs if answer[0] != "rows"]


def _queries(kept: Kept, at: int, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A query with its values, in several ways of showing and sorting them."""
    sql = _statement(kept.asked[at]).partition("\n")[2]
    values = [[_value(text) for text in row] for row in rows]
    width = len(rows[0]) if rows else _width(kept.answers[at])
    if not (sql and width):
        return
    kinds = "".join(_kind([row[column] for row in values]) for column in range(width))
    for types, sort in itertools.product(dict.fromkeys((kinds, "T" * width)), SORTS):
        lines = texts(types, values, sort)
        if not all(line.strip() for line in lines):  # an empty line would end the values
            lines = [f"{len(lines)} values hashing to {digest(joined(types, values, sort))}"]
        yield "\n".join([f"query {types} {sort}", sql, "----", *lines])


def _labelled(kept: Kept) -> Iterator[list[str]]:
    """Two queries, of which the second puts the parts together."""
    rule = kept.rule
    whole, parts = rule["at"][0], rule["as"]
    width = _width(kept.answers[whole])
    sql = [_statement(kept.asked[at]).partition("\n")[2] for at in (whole, *parts)]
    if rule.get("sets"):
        sql = [f"SELECT DISTINCT * FROM ({text})" for text in sql]
    union = " UNION " if rule.get("sets") else " UNION ALL "
    other = union.join(f"SELECT * FROM ({text})" for text in sql[1:]) if sql[2:] else sql[1]
    between = [
        _statement(kept.asked[at])
        for at in range(whole + 1, parts[-1])
        if kept.answers[at][0] == "done" and len(parts) == 1
    ]
    for types, sort in itertools.product((letter * width for letter in "TIR"), SORTS):
        first, second = (f"query {types} {sort} same\n{text}" for text in (sql[0], other))
        yield [first, *between, second]


def _tells(kept: Kept, body: str) -> bool:
    """Whether the records pass on what is right, where that is known, and fail on what came.

    What a label says of statements that were put together is seen when the file is run.
    """
    records = list(read(body.encode("utf-8", "surrogateescape"), _NAME))
    last = records[-1]
    if not isinstance(last, StatementRecord | QueryRecord) or not last.sql:
        return False
    if isinstance(last, QueryRecord) and last.values is None and last.number < 0:
        return True
    at = next((n for n, sql in enumerate(kept.asked) if _same(sql, last.sql)), -1)
    if at < 0:
        return False
    sound = not kept.sqlite or judge(last, _plain(kept.sqlite[at]), {}) is None
    return sound and judge(last, _plain(kept.answers[at]), {}) is not None


def _plain(answer: Answer) -> Any:
    """An answer as records are judged by."""
    return ["lost", str(answer[-1])] if answer[0] in ("crash", "unfit") else answer


def _same(one: str, other: str) -> bool:
    return one.split() == other.split()


def _width(answer: Answer) -> int:
    return len(answer[1]) if answer[0] == "rows" else 0


def _kind(values: Sequence[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int}:
        return "I"
    return "R" if kinds and kinds <= {int, float} else "T"


def _value(text: str) -> Any:
    """The value of a literal of `saved.main`."""
    if text == "NULL":
        return None
    if text.startswith("x'"):
        return bytes.fromhex(text[2:-1])
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
