"""The functions of an SQLite shared library of any release since 3.8, through `ctypes`.

Nothing of the Python that runs this is linked to it: the library is loaded with its own symbols
first, since another SQLite in the process has the same names, and its source id is compared to be
sure that it answers itself. What it needs from its own directory, as libraries in wheels do without
naming where, is loaded before.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any

ROW, DONE, OK = 100, 101, 0
INTEGER, REAL, TEXT, BLOB = 1, 2, 3, 4  # types of values; 5 is NULL
LENGTH, ATTACHED = 0, 7  # limits
_OPENING = 2 | 4  # to read, write and create

_P, _I, _C = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
Look = ctypes.CFUNCTYPE(_I, _P)
_FUNCTIONS: dict[str, tuple[Any, ...]] = {  # the result's type, and the arguments'
    "open_v2": (_I, _C, _P, _I, _C),
    "close": (_I, _P),
    "errmsg": (_C, _P),
    "limit": (_I, _P, _I, _I),
    "progress_handler": (None, _P, _I, Look, _P),
    "prepare_v2": (_I, _P, _C, _I, _P, _P),
    "bind_parameter_count": (_I, _P),
    "step": (_I, _P),
    "finalize": (_I, _P),
    "changes": (_I, _P),
    "errcode": (_I, _P),
    "column_count": (_I, _P),
    "column_name": (_C, _P, _I),
    "column_type": (_I, _P, _I),
    "column_int64": (ctypes.c_longlong, _P, _I),
    "column_double": (ctypes.c_double, _P, _I),
    "column_text": (_C, _P, _I),
    "column_blob": (_P, _P, _I),
    "column_bytes": (_I, _P, _I),
    "libversion": (_C,),
    "sourceid": (_C,),
}


class NotSQLite(Exception):
    """The file is no SQLite library; the message says what it lacks."""


class Library:
    """A loaded library. Raises OSError or NotSQLite.

    path: of the library. needs: names of libraries beside it, those first that others need, for
    when the system's loader does not find them.
    """

    def __init__(self, path: str, needs: Sequence[str]) -> None:
        self._needed: list[Any] = []
        try:
            self._library = _loaded(path)
        except OSError:
            if not needs:
                raise
            beside = path.rpartition("/")[0]
            self._needed = [ctypes.CDLL(f"{beside}/{name}") for name in needs]
            self._library = _loaded(path)
        for name, (result, *arguments) in _FUNCTIONS.items():
            try:
                found = self._library[f"sqlite3_{name}"]
            except AttributeError as error:
                raise NotSQLite(f"it has no function sqlite3_{name}") from error
            found.restype, found.argtypes = result, arguments
            setattr(self, name, found)
        self.version = self.libversion().decode("ascii", "replace")

    def __getattr__(self, name: str) -> Any:
        """A function, `sqlite3_` left out of its name."""
        raise AttributeError(name)

    def opened(self, path: str) -> Any:
        """A handle of a database: a file, or ":memory:". Raises NotSQLite."""
        made = _P()
        code = self.open_v2(path.encode(), ctypes.byref(made), _OPENING, None)
        if code != OK:
            self.close(made)
            raise NotSQLite(f"it opens no database: error {code}")
        return made

    def text(self, statement: Any, at: int) -> str:
        """A text of a row; bytes that are no UTF-8 stay distinct."""
        data: bytes = self.column_text(statement, at) or b""
        size = self.column_bytes(statement, at)
        if len(data) != size:  # a zero byte is in it
            data = ctypes.string_at(self.column_blob(statement, at), size)
        return data.decode("utf-8", "surrogateescape")

    def blob(self, statement: Any, at: int) -> bytes:
        """Bytes of a row."""
        data = self.column_blob(statement, at)
        return ctypes.string_at(data, self.column_bytes(statement, at)) if data else b""


def _loaded(path: str) -> ctypes.PyDLL:
    own_first = getattr(os, "RTLD_DEEPBIND", 0)
    return ctypes.PyDLL(path, mode=ctypes.DEFAULT_MODE | own_first)
