"""The functions of the SQLite library that Python's `sqlite3` is linked to, through `ctypes`.

They are found by way of the extension module, so that it is that library and no other one; its
source id is compared to be sure. A Python that has SQLite built in may show none of them.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import sqlite3
from typing import Any


class Unreachable(Exception):
    """This Python does not show the functions of its SQLite; the message says what is missing."""


def function(name: str, result: Any = ctypes.c_int, *arguments: Any) -> Any:
    """A function, `sqlite3_` left out of its name, with its types. Raises Unreachable."""
    try:
        found = _library()[f"sqlite3_{name}"]  # not the attribute, whose types all would share
    except AttributeError as error:
        raise Unreachable(f"SQLite's functions cannot be called: {error}") from error
    found.restype, found.argtypes = result, arguments or None
    return found


@functools.cache
def _library() -> Any:
    try:
        module = importlib.import_module("_sqlite3")
        library = ctypes.CDLL(getattr(module, "__file__", None))
        source = library["sqlite3_sourceid"]
    except (ImportError, OSError, AttributeError) as error:
        raise Unreachable(f"SQLite's functions cannot be called: {error}") from error
    source.restype = ctypes.c_char_p
    connection = sqlite3.connect(":memory:")
    [(same,)] = connection.execute("SELECT sqlite_source_id()")
    connection.close()
    if source().decode() != same:
        raise Unreachable("the SQLite that is found is another one than Python's")
    return library
