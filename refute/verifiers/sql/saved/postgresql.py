"""PostgreSQL: pip install 'psycopg[binary]'. The URL may be given in ENGINE of the environment.

Everything is made in a schema of its own, which is dropped in the end.
"""

from __future__ import annotations

import atexit
import os
import uuid
from typing import Any

import psycopg


def opened(engine: str) -> Any:
    """A connection to a schema of its own."""
    connection: Any = psycopg.connect(os.environ.get("ENGINE", engine), autocommit=True)
    schema = f"refute_{uuid.uuid4().hex[:16]}"
    connection.execute(f"CREATE SCHEMA {schema}")
    connection.execute(f"SET search_path TO {schema}")
    atexit.register(lambda: connection.execute(f"DROP SCHEMA {schema} CASCADE"))

    def ask(sql: str) -> Any:
        cursor = connection.execute(sql)
        return None if cursor.description is None else cursor.fetchall()

    return ask
