"""Ctrl-C as a request: what runs in slices ends after the one in hand, and keeps what it knows."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Patience:
    """asked: whether to stop as soon as there is something to keep."""

    def __init__(self) -> None:
        self.asked = False

    def hear(self, _number: int, _frame: FrameType | None) -> None:
        """A signal came. Raises KeyboardInterrupt for the second one."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextlib.contextmanager
def patience() -> Iterator[Patience]:
    """As long as it lasts, the first SIGINT (or SIGTERM, where that is caught) only asks.

    Signals that are ignored, or that end the process, are left as they are; so are all of them in
    other threads than the main one.
    """
    found = Patience()
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if callable(signal.getsignal(number)):
                before[number] = signal.signal(number, found.hear)
    try:
        yield found
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
