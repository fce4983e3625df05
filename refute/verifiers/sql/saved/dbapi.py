"""A factory of DB-API connections, module:function."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from refute.verifiers.sql.saved.case import ROOTS


def opened(engine: str) -> Any:
    """A connection of the factory, whose statements commit by themselves."""
    sys.path[:0] = ROOTS
    module, _, name = engine.partition(":")
    made: Any = importlib.import_module(module)
    for part in name.split("."):
        made = getattr(made, part)
    connection = made()
    for option, value in (("autocommit", True), ("isolation_level", None)):
        if hasattr(connection, option):
            try:
                setattr(connection, option, value)
            except Exception:  # some drivers cannot
                continue
            break

    def ask(sql: str) -> Any:
        cursor = connection.cursor()
        cursor.execute(sql)
        return None if cursor.description is None else cursor.fetchall()

    return ask
