"""Files run by processes of this machine, which share nothing but flags and counts.

What is shared is memory without locks, as a process that is killed would leave its lock locked.
At Ctrl-C the parent asks the others to stop, and they hand over what they have.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import RawArray, RawValue
from types import FrameType
from typing import Any

from refute.verifiers.sql.conform_file import FileResult
from refute.verifiers.sql.conform_pool import Died, Take, run_all
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.conform_task import Done, Task, run_task
from refute.verifiers.sql.processes import ProcessDied, Team

_working: list[str] = []  # in each process, the file in work


class Processes:
    """Up to `number` processes, started as they are needed. A context manager."""

    def __init__(self, choice: Choice, number: int) -> None:
        self._stopping = RawValue("b", 0)
        self._counts = RawArray("Q", number)  # records that each has run
        serve = functools.partial(_serve, choice, self._stopping, self._counts)
        self._team: Team[Task, Done] = Team(serve, number)

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *how: object) -> None:
        self._team.__exit__(*how)

    @property
    def room(self) -> int:
        """Processes without work, also those that are not started yet."""
        return self._team.room

    @property
    def pids(self) -> list[int]:
        """The processes that are there, in order of their start."""
        return self._team.pids

    def give(self, task: Task) -> None:
        """Have a process without work begin the file."""
        self._team.give(task)

    def ended(self, timeout_s: float) -> Sequence[tuple[Task, Done | Exception]]:
        """Files that ended, or whose process did: Died."""
        return [(task, _told(came)) for task, came in self._team.ended(timeout_s)]

    def records(self) -> int:
        """Records that were run, those of files in work among them."""
        return sum(self._counts)

    def stop(self) -> None:
        """Have files end at their next chunk of records, also one whose engine hangs."""
        self._stopping.value = 1
        self._team.send_signal(signal.SIGUSR1)


def _told(came: Done | Exception) -> Done | Exception:
    if isinstance(came, ProcessDied):
        return Died(f"the process that ran it died ({came})")
    return came


def run_in_processes(
    choice: Choice, tasks: Sequence[Task], number: int, take: Take, ran: Callable[[int], None]
) -> None:
    """Run the files in so many processes. Raises as `run_all`."""
    with Processes(choice, number) as processes:
        run_all(processes, tasks, take, ran)


def _serve(choice: Choice, stopping: Any, counts: Any, pipe: Connection, place: int) -> None:
    """What a process does: files, until its pipe is closed or its parent is gone."""
    signal.signal(signal.SIGUSR1, _interrupt)
    parent = os.getppid()

    def stop() -> bool:
        return bool(stopping.value) or os.getppid() != parent

    def ran(records: int) -> None:
        counts[place] += records

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
