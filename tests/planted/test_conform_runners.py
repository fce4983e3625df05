"""Workers that die, lie or are of another refute: none of that may look like a pass."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from refute.errors import UsageError
from refute.verifiers.sql.conform_data import as_data, made_of, result_of
from refute.verifiers.sql.conform_executor import run_parcel
from refute.verifiers.sql.conform_file import Failure, FileResult
from refute.verifiers.sql.conform_pool import Died, run_all
from refute.verifiers.sql.conform_processes import Processes
from refute.verifiers.sql.conform_run import Choice, ConformRun, run_files
from refute.verifiers.sql.conform_task import Done, Task

CHOICE = Choice("sqlite", "sqlite", 20.0)
GOOD = "query I\nSELECT 1\n----\n1\n"
BAD = "query I\nSELECT 1\n----\n2\n"
COUNT = (
    "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT 20000) "
    "SELECT max(x) FROM r"
)
SLOW = """\
query I
WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT 900000000) SELECT max(x) FROM r
----
1
"""


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    made = []
    for name, text in (("good", GOOD), ("bad", BAD), ("slow", SLOW)):
        path = tmp_path / f"{name}.test"
        path.write_text(text)
        made.append(str(path))
    return made


class Scripted:
    """Hands of one place, whose process dies so often at each file."""

    room = 1

    def __init__(self, deaths: dict[str, int]) -> None:
        self.deaths = deaths
        self.given: list[str] = []
        self.stopped = False
        self._task: Task | None = None

    def give(self, task: Task) -> None:
        self.room = 0
        self.given.append(task.path)
        self._task = task

    def ended(self, timeout_s: float) -> Sequence[tuple[Task, Done | Exception]]:
        assert self._task is not None
        self.room = 1
        path = self._task.path
        if self.deaths.get(path, 0):
            self.deaths[path] -= 1
            return [(self._task, Died("the process was killed"))]
        return [(self._task, Done(FileResult(path, run=1)))]

    def records(self) -> int:
        return 0

    def stop(self) -> None:
        self.stopped = True


def test_a_file_whose_process_dies_is_tried_once_more_and_then_told() -> None:
    tasks = [Task(path, i, weight=w) for i, (path, w) in enumerate((("a", 1), ("b", 3), ("c", 2)))]
    hands = Scripted({"b": 1, "c": 2})
    taken: dict[str, FileResult] = {}

    def take(task: Task, done: Done) -> bool:
        taken[task.path] = done.result
        return True

    run_all(hands, tasks, take, lambda _: None)
    assert hands.given == ["b", "b", "c", "c", "a"]  # the longest first
    assert (taken["b"].lost, taken["b"].run) == ("", 1)
    assert taken["c"].lost == "c: the process was killed, 2 times; what it has was not run"
    run = ConformRun(CHOICE, 3, list(taken.values()))
    assert run.exit_code == 3


def test_no_more_begin_once_there_are_enough_failures() -> None:
    hands = Scripted({})
    run_all(hands, [Task(p, i) for i, p in enumerate("abc")], lambda *_: False, lambda _: None)
    assert (hands.given, hands.stopped) == (["a"], True)


def test_a_process_that_is_killed_costs_its_file_alone(paths: list[str]) -> None:
    good, bad, slow = (Task(path, i) for i, path in enumerate(paths))
    with Processes(CHOICE, 2) as processes:
        processes.give(slow)
        [victim] = processes.pids
        processes.give(good)
        ended = list(processes.ended(20.0))
        os.kill(victim, signal.SIGKILL)
        while len(ended) < 2:
            ended += processes.ended(20.0)
        processes.give(bad)
        while len(ended) < 3:
            ended += processes.ended(20.0)
    by_path = {task.path: came for task, came in ended}
    died = by_path[slow.path]
    assert isinstance(died, Died)
    assert "killed by SIGKILL" in died.how
    assert isinstance(came := by_path[good.path], Done) and came.result.run == 1
    assert isinstance(came := by_path[bad.path], Done) and len(came.result.failures) == 1


def test_processes_end_with_their_parent(paths: list[str], tmp_path: Path) -> None:
    """One of them is in a file of minutes, the other has nothing to do."""
    long = tmp_path / "long.test"
    long.write_text(f"query I\n{COUNT}\n----\n20000\n\n" * 40_000)
    told = tmp_path / "pid"

    def parent() -> None:
        processes = Processes(CHOICE, 2)
        processes.give(Task(str(long), 0))
        processes.give(Task(paths[0], 1))
        while not processes.ended(1.0):
            pass
        told.write_text(" ".join(map(str, processes.pids)))
        os.kill(os.getpid(), signal.SIGKILL)

    child = get_context("fork").Process(target=parent)
    child.start()
    child.join()
    pids = [int(pid) for pid in told.read_text().split()]
    until = time.monotonic() + 30.0
    while any(_alive(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.02)
    alive = [pid for pid in pids if _alive(pid)]
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    assert (len(pids), alive) == (2, [])


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_results_come_in_order_and_the_longest_runs_first(tmp_path: Path) -> None:
    names = []
    for i, size in enumerate((10, 900, 30, 500)):
        path = tmp_path / f"{i}.test"
        path.write_text(f"{GOOD}\n" * size)
        names.append(str(path))
    found: list[str] = []
    ended: list[str] = []
    plain = Choice("sqlite", "sqlite", 20.0)
    with ThreadPoolExecutor(1) as executor:
        run = run_files(
            plain,
            names,
            executor=executor,
            found=lambda file: found.append(file.path),
            ended=lambda file: ended.append(file.path),
        )
    assert found == names
    assert ended == [names[i] for i in (1, 3, 2, 0)]
    assert (run.run, run.exit_code) == (1440, 0)


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_finds_what_this_process_finds(
    paths: list[str], kind: Callable[..., Executor]
) -> None:
    options = {"mp_context": get_context("fork")} if kind is ProcessPoolExecutor else {}
    local = run_files(CHOICE, paths[:2])
    with kind(2, **options) as executor:
        there = run_files(CHOICE, paths[:2], executor=executor)
    for file in (*local.files, *there.files):
        file.wall_s = 0.0
    assert there.files == local.files
    assert there.exit_code == local.exit_code == 1


class Lying(Executor):
    """Runs each task at once, and changes what came of it."""

    def __init__(self, lie: Callable[[dict[str, Any]], Any]) -> None:
        self.lie = lie

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(self.lie(fn(*args, **kwargs)))
        except Exception as error:
            future.set_exception(error)
        return future


def result(**changed: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda answer: answer | {"result": answer["result"] | changed}


LIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "nothing": lambda _: None,
    "another type": lambda answer: list(answer),
    "no result": lambda answer: {k: v for k, v in answer.items() if k != "result"},
    "another file's content": lambda answer: answer | {"content": "0" * 64},
    "another file": result(path="other.test"),
    "a negative count": result(not_run=-1),
    "more unchecked than run": result(unchecked=2),
    "a count of another type": result(run="1"),
    "a count that is a truth": result(run=True),
    "failures of another form": result(failures=[{"line": 1}]),
    "more failures than records": result(run=0, skipped=0),
    "fewer fields": lambda a: a | {"result": {k: v for k, v in a["result"].items() if k != "lost"}},
    "a field that is not one": result(passed=True),
    "a result that is an object": lambda answer: answer | {"result": FileResult("x", run=1)},
    "not a number": result(wall_s=float("nan")),
}


@pytest.mark.parametrize("name", LIES)
def test_an_answer_that_is_none_is_no_pass(paths: list[str], name: str) -> None:
    run = run_files(CHOICE, paths[1:2], executor=Lying(LIES[name]))
    assert (run.exit_code, run.run) == (3, 0)
    assert "refused" in run.files[0].lost or "worker" in run.files[0].lost
    assert run_files(CHOICE, paths[:1], executor=Lying(lambda answer: answer)).exit_code == 0


def test_a_worker_of_another_refute_is_refused(
    paths: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="another refute"):
        run_files(CHOICE, paths[:1], executor=Lying(lambda a: a | {"judged_by": "0.0.1+0"}))
    answers: list[dict[str, Any]] = []
    with pytest.raises(UsageError, match="another refute"):  # which does not even run the file
        monkeypatch.setattr("refute.verifiers.sql.conform_executor.own_code", _changing())
        run_files(CHOICE, paths[:1], executor=Lying(lambda a: answers.append(a) or a))
    assert list(answers[0]) == ["judged_by"]


def _changing() -> Callable[[], str]:
    answers = iter(["here", "there", "there"])
    return lambda: next(answers)


def test_an_executor_that_fails_is_tried_once_more(paths: list[str]) -> None:
    calls: list[int] = []

    def fail(answer: dict[str, Any]) -> dict[str, Any]:
        calls.append(1)
        if len(calls) < 2:
            raise OSError("the wire broke")
        return answer

    assert run_files(CHOICE, paths[:1], executor=Lying(fail)).exit_code == 0
    run = run_files(CHOICE, paths[:1], executor=Lying(lambda _: 1 // 0))
    assert run.exit_code == 3
    assert "ZeroDivisionError" in run.files[0].lost
    assert "2 times" in run.files[0].lost


def test_an_executor_that_is_shut_down_loses_all_files_and_says_so(paths: list[str]) -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    run = run_files(CHOICE, paths[:2], executor=executor)
    assert run.exit_code == 3
    assert all("takes no more" in file.lost for file in run.files)


def test_what_a_worker_gets_is_all_it_needs(tmp_path: Path) -> None:
    """The file and the engine's code are gone from this machine before the task is run."""
    engine = tmp_path / "tree" / "engine.py"
    engine.parent.mkdir()
    engine.write_text("import sqlite3\n\ndef connect():\n    return sqlite3.connect(':memory:')\n")
    path = tmp_path / "file.test"
    path.write_text(BAD)

    class Elsewhere(Lying):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            assert fn is run_parcel
            path.unlink()
            engine.unlink()
            return super().submit(fn, *args, **kwargs)

    choice = Choice("engine:connect", "e", 5.0, engine.parent, ("engine.py",), (".",))
    run = run_files(choice, [str(path)], executor=Elsewhere(lambda answer: answer))
    assert [failure.line for failure in run.files[0].failures] == [1]
    assert run.exit_code == 1


def test_results_survive_being_data() -> None:
    random_ = random.Random(7)
    for _ in range(50):
        failure = Failure(
            random_.randrange(1, 99), "\udc80 π", "x", "y", random_.choice([None, True, False])
        )
        made = FileResult("f", run=100, failures=[failure], reads={"a": "b"}, wall_s=0.5)
        assert result_of(as_data(made)) == made
    choice = Choice("a:b", "a", 1.5, Path("x"), ("p.py",), (".",))
    assert made_of(Choice, as_data(choice)) == choice
