"""Engines of another dialect: a wrong one is found, and the engine as it is, is not accused."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from refute.cli.conform_place import choice_of
from refute.verifiers.sql.fuzz_run import FuzzRun, Plan, fuzz

ENGINE = """
import duckdb


class Wrong:
    def __init__(self, cursor):
        self._cursor = cursor

    def cursor(self):
        return Wrong(self._cursor.cursor())

    def execute(self, sql):
        self._cursor.execute(sql{code})

    def __getattr__(self, name):
        return getattr(self._cursor, name)


def connect():
    return Wrong(duckdb.connect(config={{"threads": 1}}))
"""
FEATURES = frozenset(
    {"left-join", "inner-join", "order-by", "limit", "distinct", "aggregate", "group-by", "case"}
    | {"in-list", "between", "is", "functions", "index", "untyped", "collate", "rowid", "trigger"}
)


def run_on(folder: Path, code: str, programs: int, *features: str) -> FuzzRun:
    pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install duckdb")
    (folder / "wrong.py").write_text(ENGINE.format(code=code))
    choice = dataclasses.replace(choice_of("wrong:connect", "", 10.0, folder), kind="duckdb")
    chosen = frozenset(features) or FEATURES
    return fuzz(Plan(choice, ("sqlite",), programs=programs, queries=12, features=chosen))


def test_wrong_rows_are_found_across_dialects(tmp_path: Path) -> None:
    run = run_on(tmp_path, '.replace(" NULLS FIRST", " NULLS LAST")', 1, "order-by")
    assert run.findings
    assert all(f.oracle == "sqlite" and f.confirmed for f in run.findings)
    assert all('"' in f.asked[0] for f in run.findings), "it is shown what the engine was asked"


def test_the_engine_as_it_is_is_not_accused_and_answers_most(tmp_path: Path) -> None:
    run = run_on(tmp_path, "", 4)
    counts = run.counts
    assert run.findings == ()
    assert counts.held["sqlite"] >= 0.7 * counts.queries >= 30
    told = counts.features_refused
    assert {"untyped", "collate", "rowid", "trigger"} <= set(told)
    assert all(told[name] for name in told)
