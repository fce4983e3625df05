"""Sessions: the connections of one engine, in the worker where it lives.

They carry statements in and answers out, in the form of `refute.oracles.sql.driver`; the parent
compares. Answers go as one JSON text for many statements, written and read by C code, because
thousands go each second. What json has no word for is tagged: bytes are `{"b": base64}`. A result
that is too large for one message is `["part", …]`, and the parent asks for the rest of its rows.
"""

from __future__ import annotations

import abc
import base64
import contextlib
import importlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import Any

from refute.oracles.sql.driver import PAUSE_S, commit_each, done, failed, function_of
from refute.oracles.sql.engines.values import INTEGERS, SIMPLE, Unfit, plain

PART = 50_000  # values of one result in one message
MOST_VALUES = 4_000_000  # of one result
MOST_TEXT = 48_000_000  # bytes of one message
FULL = 1_000_000  # bytes after which an answer is sent before the statements are done

_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_import, _monotonic = importlib.import_module, time.monotonic
_BaseException, _getattr, _isinstance, _type = BaseException, getattr, isinstance, type
_NO_ROWS = (str, bytes, bytearray, Mapping, Set)  # fall apart into letters, keys, or any order


class Gone(Exception):
    """The engine is of no use any more: the statement that it was asked ends the session."""


class Session(abc.ABC):
    """Connections by name to one database; "" is the default one, which is always open.

    A kind of engine overrides `connected`, and what of the rest is its own.
    """

    can: tuple[str, ...] = ()
    version = ""

    def __init__(self) -> None:
        self.database = ""
        self._connections: dict[str, Any] = {}
        self._rest: list[list[Any]] = []
        self._step = 0
        self.reconnect("")

    @abc.abstractmethod
    def connected(self) -> Any:
        """A new connection to `self.database`; "" is the database that one has unasked."""

    def fetched(self, connection: Any, statement: str) -> list[Any]:
        """The answer to one statement; its rows as sequences, its values as the driver gives them.

        Raises whatever the driver raises.
        """
        cursor = connection.cursor()
        cursor.execute(statement)
        answer = done(cursor) if cursor.description is None else _fetched(cursor)
        cursor.close()
        return answer

    def refused(self, error: BaseException) -> list[Any]:
        """The answer for what the driver raised. Raises Gone when that ends the engine."""
        return failed(error)

    def facts(self) -> dict[str, Any]:
        """What it can, and the version that it says it is; whether it has `again`."""
        again = hasattr(self, "again")
        return {"can": list(self.can), "version": str(self.version), "again": again}

    def share(self) -> None:  # noqa: B027 - a hook that most need not have
        """Have the default connection use a database that others can be opened to.

        Called before any statement.
        """

    def reconnect(self, connection: str) -> None:
        """Close a connection and open it again, to the same database."""
        self.close(connection)
        self._connections[connection] = self.connected()

    def renew(self, database: str) -> None:
        """Close all connections and open the default one: to the same database, or another.

        database: a name, a new one for a new database; "" for the one in use.
        """
        for name in list(self._connections):
            self.close(name)
        if database:
            self.database = database
        self.reconnect("")

    def emptied(self) -> bool:
        """Have an empty database as a new session would, where that is cheaper; whether it has.

        A session that is not sure that nothing is left of what it was asked before must not.
        """
        return False

    def leave(self) -> None:
        """Close all connections, because another session follows in this process."""
        for name in list(self._connections):
            self.close(name)

    def close(self, connection: str) -> None:
        """Close a connection, if it is open."""
        with contextlib.suppress(_BaseException):  # it is of no use any more
            self._connections.pop(connection).close()

    def answer(
        self, statements: Sequence[str], connection: str = "", timeout_s: float = 0.0
    ) -> bytes:
        """The answers to the first statements, at least one; ask again for those left over.

        timeout_s: for each statement, for a session that can end one. It comes back early when
        time or size of one message is used up, so that the parent can wait for each message with
        the patience for little more than one statement.
        """
        if connection not in self._connections:
            self.reconnect(connection)
        connected = self._connections[connection]
        texts: list[str] = []
        size = 0
        until = _monotonic() + PAUSE_S
        for statement in statements:
            texts.append(self._text(self.timed(connected, statement, timeout_s)))
            size += len(texts[-1])
            if self._rest or size > FULL or _monotonic() > until:
                break
        return f"[{','.join(texts)}]".encode("ascii")

    def more(self) -> bytes:
        """The next rows of a result that came in parts, and whether they are the last."""
        rows, self._rest = self._rest[: self._step], self._rest[self._step :]
        return _encode([_tagged(rows), not self._rest]).encode("ascii")

    def timed(self, connection: Any, statement: str, timeout_s: float) -> list[Any]:
        """The answer to one statement. A session that can end a statement overrides this."""
        try:
            return self.fetched(connection, statement)
        except Gone:
            raise
        except _BaseException as error:  # an engine that exits has not answered
            return self.refused(error)

    def _text(self, answer: list[Any]) -> str:
        """The answer as JSON; of a long one the first part."""
        self._rest = []
        if answer[0] != "rows":
            return _encode(answer)
        try:
            rows, long = _plain_rows(answer[1], answer[2])
        except Unfit as error:
            return _encode(["unfit", str(error)])
        except _BaseException as error:  # a type may define anything about itself
            return _encode(failed(error))
        width = max(1, len(answer[1]))
        if len(rows) * width > PART:
            if len(rows) * width > MOST_VALUES:
                return _encode(["unfit", f"a result of {len(rows) * width} values is too large"])
            self._step = max(1, PART // width)
            rows, self._rest = rows[: self._step], rows[self._step :]
        kind = "part" if self._rest else "rows"
        text = _encode([kind, answer[1], _tagged(rows) if long else rows, *answer[3:]])
        if len(text) > MOST_TEXT:
            self._rest = []
            return _encode(["unfit", f"a result of {len(text)} bytes is too large"])
        return text


def _fetched(cursor: Any) -> list[Any]:
    """The rows of a cursor with their columns' names and, if the driver says any, types."""
    described = cursor.description
    names = [str(column[0]) for column in described]
    types = [column[1] if type(column[1]) is str else "" for column in described]
    rows = cursor.fetchall()
    return ["rows", names, rows, types] if any(types) else ["rows", names, rows]


def _plain_rows(names: list[str], fetched: Iterable[Any]) -> tuple[list[list[Any]], bool]:
    """The rows as lists of plain values, and whether some are bytes. Raises Unfit."""
    rows = []
    for row in fetched:
        if _type(row) is not tuple and _isinstance(row, _NO_ROWS):
            raise Unfit(f"a row that is a {_type(row).__qualname__}")
        rows.append(list(row))
    widths = set(map(len, rows)) - {len(names)}
    if widths:
        raise Unfit(f"a row of {min(widths)} values for {len(names)} columns")
    kinds = set(map(_type, chain.from_iterable(rows)))
    if not kinds <= SIMPLE or (int in kinds and _is_long(rows)):
        rows = [list(map(plain, row)) for row in rows]
        kinds = {bytes}
    return rows, bytes in kinds


def _is_long(rows: list[list[Any]]) -> bool:
    """Whether an integer has more than 64 bits."""
    return any(_type(v) is int and v not in INTEGERS for v in chain.from_iterable(rows))


def _tagged(rows: list[list[Any]]) -> list[list[Any]]:
    return [[_tag(v) if _type(v) is bytes else v for v in row] for row in rows]


def _tag(value: bytes) -> dict[str, str]:
    return {"b": base64.b64encode(value).decode("ascii")}


class Made(Session):
    """Connections that the function `factory`, "module:function", makes.

    A function with a parameter `database` is given the path of a database file: connections with
    the same path are to see one database. Without it there is the default connection alone.
    """

    def __init__(self, factory: str) -> None:
        made = function_of(factory)
        self._make = made
        self._directory = ""
        named, needed = _database_parameter(made)
        self.can = ("connections", "restart", "load") if named else ()
        self._path = self._path_of("main") if needed else ""
        super().__init__()

    def connected(self) -> Any:
        """What the function makes."""
        made = self._make(database=self._path) if self._path else self._make()
        if not hasattr(made, "cursor"):
            raise TypeError(f"what it gave, {_type(made).__qualname__}, has no method `cursor`")
        commit_each(made)
        return made

    def share(self) -> None:
        """Give the function a path from now on, if it takes one."""
        if self.can and not self._path:
            self.renew("main")

    def renew(self, database: str) -> None:
        """As for any session; a name becomes a path."""
        if database:
            self._path = self._path_of(database)
        super().renew(database)

    def _path_of(self, database: str) -> str:
        if not self._directory:
            self._directory = _import("tempfile").mkdtemp(prefix="refute-database-")
        return f"{self._directory}/{file_name(database)}"


def _database_parameter(factory: Any) -> tuple[bool, bool]:
    """Whether the factory takes a `database`, and whether it needs one."""
    code = _getattr(factory, "__code__", None)
    if code is not None and "database" not in code.co_varnames:
        return False, False  # most engines: `inspect` need not be loaded
    try:
        found = _import("inspect").signature(factory).parameters.get("database")
    except (TypeError, ValueError):
        return False, False
    return found is not None, found is not None and found.default is found.empty


def file_name(database: str) -> str:
    """A file's name for a database's: what is no letter, digit, `_`, `.` or `-` is spelled."""
    plain = "".join(c if c.isalnum() or c in "_.-" else f"%{ord(c):x}" for c in database)
    return plain if plain.strip(".") else f"%{plain}"
