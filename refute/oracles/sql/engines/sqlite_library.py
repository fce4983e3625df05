"""An SQLite shared library of any release as an engine: `sqlite:PATH`.

Values, errors and limits are those of the embedded SQLite (`refute.oracles.sql.sqlite`), so that
what differs is the release: NULL, 64-bit integers, doubles, texts with whatever bytes, blobs; the
names of Python's `sqlite3` for errors; of several statements the last one's answer; no other file
is attached. A statement beyond its time is interrupted, and its connection goes on.
"""

from __future__ import annotations

import ctypes
import functools
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from refute.oracles.sql.driver import MESSAGE
from refute.oracles.sql.engines.ending import SLOW
from refute.oracles.sql.engines.filed import Filed
from refute.oracles.sql.engines.session import MOST_VALUES
from refute.oracles.sql.engines.sqlite_library_calls import (
    ATTACHED,
    BLOB,
    DONE,
    INTEGER,
    LENGTH,
    OK,
    REAL,
    ROW,
    TEXT,
    Library,
    Look,
    NotSQLite,
)
from refute.oracles.sql.sqlite import FULL, LARGEST, MOST_ATTACHED, NO_FILE

CHECK = 100_000  # instructions between two looks at the clock
MODULES = ("fts3", "fts4", "fts5", "rtree")  # that may be compiled in
_CHANGES = re.compile(r"\s*(?:INSERT|UPDATE|DELETE|REPLACE)\b", re.IGNORECASE)
_WANTS = "Incorrect number of bindings supplied. The current statement uses "
_ERRORS = {  # as Python's `sqlite3` names them, by the primary result code
    **dict.fromkeys((2, 12), "InternalError"),
    **dict.fromkeys((1, 3, 4, 5, 6, 8, 9, 10, 13, 14, 15, 16, 17), "OperationalError"),
    18: "DataError",
    **dict.fromkeys((19, 20), "IntegrityError"),
    **dict.fromkeys((21, 25), "InterfaceError"),
}
_monotonic = time.monotonic


class Connection:
    """A database of the library. path: a file, or ":memory:". look: its progress handler."""

    def __init__(self, library: Library, path: str, look: Any) -> None:
        self._library = library
        self._database = library.opened(path)
        self._made, self._rest = ctypes.c_void_p(), ctypes.c_char_p()
        self._into = ctypes.byref(self._made), ctypes.byref(self._rest)
        library.limit(self._database, ATTACHED, 0)
        library.limit(self._database, LENGTH, LARGEST)
        library.progress_handler(self._database, CHECK, look, None)
        self._shows: dict[int, Callable[[Any, int], Any]] = {
            INTEGER: library.column_int64,
            REAL: library.column_double,
            TEXT: library.text,
            BLOB: library.blob,
        }

    def answer(self, statement: str) -> list[Any]:
        """The answer to the last of the text's statements, or to the first that is an error."""
        data = statement.encode("utf-8", "surrogateescape")
        if b"\0" in data:
            return ["error", "sqlite3.ProgrammingError", "the query contains a null character"]
        answer: list[Any] = ["done"]
        while data:
            if self._library.prepare_v2(self._database, data, len(data) + 1, *self._into) != OK:
                return self._refused()
            rest: bytes = (self._rest.value or b"").strip()
            made = self._made.value
            if made:
                part = data[: len(data) - len(rest)] if rest else data
                answer = self._ran(made, part.decode("utf-8", "replace") if rest else statement)
                if answer[0] == "error":
                    return answer
            data = rest
        return answer

    def attaching(self, statement: str) -> list[Any]:
        """As `answer`, for a statement that attaches a database which is no file of others."""
        self._library.limit(self._database, ATTACHED, MOST_ATTACHED)
        try:
            return self.answer(statement)
        finally:
            self._library.limit(self._database, ATTACHED, 0)

    def close(self) -> None:
        """Let the database go."""
        self._library.close(self._database)

    def _ran(self, made: int, statement: str) -> list[Any]:
        """The answer to one statement that is prepared."""
        library = self._library
        rows: list[list[Any]] = []
        try:
            if wanted := library.bind_parameter_count(made):
                return [
                    "error",
                    "sqlite3.ProgrammingError",
                    f"{_WANTS}{wanted}, and there are 0 supplied.",
                ]
            code = library.step(made)
            columns = range(library.column_count(made))
            if not columns:
                while code == ROW:
                    code = library.step(made)
                return self._done(code, statement)
            names = [library.column_name(made, at) or b"" for at in columns]
            kind_of, shows, step = library.column_type, self._shows, library.step
            most = MOST_VALUES // len(columns)
            while code == ROW and len(rows) <= most:
                row = []
                for at in columns:
                    show = shows.get(kind_of(made, at))
                    row.append(None if show is None else show(made, at))
                rows.append(row)
                code = step(made)
            if code not in (DONE, ROW):
                return self._refused()
            return ["rows", [name.decode("utf-8", "surrogateescape") for name in names], rows]
        finally:
            library.finalize(made)

    def _done(self, code: int, statement: str) -> list[Any]:
        if code != DONE:
            return self._refused()
        if _CHANGES.match(statement):
            return ["done", self._library.changes(self._database)]
        return ["done"]

    def _refused(self) -> list[Any]:
        message = self._library.errmsg(self._database).decode("utf-8", "replace")
        code = self._library.errcode(self._database) & 0xFF
        if code == 7:
            return ["crash", "MemoryError", message[:MESSAGE]]
        name = _ERRORS.get(code, "DatabaseError")
        return ["error", f"sqlite3.{name}", message[:MESSAGE]]


class SQLiteLibrary(Filed):
    """A session with a library. path: from the worker's own directory; see `Library` for needs."""

    can = ("connections", "restart", "load", "kill")

    def __init__(self, path: str, needs: Sequence[str]) -> None:
        self._library = _loaded(str(Path.cwd() / path), tuple(needs))
        self._until = float("inf")
        self._late = False
        self._look = Look(self._looked)  # SQLite keeps no reference
        super().__init__()
        said = self._connections[""].answer("SELECT sqlite_source_id()")
        if said[-1] != [[self._library.sourceid().decode()]]:
            raise NotSQLite("another SQLite in this process answers in its place")

    def connected(self) -> Connection:
        """A connection whose statements commit by themselves, as SQLite's do."""
        return Connection(self._library, self.path, self._look)

    def facts(self) -> dict[str, Any]:
        """As for any session; the version with the modules of virtual tables that it has."""
        database = Connection(self._library, ":memory:", self._look)
        has = [m for m in MODULES if database.answer(_VIRTUAL.format(m)) == ["done"]]
        database.close()
        self.version = f"SQLite {self._library.version}" + (
            f" with {', '.join(has)}" if has else ""
        )
        return super().facts()

    def fetched(self, connection: Any, statement: str) -> list[Any]:
        """The answer to one statement, or to the last of several."""
        answer: list[Any] = connection.answer(statement)
        attaches = answer[0] == "error" and answer[2].startswith(FULL)
        if attaches and NO_FILE.fullmatch(statement):
            return connection.attaching(statement)  # type: ignore[no-any-return]
        return answer

    def timed(self, connection: Any, statement: str, timeout_s: float) -> list[Any]:
        """The answer to one statement, or that it was ended."""
        self._late = False
        self._until = _monotonic() + timeout_s if timeout_s else float("inf")
        answer = super().timed(connection, statement, timeout_s)
        if self._late:
            return ["lost", f"{SLOW}: the statement was ended after {timeout_s:g} s"]
        return answer

    def _looked(self, _: object) -> int:
        """Called by SQLite now and then; anything but 0 ends the statement."""
        self._late = self._late or _monotonic() > self._until
        return int(self._late)


@functools.cache
def _loaded(path: str, needs: tuple[str, ...]) -> Library:
    """The library, which many sessions in this process use."""
    return Library(path, needs)


_VIRTUAL = "CREATE VIRTUAL TABLE {0}_of USING {0}(a, b, c)"
