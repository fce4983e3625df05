"""LIKE and GLOB of bytes: whether an answer depends on how SQLite was built.

Built with SQLITE_LIKE_DOESNT_MATCH_BLOBS, both are false where an operand is a blob; without it,
bytes are compared as text (compile.html). So the query is asked twice, with either meaning.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from refute.oracles.sql.sqlite import SQLite

_LIKE = re.compile(r"\b(?:LIKE|GLOB)\b", re.IGNORECASE)
_BYTES = re.compile(r"\bx'|BLOB", re.IGNORECASE)
_OPERATORS = {"like": (2, 3), "glob": (2,)}  # numbers of operands; the third of LIKE is ESCAPE's


def depends_on_build(setup: Sequence[str], query: str, steps: int) -> bool:
    """Whether SQLite's answer is another one where LIKE and GLOB take bytes as text."""
    text = "\n".join((*setup, query))
    if not (_LIKE.search(text) and _BYTES.search(text)):
        return False
    never, as_text = (_answer(setup, query, steps, matches) for matches in (False, True))
    return never[0] == "error" or never != as_text


def _answer(setup: Sequence[str], query: str, steps: int, matches: bool) -> list[Any]:
    database, own = SQLite(steps), sqlite3.connect(":memory:")
    for name, numbers in _OPERATORS.items():
        for number in numbers:
            database.define(name, _operator(own, name, number, matches), number)
    try:
        return database.run([*setup, query])[-1]
    finally:
        database.close()
        own.close()


def _operator(own: sqlite3.Connection, name: str, number: int, matches: bool) -> Callable[..., Any]:
    """The operator as a function: SQLite's own, asked of another database, but for bytes."""
    plain = f"SELECT {name}({', '.join('?' * number)})"
    casting = f"SELECT {name}({', '.join(['CAST(? AS TEXT)'] * number)})"

    def operate(*operands: Any) -> Any:
        if not any(type(operand) is bytes for operand in operands):
            return own.execute(plain, operands).fetchone()[0]
        return own.execute(casting, operands).fetchone()[0] if matches else 0

    return operate
