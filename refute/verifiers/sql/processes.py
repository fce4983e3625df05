"""Processes of this machine that do tasks, one after the other, with nothing shared.

Processes and not threads, since judging takes the interpreter as long as the embedded SQLite takes
for most queries. And not `ProcessPoolExecutor`, which gives up all its processes when one is
killed: here that costs the task which the process had, and another process takes its place.

The terminal's Ctrl-C is the parent's business: processes ignore it, and are ended when the parent
closes their pipe or is gone.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar

_PATIENCE_S = 2.0  # for a process to end once it has nothing to do

Task = TypeVar("Task")
Came = TypeVar("Came")

Serve = Callable[[Connection, int], None]
"""What a process does: answers each task that comes by the pipe, until that is closed."""


class ProcessDied(Exception):
    """The process that did a task ended over it: "killed by SIGKILL", "exit 3"."""


class _Hand(Generic[Task]):
    """One process, as its parent sees it. place: from 0 to number - 1, not another's."""

    def __init__(self, process: BaseProcess, connection: Connection, place: int) -> None:
        self.process = process
        self.connection = connection
        self.place = place
        self.task: Task | None = None


class Team(Generic[Task, Came]):
    """Up to `number` processes, started as they are needed. A context manager.

    serve: runs in each process, and is given its pipe and its place.
    """

    def __init__(self, serve: Serve, number: int) -> None:
        self._serve = serve
        self._number = number
        self._context = multiprocessing.get_context("fork")
        self._hands: list[_Hand[Task]] = []
        self._ended: list[tuple[Task, Came | Exception]] = []

    def __enter__(self) -> Team[Task, Came]:
        return self

    def __exit__(self, *_: object) -> None:
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

    @property
    def pids(self) -> list[int]:
        """The processes that are there, in order of their start."""
        return [hand.process.pid for hand in self._hands if hand.process.pid is not None]

    def give(self, task: Task) -> None:
        """Have a process without work begin the task."""
        hand = next((hand for hand in self._hands if hand.task is None), None) or self._start()
        hand.task = task
        try:
            hand.connection.send(task)
        except OSError:  # it was killed while it had nothing to do
            self._bury(hand, task)

    def ended(self, timeout_s: float) -> Sequence[tuple[Task, Came | Exception]]:
        """Tasks that ended, each with what came of it: ProcessDied where its process did."""
        busy = {hand.connection: hand for hand in self._hands if hand.task is not None}
        for connection in wait(list(busy), 0.0 if self._ended else timeout_s):
            hand = busy[connection]  # type: ignore[index]
            assert hand.task is not None
            try:
                came: Came | Exception = hand.connection.recv()
            except (EOFError, OSError):
                self._bury(hand, hand.task)
                continue
            self._ended.append((hand.task, came))
            hand.task = None
        ended, self._ended = self._ended, []
        return ended

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the processes that are at work."""
        for hand in self._hands:
            if hand.task is not None and hand.process.pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(hand.process.pid, number)

    def _start(self) -> _Hand[Task]:
        place = min(set(range(self._number)) - {hand.place for hand in self._hands})
        ours, theirs = self._context.Pipe()
        others = [ours, *(hand.connection for hand in self._hands)]
        process = self._context.Process(target=_run, args=(self._serve, theirs, others, place))
        process.start()
        theirs.close()
        made: _Hand[Task] = _Hand(process, ours, place)
        self._hands.append(made)
        return made

    def _bury(self, hand: _Hand[Task], task: Task) -> None:
        """A process is gone: its task is told, and its place is free."""
        hand.connection.close()
        hand.process.join(_PATIENCE_S)
        code = hand.process.exitcode
        how = f"killed by {signal.Signals(-code).name}" if code and code < 0 else f"exit {code}"
        self._ended.append((task, ProcessDied(how)))
        self._hands.remove(hand)


def _run(serve: Serve, pipe: Connection, others: Sequence[Connection], place: int) -> None:
    for connection in others:  # an end kept here would hide from siblings that the parent is gone
        connection.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    serve(pipe, place)
