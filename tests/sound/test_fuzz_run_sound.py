"""Engines that are right are not accused by a run with all oracles."""

from __future__ import annotations

from pathlib import Path

import pytest

from refute.cli.conform_place import choice_of
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_asking import BUG
from refute.verifiers.sql.fuzz_oracles import ORACLES
from refute.verifiers.sql.fuzz_run import Plan, fuzz

ENGINE = """
import sqlite3


def connect():
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.execute("PRAGMA reverse_unordered_selects = ON")
    return database
"""


def test_the_embedded_sqlite() -> None:
    plan = Plan(Choice("sqlite", "sqlite", 10.0), tuple(ORACLES), seed=7, programs=12, queries=20)
    run = fuzz(plan)
    assert not run.findings and not run.counts.broken and not run.pending
    assert all(run.counts.held[name] for name in ORACLES), run.counts.held
    assert not [why for why in run.counts.open if BUG in why]


@pytest.mark.parametrize("seed", [1, 2])
def test_one_that_gives_rows_in_another_order(tmp_path: Path, seed: int) -> None:
    (tmp_path / "backwards.py").write_text(ENGINE)
    choice = choice_of("backwards:connect", "", 10.0, tmp_path)
    run = fuzz(Plan(choice, ("sqlite", "crash"), seed=seed, programs=6, queries=30))
    assert not run.findings and not run.counts.broken and run.counts.held["sqlite"] > 100
