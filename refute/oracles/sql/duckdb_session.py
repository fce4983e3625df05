"""DuckDB in a worker, answering with the texts that DuckDB itself makes of its values.

The files of DuckDB's own suite compare texts: `2020-01-01 00:00:00`, `[1, NULL]`, `{'a': 1}`.
Python's objects are not those values (an interval's months become days, a TIMESTAMP_NS loses its
nanoseconds), so a statement is run as it stands, its result stays with DuckDB in DuckDB's types,
and only then every column of that finished result is cast to VARCHAR. Python's package of DuckDB 2
does both for its own relations (`materialize`): a connection submits a statement and registers the
rows as a source. They are asked for by these names, for `sql` only binds a SELECT, would make it
part of the statement that casts, and leaves out where an error is. Where a connection has them not,
as before DuckDB 2, `sql(…, params=[])` runs a statement at once and keeps its rows.

That is for real connections of the package. What wraps them may change results in `execute` or
`fetchall`, so a wrapper is asked through those, and the values it hands over are put back into
DuckDB, in the type that it names for the column, for their text.

Answers are those of `refute.oracles.sql.driver`; "rows" has a fourth part, the columns' types, and
its values are texts or None. All of it runs where the engine lives and decides nothing.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib
import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refute.oracles.sql.driver import function_of
from refute.oracles.sql.engines.session import Session

MESSAGE = 20_000  # characters of an error's message: files expect what stands late in long ones
THREADS = 7  # of `together`, besides the one that is there
MOST_VALUES = 200_000  # of one result of `together`
CONFIG = {
    "allow_unsigned_extensions": "true",
    "allow_unredacted_secrets": "true",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "wal_autocheckpoint": "0KB",
    "python_enable_replacements": "false",  # a table's name must not mean a Python variable
}
"""As DuckDB's own runner opens a database for a test (test/helpers/test_helpers.cpp)."""

_NO_SCAN = "SET python_enable_replacements=false"
_SETTINGS = "SELECT name, value FROM duckdb_settings()"
_NOT_KEPT = frozenset(("access_mode", "temp_directory", "secret_directory"))
_import, _BaseException = importlib.import_module, BaseException


class Texts(Session):
    """Connections by name to one database, "" being the default one.

    factory: "module:function", called with the keywords `database`, `read_only` and `config` as
    far as it takes them. A connection name `a:b` is connection b of another database, a.
    """

    def __init__(self, factory: str) -> None:
        self._make = function_of(factory)
        self._duckdb: Any = None
        with contextlib.suppress(ImportError):
            self._duckdb = _import("duckdb")
        self._options, self._readonly = dict(CONFIG), False
        self._takes_path = True
        self._roots: dict[str, Any] = {}
        self._extensions: list[str] = []
        self._renderer: Any = None
        super().__init__()
        real = self._real(self._connections[""])
        opens = ("restart", "load") if self._takes_path else ()
        self.can = ("connections", *opens) if real else opens
        if self._duckdb is not None:
            self.version = f"DuckDB {self._duckdb.__version__}"

    # Opening and closing.

    def connected(self) -> Any:
        """Another connection to the database in use."""
        return self._cursor("")

    def reconnect(self, connection: str) -> None:
        """Close a connection and open it again."""
        self.close(connection)
        self._connections[connection] = self._cursor(connection.rpartition(":")[0])

    def directory(self, path: str) -> None:
        """Make the directory for the files of a test, and work in one beside it.

        That one can be written to, and shows the files that the worker has.
        """
        given = Path.cwd()
        work = Path(f"{path}.work")
        for made in (Path(path), work):
            made.mkdir(parents=True, exist_ok=True)
        for entry in given.iterdir():
            with contextlib.suppress(OSError):
                (work / entry.name).symlink_to(entry)
        os.chdir(work)

    def load(self, order: str) -> bytes:
        """Go on in another database. order: JSON of path, whether only to read, and version."""
        path, self._readonly, version = json.loads(order)
        self._options = dict(CONFIG)
        if version:
            self._options["storage_compatibility_version"] = version
        self._close_all()
        self.database = path
        if path and not self._readonly:
            for left in (path, f"{path}.wal"):
                with contextlib.suppress(OSError):
                    Path(left).unlink()
        return self._opened_again()

    def reopen(self, extensions: str) -> bytes:
        """Open the same database again, with the settings it had. extensions: "" for none."""
        before = self._settings()
        self._close_all()
        if not extensions:
            self._extensions = []
        answer = self._opened_again()
        fresh = self._settings()
        for name, value in before.items():
            if value is not None and fresh.get(name) != value and name not in _NOT_KEPT:
                with contextlib.suppress(_BaseException):
                    quoted = value.replace("'", "''")
                    self._connections[""].execute(f"SET {name}='{quoted}'")
        return answer

    def unzip(self, order: str) -> bytes:
        """Unpack a gzip file. order: JSON of its path and the other one's."""
        source, target = json.loads(order)
        try:
            Path(target).write_bytes(gzip.decompress(Path(source).read_bytes()))
        except (OSError, EOFError) as error:
            return self._message([self.refused(error)])
        return self._message([["done"]])

    def extension(self, name: str) -> bytes:
        """Load an extension, also after each later opening of a database."""
        answer = self.timed(self._connections[""], f"LOAD {name}", 0.0)
        if answer[0] != "error":
            self._extensions.append(name)
        return self._message([answer])

    def together(self, rounds: Sequence[Sequence[str]]) -> bytes:
        """The answers to several lists of statements, each list on its own connection and thread.

        All of them in one list, the first round's first.
        """
        results: list[list[list[Any]]] = [[] for _ in rounds]
        todo = iter(range(len(rounds)))

        def work() -> None:
            for at in todo:  # advancing it takes one bytecode, so that no round is taken twice
                connection = self._cursor("")
                results[at] = [_short(self.timed(connection, sql, 0.0)) for sql in rounds[at]]
                connection.close()

        threads: list[threading.Thread] = []
        with contextlib.suppress(RuntimeError):  # the worker may not have more
            while len(threads) < min(THREADS, len(rounds)):
                thread = threading.Thread(target=work)
                thread.start()
                threads.append(thread)
        work()
        for thread in threads:
            thread.join()
        return self._message([answer for result in results for answer in result])

    def _opened_again(self) -> bytes:
        """Open the database; an error if it cannot be."""
        try:
            self.reconnect("")
            for name in self._extensions:
                with contextlib.suppress(_BaseException):
                    self._connections[""].execute(f"LOAD {name}")
        except _BaseException as error:
            return self._message([self.refused(error)])
        return self._message([["done"]])

    def _cursor(self, database: str) -> Any:
        """A connection to this database of the session, "" being the one in use."""
        if database not in self._roots:
            self._roots[database] = self._opened(self.database if not database else "")
        root = self._roots[database]
        if not self._real(root):
            return root
        made = root.cursor()
        with contextlib.suppress(_BaseException):  # the configuration may be locked
            made.execute(_NO_SCAN)
        return made

    def _opened(self, database: str) -> Any:
        """A new connection to a database file; "" is a database in memory."""
        path = database or ":memory:"
        for keywords in (
            {"database": path, "read_only": self._readonly, "config": self._options},
            {"database": path},
        ):
            try:
                return self._make(**keywords)
            except TypeError:  # a function that does not take these
                continue
        self._takes_path = False
        return self._make()

    def _close_all(self) -> None:
        for name in list(self._connections):
            self.close(name)
        for root in self._roots.values():
            with contextlib.suppress(_BaseException):
                root.close()
        self._roots.clear()

    def _settings(self) -> dict[str, str | None]:
        with contextlib.suppress(_BaseException):
            return dict(self._connections[""].execute(_SETTINGS).fetchall())
        return {}

    # Statements.

    def fetched(self, connection: Any, statement: str) -> list[Any]:
        """The answer to one statement, its values as texts."""
        if self._real(connection):
            return _texts(connection, statement)
        cursor = connection.cursor()
        cursor.execute(statement)
        described = cursor.description
        if described is None:
            return ["done"]
        names = [str(column[0]) for column in described]
        types = [str(column[1]) for column in described]
        rows = [self._put_back(types, list(row)) for row in cursor.fetchall()]
        return ["rows", names, rows, types]

    def refused(self, error: BaseException) -> list[Any]:
        """The answer for what the driver raised."""
        kind = type(error)
        known = any(base.__name__ == "Error" for base in kind.__mro__)
        try:
            message = str(error)[:MESSAGE]
        except _BaseException:  # an engine's exception may define anything
            message = ""
        return ["error" if known else "crash", f"{kind.__module__}.{kind.__qualname__}", message]

    def _real(self, connection: Any) -> bool:
        return self._duckdb is not None and type(connection) is self._duckdb.DuckDBPyConnection

    def _put_back(self, types: list[str], row: list[Any]) -> list[Any]:
        """The values as DuckDB's texts, or as they are where it does not take them."""
        if self._renderer is None and self._duckdb is not None:
            self._renderer = self._duckdb.connect()
        texts = []
        for kind, value in zip(types, row, strict=True):
            text = value if value is None or type(value) is str else str(value)
            if self._renderer is not None and value is not None and kind != "VARCHAR":
                with contextlib.suppress(Exception):
                    cast = f"SELECT CAST(CAST(? AS {kind}) AS VARCHAR)"
                    text = self._renderer.execute(cast, [value]).fetchall()[0][0]
            texts.append(text)
        return texts

    def _message(self, answers: list[list[Any]]) -> bytes:
        return f"[{','.join(map(self._text, answers))}]".encode("ascii")


def _texts(connection: Any, sql: str) -> list[Any]:
    """The answer of a real connection: of the first statement with a result, else of the last."""
    found: list[Any] = ["done"]
    known = False
    statements = connection.extract_statements(sql)
    for statement in statements:
        whole = sql if len(statements) == 1 else statement.query
        names, types, rows = _run(connection, statement, whole)
        if not known:
            known = names not in (["Count"], ["Success"])
            found = ["rows", names, rows, types]
    return found


def _run(connection: Any, statement: Any, sql: str) -> tuple[list[str], list[str], list[Any]]:
    """Run one statement: names and types of its columns, and its rows as texts."""
    if hasattr(connection, "_submit") and hasattr(connection, "_register_collection"):
        result = connection._submit(sql)
        described = list(result.description)
        held = connection._register_collection(result)
        casts = _casts(len(described))
        cast = connection._submit(f'SELECT {casts} FROM "{held.name}"')
        types = [str(column[1]) for column in described]
        return [str(column[0]) for column in described], types, list(cast.fetchall())
    relation = connection.sql(statement, params=[])
    if relation is None:
        return ["Success"], ["BOOLEAN"], []
    if hasattr(relation, "materialize"):
        relation = relation.materialize()
    names, types = list(relation.columns), [str(kind) for kind in relation.types]
    return names, types, list(relation.project(_casts(len(names))).fetchall())


def _casts(columns: int) -> str:
    return ", ".join(f"CAST(#{at} AS VARCHAR)" for at in range(1, columns + 1))


def _short(answer: list[Any]) -> list[Any]:
    """The answer, unless it is too long to come with others."""
    if answer[0] == "rows" and len(answer[1]) * len(answer[2]) > MOST_VALUES:
        return ["unfit", "a result that is too large for a concurrent loop"]
    return answer
