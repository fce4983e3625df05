"""DuckDB as an engine.

Integers, floating-point numbers, texts and blobs are the driver's. Booleans are 1 and 0, decimals
their digits. FLOAT is the number that DuckDB shows, the shortest one that is the same FLOAT. Values
of all other types are DuckDB's own texts, as of a CAST to VARCHAR, because Python's values lose
much: an interval's months, infinite dates, nanoseconds. Each column's type comes with the answer.

One thread, so that answers have one order. The database is in memory and shared by all connections;
one that is loaded by name is a file.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from typing import Any

import duckdb

from refute.oracles.sql.driver import failed
from refute.oracles.sql.engines.ending import EndingSession
from refute.oracles.sql.engines.session import Gone, file_name
from refute.oracles.sql.engines.values import shortest

MEMORY = "1GB"
_WHOLE = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "HUGEINT")
_PLAIN = frozenset(
    (*_WHOLE, *(f"U{w}" for w in _WHOLE), "DOUBLE", "VARCHAR", "BLOB", "BOOLEAN", "FLOAT")
)
_QUERY = re.compile(r"\s*(?:SELECT|FROM|VALUES)\b", re.I)
_CHANGES = re.compile(r"nextval|random|setseed|uuid", re.I)  # a query with these, or what has them
_CHANGE = re.compile(  # its result is a number
    r"\s*(?:CREATE|INSERT|UPDATE|DELETE|DROP|ALTER)\b(?!.*\bRETURNING\b)", re.I | re.S
)
_AT_ONCE = re.compile(f"{_QUERY.pattern}|{_CHANGE.pattern}", re.I | re.S)
_SETTING = re.compile(r"\s*(?:SET|RESET)\s+(\w+)", re.I)
_PRAGMAS = {
    "PRAGMA disable_optimizer": "PRAGMA enable_optimizer",
    "PRAGMA enable_verification": "PRAGMA disable_verification",
}
_WITHIN = re.compile(  # leaves nothing behind but in the database it is about
    r"\s*(?:SET\s+\w+\s*=|RESET|PRAGMA\s+(?:en|dis)able_(?:optimizer|verification)$|"
    r"SELECT|FROM|VALUES|WITH|EXPLAIN|ANALYZE|INSERT|UPDATE|DELETE|ALTER\s+TABLE|DROP|"
    r"CREATE\s+(?:TABLE|VIEW|(?:UNIQUE\s+)?INDEX))\b",
    re.I,
)
_FATAL = ("FatalException", "InternalException")


class DuckDB(EndingSession):
    """A session with DuckDB."""

    can = ("connections", "restart", "load", "kill")
    version = f"DuckDB {duckdb.__version__}"

    def __init__(self) -> None:
        self._directory = ""
        self._path = ":memory:refute"
        self._careful = False  # a query may change something
        self._within = True  # nothing was asked that reaches beyond one database
        self._attached = 0
        self._changed: set[str] = set()  # settings, by the statements that undo them
        self._kept = self._opened()  # a database in memory lives as long as a connection to it
        super().__init__()

    def connected(self) -> Any:
        """A connection of its own transactions and settings."""
        made = self._opened()
        if self._attached:
            made.execute(f"USE refute{self._attached}")
        return made

    def renew(self, database: str) -> None:
        """As for any session; a name becomes a path."""
        if database:
            self._careful = True  # for all that is known of what is there
            self._kept.close()
            self._directory = self._directory or tempfile.mkdtemp(prefix="refute-database-")
            self._path = f"{self._directory}/{file_name(database)}"
        super().renew(database)
        if database:
            self._kept = self._opened()

    def emptied(self) -> bool:
        """Attach another database in memory and let go of the one before."""
        if not self._within or self._careful or self.database or set(self._connections) != {""}:
            return False
        connection, before = self._connections[""], self._attached
        for statement in sorted(self._changed):
            connection.execute(statement)
        self._changed.clear()
        self._attached += 1
        connection.execute(f"ATTACH ':memory:' AS refute{self._attached}")
        connection.execute(f"USE refute{self._attached}")
        if before:
            connection.execute(f"DETACH refute{before}")
        return True

    def leave(self) -> None:
        """The database in memory goes with the last connection to it."""
        super().leave()
        self._kept.close()

    def end(self, connection: Any) -> None:
        """Interrupt it."""
        connection.interrupt()

    def fetched(self, connection: Any, statement: str) -> list[Any]:
        """The answer, of the last of several statements.

        Only `sql` knows the types before it runs a query, at the price of reading it twice. So a
        query is run, and again with casts if that is needed and nothing can come of it.
        """
        self._careful = self._careful or bool(_CHANGES.search(statement))
        one = ";" not in statement.rstrip(" \n;")
        self._within = self._within and one and _WITHIN.match(statement) is not None
        if (setting := _SETTING.match(statement)) is not None:
            self._changed.add(f"RESET {setting[1]}")
        elif statement in _PRAGMAS:
            self._changed.add(_PRAGMAS[statement])
        if one and (_CHANGE if self._careful else _AT_ONCE).match(statement):
            result = connection.execute(statement)
            names = [column[0] for column in result.description]
            types = [str(column[1]) for column in result.description]
            if not any(map(_is_foreign, types)):
                return _answer(names, types, result.fetchall())
            getattr(
                connection, "abort", connection.fetchall
            )()  # from DuckDB 2 on, a result streams
        result = connection.sql(statement)
        if result is None:
            return ["done"]
        names, types = list(result.columns), [str(kind) for kind in result.types]
        if any(map(_is_foreign, types)):
            result = result.project(", ".join(map(_column, range(1, len(types) + 1), types)))
        return _answer(names, types, result.fetchall())

    def refused(self, error: BaseException) -> list[Any]:
        """An error; what DuckDB calls internal is a crash, and the database is of no use then."""
        kind, *texts = failed(error)
        if type(error).__name__ in _FATAL:
            raise Gone(f"{texts[0]}: {texts[1]}")
        return [kind, *texts]

    def _opened(self) -> Any:
        made = duckdb.connect(
            self._path,
            config={
                "threads": 1,
                "memory_limit": MEMORY,
                "python_enable_replacements": False,  # a table is no variable of this program
            },
        )
        with contextlib.suppress(duckdb.Error):  # nor does it draw on standard output
            made.execute("SET enable_progress_bar = false")
        return made


def _is_foreign(kind: str) -> bool:
    return not (kind in _PLAIN or kind.startswith("DECIMAL("))


def _column(number: int, kind: str) -> str:
    return f"CAST(#{number} AS VARCHAR)" if _is_foreign(kind) else f"#{number}"


def _answer(names: list[str], types: list[str], rows: list[Any]) -> list[Any]:
    if "FLOAT" in types:
        short = [kind == "FLOAT" for kind in types]
        rows = [
            [shortest(v, "f") if s else v for s, v in zip(short, row, strict=True)] for row in rows
        ]
    return ["rows", names, rows, types]
