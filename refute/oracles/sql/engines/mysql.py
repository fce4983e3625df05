"""MySQL and MariaDB as engines, through PyMySQL.

Values come as the server writes them. Integers and floating-point numbers are read as such, BIT is
an integer, binary strings are bytes; all others (DECIMAL, dates, times, JSON, …) stay the server's
own texts. Of several statements in one text, the last one's result counts.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pymysql
from pymysql.constants import CLIENT, FIELD_TYPE

from refute.oracles.sql.driver import MESSAGE, done, failed
from refute.oracles.sql.engines.ending import EndingSession
from refute.oracles.sql.engines.session import Gone

BACK_S = 30.0  # seconds for a server that crashed to come back
CONNECT_S = 10
_TRY_S = 0.2
_LOST = frozenset((2006, 2013, 2003, 2055, 1053, 1927))  # of the connection, or the server
_OPTIONS = ("unix_socket", "charset", "ssl_ca", "ssl_cert", "ssl_key")
_FIELD_NAMES = {number: name for name, number in vars(FIELD_TYPE).items() if name[0] != "_"}

_OF_TYPE: Mapping[int, Callable[[Any], Any]] = {
    **dict.fromkeys(
        (
            *(FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.LONG),
            *(FIELD_TYPE.LONGLONG, FIELD_TYPE.INT24, FIELD_TYPE.YEAR),
        ),
        int,
    ),
    **dict.fromkeys((FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE), float),
    FIELD_TYPE.BIT: lambda data: int.from_bytes(data, "big"),
}


class Unreadable(Exception):
    """A URL that says something unknown."""


class MySQL(EndingSession):
    """A session with a server. url: `mysql://user:password@host:port`. database: its own.

    environment: `MYSQL_PWD` is the password that the URL leaves out.
    """

    can = ("connections", "restart", "kill")

    def __init__(self, url: str, environment: Mapping[str, str], database: str) -> None:
        self._parameters = {
            **parameters_of(url, environment),
            "database": database,
            "client_flag": CLIENT.MULTI_STATEMENTS,
            "conv": {},  # texts, as the server writes them
        }
        _keep_sqlstates()
        super().__init__()
        self.version = version_of(self._connections[""])

    def connected(self) -> Any:
        """A connection of its own transactions and settings."""
        return pymysql.connect(**self._parameters)

    def end(self, connection: Any) -> None:
        """Kill the query, by a connection of its own."""
        with contextlib.closing(pymysql.connect(**self._parameters)) as other:
            other.query(f"KILL QUERY {connection.thread_id()}")

    def settle(self, connection: Any) -> None:
        """Run what may be killed late."""
        with contextlib.suppress(pymysql.Error):
            connection.query("SELECT 1")

    def fetched(self, connection: Any, statement: str) -> list[Any]:
        """The answer, of the last of several statements."""
        with contextlib.closing(connection.cursor()) as cursor:
            cursor.execute(statement)
            answer = _answer(cursor)
            while cursor.nextset():
                answer = _answer(cursor)
        return answer

    def refused(self, error: BaseException) -> list[Any]:
        """An error; a connection that is gone ends the session."""
        if isinstance(error, pymysql.Error) and error.args and error.args[0] in _LOST:
            raise Gone(f"{error.args[-1]} ({error.args[0]})")
        kind, name, message, *state = failed(error)
        if isinstance(error, pymysql.MySQLError) and len(error.args) == 2:  # as its client says it
            number, text = error.args
            message = f"ERROR {number}{f' ({state[0]})' if state else ''}: {text}"[:MESSAGE]
        return [kind, name, message, *state]


class Keeper:
    """Makes and drops databases on a server. Raises pymysql.Error."""

    def __init__(self, url: str, environment: Mapping[str, str]) -> None:
        self._parameters = parameters_of(url, environment)
        self._connection = pymysql.connect(**self._parameters)
        self.version = version_of(self._connection)

    def create(self, name: str) -> None:
        """Make an empty database."""
        self._execute(f"CREATE DATABASE `{name}`")

    def drop(self, name: str) -> None:
        """Drop a database, and end whoever is connected to it."""
        self._execute(
            f"SELECT ID FROM information_schema.PROCESSLIST WHERE DB = '{name}'", kill=True
        )
        self._execute(f"DROP DATABASE IF EXISTS `{name}`")

    def _execute(self, statement: str, *, kill: bool = False) -> None:
        """Run it; again where the server is coming back. kill: the connections that it names."""
        until = time.monotonic() + BACK_S
        while True:
            try:
                self._connection.ping(reconnect=True)
                with contextlib.closing(self._connection.cursor()) as cursor:
                    cursor.execute(statement)
                    for (number,) in cursor.fetchall() if kill else ():
                        with contextlib.suppress(pymysql.Error):  # it may have ended by itself
                            cursor.execute(f"KILL {number}")
                return
            except pymysql.Error as error:
                if time.monotonic() > until or not (error.args and error.args[0] in _LOST):
                    raise
                time.sleep(_TRY_S)


def parameters_of(url: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """What the URL says, for `pymysql.connect`. Raises Unreadable."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise Unreadable(f"{unknown[0]} is none of {', '.join(_OPTIONS)}")
    try:
        port = parts.port
    except ValueError as error:
        raise Unreadable(str(error)) from error
    given = {"user": parts.username, "password": parts.password, "host": parts.hostname}
    found: dict[str, Any] = {key: unquote(text) for key, text in given.items() if text}
    found.setdefault("password", environment.get("MYSQL_PWD", ""))
    return {
        **found,
        **({"port": port} if port else {}),
        "charset": "utf8mb4",
        **options,
        "autocommit": True,
        "connect_timeout": CONNECT_S,
    }


def version_of(connection: Any) -> str:
    """MariaDB or MySQL, and the release."""
    text = str(connection.get_server_info())
    maria = "mariadb" in text.lower()
    return f"{'MariaDB' if maria else 'MySQL'} {text.removeprefix('5.5.5-').partition('-')[0]}"


def _answer(cursor: Any) -> list[Any]:
    if cursor.description is None:
        return done(cursor)
    codes = [column[1] for column in cursor.description]
    read = [_OF_TYPE.get(code, _as_it_is) for code in codes]
    rows = [
        [None if v is None else r(v) for r, v in zip(read, row, strict=True)]
        for row in cursor.fetchall()
    ]
    names = [column[0] for column in cursor.description]
    return ["rows", names, rows, [_FIELD_NAMES.get(code, "") for code in codes]]


def _as_it_is(value: Any) -> Any:
    return value


def _keep_sqlstates() -> None:
    """Have errors carry the SQLSTATE that the server sends, which PyMySQL drops."""
    plain = pymysql.err.raise_mysql_exception

    def raise_with_state(data: bytes) -> None:
        try:
            plain(data)
        except pymysql.MySQLError as error:
            if data[3:4] == b"#":
                vars(error)["sqlstate"] = data[4:9].decode("ascii", "replace")
            raise

    pymysql.err.raise_mysql_exception = raise_with_state
