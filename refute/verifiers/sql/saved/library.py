"""A shared library of SQLite, sqlite:PATH, through ctypes."""

from __future__ import annotations

import ctypes
import os
from typing import Any

ROW, DONE = 100, 101
POINTER, INT = ctypes.c_void_p, ctypes.c_int
TYPES: dict[str, Any] = {
    "open": (INT, ctypes.c_char_p, POINTER),
    "prepare_v2": (INT, POINTER, ctypes.c_char_p, INT, POINTER, POINTER),
    "step": (INT, POINTER),
    "finalize": (INT, POINTER),
    "errmsg": (ctypes.c_char_p, POINTER),
    "column_count": (INT, POINTER),
    "column_type": (INT, POINTER, INT),
    "column_int64": (ctypes.c_longlong, POINTER, INT),
    "column_double": (ctypes.c_double, POINTER, INT),
    "column_blob": (POINTER, POINTER, INT),
    "column_bytes": (INT, POINTER, INT),
}


class Error(Exception):
    """What SQLite says."""


def opened(engine: str) -> Any:
    """A database in memory."""
    library = ctypes.CDLL(engine.partition(":")[2], mode=getattr(os, "RTLD_DEEPBIND", 0))

    def call(name: str, *arguments: Any) -> Any:
        function = getattr(library, f"sqlite3_{name}")
        function.restype, function.argtypes = TYPES[name][0], TYPES[name][1:]
        return function(*arguments)

    database = POINTER()
    call("open", b":memory:", ctypes.byref(database))

    def value(statement: Any, at: int) -> Any:
        kind = call("column_type", statement, at)
        if kind in (1, 2):
            return call("column_int64" if kind == 1 else "column_double", statement, at)
        if kind == 5:
            return None
        start = call("column_blob", statement, at)
        data = ctypes.string_at(start, call("column_bytes", statement, at)) if start else b""
        return data.decode("utf-8", "backslashreplace") if kind == 3 else data

    def ask(sql: str) -> Any:
        statement = POINTER()
        code = call("prepare_v2", database, sql.encode(), -1, ctypes.byref(statement), None)
        rows = []
        width = call("column_count", statement) if code == 0 else 0
        while code in (0, ROW):
            code = call("step", statement)
            if code == ROW:
                rows.append([value(statement, at) for at in range(width)])
        told = call("errmsg", database).decode("utf-8", "replace")
        call("finalize", statement)
        if code != DONE:
            raise Error(told)
        return rows if width else None

    return ask
