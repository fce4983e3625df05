"""Processes of this machine that run files, each with the file it has and nothing shared but flags.

Processes and not threads, since judging takes the interpreter as long as the embedded SQLite takes
for most queries. And not `ProcessPoolExecutor`, which gives up all its processes when one is
killed: here that costs the file which the process had, and another process takes its place. What
is shared is memory without locks, as a process that is killed would leave its lock locked.

The terminal's Ctrl-C is the parent's business: it asks the others to stop, and they hand over what
they have. When the parent is gone they end, too.
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
from multiprocessing.sharedctypes import RawArray, RawValue
from types import FrameType
from typing import Any

from refute.verifiers.sql.conform_file import FileResult
from refute.verifiers.sql.conform_pool import Died, Take, run_all
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.conform_task import Done, Task, run_task

_PATIENCE_S = 5.0  # for a process to end once it has nothing to do

_working: list[str] = []  # in each process, the file in work


class _Hand:
    """One process, as its parent sees it."""

    def __init__(self, process: BaseProcess, connection: Connection) -> None:
        self.process = process
        self.connection = connection
        self.task: Task | None = None


class Processes:
    """Up to `number` processes, started as they are needed. A context manager."""

    def __init__(self, choice: Choice, number: int) -> None:
        self._choice = choice
        self._number = number
        self._context = multiprocessing.get_context("fork")
        self._stopping = RawValue("b", 0)
        self._counts = RawArray("Q", number)  # records that each has run
        self._hands: dict[int, _Hand] = {}  # by place
        self._ended: list[tuple[Task, Done | Exception]] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for hand in self._hands.values():
            hand.connection.close()  # which ends the process
        until = time.monotonic() + _PATIENCE_S
        for hand in self._hands.values():
            hand.process.join(max(0.0, until - time.monotonic()))
            if hand.process.is_alive():
                hand.process.kill()
                hand.process.join()

    @property
    def room(self) -> int:
        """Processes without work, also those that are not started yet."""
        return self._number - sum(hand.task is not None for hand in self._hands.values())

    def give(self, task: Task) -> None:
        """Have a process without work begin the file."""
        idle = next((hand for hand in self._hands.values() if hand.task is None), None)
        hand = idle or self._start()
        hand.task = task
        try:
            hand.connection.send(task)
        except OSError:  # it was killed while it had nothing to do
            self._bury(hand)

    def ended(self, timeout_s: float) -> Sequence[tuple[Task, Done | Exception]]:
        """Files that ended, or whose process did."""
        busy = {hand.connection: hand for hand in self._hands.values() if hand.task is not None}
        for connection in wait(list(busy), 0.0 if self._ended else timeout_s):
            hand = busy[connection]  # type: ignore[index]
            assert hand.task is not None
            try:
                came: Done | Exception = hand.connection.recv()
            except (EOFError, OSError):
                self._bury(hand)
                continue
            self._ended.append((hand.task, came))
            hand.task = None
        ended, self._ended = self._ended, []
        return ended

    def records(self) -> int:
        """Records that were run, those of files in work among them."""
        return sum(self._counts)

    def stop(self) -> None:
        """Have files end at their next chunk of records, also one whose engine hangs."""
        self._stopping.value = 1
        for hand in self._hands.values():
            if hand.task is not None and hand.process.pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(hand.process.pid, signal.SIGUSR1)

    def _start(self) -> _Hand:
        place = next(i for i in range(self._number) if i not in self._hands)
        ours, theirs = self._context.Pipe()
        others = [hand.connection for hand in self._hands.values()]
        process = self._context.Process(
            target=_serve,
            args=(self._choice, theirs, [ours, *others], self._stopping, self._counts, place),
        )
        process.start()
        theirs.close()
        made = self._hands[place] = _Hand(process, ours)
        return made

    def _bury(self, hand: _Hand) -> None:
        """A process is gone: its file is told, and its place is free."""
        assert hand.task is not None
        hand.connection.close()
        hand.process.join(_PATIENCE_S)
        code = hand.process.exitcode
        how = f"killed by {signal.Signals(-code).name}" if code and code < 0 else "ended"
        self._ended.append((hand.task, Died(f"the process that ran it was {how}")))
        place = next(i for i, other in self._hands.items() if other is hand)
        del self._hands[place]


def run_in_processes(
    choice: Choice, tasks: Sequence[Task], number: int, take: Take, ran: Callable[[int], None]
) -> None:
    """Run the files in so many processes. Raises as `run_all`."""
    with Processes(choice, number) as processes:
        run_all(processes, tasks, take, ran)


def _serve(
    choice: Choice, pipe: Connection, others: list[Connection], stopping: Any, counts: Any, i: int
) -> None:
    """What a process does: files, until its pipe is closed or its parent is gone."""
    for connection in others:  # an end kept here would hide from siblings that the parent is gone
        connection.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGUSR1, _interrupt)
    parent = os.getppid()

    def stop() -> bool:
        return bool(stopping.value) or os.getppid() != parent

    def ran(records: int) -> None:
        counts[i] += records

    with contextlib.suppress(EOFError, OSError):
        while True:
            task: Task = pipe.recv()
            pipe.send(_one(choice, task, stop, ran))


def _one(
    choice: Choice, task: Task, stop: Callable[[], bool], ran: Callable[[int], None]
) -> Done | Exception:
    _working.append(task.path)
    try:
        engine = choice.open()
        try:
            return run_task(choice, engine, task, stop, ran)
        finally:
            engine.close()
    except KeyboardInterrupt:
        return Done(FileResult(task.path, cut=True, interrupted=True))
    except Exception as error:  # of refute's own; the parent raises it
        return error
    finally:
        _working.clear()


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """What the parent's signal does: end the file that is in work, and nothing else."""
    if _working:
        _working.clear()
        raise KeyboardInterrupt
