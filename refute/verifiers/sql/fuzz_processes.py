"""Processes that do units of fuzzing, each with an engine of its own.

An engine that runs in its process may end it. That costs the unit, which is told with what it was;
another process takes its place.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Protocol

from refute.verifiers.sql.processes import Team

RINGS = 100_000  # objects between two looks for what can go


class Work(Protocol):
    """What a process has: it does tasks, one after the other."""

    def do(self, task: Any) -> Any:
        """The task's result. Raises RefuteError."""
        ...

    def close(self) -> None:
        """Let everything go."""
        ...


def team_of(work: Callable[[], Work], number: int) -> Team[Any, Any]:
    """Processes that do tasks by what `work` makes, once in each of them."""
    return Team(functools.partial(_serve, work), number)


def _serve(work: Callable[[], Work], pipe: Connection, _place: int) -> None:
    signal.signal(signal.SIGTERM, _end)
    parent = os.getppid()
    # The signal may fall into a statement of the embedded SQLite, which tells it as an interrupt.
    with contextlib.suppress(KeyboardInterrupt):
        _do(work, pipe, parent)


def _do(work: Callable[[], Work], pipe: Connection, parent: int) -> None:
    """Tasks, one after the other, by what `work` makes."""
    made = work()
    # Trees are rings of references, which only the collector of rings takes; it shall do so in
    # large steps, and not look at all that was imported each time.
    gc.freeze()
    gc.set_threshold(RINGS, 10, 100)
    try:
        with contextlib.suppress(EOFError, OSError):
            while os.getppid() == parent:
                task = pipe.recv()
                try:
                    came = made.do(task)
                except Exception as error:  # the parent raises it
                    came = error
                pipe.send(came)
    finally:
        made.close()


def _end(*_: object) -> None:
    """Leave, so that engines in processes of their own are ended as well; once is enough."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(0)
