"""Spares: as any other worker, only for who asks for their limits, and stopped when left over."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator

import pytest

from refute.errors import SandboxError
from refute.sandbox import Limits
from refute.sandbox import spares as module
from refute.sandbox.launch import Started
from refute.sandbox.spares import Spares, spare
from refute.sandbox.zygote import prepare, release
from refute.verifiers.model.second import open_blank

LIMITS = Limits(cpu_s=5.0, wall_s=9.0)


@pytest.fixture(autouse=True)
def zygote() -> Iterator[None]:
    prepare()
    yield
    release()


def alive(started: Started) -> bool:
    try:
        os.kill(started.ready["subject"], 0)
    except ProcessLookupError:
        return False
    return True


def test_a_spare_is_as_a_worker_that_is_opened() -> None:
    with Spares(LIMITS, 1) as spares:
        spares.start()
        taken = spare(LIMITS)
        assert taken is not None
        with taken, open_blank(LIMITS) as other:  # which is opened: there was one spare
            for question in (("os:listdir", "/"), ("os:listdir", "."), ("os:getcwd",)):
                answers = [worker.call(*question) for worker in (taken, other)]
                assert answers[0].kind == "returned" and answers[0] == answers[1]
            assert taken.isolation == other.isolation
    assert not taken.alive


def test_limits_are_those_asked_for_but_for_the_clock_that_ran() -> None:
    with Spares(LIMITS, 1) as spares:
        spares.start()
        for other in ({"cpu_s": 6.0}, {"memory": 2**28}, {"processes": 3}):
            assert spare(dataclasses.replace(LIMITS, **other)) is None  # type: ignore[arg-type]
        taken = spare(dataclasses.replace(LIMITS, wall_s=0.2))
        assert taken is not None
        with taken:
            assert taken.call("time:sleep", 5).kind == "timeout"


def test_those_that_are_left_are_stopped() -> None:
    with Spares(LIMITS, 2) as spares:
        spares.start()
        spares._thread.join()
        left = list(spares._started)
        assert len(left) == 2 and all(map(alive, left))
    assert not any(map(alive, left))
    assert spare(LIMITS) is None


def test_one_that_cannot_be_started_is_no_spare(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> Started:
        raise SandboxError("no", thing="worker")

    monkeypatch.setattr(module, "launch", refused)
    with Spares(LIMITS, 2) as spares:
        spares.start()
        assert spare(LIMITS) is None
    with open_blank(LIMITS) as worker:
        assert worker.call("os:getcwd").value == "/tree"
