"""`refute conform` and differences that are expected: what is counted, said and switched off."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from refute.cli.conform import run
from refute.cli.conform_differences import listing
from refute.cli.conform_options import parser
from refute.errors import UsageError
from refute.oracles.sql.differences import DIFFERENCES, switched_off, table
from refute.oracles.sql.transpile.targets import TARGETS, target_of
from refute.report.conform import file_lines
from refute.verifiers.sql.conform_excuses import Excuses
from refute.verifiers.sql.conform_file import Embedded, FileResult, Run, run_file
from refute.verifiers.sql.conform_names import DIALECTS
from refute.verifiers.sql.conform_transpile import Transpiling

DOCS = Path(__file__).parent.parent.parent / "docs" / "conform.md"
FILE = textwrap.dedent("""\
    statement ok
    CREATE TABLE t(a INTEGER, b INTEGER)

    statement ok
    INSERT INTO t VALUES (1, 5), (2, 5), (3, 6)

    query I nosort
    SELECT a FROM t
    ----
    1
    2
    3

    query I nosort same
    SELECT a FROM t ORDER BY b
    ----
    1
    2
    3

    query I nosort same
    SELECT a FROM t ORDER BY b, a
    ----
    1
    2
    3

    statement ok
    CREATE TABLE u(x, y INTEGER)

    query I nosort
    SELECT y FROM u
    ----

    statement ok
    DROP TABLE u

    query I nosort
    SELECT 7 / 2
    ----
    3
    """)
ENGINE = '''
import sqlite3

class Cursor(sqlite3.Cursor):
    """Rows come last first, but for ORDER BY; then two are exchanged if they are {what}."""

    def execute(self, sql, *rest):
        self.sql = sql
        return super().execute(sql, *rest)

    def fetchall(self):
        rows = super().fetchall()
        if "ORDER BY" not in self.sql:
            return rows[::-1]
        return rows[:{at}] + rows[{at}:{at} + 2][::-1] + rows[{at} + 2:]

class Connection(sqlite3.Connection):
    def cursor(self):
        return super().cursor(Cursor)

def connect():
    return sqlite3.connect(":memory:", factory=Connection)
'''


class Backwards(Embedded):
    """SQLite, but rows come last first, and what it was asked is kept."""

    def __init__(self) -> None:
        super().__init__(30.0)
        self.heard: list[str] = []

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        self.heard += statements
        for answer in super().answers(statements):
            yield (*answer[:2], answer[2][::-1]) if answer[0] == "rows" else answer


def result_of(transpile: str, excuses: Excuses | None, engine: Embedded) -> FileResult:
    made: Any = Transpiling(engine, transpile) if transpile else engine
    return run_file(Run(made, "sqlite", excuses=excuses), "f.test", FILE.encode(), 0)


def test_an_order_that_is_open_is_counted_and_nothing_else() -> None:
    result = result_of("", Excuses("", False, frozenset()), Backwards())
    assert result.differences == {"row-order": [7]}
    assert [f.line for f in result.failures] == [14, 21]  # backwards under ORDER BY
    assert (result.run, result.inexpressible) == (9, {})


def test_a_class_that_is_switched_off_excuses_nothing() -> None:
    excuses = Excuses("", False, switched_off(["row-order"]))
    result = result_of("", excuses, Backwards())
    assert result.differences == {}
    assert [f.line for f in result.failures] == [7, 14, 21]


def test_what_cannot_be_said_is_not_asked_and_not_run() -> None:
    engine = Backwards()
    result = result_of("postgresql", None, engine)
    assert result.inexpressible == {"untyped column": [28, 35], "after: untyped column": [31]}
    assert result.run == 6
    assert not any('"u"' in text for text in engine.heard)
    assert any("CAST(7 AS BIGINT) / " in text for text in engine.heard)
    failed = {f.line: f for f in result.failures}
    assert 'ORDER BY "b" NULLS FIRST' in failed[14].asked and failed[14].sql in FILE
    lines = file_lines(result)
    at = next(i for i, line in enumerate(lines) if line.startswith("f.test:14: "))
    assert lines[at + 1] == "    record: SELECT a FROM t ORDER BY b"
    assert lines[at + 2] == f"    asked: {failed[14].asked}"


def test_a_label_keeps_what_the_file_expects() -> None:
    class Swapped(Backwards):
        def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
            for sql, answer in zip(statements, Embedded.answers(self, statements), strict=True):
                tied = sql.endswith("ORDER BY b")
                yield (*answer[:2], [(2,), (1,), (3,)]) if tied else answer

    result = result_of("", Excuses("", False, frozenset()), Swapped())
    assert (result.differences, result.failures) == ({"ties": [14]}, [])


def test_of_two_queries_with_a_label_the_second_may_be_the_right_one() -> None:
    class Short(Embedded):
        def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
            for sql, answer in zip(statements, super().answers(statements), strict=True):
                yield (*answer[:2], answer[2][1:]) if sql.endswith("NOT 0") else answer

    excuses = Excuses("", False, frozenset())
    for sort in ("rowsort", "valuesort"):
        text = f"query I {sort} same\nSELECT 3 WHERE NOT 0\n\nquery I {sort} same\nSELECT 3\n"
        run = Run(Short(5.0), "x", excuses=excuses)
        result = run_file(run, "f.test", text.encode(), 0)
        assert [failure.line for failure in result.failures] == [4]
        assert result.differences == {}


@pytest.mark.parametrize(("at", "code"), [(0, 0), (1, 1)])
def test_the_command_says_what_differs(
    at: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.test").write_text(FILE.replace("ORDER BY b, a", "ORDER BY b, a + 0"))
    (tmp_path / "tied.py").write_text(ENGINE.replace("{at}", str(at)).replace("{what}", "there"))
    file = tmp_path / "f.test"
    file.write_text("\n\n".join(file.read_text().split("\n\n")[:4]) + "\n")
    given = ["f.test", "--engine", "tied:connect", "--json", "out.json"]
    assert run(given) == code
    out = capsys.readouterr().out
    assert "expected differences in " in out and "row-order 1" in out
    [written] = json.loads((tmp_path / "out.json").read_text())["files"]
    assert written["differences"] == {"row-order": [7]} | ({} if code else {"ties": [14]})
    assert run([*given, "--no-difference", "all"]) == 1


REFUSING = """
import sqlite3

class Cursor(sqlite3.Cursor):
    def execute(self, sql, *rest):
        if "GLOB" in sql:
            raise sqlite3.OperationalError("GLOB is not supported")
        return super().execute(sql.replace("a = 8", "a = 1"), *rest)

class Connection(sqlite3.Connection):
    def cursor(self):
        return super().cursor(Cursor)

def connect():
    return sqlite3.connect(":memory:", factory=Connection)
"""


def test_what_follows_from_what_was_refused_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "narrow.py").write_text(REFUSING)
    records = [
        "statement ok\nCREATE TABLE t(a INTEGER)",
        "statement ok\nINSERT INTO t VALUES (1), (2)",
        "statement ok\nDELETE FROM t WHERE a GLOB '2'",
        "query I\nSELECT count(*) FROM t\n----\n1",
        "statement ok\nINSERT INTO t VALUES (5)",
        "query I rowsort\nSELECT a FROM t\n----\n1\n5",
        "query I\nSELECT sum(a) FROM t WHERE a = 7\n----\nNULL",
    ]
    (tmp_path / "f.test").write_text("\n\n".join(records) + "\n")
    given = ["f.test", "--engine", "narrow:connect", "--json", "out.json"]
    assert run(given) == 3  # a record was not asked
    [file] = json.loads((tmp_path / "out.json").read_text())["files"]
    assert list(file["inexpressible"].values()) == [[7]]
    assert file["differences"] == {"after-difference": [10, 18]}
    (tmp_path / "narrow.py").write_text(REFUSING.replace("a = 8", "a = 7"))
    assert run(given) == 1
    [file] = json.loads((tmp_path / "out.json").read_text())["files"]
    assert [failure["line"] for failure in file["failures"]] == [24]
    assert run([*given, "--no-difference", "after-difference"]) == 1
    [file] = json.loads((tmp_path / "out.json").read_text())["files"]
    assert [failure["line"] for failure in file["failures"]] == [10, 18, 24]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--no-difference", "colour"], "there is no class of difference 'colour'"),
        (["--transpile", "oracle"], "statements cannot be written for 'oracle'"),
        (["--transpile", "--engine", "json:loads"], "statements cannot be written for 'json'"),
    ],
)
def test_wrong_words_are_told(given: list[str], words: str, tmp_path: Path) -> None:
    file = tmp_path / "f.test"
    file.write_text(FILE)
    with pytest.raises(UsageError, match=words) as told:
        run([str(file), *given])
    assert told.value.possible and told.value.next_step


@pytest.mark.parametrize(
    ("given", "dialect", "files"),
    [
        (["--transpile", "tests/a.test"], "auto", ["tests/a.test"]),
        (["--transpile", "b", "a.test"], "auto", ["b", "a.test"]),
        (["--transpile", "-"], "auto", ["-"]),
        (["--transpile", "MySQL", "a.test"], "MySQL", ["a.test"]),
        (["a.test", "--transpile", "oracle"], "oracle", ["a.test"]),
        (["--transpile=b", "a.test"], "b", ["a.test"]),
        (["a.test", "--transpile"], "auto", ["a.test"]),
        (["a.test", "--transpile", "--jobs", "1"], "auto", ["a.test"]),
        (["a.test"], "", ["a.test"]),
    ],
)
def test_transpile_takes_a_dialect_and_no_file(
    given: list[str], dialect: str, files: list[str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b").mkdir()
    read = parser().read(given)
    assert (read.transpile, read.files) == (dialect, files)


def test_all_dialects_can_be_named() -> None:
    assert {target_of(name).name for name in DIALECTS} == set(TARGETS)


def test_the_page_has_the_table_of_classes() -> None:
    text = DOCS.read_text(encoding="utf-8")
    missing = [
        name
        for name, engines, meaning, test in table()
        if f"| `{name}` | {engines} | {meaning} | {test} |" not in text
    ]
    assert missing == []
    assert all(name in listing() for name in DIFFERENCES)
