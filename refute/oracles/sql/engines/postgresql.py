"""PostgreSQL as an engine, through libpq as psycopg 3 wraps it (`psycopg.pq`).

Values come as the server writes them. Integers and floating-point numbers are read as such,
booleans are 1 and 0, bytea is bytes; all others (numeric, dates, intervals, arrays, …) stay the
server's own texts, which lose nothing. Statements go by the simple protocol: of several in one
text, the last one's result counts. Each column's type comes with the answer.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import psycopg
from psycopg import pq, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from refute.oracles.sql.driver import MESSAGE
from refute.oracles.sql.engines.ending import EndingSession
from refute.oracles.sql.engines.session import Gone

BACK_S = 30.0  # seconds for a server that crashed to come back
CONNECT_S = 10
_TRY_S = 0.2
_COMING = ("57P03", "57P01", "57P02")  # starting up, shutting down, crashed

_WITHIN = re.compile(
    r"\s*(?:SELECT|VALUES|WITH|EXPLAIN|ANALYZE|INSERT|UPDATE|DELETE|SET\s+\w+\s*(?:=|TO)|RESET|"
    r"ALTER\s+TABLE|DROP\s+(?:TABLE|VIEW|INDEX)|CREATE\s+(?:TABLE|VIEW|(?:UNIQUE\s+)?INDEX))\b"
    r"(?!.*(?:;|\blo_|\bset_config))",
    re.I | re.S,
)
_EMPTY = (
    *(b"DISCARD ALL", b"SET client_min_messages = error", b"DROP SCHEMA public CASCADE"),
    *(b"CREATE SCHEMA public", b"RESET client_min_messages", b"SET client_encoding TO 'UTF8'"),
)
_Status = pq.ExecStatus
_OF_OID: Mapping[int, Callable[[bytes], Any]] = {
    16: lambda text: int(text == b"t"),
    17: lambda text: _bytea(text),
    **dict.fromkeys((20, 21, 23, 26), int),
    **dict.fromkeys((700, 701), float),
}


class PostgreSQL(EndingSession):
    """A session with a server. url: as libpq reads it. database: of this session alone.

    environment: variables of libpq that count.
    """

    can = ("connections", "restart", "kill")

    def __init__(self, url: str, environment: Mapping[str, str], database: str) -> None:
        os.environ.update(environment)
        self._conninfo = make_conninfo(**{**parameters_of(url), "dbname": database}).encode()
        self._within = True  # nothing was asked that reaches beyond the schema and the session
        super().__init__()
        self.version = f"PostgreSQL {_release(self._connections[''].server_version)}"

    def connected(self) -> Any:
        """A connection of its own transactions and settings."""
        made = pq.PGconn.connect(self._conninfo)
        if made.status != pq.ConnStatus.OK:
            raise Gone(_text(made.error_message))
        made.exec_(b"SET client_encoding TO 'UTF8'")
        return made

    def close(self, connection: str) -> None:
        """Close a connection, if it is open."""
        found = self._connections.pop(connection, None)
        if found is not None:
            found.finish()

    def emptied(self) -> bool:
        """Drop what the schema has, and settings, in the database that is there."""
        if not self._within or set(self._connections) != {""}:
            return False
        connection = self._connections[""]
        done = [connection.exec_(statement).status for statement in _EMPTY]
        return set(done) == {_Status.COMMAND_OK}

    def end(self, connection: Any) -> None:
        """Have the server cancel it, by a request on a connection of its own."""
        connection.get_cancel().cancel()

    def settle(self, connection: Any) -> None:
        """Run what a cancel request that comes late may hit."""
        connection.exec_(b"SELECT 1")

    def fetched(self, connection: Any, statement: str) -> list[Any]:
        """The answer, of the last of several statements. Raises Gone."""
        if "\0" in statement:
            return ["error", "psycopg.errors.ProgrammingError", "a zero byte in a statement"]
        self._within = self._within and _WITHIN.match(statement) is not None
        result = connection.exec_(statement.encode("utf-8", "surrogateescape"))
        while result.status in (_Status.COPY_IN, _Status.COPY_OUT, _Status.COPY_BOTH):
            result = _without_copy(connection, result.status)
        if connection.status != pq.ConnStatus.OK:
            raise Gone(_text(connection.error_message) or "the server closed the connection")
        if result.status == _Status.TUPLES_OK:
            return _rows(result)
        if result.status in (_Status.COMMAND_OK, _Status.EMPTY_QUERY):
            return ["done", result.command_tuples or 0]
        state = _text(result.error_field(pq.DiagnosticField.SQLSTATE))
        try:
            name = psycopg.errors.lookup(state).__name__
        except KeyError:
            name = "DatabaseError"
        message = _text(result.error_message)[:MESSAGE]
        return ["error", f"psycopg.errors.{name}", message, *([state] if state else [])]


class Keeper:
    """Makes and drops databases on a server. Raises psycopg.Error."""

    def __init__(self, url: str, _environment: Mapping[str, str]) -> None:
        given = parameters_of(url)
        self._parameters = {"dbname": "postgres", "connect_timeout": CONNECT_S, **given}
        self._connection = self._connected()
        self.version = f"PostgreSQL {_release(self._connection.info.server_version)}"

    def create(self, name: str) -> None:
        """Make an empty database, as the server's template1 has it."""
        self._execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))

    def drop(self, name: str) -> None:
        """Drop a database, and end whoever is connected to it."""
        self._execute(
            sql.SQL(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = {}"
            ).format(sql.Literal(name))
        )
        self._execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))

    def _connected(self) -> Any:
        return psycopg.connect(**self._parameters, autocommit=True)

    def _execute(self, statement: sql.Composed) -> None:
        """Run it; again where the server is coming back, or others are in the way for a moment."""
        until = time.monotonic() + BACK_S
        while True:
            try:
                if self._connection.closed:
                    self._connection = self._connected()
                self._connection.execute(statement)
                return
            except psycopg.Error as error:
                lost = isinstance(error, psycopg.OperationalError) and self._connection.closed
                busy = error.sqlstate in (*_COMING, "55006")
                if time.monotonic() > until or not (lost or busy):
                    raise
                time.sleep(_TRY_S)


def parameters_of(url: str) -> dict[str, Any]:
    """What the URL says, as libpq reads it. Raises psycopg.Error."""
    return {key: value for key, value in conninfo_to_dict(url).items() if value != ""}


def _rows(result: Any) -> list[Any]:
    columns = range(result.nfields)
    read = [_OF_OID.get(result.ftype(at), _value) for at in columns]
    value = result.get_value
    rows = [
        [None if (v := value(n, at)) is None else read[at](v) for at in columns]
        for n in range(result.ntuples)
    ]
    types = psycopg.adapters.types
    kinds = [_kind(types.get(result.ftype(at)), result.ftype(at)) for at in columns]
    names = [_text(result.fname(at)) for at in columns]
    return ["rows", names, rows, kinds]


def _kind(info: Any, oid: int) -> str:
    """The name of a type that psycopg knows; one of another extension has none here."""
    if info is None:
        return ""
    return f"{info.name}[]" if oid == info.array_oid else str(info.name)


def _without_copy(connection: Any, status: Any) -> Any:
    """End a COPY from or to this side, which has nothing to give; its result."""
    if status == _Status.COPY_IN:
        connection.put_copy_end(b"there is no standard input")
    else:
        with contextlib.suppress(psycopg.Error):
            while connection.get_copy_data(0)[0] > 0:
                continue
    last = result = connection.get_result()
    while result is not None:
        last, result = result, connection.get_result()
    return last


def _value(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _text(data: Any) -> str:
    """A message or a name of libpq's, which may not be there."""
    return data.decode("utf-8", "replace").strip() if type(data) is bytes else str(data or "")


def _bytea(text: bytes) -> bytes:
    """bytea as the server writes it: in hexadecimal, or escaped as old settings have it."""
    if text.startswith(b"\\x"):
        return bytes.fromhex(text[2:].decode("ascii"))
    return bytes(pq.Escaping().unescape_bytea(text))


def _release(number: int) -> str:
    major, minor = divmod(number, 10_000)
    return f"{major}.{minor}" if major >= 10 else f"{major}.{minor // 100}.{minor % 100}"
