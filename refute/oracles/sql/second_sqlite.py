"""A second SQLite: the release that the package `apsw` brings, behind PEP 249's names.

Where the embedded SQLite and an engine differ, this one says whether SQLite's releases differ among
themselves; then the difference is no engine's. It is a library of its own, and runs in a worker, as
an engine of the kind `module:function` with the name `SECOND`: a bug of it costs no more than that.

A statement that takes too many steps has no answer, as in the embedded one.
"""

from __future__ import annotations

from typing import Any

import apsw

SECOND = "refute.oracles.sql.second_sqlite:connect"
VERSION = apsw.sqlite_lib_version()
STEPS = 5_000_000  # virtual machine instructions that one statement may take
_CHECK = 100_000
_ATTACHED = 0  # other files are not opened


class Error(Exception):
    """What PEP 249 calls so: SQLite refused."""


class IntegrityError(Error):
    """A constraint is broken."""


class Slow(Exception):
    """A statement that was ended; no SQL error, so that it is not taken for a refusal."""


class Connection:
    """A database in memory. database: as for `apsw.Connection`."""

    def __init__(self, database: str = ":memory:") -> None:
        self._connection = apsw.Connection(database)
        self._connection.limit(apsw.SQLITE_LIMIT_ATTACHED, _ATTACHED)
        self._taken = 0
        self._connection.set_progress_handler(self._too_much, _CHECK)

    def cursor(self) -> Cursor:
        """A cursor, of one statement each time."""
        self._taken = 0
        return Cursor(self._connection)

    def close(self) -> None:
        """Let the database go."""
        self._connection.close()

    def _too_much(self) -> bool:
        self._taken += _CHECK
        return self._taken > STEPS


class Cursor:
    """A cursor of PEP 249, as far as `refute.oracles.sql.driver` uses one."""

    rowcount = -1

    def __init__(self, connection: apsw.Connection) -> None:
        self._cursor = connection.cursor()
        self._cursor.exec_trace = self._described
        self._rows: list[Any] = []
        self.description: tuple[Any, ...] | None = None

    def execute(self, sql: str) -> None:
        """Run it to its end, so that every error is found here."""
        self.description = None
        try:
            self._rows = list(self._cursor.execute(sql))
        except apsw.ConstraintError as error:
            raise IntegrityError(str(error)) from error
        except apsw.InterruptError as error:
            raise Slow(str(error)) from error
        except (apsw.Error, UnicodeDecodeError) as error:  # a text may be no UTF-8
            raise Error(str(error)) from error

    def fetchall(self) -> list[Any]:
        """All rows."""
        return self._rows

    def close(self) -> None:
        """Let it go."""
        self._cursor.close()

    def _described(self, cursor: Any, sql: str, bindings: Any) -> bool:
        """Called before a statement runs: only then are the columns of an empty result known."""
        self.description = cursor.get_description() or None
        return True


def connect() -> Connection:
    """An empty database in memory."""
    return Connection()
