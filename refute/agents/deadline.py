"""A deadline that ends the process with a chosen exit code, whatever else is stuck.

A hook that its agent kills for being late does not block, so lateness must be answered before the
agent's own timeout. First the main thread is interrupted, so that workers are put away; when that
does not help, the process ends at once.
"""

from __future__ import annotations

import _thread
import os
import threading
from types import TracebackType
from typing import Self

GRACE_S = 5.0


class Deadline:
    """Context manager: after `seconds`, interrupt the main thread; later leave with `code`."""

    def __init__(self, seconds: float, code: int, message: str) -> None:
        self._code = code
        self._message = message
        self._timers = [
            threading.Timer(seconds, self._interrupt),
            threading.Timer(seconds + GRACE_S, self._leave),
        ]

    def __enter__(self) -> Self:
        for timer in self._timers:
            timer.daemon = True
            timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for timer in self._timers:
            timer.cancel()

    def _interrupt(self) -> None:
        os.write(2, (self._message + "\n").encode())
        _thread.interrupt_main()

    def _leave(self) -> None:
        os._exit(self._code)
