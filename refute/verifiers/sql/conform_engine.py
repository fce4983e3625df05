"""What an SQL engine is for a file that is run on it; and the embedded SQLite as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from refute.errors import UsageError
from refute.oracles.sql.sqlite import SharedSQLite, SQLite


class EngineLost(Exception):
    """The engine died or hung so often that the rest of the file is not run on it."""


class EngineCannot(UsageError):
    """A file asks something of the engine that it has not, such as a second connection."""


class Engine(Protocol):
    """An SQL engine as a file is run on it.

    A file goes either through `answers` alone, which has one connection, or through `answer_on`.
    """

    unstable: str
    """Why its answers are not the same each time; empty as long as they seem to be."""

    can: frozenset[str]
    """Once it was started, which it has of

    connections: several to one database, by name. restart: the database outlives them. load:
    databases by name. kill: a statement that is too slow is ended and its connection goes on.
    """

    def start(self, hash_seed: int) -> None:
        """Begin with an empty database. Raises EngineLost."""
        ...

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        """One answer for each statement in the driver's form, or ["lost", how it ended].

        Raises EngineLost when it gave up.
        """
        ...

    def answer_on(self, connection: str, sql: str, timeout_s: float | None = None) -> Sequence[Any]:
        """As `answers`, for one statement on a named connection, "" for the default one.

        A connection is opened when it is first named. timeout_s: instead of the engine's own.
        Raises EngineLost, or EngineCannot for other connections than the default one.
        """
        ...

    def reconnect(self, connection: str) -> None:
        """Close a connection and open it again, to the same database. Raises as `answer_on`."""
        ...

    def restart(self, database: str = "") -> None:
        """Close all connections; go on with what is committed, or in the database of that name.

        Raises EngineLost or EngineCannot.
        """
        ...

    def close(self) -> None:
        """Let everything go."""
        ...


def cannot(engine: str, what: str, next_step: str) -> EngineCannot:
    """The error for an engine that has not what a file asks. what: as in "several connections"."""
    return EngineCannot(
        f"{engine} has no {what}", thing="engine", value=engine, next_step=next_step
    )


class Embedded:
    """The embedded SQLite as an engine. timeout_s: seconds for one statement."""

    unstable = ""
    can = frozenset(("connections", "restart", "load", "kill"))

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._database: SQLite | None = None
        self._shared: SharedSQLite | None = None

    def start(self, hash_seed: int) -> None:
        """Begin with an empty database; SQLite knows no hash seed."""
        self.close()
        self._database = SQLite(float("inf"), self._timeout_s)

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        """One answer for each statement, when it is asked for."""
        assert self._database is not None
        return map(self._database.answer, statements)

    def answer_on(self, connection: str, sql: str, timeout_s: float | None = None) -> Sequence[Any]:
        """The answer on a named connection, whose database others can be opened to."""
        return self._sharing().answer(connection, sql, timeout_s)

    def reconnect(self, connection: str) -> None:
        """Open a connection again."""
        self._sharing().reconnect(connection)

    def restart(self, database: str = "") -> None:
        """Go on with what is committed, or in the database of that name."""
        self._sharing().restart(database)

    def close(self) -> None:
        """Let the database go."""
        if self._database is not None:
            self._database.close()
            self._database = None
        if self._shared is not None:
            self._shared.close()
            self._shared = None

    def _sharing(self) -> SharedSQLite:
        if self._shared is None:
            self._shared = SharedSQLite(self._timeout_s)
        return self._shared
