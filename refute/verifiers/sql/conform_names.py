"""What `--engine` may say, and what the engine is called. Light: every run loads it.

| engine | is |
|---|---|
| `sqlite` | the embedded SQLite, in this process |
| `sqlite:PATH` | a shared library of SQLite, of any release, in sandbox workers |
| `duckdb`, `turso`, `datafusion` | a Python package, in sandbox workers |
| `module:function` | a factory of DB-API 2.0 connections, in sandbox workers |
| `postgresql://…`, `mysql://…`, `mariadb://…` | a server, by its URL |
| `cmd:PROGRAM ARGUMENTS` | a program that speaks JSON lines, in sandbox workers |
"""

from __future__ import annotations

import re
from typing import NamedTuple

from refute.errors import UsageError

SQLITE = "sqlite"
LIBRARY = "sqlite:"
COMMAND = "cmd:"
_URL = re.compile(r"([\w+.-]+)://")
_PASSWORD = re.compile(r"(?<=://)([^/@:]*:).*@|(?<=[?&])(password=)[^&]*")


class Package(NamedTuple):
    """An engine that is a Python package. session: its class; install: what pip installs."""

    session: str
    install: str


PACKAGES = {
    "duckdb": Package("refute.oracles.sql.engines.duckdb:DuckDB", "duckdb"),
    "turso": Package("refute.oracles.sql.engines.turso:Turso", "pyturso"),
    "datafusion": Package("refute.oracles.sql.engines.datafusion:DataFusion", "datafusion"),
}
SERVERS = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
}
"""Schemes of URLs, and what the engine behind them is called."""

DIALECTS = (SQLITE, *PACKAGES, *SERVERS)
"""What statements can be written for."""

POSSIBLE = (
    *(SQLITE, "sqlite:PATH", *PACKAGES, "module:function"),
    *("postgresql://…", "mysql://…", "cmd:PROGRAM"),
)


def is_library(engine: str) -> bool:
    """Whether the engine is `sqlite:PATH`. A path has a slash or a dot; `sqlite:connect` is none,
    but what a module named sqlite has.
    """
    return engine.startswith(LIBRARY) and not engine[len(LIBRARY) :].isidentifier()


def scheme_of(engine: str) -> str:
    """The scheme of a URL; empty when the engine is none."""
    match = _URL.match(engine)
    return match[1].lower() if match else ""


def name_of(engine: str) -> str:
    """What the engine is called for `skipif` and `onlyif` unless `--as` says otherwise.

    Of a program that is the name of its file, without an ending.
    """
    scheme = scheme_of(engine)
    if scheme:
        return SERVERS.get(scheme, scheme)
    if engine.startswith(COMMAND):
        words = engine[len(COMMAND) :].split()
        return words[0].rpartition("/")[2].partition(".")[0].lower() if words else ""
    return engine.partition(":")[0].partition(".")[0].lower()


def shown(engine: str) -> str:
    """The engine as it may be printed: a URL without its password."""
    return _PASSWORD.sub(_hidden, engine) if scheme_of(engine) else engine


def _hidden(match: re.Match[str]) -> str:
    return f"{match[1]}***@" if match[1] else f"{match[2]}***"


def unknown(engine: str) -> UsageError:
    """The error for what is no engine."""
    return UsageError(
        f"there is no engine {shown(engine)!r}",
        thing="--engine",
        value=shown(engine),
        possible=POSSIBLE,
        next_step="name one of these; docs/engines.md describes them",
    )
