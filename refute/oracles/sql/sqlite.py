"""The embedded SQLite: the oracle, in this process, answering as the driver of other engines does.

It is the SQLite that Python's `sqlite3` is linked to; `version` names it, since answers change
between releases. The database is empty and in memory, and stays there: what would read or write
other files is refused, because statements may come from anywhere.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from typing import Any

from refute.oracles.sql.driver import MESSAGE

STEPS = 50_000_000  # virtual machine instructions that one statement may take
_CHECK = 100_000  # instructions between two looks at the limit

version = sqlite3.sqlite_version


class SQLite:
    """A fresh database in memory. steps: instructions, wall_s: seconds for one statement."""

    def __init__(self, steps: int = STEPS, wall_s: float = float("inf")) -> None:
        self._steps = steps
        self._wall_s = wall_s
        self._taken = 0
        self._until = float("inf")
        self._connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
        self._connection.text_factory = _text
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._connection.set_progress_handler(self._too_much, min(_CHECK, steps))
        self.execute = self._connection.execute

    def run(self, statements: Sequence[str]) -> list[list[Any]]:
        """One result for each statement, in the driver's form."""
        return [self._run(statement) for statement in statements]

    def begin(self) -> None:
        """Start counting steps and seconds for the next statement."""
        self._taken = 0
        self._until = time.monotonic() + self._wall_s

    def close(self) -> None:
        """Let the database go."""
        self._connection.close()

    def _run(self, statement: str) -> list[Any]:
        self.begin()
        try:
            cursor = self._connection.execute(statement)
            if cursor.description is None:
                return ["done"]
            rows = list(map(list, cursor.fetchall()))
            return ["rows", [column[0] for column in cursor.description], rows]
        except (sqlite3.Error, sqlite3.Warning) as error:
            kind = type(error)
            return ["error", f"{kind.__module__}.{kind.__qualname__}", str(error)[:MESSAGE]]

    def _too_much(self) -> int:
        """Called by SQLite now and then; anything but 0 ends the statement."""
        self._taken += _CHECK
        return int(self._taken > self._steps or time.monotonic() > self._until)


def _text(data: bytes) -> str:
    """Text of the database; bytes that are no UTF-8 stay distinct."""
    return data.decode("utf-8", "surrogateescape")
