"""Questions asked at once: answers in order, troubles in turn, an interrupt ends the workers."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from pathlib import Path

import pytest

from refute.budget import Budget
from refute.claim import Claim, Where
from refute.errors import SandboxError
from refute.gate.parallel import as_answered, at_once
from refute.sandbox import Limits, Outcome, open_worker, stopped_workers
from refute.site import Site
from refute.specs.function import Holds
from refute.verifiers.functions import PropertyPlayer

HANGS = "import time\n\ndef hang() -> None:\n    time.sleep(60)\n"


def test_answers_come_in_the_order_of_the_questions() -> None:
    second_is_done = threading.Event()

    def first() -> int:
        assert second_is_done.wait(30)
        return 1

    def second() -> int:
        second_is_done.set()
        return 2

    assert list(at_once([first, second])) == [1, 2]
    assert list(at_once([])) == []


def test_an_error_is_raised_in_its_turn_and_what_came_before_is_kept() -> None:
    def broken() -> int:
        raise ValueError("no answer")

    found: list[int] = []
    with pytest.raises(ValueError, match="no answer"):
        for answer in at_once([lambda: 1, broken, lambda: 3]):
            found.append(answer)
    assert found == [1]


def test_an_interrupt_ends_the_workers_that_others_wait_for(tmp_path: Path) -> None:
    (tmp_path / "subject.py").write_text(HANGS)
    outcomes: list[Outcome | SandboxError] = []
    running = threading.Event()

    def wait() -> None:
        with open_worker(tmp_path, None, (".",), Limits(wall_s=60)) as worker:
            running.set()
            try:
                outcomes.append(worker.call("subject:hang"))
            except SandboxError as error:
                outcomes.append(error)

    def interrupt() -> None:
        assert running.wait(30)
        raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(at_once([interrupt, functools.partial(wait)]))
    assert [type(o) for o in outcomes] == [SandboxError]  # no outcome: the subject did not die
    assert time.monotonic() - started < 50


def test_whoever_has_heard_enough_does_not_wait_for_the_rest(tmp_path: Path) -> None:
    (tmp_path / "subject.py").write_text(HANGS)

    def wait() -> str:
        with open_worker(tmp_path, None, (".",), Limits(wall_s=60)) as worker:
            return worker.call("subject:hang").kind

    started = time.monotonic()
    with contextlib.closing(as_answered([wait, lambda: "quick", wait])) as answers:
        assert next(answers) == (1, "quick")
    assert time.monotonic() - started < 50
    assert dict(as_answered([lambda: "a", lambda: "b"])) == {0: "a", 1: "b"}


def test_no_worker_starts_while_all_are_stopped(tmp_path: Path) -> None:
    with stopped_workers(), pytest.raises(SandboxError, match="not needed"):
        open_worker(tmp_path, None, (".",), Limits())
    with open_worker(tmp_path, None, (".",), Limits()) as worker:
        assert worker.alive


def test_a_player_that_is_stopped_while_it_starts_leaves_no_worker(tmp_path: Path) -> None:
    (tmp_path / "subject.py").write_text("import time\ntime.sleep(60)\n")
    claim = Claim("it", Holds("subject:f", "specs:p", {}), Where("claims.py", 1))
    player = PropertyPlayer(claim, Site(tmp_path, tmp_path, (".",)), Budget())
    caught: list[SandboxError] = []

    def start() -> None:
        try:
            with player:
                pass
        except SandboxError as error:
            caught.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    while player._subject is None and thread.is_alive():
        time.sleep(0.01)
    worker = player._subject
    assert worker is not None
    with stopped_workers():
        thread.join(30)
    assert len(caught) == 1
    assert player._subject is None and not worker.alive
