"""MySQL and MariaDB: pip install pymysql. The URL may be given in ENGINE of the environment.

Everything is made in a database of its own, which is dropped in the end.
"""

from __future__ import annotations

import atexit
import os
import urllib.parse
import uuid
from typing import Any

import pymysql


def opened(engine: str) -> Any:
    """A connection to a database of its own."""
    url = urllib.parse.urlsplit(os.environ.get("ENGINE", engine))
    options = dict(urllib.parse.parse_qsl(url.query))
    connection = pymysql.connect(
        host=url.hostname or "localhost",
        port=url.port or 3306,
        user=urllib.parse.unquote(url.username or "") or None,
        password=urllib.parse.unquote(url.password or "") or os.environ.get("MYSQL_PWD", ""),
        unix_socket=options.get("unix_socket"),
        autocommit=True,
    )
    cursor = connection.cursor()
    name = f"refute_{uuid.uuid4().hex[:16]}"
    cursor.execute(f"CREATE DATABASE {name}")
    cursor.execute(f"USE {name}")
    atexit.register(lambda: cursor.execute(f"DROP DATABASE {name}"))

    def ask(sql: str) -> Any:
        cursor.execute(sql)
        return None if cursor.description is None else cursor.fetchall()

    return ask
