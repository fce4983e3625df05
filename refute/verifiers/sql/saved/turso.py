"""Turso: pip install pyturso."""

from __future__ import annotations

from typing import Any

import turso


def opened(engine: str) -> Any:
    """A database in memory."""
    connection: Any = turso.connect(":memory:")
    connection.isolation_level = None

    def ask(sql: str) -> Any:
        cursor = connection.cursor()
        cursor.execute(sql)
        return None if cursor.description is None else cursor.fetchall()

    return ask
