"""Processes that do units of work, each with an engine of its own.

An engine that runs in its process may end it. That costs the unit, which is told with what it was;
another process takes its place. The terminal's Ctrl-C is the parent's business: processes ignore
it, and are ended when the parent closes their pipe or is gone.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

_PATIENCE_S = 2.0  # for a process to end once it has nothing to do

RINGS = 100_000  # objects between two looks for what can go


class Died(Exception):
    """The process that did a unit ended over it."""


class Work(Protocol):
    """What a process has: it does tasks, one after the other."""

    def do(self, task: Any) -> Any:
        """The task's result. Raises RefuteError."""
        ...

    def close(self) -> None:
        """Let everything go."""
        ...


class _Hand:
    def __init__(self, process: BaseProcess, connection: Connection) -> None:
        self.process = process
        self.connection = connection
        self.task: Any = None


class Team:
    """Up to `number` processes, started as they are needed. A context manager.

    work: makes what a process has, in that process.
    """

    def __init__(self, work: Callable[[], Work], number: int) -> None:
        self._work = work
        self._number = number
        self._context = multiprocessing.get_context("fork")
        self._hands: list[_Hand] = []
        self._ended: list[tuple[Any, Any]] = []

    def __enter__(self) -> Team:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        for hand in self._hands:
            hand.connection.close()  # which ends the process once it is idle
            if hand.task is not None:
                hand.process.terminate()
        until = time.monotonic() + _PATIENCE_S
        for hand in self._hands:
            hand.process.join(max(0.0, until - time.monotonic()))
            if hand.process.is_alive():
                hand.process.kill()
                hand.process.join()

    @property
    def room(self) -> int:
        """How many more tasks it takes now."""
        return self._number - sum(hand.task is not None for hand in self._hands)

    def give(self, task: Any) -> None:
        """Have a process without work begin the task."""
        hand = next((hand for hand in self._hands if hand.task is None), None) or self._start()
        hand.task = task
        try:
            hand.connection.send(task)
        except OSError:  # it was killed while it had nothing to do
            self._bury(hand)

    def ended(self, timeout_s: float) -> Sequence[tuple[Any, Any]]:
        """Tasks that ended, each with its result, or the exception: Died where its process did."""
        busy = {hand.connection: hand for hand in self._hands if hand.task is not None}
        for connection in wait(list(busy), 0.0 if self._ended else timeout_s):
            hand = busy[connection]  # type: ignore[index]
            try:
                came = hand.connection.recv()
            except (EOFError, OSError):
                self._bury(hand)
                continue
            self._ended.append((hand.task, came))
            hand.task = None
        ended, self._ended = self._ended, []
        return ended

    def _start(self) -> _Hand:
        ours, theirs = self._context.Pipe()
        others = [ours, *(hand.connection for hand in self._hands)]
        process = self._context.Process(target=_serve, args=(self._work, theirs, others))
        process.start()
        theirs.close()
        made = _Hand(process, ours)
        self._hands.append(made)
        return made

    def _bury(self, hand: _Hand) -> None:
        """A process is gone: its task is told, and its place is free."""
        hand.connection.close()
        hand.process.join(_PATIENCE_S)
        code = hand.process.exitcode
        how = f"killed by {signal.Signals(-code).name}" if code and code < 0 else f"exit {code}"
        self._ended.append((hand.task, Died(how)))
        self._hands.remove(hand)


def _serve(work: Callable[[], Work], pipe: Connection, others: Sequence[Connection]) -> None:
    """What a process does: tasks, until its pipe is closed or its parent is gone."""
    for connection in others:  # an end kept here would hide from siblings that the parent is gone
        connection.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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
