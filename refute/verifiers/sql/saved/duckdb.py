"""DuckDB: pip install duckdb."""

from __future__ import annotations

from typing import Any

import duckdb


def opened(engine: str) -> Any:
    """A database in memory, with one thread."""
    connection: Any = duckdb.connect(":memory:", config={"threads": 1})

    def ask(sql: str) -> Any:
        result = connection.execute(sql)
        is_query = result.description is not None
        return result.fetchall() if is_query else None

    return ask
