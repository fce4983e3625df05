"""A step that never ends, or goes too deep, is an exception of the step on the class as well."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from refute.claim import Verdict
from refute.cli.check import run
from refute.specs.machine.errors import MOST_CALLS, MOST_ROUNDS, Endless
from refute.specs.machine.limited import limited

SPEC = """
from __future__ import annotations
from refute.machine import *

class M(Machine):
    x: Var[bool] = var(False)

    def deep(self, n: int) -> int:
        return 0 if n == 0 else self.deep(n - 1) + 1

    @action
    def step(self) -> None:
        n = 0
        {body}
        self.x = not self.x
"""
BODIES = {
    "ever": ("while True:\n            n = n * 1", Verdict.REFUTED),
    "long": ("while n < 10001:\n            n += 1", Verdict.REFUTED),
    "whole": ("while n < 10000:\n            n += 1", Verdict.EXHAUSTED),
    "deep": ("n = self.deep(400)", Verdict.REFUTED),
    "flat": ("n = self.deep(100)", Verdict.EXHAUSTED),
}


@pytest.mark.parametrize("name", BODIES)
def test_limits_are_the_same_on_the_class(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    body, verdict = BODIES[name]
    (tmp_path / "spec.py").write_text(SPEC.replace("{body}", body))
    code = run([f"{tmp_path}/spec.py:well_defined", "--engine", "plain"])
    assert code == (verdict is Verdict.REFUTED), capfd.readouterr().out


def rounds(n: int) -> int:
    done = 0
    while done < n:
        done += 1
    return done


def broken(n: int) -> int:
    done = 0
    while True:
        done += 1
        if done == n:
            return done


def for_ever() -> None:
    while True:
        sum(range(3))


def nested() -> None:
    while True:
        while 1:
            pass


def fallen(n: int) -> int:
    return fallen(n - 1) if n else 0


def test_rounds_and_calls_are_counted_one_by_one() -> None:
    before = sys.gettrace()
    with limited():
        assert rounds(MOST_ROUNDS) + rounds(MOST_ROUNDS) == 2 * MOST_ROUNDS
        assert broken(MOST_ROUNDS) == MOST_ROUNDS
        assert fallen(MOST_CALLS - 1) == 0
    for raising in (for_ever, nested):
        with pytest.raises(Endless), limited():
            raising()
    for counted in (rounds, broken):
        with pytest.raises(Endless), limited():
            counted(MOST_ROUNDS + 1)
    with pytest.raises(RecursionError), limited():
        fallen(MOST_CALLS)
    assert sys.gettrace() is before
