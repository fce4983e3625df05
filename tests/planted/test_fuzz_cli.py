"""`refute fuzz sql` as a command: what it finds in planted engines, and what it says of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from refute.cli.fuzz import run
from refute.errors import UsageError

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "refute" / "report" / "fuzz.schema.json").read_text()
)
ENGINE = """
import os
import sqlite3
import sys
import time


class Cursor(sqlite3.Cursor):
    def execute(self, sql):
        return super().execute(changed(sql))


class Connection(sqlite3.Connection):
    def cursor(self):
        return super().cursor(Cursor)


def changed(sql):
    return sql.replace("LEFT JOIN", "JOIN")


def connect():
    return sqlite3.connect(":memory:", factory=Connection)
"""
SEED = """
CREATE TABLE t(a);
INSERT INTO t VALUES (0);
SELECT 0 FROM t LEFT JOIN t AS y ON 0; -- one row
"""
WITHOUT = ["--programs", "0", "--jobs", "1", "--oracle", "sqlite,crash", "--features", "left-join"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(ENGINE)
    (tmp_path / "seed.sql").write_text(SEED)
    return tmp_path


def planted(replacement: str) -> None:
    """Have the engine do something else with each statement."""
    text = ENGINE.replace('return sql.replace("LEFT JOIN", "JOIN")', replacement)
    Path("mine.py").write_text(text)


def fuzz(*args: str, engine: str = "mine:connect") -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON document, which fits its schema."""
    code = run(["sql", "--engine", engine, *WITHOUT, "--json", "run.json", *args])
    made: dict[str, Any] = json.loads(Path("run.json").read_text())
    jsonschema.validate(made, SCHEMA)
    assert made["exit_code"] == code
    return code, made


def test_a_script_that_shows_a_defect(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, made = fuzz("--seed-sql", "seed.sql", "--save", "found", "--write-known", "known.toml")
    text = capsys.readouterr().out
    assert code == 1 and made["decision"] == "refuted"
    [finding] = made["findings"]
    assert "LEFT JOIN" in finding["query"] and finding["program"] < 0
    assert finding["again"] in text and "--seed-sql seed.sql" in finding["again"]
    assert [Path(path).suffix for path in finding["saved"]] == [".test", ".py"]
    assert all(Path(path).exists() and path in text for path in finding["saved"])
    assert "REFUTED\n" in text and "known.toml: 1 entry added" in text

    known = Path("known.toml")
    code, made = fuzz("--seed-sql", "seed.sql", "--known", "known.toml")
    assert code == 1 and made["known"]["unreviewed"] == 1
    known.write_text(known.read_text().replace('"unreviewed"', '"issue 3"'))
    text = capsys.readouterr().out
    code, made = fuzz("--seed-sql", "seed.sql", "--known", "known.toml", "--save", "other")
    assert code == 0 and made["decision"] == "survived except 1 known bug"
    assert made["known"]["suppressed"] == {"known.toml:5": 1}
    assert not Path("other").exists()
    assert "known.toml:5: met" in capsys.readouterr().out


def test_a_program_is_played_again_by_seed_and_number(here: Path) -> None:
    _, first = fuzz("--seed-sql", "seed.sql")
    place = f"0/{first['findings'][0]['program']}"
    args = ["sql", "--engine", "mine:connect", "--oracle", "sqlite", "--seed-sql", "seed.sql"]
    assert run([*args, "--repeat", place, "--json", "again.json"]) == 1
    again = json.loads(Path("again.json").read_text())
    assert [f["cause"] for f in again["findings"]] == [f["cause"] for f in first["findings"]]


def test_a_sound_engine_survives_and_a_run_goes_on(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ["--programs", "1", "--queries", "4", "--resume", "kept"]
    code, made = fuzz(*few, engine="sqlite")
    assert (code, made["decision"], made["next"]) == (0, "survived", 1)
    code, made = fuzz(*few[2:], "--programs", "2", engine="sqlite")
    assert made["counts"]["programs"] == made["next"] == 2
    assert made["counts"]["queries"] == 8
    assert "SURVIVED\n" in capsys.readouterr().out
    with pytest.raises(UsageError, match="seed is 0, not 5"):
        run(["sql", "--engine", "sqlite", *WITHOUT, "--resume", "kept", "--seed", "5"])


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        ("print(sql * 9); return sql", 0, "SURVIVED"),
        ("raise sqlite3.NotSupportedError('nothing here')", 3, "answered no query"),
        ("assert 'LEFT' not in sql; return sql", 1, "AssertionError"),
        ("os._exit(5)", 1, "ended its process"),
    ],
)
def test_engines_that_misbehave_decide_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], change: str, code: int, says: str
) -> None:
    planted(change.replace("; ", "\n    "))
    Path("one.sql").write_text(
        "SELECT 1;\nSELECT 1 FROM (SELECT 1) AS s LEFT JOIN (SELECT 2) AS t ON 1;"
    )
    got, _ = fuzz("--seed-sql", "one.sql", "--timeout", "5s")
    text = capsys.readouterr().out
    assert (got, says in text) == (code, True), text


def test_most_refused_is_said_aloud(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planted("if 'SELECT' in sql: raise sqlite3.NotSupportedError('no SELECT here')\n    return sql")
    code, made = fuzz("--programs", "1", "--queries", "4")
    assert code == 3
    text = capsys.readouterr().out
    assert "MOST STATEMENTS WERE REFUSED" in text and "no SELECT here" in text
    assert any("MOST STATEMENTS" in warning for warning in made["warnings"])


@pytest.mark.parametrize("option", ["--save", "--resume"])
@pytest.mark.parametrize("folder", ["/proc/none/deep", "mine.py/deep", "n" * 300])
def test_a_folder_that_cannot_be_made_is_told_before_the_run(
    here: Path, option: str, folder: str
) -> None:
    before = sorted(here.iterdir())
    with pytest.raises(UsageError, match=option):
        run(["sql", "--engine", "none:connect", option, folder])  # and no engine is looked for
    assert sorted(here.iterdir()) == before


def test_a_folder_is_not_made_for_nothing(here: Path) -> None:
    Path("mine.py").write_text(ENGINE.replace('sql.replace("LEFT JOIN", "JOIN")', "sql"))
    code, _ = fuzz("--seed-sql", "seed.sql", "--save", "deep/er")
    assert code == 0 and not Path("deep").exists()


def test_no_run_has_no_process(here: Path) -> None:
    with pytest.raises(UsageError, match="--jobs: 0 is less than 1"):
        run(["sql", "--engine", "mine:connect", "--jobs", "0"])
