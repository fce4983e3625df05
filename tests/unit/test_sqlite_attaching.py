"""The embedded SQLite attaches what is in memory, and no file."""

from __future__ import annotations

from pathlib import Path

import pytest

from refute.oracles.sql.sqlite import SQLite


@pytest.mark.parametrize(
    "statement",
    ["VACUUM", "vacuum main;", "ATTACH ':memory:' AS other", " ATTACH DATABASE '' AS other "],
)
def test_databases_in_memory_can_be_attached(statement: str) -> None:
    database = SQLite()
    assert database.answer(statement)[0] == "done"
    assert database.answer("ATTACH 'x.db' AS x")[0] == "error"  # as before


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH '{0}' AS x",
        "ATTACH '' || '{0}' AS x",
        "VACUUM INTO '{0}'",
        "VACUUM main INTO '{0}'",
        "VACUUM; ATTACH '{0}' AS x",
        "ATTACH ':memory:' AS m; ATTACH '{0}' AS x",
        "ATTACH ':memory:' AS m; VACUUM INTO '{0}'",
    ],
)
def test_files_cannot(sql: str, tmp_path: Path) -> None:
    statement = sql.format(tmp_path / "x.db")
    assert SQLite().answer(statement)[0] == "error"
    assert not list(tmp_path.iterdir())
