"""Spares: workers that hold nothing of any tree, started before somebody wants them.

A worker takes a moment to start, mostly to make its jail. A command that waits for one worker can
start those that it will want next meanwhile. A spare differs from another worker in nothing but
when it was started; it is given only to who asks for exactly its limits.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from refute.errors import SandboxError
from refute.sandbox.dialect import PythonDialect
from refute.sandbox.launch import Order, Started, launch, stop
from refute.sandbox.limits import Limits
from refute.sandbox.worker import Worker

_kept: list[Spares] = []


class Spares:
    """So many spare workers; a context manager that stops those that nobody took."""

    def __init__(self, limits: Limits, count: int) -> None:
        self._limits = limits
        self._started: list[Started] = []
        self._count = count
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._start, daemon=True)

    def start(self) -> None:
        """Begin to start them; returns at once."""
        if self._count:
            _kept.append(self)
            self._thread.start()

    def take(self, limits: Limits) -> Worker | None:
        """One of them, if there is one with these limits; the clock may have run meanwhile."""
        if dataclasses.replace(limits, wall_s=self._limits.wall_s) != self._limits:
            return None
        with self._change:
            self._change.wait_for(lambda: self._started or self._count <= 0)
            started = self._started.pop() if self._started else None
        return None if started is None else Worker(started, PythonDialect(), limits)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self in _kept:
            _kept.remove(self)
            with self._change:
                self._count = 0
            self._thread.join()
        while self._started:
            stop(self._started.pop())

    def _start(self) -> None:
        order = Order(Path(os.sep), (), (".",), self._limits, 0, (), None, "auto")
        while self._count > 0:
            try:
                started = launch(order, PythonDialect().new_codec)
            except SandboxError:  # whoever wants one starts it, and hears why it cannot be
                started = None
            with self._change:
                self._count = 0 if started is None else self._count - 1
                self._started += [] if started is None else [started]
                self._change.notify_all()


def spare(limits: Limits) -> Worker | None:
    """A worker that was started ahead with these limits, if there is one left."""
    return next((w for spares in _kept if (w := spares.take(limits)) is not None), None)
