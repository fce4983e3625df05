"""The DB-API 2.0 of PEP 249 over one database in memory.

A statement that fails leaves nothing behind; what the others change lasts from `commit` on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from minidb.changes import delete, insert, update
from minidb.compiler import Compiler, run_query
from minidb.database import Database
from minidb.definitions import create, drop
from minidb.errors import InterfaceError, NotSupportedError, OperationalError, ProgrammingError
from minidb.scope import Row
from minidb.syntax import parse
from minidb.values import Value, fits

Description = tuple[tuple[str, None, None, None, None, None, None], ...]


class Connection:
    """A connection to a new database in memory."""

    def __init__(self) -> None:
        self._database: Database | None = Database()

    @property
    def database(self) -> Database:
        """The database; ProgrammingError once the connection is closed."""
        if self._database is None:
            raise ProgrammingError("Cannot operate on a closed database.")
        return self._database

    def cursor(self) -> Cursor:
        """A new cursor."""
        return Cursor(self)

    def execute(self, sql: str, parameters: Sequence[Value] = ()) -> Cursor:
        """A new cursor that has executed the statement."""
        return self.cursor().execute(sql, parameters)

    def commit(self) -> None:
        """Keep all changes."""
        self.database.commit()

    def rollback(self) -> None:
        """Take back all changes since the last commit."""
        self.database.rollback()

    def close(self) -> None:
        """Forget the database."""
        self._database = None


class Cursor:
    """Executes statements and holds the rows of the last one."""

    arraysize = 1

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.description: Description | None = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self._rows: Iterator[Row] | None = None

    def execute(self, sql: str, parameters: Sequence[Value] = ()) -> Cursor:
        """Execute one statement; a failed one changes nothing."""
        database = self.connection.database
        self.description, self._rows, self.rowcount = None, None, -1
        node = parse(sql)
        if node is None:
            return self
        mark = len(database.log)
        try:
            compiler = Compiler(database, [_given(value) for value in parameters])
            compiler.bind(node)
            self._run(database, compiler, node)
        except RecursionError:
            database.undo(mark)
            raise OperationalError("the expression is nested too deeply") from None
        except BaseException:
            database.undo(mark)
            raise
        return self

    def _run(self, database: Database, compiler: Compiler, node: exp.Expr) -> None:
        if isinstance(node, exp.Select | exp.SetOperation | exp.Subquery):
            names, rows = run_query(compiler, node)
            self._rows = iter(list(rows))
            self.description = tuple((name, *([None] * 6)) for name in names)  # type: ignore[misc]
        elif isinstance(node, exp.Insert):
            self.rowcount, last = insert(database, compiler, node)
            self.lastrowid = last if last is not None else self.lastrowid
        elif isinstance(node, exp.Update):
            self.rowcount = update(database, compiler, node)
        elif isinstance(node, exp.Delete):
            self.rowcount = delete(database, compiler, node)
        elif isinstance(node, exp.Create):
            create(database, compiler, node)
        elif isinstance(node, exp.Drop):
            drop(database, node)
        else:
            _control(database, node)

    def executemany(self, sql: str, rows: Iterable[Sequence[Value]]) -> Cursor:
        """Execute the statement once for each row of parameters."""
        changed = 0
        for row in rows:
            self.execute(sql, row)
            if self.description is not None:
                raise ProgrammingError("executemany() can only execute statements without rows")
            changed += max(self.rowcount, 0)
        self.rowcount = changed
        return self

    def fetchone(self) -> Row | None:
        """The next row, None after the last."""
        return next(self._rows, None) if self._rows is not None else None

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """The next rows, at most `size` or `arraysize`."""
        wanted = self.arraysize if size is None else size
        found: list[Row] = []
        while len(found) < wanted and (row := self.fetchone()) is not None:
            found.append(row)
        return found

    def fetchall(self) -> list[Row]:
        """All rows that are left."""
        return list(self._rows) if self._rows is not None else []

    def __iter__(self) -> Iterator[Row]:
        """The rows that are left, one by one."""
        return iter(self.fetchone, None)

    def close(self) -> None:
        """Forget the rows."""
        self._rows = None

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """PEP 249 asks for it; sizes mean nothing here."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """PEP 249 asks for it; sizes mean nothing here."""


def _control(database: Database, node: exp.Expr) -> None:
    """BEGIN, COMMIT and ROLLBACK."""
    if isinstance(node, exp.Transaction):
        if database.begun:
            raise OperationalError("cannot start a transaction within a transaction")
        database.commit()
        database.begun = True
    elif isinstance(node, exp.Commit | exp.Rollback):
        word = "commit" if isinstance(node, exp.Commit) else "rollback"
        if not database.begun:
            raise OperationalError(f"cannot {word} - no transaction is active")
        getattr(database, word)()
    else:
        raise NotSupportedError(f"statement {node.sql('sqlite')}")


def _given(value: object) -> Value:
    """A parameter as a value of SQL."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, int) and not fits(value):
        raise InterfaceError("Python int too large to convert to SQLite INTEGER")
    if value is None or isinstance(value, int | float | str | bytes):
        return value
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    raise InterfaceError(f"type {type(value).__name__} is not supported as a parameter")
