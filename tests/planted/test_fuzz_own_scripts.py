"""Scripts for an engine of another dialect are asked as they stand, and their bugs are found."""

from __future__ import annotations

import dataclasses
import importlib.util
from pathlib import Path

import pytest

from refute.oracles.sql.partial.own import own_text, own_tree
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_plan import Plan
from refute.verifiers.sql.fuzz_seeds import SeedScript
from refute.verifiers.sql.fuzz_worker import Bench, Done, Unit

SCRIPT = (
    "CREATE TABLE t (a INTEGER, b INTEGER[])",
    "INSERT INTO t VALUES (1, [1]), (2, [2]), (NULL, NULL)",
    "INSERT INTO t VALUES (1 / 'x')",
    "SELECT a FROM t WHERE (a::VARCHAR) <> '2'",
)
ENGINE = """
import duckdb


class Cursor:
    def __init__(self, made):
        self.made = made

    def execute(self, sql):
        self.made.execute(sql)
        self.lost = "NOT (" in sql and {wrong}

    def fetchall(self):
        rows = self.made.fetchall()
        return rows[1:] if self.lost else rows

    def __getattr__(self, name):
        return getattr(self.made, name)


class Connection:
    def __init__(self):
        self.database = duckdb.connect(":memory:")

    def cursor(self):
        return Cursor(self.database.cursor())

    def close(self):
        self.database.close()


def connect():
    return Connection()
"""


def asked(tmp_path: Path, *, wrong: bool) -> Done:
    if importlib.util.find_spec("duckdb") is None:
        pytest.skip("duckdb is not installed: pip install duckdb")
    text = ENGINE.replace("{wrong}", str(wrong))
    (tmp_path / "engine.py").write_text(text, encoding="utf-8")
    choice = Choice("engine:connect", "duckdb", 20.0, tmp_path, ("engine.py",), (".",))
    choice = dataclasses.replace(choice, kind="duckdb")
    bench = Bench(Plan(choice, ("sqlite", "tlp", "norec"), seeds=(SeedScript("script", SCRIPT),)))
    try:
        return bench.unit(Unit(-1, frozenset()))
    finally:
        bench.close()


def test_a_script_with_words_of_its_own_is_asked_as_it_stands(tmp_path: Path) -> None:
    own = [failure for failure in asked(tmp_path, wrong=True).failures if failure.own]
    assert {failure.oracle for failure in own} == {"tlp"}
    assert own[0].setup == own[0].asked_setup == SCRIPT[:-1]
    assert own[0].query == SCRIPT[-1]
    assert any("NOT (" in sql for sql in own[0].asked)


def test_an_engine_that_is_right_is_spared_and_compared(tmp_path: Path) -> None:
    done = asked(tmp_path, wrong=False)
    assert not done.failures
    assert done.counts.held["tlp"] >= 1 and done.counts.held["norec"] >= 1


def test_a_statement_is_asked_as_it_came_until_it_is_changed() -> None:
    tree = own_tree("select a::BOOL  from t", "duckdb")
    assert own_text(tree, "duckdb") == "select a::BOOL  from t"
    assert own_text(tree.copy(), "duckdb") == "SELECT CAST(a AS BOOLEAN) FROM t"
    nonsense = own_tree("SELEC (", "duckdb")
    assert own_text(nonsense, "duckdb") == "SELEC ("
