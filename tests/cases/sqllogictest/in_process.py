"""An engine of `planted` in this process: a worker would cost more than all the rest."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any


class InProcess:
    """Has the form that files are run on. make: gives a connection to an empty database."""

    unstable = ""
    can: frozenset[str] = frozenset()

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def start(self, hash_seed: int) -> None:
        """Begin with an empty database."""
        self.connection = self.make()

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        """One answer for each statement."""
        return map(self.answer, statements)

    def answer(self, sql: str) -> Sequence[Any]:
        """The answer to one statement, in the driver's form."""
        cursor = self.connection.cursor()
        try:
            cursor.execute(sql)
            if cursor.description is None:
                return ["done"]
            return ["rows", [c[0] for c in cursor.description], list(map(list, cursor.fetchall()))]
        except sqlite3.Error as error:
            return ["error", type(error).__name__, str(error)]

    def close(self) -> None:
        """Nothing is held."""
