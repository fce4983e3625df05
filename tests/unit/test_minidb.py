"""minidb by itself: the interface of PEP 249, what it refuses, and what failed statements leave."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "minidb"
sys.path.insert(0, str(EXAMPLE))

import minidb  # noqa: E402
from minidb.affinity import Affinity, affinity_of_type, cast, stored  # noqa: E402
from minidb.connection import Connection  # noqa: E402
from minidb.values import real_text, to_integer  # noqa: E402


@pytest.fixture
def connection() -> Connection:
    """A database with one table of three rows, committed."""
    connection = minidb.connect()
    connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT UNIQUE, n INTEGER)")
    connection.execute("INSERT INTO t VALUES(1, 'a', 10), (2, 'b', NULL), (3, NULL, 30)")
    connection.commit()
    return connection


def rows(connection: Connection, sql: str = "SELECT * FROM t ORDER BY id") -> Any:
    """All rows of a query."""
    return connection.execute(sql).fetchall()


def test_a_cursor_gives_rows_one_by_one_in_part_or_all(connection: Connection) -> None:
    cursor = connection.cursor()
    assert cursor.execute("SELECT id FROM t ORDER BY id").fetchone() == (1,)
    assert cursor.fetchmany() == [(2,)]
    assert cursor.fetchall() == [(3,)]
    assert (cursor.fetchone(), cursor.fetchmany(5), cursor.fetchall()) == (None, [], [])
    assert list(cursor.execute("SELECT 1 UNION ALL SELECT 2")) == [(1,), (2,)]


def test_description_names_the_columns_and_is_none_without_rows(
    connection: Connection,
) -> None:
    cursor = connection.execute('SELECT id, n AS "a b", t.name FROM t WHERE 0')
    assert [column[0] for column in cursor.description or ()] == ["id", "a b", "name"]
    assert {len(column) for column in cursor.description or ()} == {7}
    assert connection.execute("DELETE FROM t").description is None


def test_rowcount_and_lastrowid_tell_what_was_changed(connection: Connection) -> None:
    cursor = connection.execute("INSERT INTO t(name) VALUES('x'), ('y')")
    assert (cursor.rowcount, cursor.lastrowid) == (2, 5)
    assert connection.execute("UPDATE t SET n = 0 WHERE id > 1").rowcount == 4
    assert connection.execute("DELETE FROM t").rowcount == 5
    assert connection.execute("SELECT 1").rowcount == -1


def test_parameters_stand_for_values_in_the_order_of_the_text(
    connection: Connection,
) -> None:
    sql = "SELECT ?, id FROM t WHERE n = ? OR name = ? ORDER BY id LIMIT ?"
    assert connection.execute(sql, ("first", 30, "a", 5)).fetchall() == [("first", 1), ("first", 3)]
    cursor = connection.cursor()
    cursor.executemany("INSERT INTO t(name, n) VALUES(?, ?)", [("x", True), ("y", float("nan"))])
    assert cursor.rowcount == 2
    assert rows(connection)[-2:] == [(4, "x", 1), (5, "y", None)]


@pytest.mark.parametrize("given", [(), (1, 2)])
def test_a_wrong_number_of_parameters_is_refused(
    connection: Connection, given: tuple[int, ...]
) -> None:
    with pytest.raises(minidb.ProgrammingError, match="uses 1"):
        connection.execute("SELECT ?", given)


@pytest.mark.parametrize("value", [2**63, object(), 1j])
def test_a_parameter_without_a_storage_class_is_refused(value: Any) -> None:
    with pytest.raises(minidb.InterfaceError):
        minidb.connect().execute("SELECT ?", (value,))


def test_a_closed_connection_and_several_statements_are_refused() -> None:
    connection = minidb.connect()
    with pytest.raises(minidb.ProgrammingError, match="one statement"):
        connection.execute("SELECT 1; SELECT 2")
    connection.close()
    with pytest.raises(minidb.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t VALUES(4, 'c', 1), (5, 'a', 1)",
        "INSERT INTO t(id, name) SELECT id + 10, 'same' FROM t",
        "INSERT INTO t VALUES('no integer', 'c', 1)",
        "UPDATE t SET name = 'z'",
        "UPDATE t SET id = 3",
        "UPDATE t SET n = abs(-9223372036854775808) WHERE id = 3",
        "CREATE UNIQUE INDEX i ON t(id > 0)",
    ],
)
def test_a_failed_statement_leaves_nothing_behind(connection: Connection, sql: str) -> None:
    before = rows(connection)
    with pytest.raises(minidb.Error):
        connection.execute(sql)
    assert rows(connection) == before
    connection.execute("INSERT INTO t VALUES(4, 'c', 1)")
    assert len(rows(connection)) == 4


def test_rollback_takes_back_rows_tables_and_indexes(connection: Connection) -> None:
    before = rows(connection)
    connection.execute("CREATE TABLE u AS SELECT name FROM t")
    connection.execute("CREATE UNIQUE INDEX i ON t(n)")
    connection.execute("DELETE FROM t WHERE id = 1")
    connection.execute("UPDATE t SET n = 7, name = 'q' WHERE id = 2")
    connection.execute("INSERT INTO t(name, n) VALUES('new', 8)")
    connection.rollback()
    assert rows(connection) == before
    with pytest.raises(minidb.OperationalError, match="no such table: u"):
        connection.execute("SELECT * FROM u")
    connection.execute("INSERT INTO t(n) VALUES(30)")
    connection.execute("DROP TABLE t")
    connection.rollback()
    assert rows(connection) == before


def test_begin_commit_and_rollback_are_statements_too(connection: Connection) -> None:
    connection.execute("BEGIN")
    with pytest.raises(minidb.OperationalError, match="within a transaction"):
        connection.execute("BEGIN")
    connection.execute("DELETE FROM t")
    connection.execute("ROLLBACK")
    assert len(rows(connection)) == 3
    with pytest.raises(minidb.OperationalError, match="no transaction"):
        connection.execute("COMMIT")


UNKNOWN = {
    "WITH q AS (SELECT 1) SELECT * FROM q": "WITH",
    "SELECT row_number() OVER () FROM t": "window",
    "SELECT json('1')": "json",
    "SELECT random()": "random",
    "SELECT (1, 2) = (1, 2)": "tuple",
    "SELECT * FROM (VALUES (1), (2))": "values",
    "SELECT a -> 'b' FROM (SELECT 1 AS a)": "json",
    "CREATE VIEW v AS SELECT 1": "VIEW",
    "CREATE TABLE u(a CHECK (a > 0))": "check",
    "CREATE TABLE u(a INTEGER PRIMARY KEY AUTOINCREMENT)": "autoincrement",
    "CREATE TABLE u(a REFERENCES t(id))": "reference",
    "CREATE TABLE u(a, b AS (a + 1))": "computed",
    "INSERT OR REPLACE INTO t VALUES(1, 'a', 1)": "alternative",
    "INSERT INTO t VALUES(9, 'z', 1) RETURNING id": "returning",
    "INSERT INTO t VALUES(1, 'a', 1) ON CONFLICT DO NOTHING": "conflict",
    "UPDATE t SET n = (SELECT max(id) FROM t)": "subquery",
    "DELETE FROM t LIMIT 1": "limit",
    "CREATE INDEX i ON t(n) WHERE n > 1": "where",
    "CREATE INDEX i ON t(n + 1)": "index on",
    "PRAGMA table_info(t)": "PRAGMA",
    "ALTER TABLE t ADD COLUMN x": "ALTER",
    "SELECT group_concat(name ORDER BY name) FROM t": "order",
    "SELECT :named": "named",
}


@pytest.mark.parametrize("sql", UNKNOWN)
def test_what_minidb_lacks_is_an_error_that_names_it(connection: Connection, sql: str) -> None:
    with pytest.raises(minidb.NotSupportedError, match=f"(?i){UNKNOWN[sql]}"):
        connection.execute(sql)
    assert len(rows(connection)) == 3


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT", "syntax error"),
        ("SELEC 1", "syntax error|statement"),
        ("SELECT current_date", "no such column"),
        ("SELECT missing FROM t", "no such column: missing"),
        ("SELECT * FROM missing", "no such table: missing"),
        ("SELECT n FROM t x JOIN t y ON 1", "ambiguous column name: n"),
        ("SELECT max(n) FROM t WHERE max(n) > 1", "misuse of aggregate"),
        ("SELECT abs(1, 2)", "wrong number of arguments"),
        ("SELECT 1 ORDER BY 2", "out of range"),
        ("SELECT 1 LIMIT 'x'", "datatype mismatch"),
        ("SELECT id FROM t LEFT JOIN t u ON u.id = v.id JOIN t v ON 1", "to its right|ambiguous"),
        ("SELECT 1 IN (SELECT 1, 2)", "2 columns"),
        ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "nested|syntax"),
    ],
)
def test_errors_of_sql_are_errors_of_the_database(
    connection: Connection, sql: str, message: str
) -> None:
    with pytest.raises(minidb.DatabaseError, match=message):
        connection.execute(sql)


@pytest.mark.parametrize(
    ("declared", "affinity"),
    [
        ("INTEGER", Affinity.INTEGER),
        ("BIGINT", Affinity.INTEGER),
        ("CHARINT", Affinity.INTEGER),
        ("VARCHAR", Affinity.TEXT),
        ("CLOB", Affinity.TEXT),
        ("", Affinity.BLOB),
        ("BLOB", Affinity.BLOB),
        ("FLOAT", Affinity.REAL),
        ("DOUBLE PRECISION", Affinity.REAL),
        ("DECIMAL", Affinity.NUMERIC),
        ("STRING", Affinity.NUMERIC),
        ("DATE", Affinity.NUMERIC),
    ],
)
def test_the_words_of_a_type_decide_its_affinity(declared: str, affinity: Affinity) -> None:
    assert affinity_of_type(declared) is affinity


def test_a_declared_type_keeps_its_own_words() -> None:
    connection = minidb.connect()
    connection.execute("CREATE TABLE t(a STRING, b VARCHAR(10), c FLOAT, d)")
    connection.execute("INSERT INTO t VALUES('1', 1, 1, '1')")
    assert repr(connection.execute("SELECT * FROM t").fetchone()) == "(1, '1', 1.0, '1')"


@pytest.mark.parametrize(
    ("value", "affinity", "kept"),
    [
        (" 12 ", Affinity.INTEGER, 12),
        ("12.0", Affinity.INTEGER, 12),
        ("12.5", Affinity.INTEGER, 12.5),
        ("1e3x", Affinity.NUMERIC, "1e3x"),
        (3, Affinity.REAL, 3.0),
        (3.0, Affinity.TEXT, "3.0"),
        (b"3", Affinity.INTEGER, b"3"),
        (1e300, Affinity.INTEGER, 1e300),
        ("9223372036854775808", Affinity.INTEGER, 9223372036854775808.0),
    ],
)
def test_a_column_converts_what_it_can_without_loss(
    value: Any, affinity: Affinity, kept: Any
) -> None:
    assert repr(stored(value, affinity)) == repr(kept)


def test_cast_converts_whatever_it_gets() -> None:
    assert repr(cast("12abc", Affinity.INTEGER)) == "12"
    assert repr(cast("1.50abc", Affinity.REAL)) == "1.5"
    assert repr(cast(" 3.0", Affinity.NUMERIC)) == "3"
    assert repr(cast(2.5, Affinity.BLOB)) == "b'2.5'"
    assert to_integer(-1e30) == -(2**63)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1.0, "1.0"), (0.1, "0.1"), (1e15, "1.0e+15"), (1e-5, "1.0e-05"), (-0.0, "0.0")],
)
def test_reals_are_written_as_sqlite_writes_them(number: float, text: str) -> None:
    assert real_text(number) == text
