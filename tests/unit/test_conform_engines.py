"""Engines have named connections, reconnects and restarts, or say that they have not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from refute.verifiers.sql import conform_worker
from refute.verifiers.sql.conform_engines import open_engine
from refute.verifiers.sql.conform_file import EngineCannot, EngineLost
from refute.verifiers.sql.conform_run import Choice

ENGINES = """
import os
import sqlite3


def shared(database):
    return sqlite3.connect(database, timeout=0)


def nothing():
    return None


def private():
    return sqlite3.connect(":memory:")


def mortal(database=":memory:"):
    made = sqlite3.connect(database, timeout=0)
    made.create_function("die", 0, lambda: os._exit(7))
    return made
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "kinds.py").write_text(ENGINES, encoding="utf-8")
    return tmp_path


def choice(engine: str, tree: Path) -> Choice:
    return Choice(engine, "sqlite", 5.0, tree, ("kinds.py",), (".",))


@pytest.fixture(params=["sqlite", "kinds:shared", "kinds:mortal"])
def engine(request: pytest.FixtureRequest, tree: Path) -> Iterator:
    made = open_engine(choice(request.param, tree))
    made.start(0)
    yield made
    made.close()


def values(answer) -> list:
    assert answer[0] == "rows", answer
    return [value for row in answer[2] for value in row]


def test_connections_see_one_database_and_their_own_transactions(engine) -> None:
    assert engine.can >= {"connections", "restart", "load"}
    assert engine.answer_on("", "CREATE TABLE t(a INTEGER)")[0] == "done"
    assert engine.answer_on("", "INSERT INTO t VALUES (1)")[0] == "done"
    assert values(engine.answer_on("two", "SELECT a FROM t")) == [1]
    assert engine.answer_on("two", "BEGIN")[0] == "done"
    assert engine.answer_on("two", "INSERT INTO t VALUES (2)")[0] == "done"
    assert "locked" in engine.answer_on("", "INSERT INTO t VALUES (3)")[2]
    engine.reconnect("two")
    assert values(engine.answer_on("two", "SELECT a FROM t")) == [1]


def test_restart_keeps_what_is_committed_and_load_goes_elsewhere(engine) -> None:
    engine.answer_on("", "CREATE TABLE t(a INTEGER)")
    engine.answer_on("", "CREATE TEMP TABLE gone(a INTEGER)")
    engine.restart()
    assert values(engine.answer_on("", "SELECT count(*) FROM t")) == [0]
    assert engine.answer_on("", "SELECT * FROM gone")[0] == "error"
    engine.restart("../other one")
    assert engine.answer_on("", "SELECT * FROM t")[0] == "error"
    engine.start(0)
    assert engine.answer_on("", "SELECT * FROM t")[0] == "error"


def test_an_engine_without_a_database_parameter_says_what_it_lacks(tree: Path) -> None:
    engine = open_engine(choice("kinds:private", tree))
    try:
        engine.start(0)
        assert engine.can == frozenset()
        assert values(engine.answer_on("", "SELECT 1")) == [1]
        with pytest.raises(EngineCannot, match="no second connection"):
            engine.answer_on("two", "SELECT 1")
        with pytest.raises(EngineCannot, match="by its name"):
            engine.restart("x")
        with pytest.raises(EngineCannot, match="parameter `database`"):
            engine.restart()
    finally:
        engine.close()


def test_what_has_no_cursor_is_no_connection(tree: Path) -> None:
    engine = open_engine(choice("kinds:nothing", tree))
    try:
        with pytest.raises(EngineLost, match="NoneType, has no method `cursor`"):
            engine.start(0)
    finally:
        engine.close()


def test_a_dead_engine_is_one_answer_and_what_went_before_is_repeated(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conform_worker, "LOSSES", 2)
    engine = open_engine(choice("kinds:mortal", tree))
    try:
        engine.start(0)
        engine.answer_on("", "CREATE TABLE t(a INTEGER)")
        engine.answer_on("two", "INSERT INTO t VALUES (5)")
        engine.restart()
        assert engine.answer_on("two", "SELECT die()")[0] == "lost"
        assert values(engine.answer_on("", "SELECT a FROM t")) == [5]
        assert engine.answer_on("", "SELECT die()")[0] == "lost"
        with pytest.raises(EngineLost, match=r"exit status 7.*lost 3 times"):
            engine.answer_on("", "SELECT die()")
    finally:
        engine.close()
