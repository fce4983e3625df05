"""The embedded SQLite as the C runner of sqllogictest calls it, for its own verdict bit for bit.

Python's `sqlite3` stands between: it takes no bytes that are not UTF-8, asks for the values of `?`,
runs what has the wrong number of columns, and loses the row before a run-time error. So this calls
the library itself. The database is a file in a directory of its own, as the C runner has one, and
is gone at the end. Two things are as for every statement that refute runs, and not as there:
statements cannot reach other files, and one that takes too long is ended.
"""

from __future__ import annotations

import ctypes
import functools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from refute.oracles.sql.capi import function
from refute.oracles.sqllogictest.render import texts

ROW, NULL = 100, 5
_OK, _DENY, _ATTACH = 0, 1, 24
_MEMORY = (None, b"", b":memory:")  # databases that are no files of others
_CHECK = 100_000  # instructions between two looks at the clock
_SHOWN = 200  # bytes of the C runner's buffer for a number; one that has no room there is empty
_MOST_KNOWN = 20_000
_P = ctypes.c_void_p
_Look = ctypes.CFUNCTYPE(ctypes.c_int, _P)
_Ask = ctypes.CFUNCTYPE(ctypes.c_int, _P, ctypes.c_int, *[ctypes.c_char_p] * 4)


class CSQLite:
    """A database like the C runner's. timeout_s: for one statement. Raises Unreachable.

    slow: the last statement took longer. other: the last query had a number that `render` shows
    otherwise, as later releases of SQLite do.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._until = float("inf")
        self.slow = self.other = False
        self._interrupted = False
        self._left: list[Any] = []
        self._looking = _Look(self._look)  # SQLite keeps no reference
        self._asking = _Ask(_allowed)
        self._functions()
        self._directory = tempfile.TemporaryDirectory(prefix="refute-conform-")
        self._database = _P()
        path = str(Path(self._directory.name) / "test.db").encode()
        function("open", ctypes.c_int, ctypes.c_char_p, _P)(path, ctypes.byref(self._database))
        self._exec(self._database, b"PRAGMA synchronous=OFF", None, None, None)
        limit = function("progress_handler", None, _P, ctypes.c_int, _Look, _P)
        limit(self._database, _CHECK, self._looking, None)

    def statement(self, sql: bytes) -> bool:
        """Whether all statements of the text ran, as far as a zero byte."""
        self._begin(sql)
        status = self._exec(self._database, sql, None, None, None)
        self._check()
        return bool(status == _OK)

    def query(self, sql: bytes, types: bytes) -> list[bytes] | str:
        """The values of the first statement's rows, also of those before an error; or why not."""
        self._begin(sql)
        made = _P()
        if self._prepare(self._database, sql, -1, ctypes.byref(made), None) != _OK:
            self._finalize(made)
            self._check()
            return self._message()
        columns = self._column_count(made)
        if columns != len(types):
            self._left.append(made)  # so it is there, and the connection does not close
            return f"{columns} columns"
        shown = [self._showing[kind] for kind in types.decode()]
        values: list[bytes] = []
        while self._step(made) == ROW:
            for at, show in enumerate(shown):
                null = self._column_type(made, at) == NULL
                values.append(b"NULL" if null else show(made, at))
        self._finalize(made)
        self._check()
        return values

    def close(self) -> bool:
        """Whether the connection closes, which it does not with statements left over."""
        closes = function("close", ctypes.c_int, _P)
        closed: bool = closes(self._database) == _OK
        for made in self._left:
            self._finalize(made)
        if not closed:
            closes(self._database)
        self._directory.cleanup()
        return closed

    def _functions(self) -> None:
        count, text = ctypes.c_int, ctypes.c_char_p
        self._exec = function("exec", count, _P, text, _P, _P, _P)
        self._prepare = function("prepare_v2", count, _P, text, count, _P, _P)
        self._step = function("step", count, _P)
        self._finalize = function("finalize", count, _P)
        self._column_count = function("column_count", count, _P)
        self._column_type = function("column_type", count, _P, count)
        self._authorize = function("set_authorizer", count, _P, _P, _P)
        self._errmsg = function("errmsg", text, _P)
        column_text = function("column_text", text, _P, count)
        column_int = function("column_int", count, _P, count)
        column_double = function("column_double", ctypes.c_double, _P, count)
        printf = function("snprintf", text, count, _P, text, ctypes.c_double)
        room = ctypes.create_string_buffer(_SHOWN)

        def words(made: Any, at: int) -> bytes:
            found: bytes | None = column_text(made, at)
            return found.translate(_PRINTABLE) if found else b"(empty)"

        def whole(made: Any, at: int) -> bytes:
            return b"%d" % column_int(made, at)

        def real(made: Any, at: int) -> bytes:
            number = column_double(made, at)
            printf(_SHOWN, room, b"%.3f", number)
            text = room.value
            self.other = self.other or text not in (b"", shown_as(number))
            return text

        self._showing: dict[str, Callable[[Any, int], bytes]] = {"T": words, "I": whole, "R": real}

    def _begin(self, sql: bytes) -> None:
        """Before a statement: its clock, and who may attach, which a name in it tells."""
        self._until = time.monotonic() + self._timeout_s
        self.slow = self.other = False
        lower = sql.lower()
        asks = b"attach" in lower or b"vacuum" in lower
        self._authorize(self._database, ctypes.cast(self._asking, _P) if asks else None, None)

    def _check(self) -> None:
        if self._interrupted:
            raise KeyboardInterrupt

    def _message(self) -> str:
        return str(self._errmsg(self._database).decode("utf-8", "replace"))

    def _look(self, _: object) -> int:
        """Called by SQLite now and then; what is raised in here would be lost."""
        try:
            self.slow = self.slow or time.monotonic() > self._until
            return int(self.slow)
        except KeyboardInterrupt:
            self._interrupted = True
            return 1


def _allowed(_: object, action: int, name: bytes | None, *__: bytes | None) -> int:
    return _DENY if action == _ATTACH and name not in _MEMORY else _OK


@functools.lru_cache(_MOST_KNOWN)
def shown_as(number: float) -> bytes:
    """The number as `render` shows it."""
    return texts("R", [[number]], "nosort")[0].encode()


_PRINTABLE = bytes(byte if 0x20 <= byte <= 0x7E else ord("@") for byte in range(256))
