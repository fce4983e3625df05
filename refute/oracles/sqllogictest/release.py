"""Which results depend on the release of SQLite: real numbers that its own `%.3f` shows otherwise.

The C runner shows an `R` column with the printf of the SQLite that it is linked to. From 3.43 on
that one rounds the exact value, earlier ones the sum of its digits (0.2115 is `0.212` in 3.40, and
`0.211` from 3.43 on), so the same file passes with one release and fails with another. Here it is
always shown as by the later ones (`refute.oracles.sqllogictest.render`), and these records are
named, since they say less about an engine than about a rounding.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Sequence

from refute.oracles.sqllogictest.render import Value, number_of, texts

_MOST_KNOWN = 20_000
_EXACT = 10**13  # integers below have three digits after the point in any release


def depends(types: str, rows: Sequence[Sequence[Value]]) -> bool:
    """Whether the embedded SQLite's own printf gives another text for a value of an R column."""
    for at, kind in enumerate(types):
        if kind == "R" and any(_differs(row[at]) for row in rows):
            return True
    return False


def printed(value: float) -> str:
    """The embedded SQLite's own `%.3f` of a finite number."""
    [(text,)] = _connection().execute("SELECT printf('%.3f', ?)", (value,))
    return str(text)


@functools.lru_cache(_MOST_KNOWN)
def _differs(value: Value) -> bool:
    if value is None or (type(value) is int and abs(value) < _EXACT):
        return False
    [shown] = texts("R", [[value]], "nosort")
    return printed(number_of(value)) != shown


@functools.cache
def _connection() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False)
