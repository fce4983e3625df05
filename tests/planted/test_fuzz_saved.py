"""Saved findings: both files fail while the defect is there, and pass once it is gone."""

from __future__ import annotations

import dataclasses
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from refute.cli.conform import run as conform
from refute.cli.conform_place import choice_of
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_plan import Finding
from refute.verifiers.sql.fuzz_saved import kept
from refute.verifiers.sql.fuzz_saved_files import Saver, name_of
from refute.verifiers.sql.fuzz_saved_script import script_text

ENGINE = """
import os
import sqlite3
import time


class Cursor(sqlite3.Cursor):
    def execute(self, sql):
        if os.path.exists("mended"):
            return super().execute(sql)
        if "EXIT" in sql:
            os._exit(3)
        if "HANG" in sql:
            time.sleep(60)
        if "INTERNAL" in sql:
            raise sqlite3.InternalError("internal error: code 7")
        sql = sql.replace("LEFT JOIN", "JOIN").replace("NOT (", "(").replace(" / ", " * 1.0 / ")
        return super().execute(sql.replace("OR FAIL", "OR IGNORE"))


class Connection(sqlite3.Connection):
    def cursor(self):
        return super().cursor(Cursor)


def connect():
    return sqlite3.connect(":memory:", factory=Connection)
"""
SHIM = """
import json
import sqlite3
import sys

database = sqlite3.connect(":memory:", isolation_level=None)
for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    if "execute" in request:
        sql = request["execute"]
        try:
            cursor = database.execute(sql.replace("LEFT", "") if BAD else sql)
            if cursor.description:
                answer["rows"] = [list(row) for row in cursor]
                answer["columns"] = [column[0] for column in cursor.description]
        except sqlite3.Error as error:
            answer["error"] = str(error)
    print(json.dumps(answer), flush=True)
"""
SETUP = (
    "CREATE TABLE v(a INTEGER NOT NULL)",
    "CREATE TABLE t(a INTEGER)",
    "CREATE TABLE u(a INTEGER)",
    "INSERT INTO t VALUES (1), (NULL)",
)
JOIN = "SELECT t.a FROM t LEFT JOIN u ON t.a = u.a"


def finding(*asked: str, oracle: str = "sqlite", kind: str = "wrong") -> Finding:
    return Finding(
        oracle=oracle,
        setup=SETUP,
        query=asked[0],
        asked_setup=SETUP,
        asked=asked,
        expected='SQLite: "(1)" \\ and more',
        observed="no rows",
        why="rows are missing",
        seed=0,
        program=3,
        kind=kind,
        cause="abc",
        title="outer joins",
    )


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(ENGINE)
    return tmp_path


def mine(timeout_s: float = 20.0) -> Choice:
    return choice_of("mine:connect", "sqlite", timeout_s, Path.cwd())


def script(path: str) -> int:
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr or done.returncode == 2
    assert done.stdout.strip() or done.returncode == 2
    return done.returncode


def saved(found: Finding, choice: Choice) -> tuple[str, ...]:
    saver = Saver(choice, Path("found"), "refute fuzz sql --engine mine:connect --repeat")
    paths = saver.save(found)
    assert not saver.notes
    return paths


@pytest.mark.parametrize(
    "found",
    [
        finding(JOIN),
        finding("SELECT 3 / 2, 'it''s', NULL, x'00ff', 1e300"),
        finding("SELECT ' ', '', 3 / 2"),  # a line of one space would end the values
        finding("INSERT OR FAIL INTO v VALUES (NULL)", kind="error"),
        finding(
            "SELECT count(*) FROM t",
            "SELECT a FROM t WHERE a = 1",
            "SELECT a FROM t WHERE NOT (a = 1)",
            "SELECT a FROM t WHERE (a = 1) IS NULL",
            oracle="tlp",
        ),
        finding("SELECT a, 'EXIT' FROM t", oracle="crash", kind="lost: ended"),
        finding("SELECT a, 'INTERNAL' FROM t", oracle="crash", kind="error"),
    ],
    ids=lambda found: found.query[:30],
)
def test_both_files_fail_until_the_engine_is_mended(here: Path, found: Finding) -> None:
    test, alone = saved(found, mine())
    assert "refute" not in Path(alone).read_text().split('"""')[2]
    wrong = ["--engine", "mine:connect", "--as", "sqlite", "--no-reduce"]
    assert conform([test, *wrong]) == 1
    assert script(alone) == 1
    Path("mended").touch()
    assert script(alone) == 0
    assert conform([test]) == 0


def test_a_hang_is_one_in_both_files(here: Path) -> None:
    found = finding("SELECT a, 'HANG' FROM t", oracle="crash", kind="lost: no answer in time")
    test, alone = saved(found, mine(1.0))
    text = Path(alone).read_text().replace("TIMEOUT_S = 5.0", "TIMEOUT_S = 0.3")
    Path(alone).write_text(text)
    assert script(alone) == 1
    Path("mended").touch()
    assert script(alone) == 0
    assert conform([test]) == 0


TLP = (
    "SELECT a FROM t",
    "SELECT a FROM t WHERE a = 1",
    "SELECT a FROM t WHERE NOT (a = 1)",
    "SELECT a FROM t WHERE (a = 1) IS NULL",
)


@pytest.mark.parametrize(
    ("oracle", "asked", "rule"),
    [
        ("tlp", TLP, {"is": "rows", "at": [0], "as": [1, 2, 3]}),
        ("eet", (TLP[2], "SELECT a FROM t WHERE a <> 1"), {"is": "rows", "at": [0], "as": [1]}),
        (
            "norec",
            (TLP[2], "SELECT COUNT(*) FROM t WHERE NOT (a = 1)", "SELECT a, a <> 1 FROM t"),
            {"is": "rows", "at": [0], "as": [2], "holds": True},
        ),
        (
            "norec",
            (TLP[2], "SELECT COUNT(*) FROM t WHERE a <> 1", "SELECT a, a = 1 FROM t"),
            {"is": "count", "at": [0], "as": [1]},
        ),
    ],
)
def test_of_other_dialects_it_is_kept_what_belongs_together(
    here: Path, oracle: str, asked: tuple[str, ...], rule: dict[str, object]
) -> None:
    """SQLite's answer to the same text says nothing there."""
    found = finding(*asked, oracle=oracle)
    case = kept(mine(), found, "duckdb")
    assert case is not None and case.rule == rule
    saver = Saver(dataclasses.replace(mine(), kind="duckdb"), Path("found"), "again")
    *tests, alone = saver.save(found)
    assert script(alone) == 1
    for test in tests:
        assert conform([test, "--engine", "mine:connect", "--as", "sqlite", "--no-reduce"]) == 1
        assert conform([test]) == 0
    Path("mended").touch()
    assert script(alone) == 0
    assert len(tests) == (oracle != "norec")  # whose number no label can stand for
    assert bool(saver.notes) == (oracle == "norec")


def test_a_program_is_played_without_refute(here: Path) -> None:
    Path("shim.py").write_text(f"BAD = 1\n{SHIM}")
    choice = choice_of(f"cmd:{sys.executable} shim.py", "", 20.0, here)
    test, alone = saved(finding(JOIN), choice)
    assert script(alone) == 1
    Path("shim.py").write_text(f"BAD = 0\n{SHIM}")
    assert script(alone) == 0
    assert conform([test, "--engine", choice.engine]) == 0


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "turso", "datafusion"])
def test_drivers_of_packages(here: Path, engine: str) -> None:
    package = "sqlite3" if engine == "sqlite" else engine
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"needs the engine: pip install {'pyturso' if engine == 'turso' else engine}")
    choice = Choice(engine, engine, 20.0)
    right = {"is": "rows", "at": [0], "rows": [["1", "'x'"], ["NULL", "'x'"]]}
    asked = ["SELECT nothing", "SELECT a, 'x' AS b FROM t"]
    Path("right.py").write_text(script_text(choice, ["x"], SETUP, asked, {**right, "at": [1]}))
    assert script("right.py") == 0
    Path("wrong.py").write_text(script_text(choice, [], SETUP, asked, {"is": "error", "at": 1}))
    assert script("wrong.py") == 1


def test_a_library_of_sqlite(here: Path) -> None:
    library = next(iter(Path("/usr/lib").rglob("libsqlite3.so.0")), None)
    if library is None:
        pytest.skip("needs SQLite as a shared library: apt install libsqlite3-0")
    choice = choice_of(f"sqlite:{library}", "", 20.0, here)
    right = {"is": "rows", "at": [0], "rows": [["1", "1.5", "'x'", "x'00'", "NULL"]]}
    asked = ["SELECT 1, 1.5, 'x', x'00', NULL"]
    Path("right.py").write_text(script_text(choice, [], SETUP, asked, {**right, "exact": True}))
    assert script("right.py") == 0
    Path("wrong.py").write_text(
        script_text(choice, [], SETUP, ["SELECT 1.0"], {**right, "exact": True})
    )
    assert script("wrong.py") == 1


def test_an_engine_that_is_not_there_is_no_verdict(here: Path) -> None:
    choice = Choice("nowhere:connect", "x", 5.0, here, (), (".",))
    right = {"is": "answers"}
    Path("absent.py").write_text(script_text(choice, [], [], ["SELECT 1"], right))
    assert script("absent.py") == 2


def test_names_are_those_of_the_case(here: Path) -> None:
    one, other = finding(JOIN), finding("SELECT 1")
    assert name_of(one) == name_of(dataclasses.replace(one, program=9, times=4))
    assert name_of(one) != name_of(other)
    assert name_of(one).startswith("sqlite_outer_joins_")
