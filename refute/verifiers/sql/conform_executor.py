"""Files run by an executor of `concurrent.futures`, whose workers may be on other machines.

A worker there has neither the files nor the engine's code: both travel with each task. Nor need it
have this refute: it says which code judged, and a result of other code is refused. What comes back
is plain data and is believed only as far as its form and its digests go; that the worker did run
the records is the executor's word.
"""

from __future__ import annotations

import atexit
import dataclasses
import functools
import importlib
import shutil
import tempfile
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, wait
from pathlib import Path
from typing import Any

from refute.errors import RefuteError, UsageError
from refute.verifiers.sql.conform_data import as_data, result_of
from refute.verifiers.sql.conform_file import FileResult
from refute.verifiers.sql.conform_identity import own_code
from refute.verifiers.sql.conform_pool import Died, Take, run_all
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.conform_task import (
    Done,
    Task,
    digest_of,
    read_file,
    run_content,
    unreadable,
)

Stopping = Callable[[], bool]


@dataclasses.dataclass(frozen=True)
class Parcel:
    """A task with all that it needs elsewhere. data, code: compressed; code: path → content.

    judged_by: the code that is to judge. stopping: "module:function" that makes what says whether
    the run is over; "" where nothing can.
    """

    choice: Choice
    task: Task
    data: bytes
    code: tuple[tuple[str, bytes], ...]
    judged_by: str
    stopping: str = ""


def run_parcel(parcel: Parcel) -> dict[str, Any]:
    """What a worker does: run the content it was sent. The result as data, and what made it."""
    own = own_code()
    answer: dict[str, Any] = {"judged_by": own}
    if own != parcel.judged_by:
        return answer
    data = zlib.decompress(parcel.data)
    choice = parcel.choice
    if choice.files:
        choice = dataclasses.replace(choice, tree=_tree_of(parcel.code))
    try:
        engine = choice.open()
        try:
            stop = _stop_of(parcel.stopping)
            done = run_content(choice, engine, parcel.task, data, stop, lambda _: None)
        finally:
            engine.close()
    except RefuteError as error:
        return answer | {"error": error.to_json()}
    return answer | {"content": digest_of(data), "result": as_data(done.result)}


def done_of(task: Task, content: str, answer: Any, judge: str) -> Done:
    """A worker's answer as what came of the task. Raises Died, or the RefuteError it tells of."""
    if type(answer) is not dict:
        raise Died("the worker answered nonsense", again=False)
    if answer.get("judged_by") != judge:
        raise UsageError(
            f"a worker has another refute: {answer.get('judged_by')}, here it is {judge}",
            thing="--executor",
            value=answer.get("judged_by"),
            next_step="install the same version of refute on all workers",
        )
    if "error" in answer:
        told = answer["error"]
        raise UsageError(
            f"on a worker: {told['message']}",
            thing=told["thing"],
            value=told["value"],
            possible=told["possible"],
            next_step=told["next"],
        )
    try:
        result = result_of(answer.get("result"))
    except ValueError as error:
        raise Died(f"the worker's result is refused: {error}", again=False) from error
    if answer.get("content") != content or result.path not in (task.path, "<stdin>"):
        raise Died("the worker's result is of another file", again=False)
    return Done(result, content if task.named else "")


class Cluster(Executor):
    """An executor that says more of itself. number: how many tasks run at once there.

    stopping: "module:function", on a worker what says whether the task was cancelled.
    """

    number = 1
    stopping = ""

    def died(self, error: Exception) -> Died | None:
        """What is told of an exception by which it says that a worker died; None: of no other."""
        return None

    def problem(self) -> str:
        """Why nothing more will come; "" as long as something may."""
        return ""


class Futures:
    """Hands that are an executor's. number: how many files it is given at once."""

    def __init__(
        self, executor: Executor, choice: Choice, number: int, cluster: Cluster | None
    ) -> None:
        self._executor = executor
        self._choice = choice
        self._code = _code_of(choice)
        self._judge = own_code()
        self._number = number
        self._cluster = cluster
        self._stopping = cluster.stopping if cluster is not None else ""
        self._in_work: dict[Future[Any], tuple[Task, str]] = {}
        self._ended: list[tuple[Task, Done | Exception]] = []
        self._records = 0
        self._stopped = False

    @property
    def room(self) -> int:
        """How many more files it is given now."""
        return self._number - len(self._in_work)

    def give(self, task: Task) -> None:
        """Send a file, with its content."""
        try:
            data = read_file(task.path)
        except OSError as error:
            self._ended.append((task, Done(unreadable(task.path, error))))
            return
        sent = zlib.compress(data, 1)
        parcel = Parcel(self._choice, task, sent, self._code, self._judge, self._stopping)
        try:
            future = self._executor.submit(run_parcel, parcel)
        except (RuntimeError, OSError) as error:  # BrokenExecutor is a RuntimeError, too
            again = not isinstance(error, BrokenExecutor)
            self._ended.append((task, Died(f"the executor takes no more: {error}", again=again)))
            return
        self._in_work[future] = (task, digest_of(data))

    def ended(self, timeout_s: float) -> Sequence[tuple[Task, Done | Exception]]:
        """Files that ended, or whose worker did."""
        if self._stopped:
            self._let_go()
        timeout_s = 0.0 if self._ended else timeout_s
        if self._in_work:
            done = wait(self._in_work, timeout_s, return_when="FIRST_COMPLETED").done
            self._ended += [self._of(future) for future in list(self._in_work) if future in done]
        if self._cluster is not None and self._in_work and (why := self._cluster.problem()):
            lost = [task for task, _ in self._in_work.values()]
            self._in_work.clear()
            self._ended += [(task, Died(why, again=False)) for task in lost]
        ended, self._ended = self._ended, []
        return ended

    def records(self) -> int:
        """Records of the files that ended."""
        return self._records

    def stop(self) -> None:
        """Cancel what is not done; what a worker is running there may go on until its end."""
        self._stopped = True

    def _let_go(self) -> None:
        for future in list(self._in_work):
            if not future.done() or future.cancelled():
                future.cancel()
                task, _ = self._in_work.pop(future)
                cut = Done(FileResult(task.path, cut=True, interrupted=True))
                self._ended.append((task, cut))

    def _of(self, future: Future[Any]) -> tuple[Task, Done | Exception]:
        task, content = self._in_work.pop(future)
        try:
            done = done_of(task, content, future.result(), self._judge)
        except (RefuteError, Died) as error:
            return task, error
        except (BrokenExecutor, CancelledError) as error:
            return task, Died(f"the worker that ran it died ({error or type(error).__name__})")
        except Exception as error:  # whatever the executor, or code on its worker, raises
            died = self._cluster.died(error) if self._cluster is not None else None
            return task, died or _of_worker(error)
        self._records += done.result.run
        return task, done


def run_on(
    executor: Executor,
    choice: Choice,
    tasks: Sequence[Task],
    jobs: int,
    take: Take,
    ran: Callable[[int], None],
) -> None:
    """Run the files on an executor, at most `jobs` at once where it does not say how many it can.

    Raises as `run_all`.
    """
    cluster = executor if isinstance(executor, Cluster) else None
    number = cluster.number if cluster is not None else getattr(executor, "_max_workers", jobs)
    run_all(Futures(executor, choice, number + number // 2 + 1, cluster), tasks, take, ran)


def _of_worker(error: Exception) -> Exception:
    """An exception that came from a worker, as one that says so."""
    if isinstance(error, ImportError) and "refute" in str(error):
        return UsageError(
            f"a worker cannot import refute: {error}",
            thing="--executor",
            next_step="install the same version of refute on all workers",
        )
    return Died(f"the worker failed with {type(error).__name__}: {error}"[:300])


def _code_of(choice: Choice) -> tuple[tuple[str, bytes], ...]:
    """The files of the engine's tree that are its code. Raises UsageError."""
    try:
        read = [(path, (choice.tree / path).read_bytes()) for path in choice.files]
    except OSError as error:
        raise UsageError(
            f"the engine's code cannot be read: {error}", thing="engine", value=choice.engine
        ) from error
    return tuple((path, zlib.compress(data, 1)) for path, data in read)


@functools.lru_cache(maxsize=4)
def _tree_of(code: tuple[tuple[str, bytes], ...]) -> Path:
    """A directory of this machine with the code, until the worker ends."""
    top = Path(tempfile.mkdtemp(prefix="refute-engine-"))
    atexit.register(shutil.rmtree, top, ignore_errors=True)
    for path, data in code:
        place = top / path
        if ".." in Path(path).parts or not place.is_relative_to(top):
            raise UsageError(f"the engine's code lies outside of its tree: {path}", thing="engine")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(zlib.decompress(data))
    return top


def _stop_of(stopping: str) -> Stopping:
    """What says whether the run is over, made on the worker."""
    if not stopping:
        return lambda: False
    module, _, name = stopping.partition(":")
    made: Stopping = getattr(importlib.import_module(module), name)()
    return made
