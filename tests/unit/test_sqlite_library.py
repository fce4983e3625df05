"""`sqlite:PATH`: an SQLite library answers through `ctypes` as Python's own SQLite does."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from refute.cli.conform_place import choice_of
from refute.errors import UsageError
from refute.oracles.sql.sqlite import SQLite
from refute.verifiers.sql.conform_engine import Engine
from refute.verifiers.sql.conform_engines import open_engine
from refute.verifiers.sql.conform_library import library_of, needed
from refute.verifiers.sql.conform_names import is_library, name_of
from refute.verifiers.sql.conform_run import Choice

ROOT = Path(__file__).parents[2]
MAPS = Path("/proc/self/maps")


def own_library() -> Path:
    """The shared library that Python's `sqlite3` is linked to."""
    sqlite3.connect(":memory:").close()
    lines = MAPS.read_text(encoding="utf-8").splitlines() if MAPS.exists() else []
    for path in sorted({line.split(maxsplit=5)[5] for line in lines if "libsqlite3" in line}):
        return Path(path)
    pytest.skip("this Python has SQLite built in: use one that is linked to libsqlite3.so")


@contextlib.contextmanager
def started(path: Path, timeout_s: float = 20.0) -> Iterator[Engine]:
    engine = open_engine(Choice(f"sqlite:{path}", "sqlite", timeout_s))
    try:
        engine.start(0)
        yield engine
    finally:
        engine.close()


STATEMENTS = [
    "SELECT NULL, 1, -9223372036854775808, 2.5, 1e999, -0.0, 0.1, 'é', '', x'00ff', x''",
    "SELECT 'a' || char(0) || 'b', CAST(x'ff41' AS TEXT), CAST(x'eda080' AS TEXT), 1 AS \"é\"",
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b UNIQUE, c NOT NULL DEFAULT 7)",
    "INSERT INTO t(a, b) VALUES (1, 'x'), (2, 'y')",
    "INSERT INTO t(a, b) VALUES (1, 'z')",
    "INSERT INTO t(a, b, c) VALUES (3, 'z', NULL)",
    "INSERT INTO t(a) VALUES ('no integer')",
    "UPDATE t SET c = 8",
    "WITH w AS (SELECT 1) DELETE FROM t WHERE a > 1",
    "SELECT * FROM t AS q",
    "SELECT * FROM t WHERE 0",
    "SELECT no_column FROM t",
    "SELEC",
    "SELECT 'a",
    "SELECT abs(-9223372036854775808)",
    "SELECT 1; SELECT 2 AS two;",
    "SELECT 1; SELEC; SELECT 3",
    "SELECT 4; -- no more",
    "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET c = 9; SELECT 1; END; SELECT 5",
    "",
    "-- nothing",
    "PRAGMA foreign_keys = 1",
    "PRAGMA integrity_check",
    "ATTACH 'other.db' AS other",
    "ATTACH ':memory:' AS two",
    "CREATE TABLE two.t(a)",
    "VACUUM",
    "SELECT length(zeroblob(200000000))",
    "SELECT 1 WHERE 1 = ?",
    "BEGIN",
    "COMMIT",
    "COMMIT",
]


def test_every_answer_is_that_of_pythons_sqlite() -> None:
    with started(own_library()) as engine:
        assert engine.version.startswith(f"SQLite {sqlite3.sqlite_version}")
        given = list(engine.answers(STATEMENTS))
        expected = SQLite().run(STATEMENTS)
        differ = [
            (statement, left, right)
            for statement, left, right in zip(STATEMENTS, given, expected, strict=True)
            if repr(left) != repr(right)
        ]
        assert differ == []
        assert {answer[0] for answer in given} == {"rows", "done", "error"}


def test_what_is_compiled_in_is_told() -> None:
    database = sqlite3.connect(":memory:")
    options = {row[0] for row in database.execute("PRAGMA compile_options")}
    database.close()
    with started(own_library()) as engine:
        has = engine.version.partition(" with ")[2].split(", ")
        for module in ("fts5", "rtree"):
            assert (module in has) == (f"ENABLE_{module.upper()}" in options)


def test_a_slow_statement_is_ended_and_its_connection_goes_on() -> None:
    slow = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT sum(x) FROM c"
    with started(own_library(), 0.2) as engine:
        answers = list(engine.answers(["CREATE TEMP TABLE t(a)", slow, "SELECT count(*) FROM t"]))
        assert [answer[0] for answer in answers] == ["done", "lost", "rows"]
        assert "was ended" in answers[1][1]


def test_it_has_connections_and_databases_by_name() -> None:
    with started(own_library()) as engine:
        engine.answer_on("", "CREATE TABLE t(a)")
        engine.answer_on("two", "INSERT INTO t VALUES (7)")
        assert engine.answer_on("", "SELECT a FROM t")[2] == [[7]]
        engine.answer_on("two", "BEGIN IMMEDIATE")
        assert "locked" in engine.answer_on("", "INSERT INTO t VALUES (8)")[2]
        engine.restart()
        assert engine.answer_on("two", "SELECT a FROM t")[2] == [[7]]
        engine.restart("other")
        assert engine.answer_on("", "SELECT a FROM t")[0] == "error"


def test_a_library_that_needs_one_beside_it_is_loaded(tmp_path: Path) -> None:
    """As in wheels, whose libraries name others that the system's loader does not find."""
    compiler = shutil.which("cc")
    if compiler is None or not Path("/usr/include/sqlite3.h").exists():
        pytest.skip("no C compiler with SQLite's header: apt-get install gcc libsqlite3-dev")
    (tmp_path / "beside.c").write_text("int beside(void) { return 1; }\n", encoding="utf-8")
    (tmp_path / "top.c").write_text("int beside(void); int top(void) { return beside(); }\n")
    for arguments in (
        ["beside.c", "-o", "libbeside-1.so", "-Wl,-soname,libbeside-1.so"],
        ["top.c", "-o", "libtop.so", "-L.", "-l:libbeside-1.so", "-l:libsqlite3.so.0"],
    ):
        command = [compiler, "-shared", "-fPIC", "-Wl,--no-as-needed", *arguments]
        if subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode:
            pytest.skip("the C compiler cannot link to libsqlite3: apt-get install libsqlite3-dev")
    assert needed(tmp_path / "libtop.so") == ["libbeside-1.so"]
    with started(tmp_path / "libtop.so") as engine:
        assert next(iter(engine.answers(["SELECT 1"])))[2] == [[1]]


def test_what_is_no_library_of_sqlite_is_told(tmp_path: Path) -> None:
    header = Path(sys.executable).resolve().read_bytes()[:20]
    (tmp_path / "text.so").write_text("SELECT 1")
    (tmp_path / "cut.so").write_bytes(header)
    foreign = bytearray(header)
    foreign[18] ^= 0x55
    (tmp_path / "foreign.so").write_bytes(foreign)
    for name, why in (
        ("none.so", "does not exist"),
        (".", "is a directory"),
        ("text.so", "is no shared library"),
        ("foreign.so", "another architecture"),
    ):
        with pytest.raises(UsageError, match=why) as raised:
            library_of(f"sqlite:{name}", tmp_path)
        assert raised.value.next_step and raised.value.value == f"sqlite:{name}"
    with (
        pytest.raises(UsageError, match="no library of SQLite that can be loaded"),
        started(tmp_path / "cut.so"),
    ):
        pass


def test_a_library_of_something_else_is_told() -> None:
    libraries = {line.split(maxsplit=5)[5] for line in MAPS.read_text().splitlines() if "/" in line}
    [libc] = [path for path in libraries if path.rpartition("/")[2].startswith("libc.so")]
    with (
        pytest.raises(UsageError, match="has no function sqlite3_open_v2"),
        started(Path(libc)),
    ):
        pass


def test_a_path_has_a_slash_or_a_dot() -> None:
    assert is_library("sqlite:libsqlite3.so.0") and is_library("sqlite:old/lib")
    assert not is_library("sqlite:connect") and not is_library("sqlite")
    assert name_of("sqlite:old/libsqlite3-81f1c9bf.so.0.8.6") == "sqlite"
    made = choice_of("sqlite:old/lib", "", 1.0, ROOT)
    assert (made.name, made.tree, made.files) == ("sqlite", ROOT, ())


def test_a_database_begun_again_is_empty_whatever_was_there() -> None:
    with started(own_library()) as engine:
        for _ in range(3):
            assert engine.answer_on("", "CREATE TABLE t(a)") == ["done"]
            assert engine.answer_on("two", "INSERT INTO t VALUES (7)")[0] == "done"
            engine.restart("other")
            assert engine.answer_on("", "CREATE TABLE u(a)") == ["done"]
            engine.again()
            assert (
                list(engine.answers(["CREATE TABLE t(a)", "CREATE TABLE u(a)"])) == [["done"]] * 2
            )
            engine.again()
