"""Engines that would be excused for what they say of themselves: none of them may pass."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from refute.cli.conform import run
from refute.verifiers.sql.conform_excuses import Excuses
from refute.verifiers.sql.conform_file import Embedded, Run, run_file
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


GROUPED = """\
statement ok
CREATE TABLE t(a TEXT COLLATE NOCASE, b INTEGER)

statement ok
INSERT INTO t VALUES ('x', 10), ('X', 11), ('y', 20), ('y', 21), (NULL, 30)

query {types} rowsort
{query}
----
{expected}
"""


class Choosing(Embedded):
    """SQLite, but for the rows of queries that group."""

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        super().__init__(5.0)
        self.rows = rows

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        for sql, answer in zip(statements, super().answers(statements), strict=True):
            yield (*answer[:2], self.rows) if "GROUP BY" in sql else answer


PLAIN = "SELECT b FROM t GROUP BY a"
COUNTED = "SELECT b, count(*) FROM t GROUP BY a"


@pytest.mark.parametrize(
    ("query", "rows", "right"),
    [
        (PLAIN, [(11,), (20,), (30,)], True),
        (PLAIN, [(30,), (21,), (11,)], True),
        (PLAIN, [(10,), (11,), (30,)], False),  # a group is lost, another one there twice
        (PLAIN, [(10,), (10,), (10,)], False),
        (PLAIN, [(20,), (21,), (11,)], False),
        ("SELECT b FROM t GROUP BY upper(a)", [(10,), (11,), (30,)], False),
        ("SELECT b + 1 AS c FROM t GROUP BY 1 + length(a)", [(12,), (31,)], True),
        ("SELECT b + 1 AS c FROM t GROUP BY 1 + length(a)", [(12,), (22,)], False),
        (COUNTED, [(11, 2), (21, 2), (30, 1)], True),
        (COUNTED, [(11, 2), (10, 2), (30, 1)], False),
        (COUNTED, [(20, 2), (30, 2), (11, 1)], False),
    ],
)
def test_a_bare_column_takes_one_row_of_each_group(
    query: str, rows: list[tuple[Any, ...]], right: bool
) -> None:
    found = Choosing(rows)
    types = "I" * len(rows[0])
    plain = Embedded(5.0)
    plain.start(0)
    setup = [part.split("\n", 1)[1] for part in GROUPED.split("\n\n")[:2]]
    *_, expected = plain.answers([*setup, query])
    lines = [str(v) for row in sorted(expected[2], key=lambda r: list(map(str, r))) for v in row]
    text = GROUPED.format(types=types, query=query, expected="\n".join(lines))
    wanted = Run(found, "it", excuses=Excuses("", False, frozenset()))
    result = run_file(wanted, "f.test", text.encode(), 0)
    assert [f.line for f in result.failures] == ([] if right else [7])
    assert result.differences == ({"bare-column": [7]} if right else {})
