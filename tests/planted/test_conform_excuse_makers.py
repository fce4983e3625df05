"""Engines that would be excused for what they say of themselves: none of them may pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from refute.cli.conform import run
from refute.verifiers.sql.conform_run import Choice

FILE = """\
statement ok
CREATE TABLE t(a INTEGER)

statement ok
INSERT INTO t VALUES (3), (4)

query I
SELECT max(a) / (min(a) - 3) FROM t
----
NULL
"""
ENGINE = """\
import sqlite3

MESSAGE = {!r}


class Cursor(sqlite3.Cursor):
    def fetchall(self):
        raise sqlite3.DatabaseError(MESSAGE)


class Connection(sqlite3.Connection):
    def cursor(self):
        return super().cursor(Cursor)


def connect():
    return sqlite3.connect(":memory:", factory=Connection)
"""


def made(engine: str, message: str, *options: str) -> tuple[int, list[str], dict[str, list[int]]]:
    """Exit code, reasons, and what was left out, of an engine that fails with a message."""
    Path("excuses.test").write_text(FILE)
    Path(engine.partition(":")[0] + ".py").write_text(ENGINE.format(message))
    code = run(["excuses.test", "--engine", engine, "--no-reduce", "--json", "out.json", *options])
    written = json.loads(Path("out.json").read_text())
    return code, written["reasons"], written["files"][0]["inexpressible"]


def test_what_an_engine_says_it_has_not_is_not_established(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, reasons, left_out = made("modest:connect", "not supported")
    assert (code, left_out) == (3, {"unsupported: not supported": [7]})
    assert reasons == ["1 record not run, as the engine says it does not support that"]
    assert made("modest:connect", "not supported", "--no-difference", "unsupported")[0] == 1


@pytest.mark.parametrize("options", [[], ["--as", "postgresql"]])
def test_a_name_gets_no_other_engines_differences(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert made("postgresql:connect", "division by zero", *options)[0] == 1
    excuses = Choice("postgresql://h/", "x", 1.0).excuses()
    assert excuses is not None and excuses.engine == "postgresql"
    for engine in ("cmd:./postgresql", "postgresql:connect", "cmd:postgresql://h/"):
        excuses = Choice(engine, "postgresql", 1.0, kind="postgresql").excuses()
        assert excuses is not None and excuses.engine == ""
