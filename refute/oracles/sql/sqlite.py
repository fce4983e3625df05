"""The embedded SQLite: the oracle, in this process, answering as the driver of other engines does.

It is the SQLite that Python's `sqlite3` is linked to; `VERSION` names it, since answers change
between releases. The database is empty and in memory, and stays there: what would read or write
other files is refused, because statements may come from anywhere.
"""

from __future__ import annotations

import itertools
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any

from refute.oracles.sql.driver import MESSAGE

VERSION = sqlite3.sqlite_version
STEPS = 50_000_000  # virtual machine instructions that one statement may take
_CHECK = 100_000  # instructions between two looks at the limit
MOST_ROWS = 1_000_000  # of one result
LARGEST = 100_000_000  # bytes of one value
_NUMBERS = itertools.count()
UNFINISHED = "SQLite did not finish within its limits"
_INTERRUPTED = "interrupted"
_SEVERAL = "You can only execute one statement at a time."
FULL = "too many attached databases"  # more than none
MOST_ATTACHED = 10
NO_FILE = re.compile(  # it attaches a database, and no file of others
    r"\s*(?:VACUUM(?:\s+\w+)?|ATTACH\s+(?:DATABASE\s+)?'(?::memory:)?'\s+AS\s+\w+)\s*;?\s*",
    re.IGNORECASE,
)


class SQLite:
    """A fresh database in memory. steps: instructions, wall_s: seconds for one statement.

    A statement beyond either is ended, and its answer is "unfit". shared: a URI of `shared_memory`,
    for one of several connections to one database; a lock that another holds is an error at once.
    """

    def __init__(
        self, steps: float = STEPS, wall_s: float = float("inf"), shared: str = ""
    ) -> None:
        self._steps = steps
        self._wall_s = wall_s
        self._taken = 0
        self._until = float("inf")
        self._connection = sqlite3.connect(
            shared or ":memory:",
            timeout=0.0 if shared else 5.0,
            isolation_level=None,
            cached_statements=0,
            uri=bool(shared),
        )
        self._connection.text_factory = _text
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
        self._connection.set_progress_handler(self._too_much, int(min(_CHECK, steps)))
        self._execute = self._connection.execute

    def within(self, statement: str, wall_s: float) -> tuple[Any, ...]:
        """As `answer`, under another time limit."""
        before, self._wall_s = self._wall_s, wall_s
        try:
            return self.answer(statement)
        finally:
            self._wall_s = before

    def run(self, statements: Sequence[str]) -> list[list[Any]]:
        """One result for each statement, in the driver's form."""
        results = []
        for statement in statements:
            answer = self.answer(statement)
            if answer[0] == "rows":
                names = [column[0] for column in answer[1]]
                results.append(["rows", names, list(map(list, answer[2]))])
            else:
                results.append(list(answer))
        return results

    def answer(self, statement: str) -> tuple[Any, ...]:
        """What came of one statement: as `run`, but columns and rows are tuples.

        Columns are those of PEP 249, whose first item is the name.
        """
        self._taken = 0
        try:
            cursor = self._execute(statement)
            if cursor.description is None:
                affected = cursor.rowcount
                return ("done", affected) if affected >= 0 else ("done",)
            rows = cursor.fetchmany(MOST_ROWS)
            if len(rows) == MOST_ROWS:
                return "unfit", f"SQLite returned {MOST_ROWS} rows or more"
            return "rows", cursor.description, rows
        except (sqlite3.Error, sqlite3.Warning) as error:
            if self._over():
                return "unfit", UNFINISHED
            if str(error) == _INTERRUPTED:  # Ctrl-C fell into the callback, which cannot raise it
                raise KeyboardInterrupt from None
            if str(error) == _SEVERAL:
                return self._each(statement)
            if str(error).startswith(FULL) and NO_FILE.fullmatch(statement) and self._closed():
                return self._opened(statement)
            kind = type(error)
            return "error", f"{kind.__module__}.{kind.__qualname__}", str(error)[:MESSAGE]

    def _closed(self) -> bool:
        return self._connection.getlimit(sqlite3.SQLITE_LIMIT_ATTACHED) == 0

    def _opened(self, statement: str) -> tuple[Any, ...]:
        """The answer to one that may attach, as every other one may not."""
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, MOST_ATTACHED)
        try:
            return self.answer(statement)
        finally:
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)

    def copy(self) -> SQLite:
        """Another database with the same content, apart from what is temporary."""
        made = SQLite(self._steps, self._wall_s)
        self._connection.backup(made._connection)
        return made

    def define(self, name: str, function: Callable[..., Any], operands: int = -1) -> None:
        """Have an SQL function of this name, of any number of arguments.

        With a number of operands it may stand for one of SQLite's own, in indexes, too.
        """
        self._connection.create_function(name, operands, function, deterministic=operands >= 0)

    def fill(self, statement: str, rows: Sequence[Sequence[Any]]) -> bool:
        """Run a statement once for each row of values, its `?`; whether SQLite took all of them.

        Raises UnicodeEncodeError for a text that is none.
        """
        try:
            self._connection.executemany(statement, rows)
        except (sqlite3.Error, OverflowError):
            return False
        return True

    def close(self) -> None:
        """Let the database go."""
        self._connection.close()

    def _each(self, text: str) -> tuple[Any, ...]:
        """The answer to the last of several statements, or the first that is an error."""
        answer: tuple[Any, ...] = ("done",)
        start = 0
        for end, character in enumerate(text, 1):
            if character == ";" and sqlite3.complete_statement(text[start:end]):
                answer = self.answer(text[start:end])
                start = end
                if answer[0] not in ("rows", "done"):
                    return answer
        rest = text[start:].strip()
        return self.answer(rest) if rest else answer

    def _over(self) -> bool:
        """Whether the statement took too much; its clock starts at the first look at the limit."""
        if not self._taken:
            return False
        return self._taken > self._steps or time.monotonic() > self._until

    def _too_much(self) -> int:
        """Called by SQLite now and then; anything but 0 ends the statement."""
        if not self._taken:
            self._until = time.monotonic() + self._wall_s
        self._taken += _CHECK
        return int(self._over())


class SharedSQLite:
    """Named connections to one database in memory, and to others by name, while this is open.

    wall_s: seconds for one statement.
    """

    def __init__(self, wall_s: float = float("inf")) -> None:
        self._wall_s = wall_s
        self._own = f"refute{next(_NUMBERS)}"
        self._connections: dict[str, SQLite] = {}
        self._kept: dict[str, sqlite3.Connection] = {}  # databases live as long as these
        self._uris: dict[str, str] = {}
        self._uri = ""
        self.restart("main")

    def answer(self, connection: str, sql: str, wall_s: float | None = None) -> tuple[Any, ...]:
        """What came of one statement, as `SQLite.answer`."""
        found = self._connections.get(connection)
        if found is None:
            found = self._connections[connection] = SQLite(float("inf"), self._wall_s, self._uri)
        return found.answer(sql) if wall_s is None else found.within(sql, wall_s)

    def reconnect(self, connection: str) -> None:
        """Close a connection, which ends its transaction; it is opened when it is used."""
        closed = self._connections.pop(connection, None)
        if closed is not None:
            closed.close()

    def restart(self, database: str = "") -> None:
        """Close all connections, and go on in the database of that name if one is given."""
        for connection in list(self._connections):
            self.reconnect(connection)
        if database and database not in self._kept:
            uri = shared_memory(f"{self._own}x{len(self._kept)}")
            self._kept[database] = sqlite3.connect(uri, uri=True)
            self._uris[database] = uri
        if database:
            self._uri = self._uris[database]

    def close(self) -> None:
        """Let all databases go."""
        self.restart()
        for connection in self._kept.values():
            connection.close()


def shared_memory(name: str) -> str:
    """The URI of a database in memory that lives as long as one of its connections is open.

    name: letters and digits. While one connection writes, the others can neither write nor
    read, as in a file at the moment of its commit.
    """
    return f"file:/{name}?vfs=memdb"


def _text(data: bytes) -> str:
    """Text of the database; bytes that are no UTF-8 stay distinct."""
    return data.decode("utf-8", "surrogateescape")
