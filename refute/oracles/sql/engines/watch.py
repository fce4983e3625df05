"""A watch over statements: a thread that has the engine end one which takes too long.

For drivers that let another thread do so (`interrupt`, a cancel request, `KILL QUERY`). Then the
connection goes on. Where the engine does not heed it either, the parent's patience ends.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

_TICK_S = 0.05
_AGAIN_S = 0.5  # an engine that was between two statements may not have heard it


class Watch:
    """Calls `end` with a connection whose statement is beyond its time. Make it once."""

    def __init__(self, end: Callable[[Any], None]) -> None:
        self._end = end
        self._stopped = False
        self._now: list[Any] | None = None  # deadline, connection, how often it was ended
        self._ending = threading.Lock()  # what is ended is not the statement after it
        threading.Thread(target=self._look, daemon=True).start()

    def stop(self) -> None:
        """Watch no more."""
        self._stopped = True

    def begin(self, connection: Any, timeout_s: float) -> None:
        """A statement begins."""
        self._now = [time.monotonic() + timeout_s, connection, 0]

    def over(self) -> bool:
        """The statement is over; whether it was ended for its time."""
        with self._ending:
            now, self._now = self._now, None
        return now is not None and now[2] > 0

    def _look(self) -> None:
        while not self._stopped:
            time.sleep(_TICK_S)
            with self._ending:
                now = self._now
                if now is not None and time.monotonic() > now[0]:
                    now[2] += 1
                    now[0] = time.monotonic() + _AGAIN_S
                    with contextlib.suppress(Exception):  # the parent will end the process
                        self._end(now[1])
