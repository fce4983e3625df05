"""A deadline that ends the process with a chosen exit code, whatever else is stuck.

A hook that its agent kills for being late does not block, so lateness must be answered before the
agent's own timeout. First the main thread is interrupted, so that workers are put away; when that
does not help, a second thread ends the process at once.
"""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import NoReturn, Self

GRACE_S = 5.0


class Deadline:
    """Context manager of the main thread: after `seconds` KeyboardInterrupt, later exit `code`."""

    def __init__(self, seconds: float, code: int, message: str) -> None:
        self._seconds = seconds
        self._code = code
        self._message = message
        self._last = threading.Timer(seconds + GRACE_S, self._leave)
        self._last.daemon = True

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGALRM, self._interrupt)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        self._last.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)
        self._last.cancel()

    def _interrupt(self, _number: int, _frame: FrameType | None) -> NoReturn:
        os.write(2, (self._message + "\n").encode())
        raise KeyboardInterrupt

    def _leave(self) -> None:
        os._exit(self._code)
