"""A small SQL engine that answers as SQLite does: see README.md.

>>> import minidb
>>> cursor = minidb.connect().cursor()
>>> cursor.execute("SELECT 7 / 2, NULL IN (1, NULL), 'a' || 1").fetchall()
[(3, None, 'a1')]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from minidb.errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)

if TYPE_CHECKING:
    from minidb.connection import Connection

apilevel = "2.0"
threadsafety = 1
paramstyle = "qmark"

__all__ = [
    "DataError",
    "DatabaseError",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]


def connect() -> Connection:
    """A connection to a new, empty database in memory. The parser of SQL is only loaded here."""
    made: Connection = import_module("minidb.connection").Connection()
    return made
