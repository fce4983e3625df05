"""The SQLite that Python is linked to."""

from __future__ import annotations

import sqlite3
from typing import Any


def opened(engine: str) -> Any:
    """A database in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.text_factory = lambda data: data.decode("utf-8", "backslashreplace")

    def ask(sql: str) -> Any:
        cursor = connection.execute(sql)
        return None if cursor.description is None else cursor.fetchall()

    return ask
