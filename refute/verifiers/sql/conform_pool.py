"""Files shared among processes. Apart from `conform_run`, because small runs do not pay for it.

Processes and not threads, since judging takes the interpreter as long as the embedded SQLite takes
for most queries. The terminal's Ctrl-C is the parent's business: it asks the others to stop, and
they hand over what they have at their next chunk of records.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, wait
from multiprocessing.synchronize import Event
from types import FrameType

from refute.verifiers.sql.conform_file import FileResult
from refute.verifiers.sql.conform_run import Choice, Found, Progress, run_share

_TICK_S = 0.2

_working: list[str] = []  # in each process of the pool, the file in work
_stopping: list[Event] = []  # in each process of the pool, the parent's wish to stop


def run_in_processes(
    choice: Choice, paths: Sequence[str], processes: int, found: Found, progress: Progress
) -> None:
    """Run the files; results come in the order of the paths. Raises KeyboardInterrupt at the end.

    Raises RefuteError when the engine does not exist.
    """
    context = multiprocessing.get_context("fork")
    stop = context.Event()
    with ProcessPoolExecutor(processes, context, _begin, (stop,)) as executor:
        waiting = deque((path, executor.submit(_run_one, choice, path)) for path in paths)
        try:
            _hand_over(waiting, found, progress)
        except BaseException:
            stop.set()
            for process in multiprocessing.active_children():
                if process.pid is not None:  # it may wait for an engine that hangs
                    os.kill(process.pid, signal.SIGUSR1)
            executor.shutdown(wait=True, cancel_futures=True)
            for path, future in waiting:
                if not future.cancelled():
                    found(_result(path, future))
            raise


def _begin(stop: Event) -> None:
    """Prepare a process of the pool."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGUSR1, _interrupt)
    _stopping.append(stop)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """What the parent's signal does: end the file that is in work, and nothing else."""
    if _working:
        _working.clear()
        raise KeyboardInterrupt


def _run_one(choice: Choice, path: str) -> FileResult:
    results: list[FileResult] = []
    _working.append(path)
    try:
        run_share(choice, [path], results.append, lambda _: None, _stopping[-1].is_set)
    except KeyboardInterrupt:
        pass
    finally:
        _working.clear()
    return results[0] if results else FileResult(path, cut=True, interrupted=True)


def _hand_over(
    waiting: deque[tuple[str, Future[FileResult]]], found: Found, progress: Progress
) -> None:
    """Take results off the left as they come, and tell of those behind them."""
    pending = {future for _, future in waiting}
    while waiting:
        done, pending = wait(pending, timeout=_TICK_S, return_when="FIRST_COMPLETED")
        for future in done:
            progress(0 if future.exception() else future.result().run)
        while waiting and waiting[0][1].done():
            path, future = waiting.popleft()
            found(_result(path, future))


def _result(path: str, future: Future[FileResult]) -> FileResult:
    try:
        return future.result()
    except BrokenExecutor:
        return FileResult(path, lost=f"{path}: the process that ran it was killed")
