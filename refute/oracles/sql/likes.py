"""LIKE and GLOB of bytes, UNICODE of what is no text: whether an answer depends on the build.

Built with SQLITE_LIKE_DOESNT_MATCH_BLOBS, the first two are false where an operand is a blob;
without it, bytes are compared as text (compile.html). What unicode(X) gives is undefined where X is
no string (lang_corefunc.html). So the query is asked twice, with either meaning.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from refute.oracles.sql.sqlite import SQLite

_LIKE = re.compile(r"\b(?:LIKE|GLOB)\b", re.IGNORECASE)
_UNICODE = re.compile(r"\bUNICODE\s*\(", re.IGNORECASE)
_BYTES = re.compile(r"\bx'|BLOB", re.IGNORECASE)
_OPERATORS = {"like": (2, 3), "glob": (2,)}  # numbers of operands; the third of LIKE is ESCAPE's


def depends_on_build(setup: Sequence[str], query: str, steps: int) -> bool:
    """Whether SQLite's answer is another one where LIKE and GLOB take bytes as text.

    Or where UNICODE knows texts only.
    """
    text = "\n".join((*setup, query))
    if not (_LIKE.search(text) and _BYTES.search(text)) and not _UNICODE.search(text):
        return False
    never, as_text = (_answer(setup, query, steps, matches) for matches in (False, True))
    return never[0] == "error" or never != as_text


def _answer(setup: Sequence[str], query: str, steps: int, matches: bool) -> list[Any]:
    database, own = SQLite(steps), sqlite3.connect(":memory:")
    for name, numbers in _OPERATORS.items():
        for number in numbers:
            database.define(name, _operator(own, name, number, matches), number)
    if matches:
        database.define("unicode", _unicode, 1)
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


def _unicode(value: Any) -> Any:
    """unicode(X) of a string; of anything else a number that it never is."""
    if value is None or value == "":
        return None
    return ord(value[0]) if type(value) is str else -1
