"""Statements that never end, in scripts that somebody gives: they cost little and say nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from refute.cli.conform_place import choice_of
from refute.oracles.sql.sqlite import UNFINISHED, SQLite
from refute.verifiers.sql.conform_names import SQLITE
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_oracles import ORACLES
from refute.verifiers.sql.fuzz_processes import team_of
from refute.verifiers.sql.fuzz_run import FuzzRun, Plan, fuzz
from refute.verifiers.sql.fuzz_seeds import SeedScript

ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT {} FROM r"
COUNT = ENDLESS.format("COUNT(*)")
SOUND = """
import sqlite3


def connect():
    return sqlite3.connect(":memory:", isolation_level=None)
"""


def run_on(choice: Choice, *statements: str) -> FuzzRun:
    """A run of a script alone, under all oracles."""
    script = SeedScript("endless", ("CREATE TABLE t(a)", "INSERT INTO t VALUES (1)", *statements))
    return fuzz(Plan(choice, tuple(ORACLES), programs=0, seeds=(script,)))


def test_an_endless_query_is_asked_of_no_engine(tmp_path: Path) -> None:
    (tmp_path / "sound.py").write_text(SOUND)
    # At this limit any statement that does not end would be seen in the time that all of it takes.
    result = run_on(choice_of("sound:connect", "", 60.0, tmp_path), COUNT, "SELECT a FROM t")
    assert result.counts.open[UNFINISHED] == 1
    assert not result.findings and not result.counts.lost and result.counts.held["sqlite"]


def test_what_oracles_make_endless_is_no_finding_and_ends_the_case() -> None:
    query = f"{ENDLESS.format('n')} WHERE n > 3 LIMIT 5"
    result = run_on(Choice(SQLITE, SQLITE, 0.1), query, f"INSERT INTO t {COUNT}", "SELECT a FROM t")
    assert not result.findings and not result.pending and result.stopped == "programs"
    assert result.counts.held["sqlite"] >= 2


class _Endless:
    def do(self, task: Any) -> Any:
        return SQLite(float("inf")).run([task])

    def close(self) -> None:
        print("closed", flush=True)


def test_a_process_in_an_endless_statement_is_ended_without_a_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with team_of(_Endless, 1) as team:
        team.give(COUNT)
        assert not team.ended(0.3)
    said = capfd.readouterr()
    assert (said.out, said.err) == ("closed\n", "")
