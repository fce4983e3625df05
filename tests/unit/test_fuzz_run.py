"""The run of the SQL fuzzer: the same on any number of processes, and honest about what it did."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refute.errors import UnreadableInput, UsageError
from refute.verifiers.sql import fuzz_run
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_run import Counts, Plan, fuzz
from refute.verifiers.sql.fuzz_seeds import SeedScript
from refute.verifiers.sql.fuzz_worker import Bench, Unit

PLAN = Plan(Choice("sqlite", "sqlite", 10.0), ("sqlite", "crash"), programs=4, queries=15)


def told(counts: Counts) -> dict[str, object]:
    """Counts without the time they took."""
    return dataclasses.replace(counts, cpu_s=0.0).to_json()


def test_as_many_queries_are_asked_as_were_planned() -> None:
    run = fuzz(PLAN)
    assert run.stopped == "programs" and not run.findings and run.next == 4
    assert run.counts.queries >= 60 and run.counts.compared > 0.8 * run.counts.queries


def test_the_number_of_processes_changes_nothing() -> None:
    one, two = fuzz(PLAN), fuzz(dataclasses.replace(PLAN, jobs=2))
    assert told(one.counts) == told(two.counts)


def test_counts_come_back_from_plain_data() -> None:
    counts = fuzz(PLAN).counts
    assert Counts.from_json(counts.to_json()) == counts


def test_an_oracle_that_is_not_there() -> None:
    with pytest.raises(UsageError) as caught:
        fuzz(dataclasses.replace(PLAN, oracles=("truth",)))
    assert "norec" in caught.value.possible


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole = fuzz(dataclasses.replace(PLAN, programs=3))
    fuzz(dataclasses.replace(PLAN, programs=1), state=tmp_path)
    rest = fuzz(dataclasses.replace(PLAN, programs=3), state=tmp_path)
    assert told(rest.counts) == told(whole.counts) and rest.next == 3


def test_a_run_goes_on_only_as_itself(tmp_path: Path) -> None:
    fuzz(dataclasses.replace(PLAN, programs=1), state=tmp_path)
    with pytest.raises(UsageError, match="its seed is 0, not 1"):
        fuzz(dataclasses.replace(PLAN, seed=1), state=tmp_path)


def test_only_one_run_goes_on_in_a_directory(tmp_path: Path) -> None:
    other = (
        "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX);"
        "print('held', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", other, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        with pytest.raises(UsageError, match="another run goes on there"):
            fuzz(PLAN, state=tmp_path)
        process.kill()
    assert fuzz(dataclasses.replace(PLAN, programs=1), state=tmp_path).stopped == "programs"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "refute.fuzz-state/1"}', "[" * 10**5])
def test_a_state_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(UnreadableInput, match="cannot go on"):
        fuzz(PLAN, state=tmp_path)


def test_scripts_are_asked_first_and_then_their_databases() -> None:
    script = SeedScript("given", ("CREATE TABLE u (a INTEGER)", "SELECT a FROM u"))
    run = fuzz(dataclasses.replace(PLAN, seeds=(script,), programs=0))
    assert run.counts.programs == 1 and run.counts.queries == 1
    more = fuzz(dataclasses.replace(PLAN, seeds=(script,), programs=2))
    assert more.counts.programs == 3 and more.counts.queries == 31


class Here:
    """A team of one that works in this process; its engine is gone from the third program on."""

    def __init__(self, opened: Callable[[], Bench], jobs: int) -> None:
        self._bench = opened()
        self._tasks: list[Any] = []
        self._units = 0

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        self._bench.close()

    @property
    def room(self) -> bool:
        return not self._tasks

    def give(self, task: Any) -> None:
        self._tasks.append(task)

    def ended(self, wait_s: float) -> list[tuple[Any, Any]]:
        tasks, self._tasks = self._tasks, []
        return [(task, self._came(task)) for task in tasks]

    def _came(self, task: Any) -> Any:
        self._units += isinstance(task, Unit)
        return UsageError("no server answers") if self._units > 2 else self._bench.do(task)


def test_an_engine_that_was_there_and_has_gone_keeps_what_was_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fuzz_run, "team_of", Here)
    run = fuzz(dataclasses.replace(PLAN, programs=None))
    assert run.stopped == "engine gone" and "no server answers" in " ".join(run.notes)
    assert run.counts.programs == 2 and run.counts.compared > 0
