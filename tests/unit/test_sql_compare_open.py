"""What may differ from SQLite's answer on databases of all kinds, and what may not."""

from __future__ import annotations

from typing import Any

import pytest

from refute.fuzz.sql.text import read
from refute.oracles.sql.compare import compare
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.stored import literal, stored_in
from refute.oracles.sql.variants import answered

REALS = ["CREATE TABLE t (a REAL, b)", "INSERT INTO t VALUES (9007199254740993, 1), (0.1, 2)"]
MIXED = ["CREATE TABLE t (a, b)", "INSERT INTO t VALUES (1, 'x'), (1.0, 'y'), (2, 'z')"]
CASES = [
    "CREATE TABLE t (a TEXT COLLATE NOCASE, b INTEGER PRIMARY KEY, c AS (b + 1)) WITHOUT ROWID",
    "CREATE TABLE u (a)",
    "CREATE UNIQUE INDEX i ON t (b DESC)",
    "CREATE INDEX j ON t (a || 'x') WHERE b > 1",
    "CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO u VALUES (NEW.a); END",
    "INSERT INTO t (a, b) VALUES ('x', 1), ('X', 2), ('y', 3)",
    "UPDATE t SET a = 'Y' WHERE b = 3",
    "CREATE VIEW v AS SELECT a, c FROM t",
    "INSERT INTO u SELECT a FROM t ORDER BY b DESC",
    "DELETE FROM u WHERE a = 'y'",
]


def status(setup: list[str], query: str, rows: list[Any]) -> str:
    """The comparison of these rows with SQLite's answer."""
    database = SQLite()
    results = database.run(setup)
    assert all(result[0] == "done" for result in results), results
    [right] = database.run([query])
    assert right[0] == "rows", right
    left = ["rows", [f"x{i}" for i in range(len(right[1]))], rows]
    return compare(setup, query, right, left).status


@pytest.mark.parametrize(
    ("setup", "query", "same", "different"),
    [
        # of a float in a text, 15 digits are the same everywhere, and the way it is written is not
        (REALS, "SELECT 'x' || a FROM t WHERE b = 1", [["x9007199254740992.0"]],
         [["x9007199254740000.0"]]),
        (REALS, "SELECT CAST(a AS BLOB) FROM t WHERE b = 1", [[b"9.0071992547409920e+15"]],
         [[b"9.1e+15"]]),
        (REALS, "SELECT CAST(a / 3 AS TEXT) FROM t WHERE b = 2", [["0.033333333333333333"]],
         [["0.0333333333"]]),
        (REALS, "SELECT 'a1.25' FROM t WHERE b = 2", [["a1.25"]], [["a1.250"]]),
        # which of the equal keys and extremes is shown is open, the others are not
        (MIXED, "SELECT a, COUNT(*) FROM t GROUP BY a", [[1.0, 2], [2, 1]], [[1.0, 2], [3, 1]]),
        (MIXED, "SELECT MIN(a), MAX(a) FROM t", [[1.0, 2]], [[1, 3]]),
        (MIXED, "SELECT a AS k FROM t GROUP BY k ORDER BY 1", [[1.0], [2]], [[2], [1.0]]),
        # whatever made the tables, the same rows are wanted
        (CASES, "SELECT b, c FROM t", [[2, 3], [1, 2], [3, 4]], [[1, 2], [2, 3], [3, 3]]),
        (CASES, "SELECT a FROM v WHERE c > 2 ORDER BY c", [["X"], ["Y"]], [["Y"], ["X"]]),
        (CASES, "SELECT a, COUNT(*) FROM v GROUP BY a", [["X", 2], ["Y", 1]], [["z", 2], ["Y", 1]]),
        (CASES, "SELECT DISTINCT a FROM t", [["x"], ["Y"]], [["x"], ["z"]]),
        (CASES, "SELECT MAX(b), COUNT(*) FROM t LEFT JOIN u ON t.a = u.a", [[3, 9]], [[3, 6]]),
    ],
)  # fmt: skip
def test_a_leniency_and_its_limit(
    setup: list[str], query: str, same: list[Any], different: list[Any]
) -> None:
    assert status(setup, query, same) == "same"
    assert status(setup, query, different) == "different"


@pytest.mark.parametrize(
    ("setup", "query", "rows"),
    [
        # an answer that the order of rows decides, be they changed by UPDATE or shown by a view
        (CASES, "SELECT a, b FROM t GROUP BY a HAVING COUNT(*) > 5 OR a = 'x'", [["q", 9]]),
        (CASES, "SELECT (SELECT b FROM t LIMIT 1)", [[7]]),
        (CASES, "SELECT a FROM u LIMIT 1", [["no"]]),
        (REALS, "SELECT b FROM t WHERE (SELECT SUM(x.a / 3) - 0.1 / 3 FROM t AS x) = a / 3", [[9]]),
        (MIXED, "SELECT sqlite_version()", [["1"]]),
        (MIXED, "SELECT random() FROM t", [[1], [2], [3]]),
        (MIXED, "SELECT CAST(x'ff' AS TEXT)", [["�"]]),
    ],
)
def test_what_is_open_is_not_held_against_anybody(
    setup: list[str], query: str, rows: list[Any]
) -> None:
    wanted = "different" if "u LIMIT" in query else "open"
    assert status(setup, query, rows) == wanted


def test_changes_that_depend_on_the_order_of_rows_are_open() -> None:
    setup = [
        "CREATE TABLE t (a)",
        "INSERT INTO t VALUES (1), (2)",
        "CREATE TABLE u (a UNIQUE, b)",
        "INSERT OR IGNORE INTO u SELECT 0, a FROM t",
    ]
    assert status(setup, "SELECT b FROM u", [[2]]) == "same"
    assert status(setup, "SELECT b FROM u", [[3]]) == "open"
    assert status(setup, "SELECT a FROM u", [[1]]) == "different"


def test_a_row_keeps_its_rowid_where_it_is_looked_at() -> None:
    setup = ["CREATE TABLE t (a)", "INSERT INTO t VALUES (5), (6)"]
    assert status(setup, "SELECT a FROM t WHERE rowid = 1", [[6]]) == "different"
    view = [*setup, "CREATE VIEW v AS SELECT a FROM t WHERE rowid = 1"]
    assert status(view, "SELECT a FROM v", [[6]]) == "different"


def test_a_variant_of_every_kind_is_asked_of_such_a_database() -> None:
    query = read("SELECT a, COUNT(*) FROM t CROSS JOIN u USING (a) WHERE b > 0 GROUP BY a")
    assert query is not None
    found = list(answered(CASES, query))
    assert len(found) >= 9
    assert None not in found


def test_tables_are_copied_as_they_are() -> None:
    values = [None, -(2**63), 1.5, float("inf"), -0.25, "it's", "a\0b", b"\x00\xff", "é", 2**63 - 1]
    setup = ["CREATE TABLE t (a, b TEXT COLLATE RTRIM, c REAL AS (b))"]
    setup += [f"INSERT INTO t (a, b) VALUES ({literal(v)}, 1)" for v in values]
    database = SQLite()
    database.run(setup)
    stored = stored_in(database)
    [table] = stored.tables
    assert [row[1] for row in table.rows] == values
    assert {tuple(row[2:]) for row in table.rows} == {("1", 1.0)}
    assert (
        table.definition
        == '("a"  COLLATE "BINARY", "b" TEXT COLLATE "RTRIM", "c" REAL COLLATE "BINARY")'
    )
    [made] = database.run(["SELECT name FROM sqlite_master WHERE type = 'index'"])
    assert made[2] == []


@pytest.mark.parametrize(
    ("query", "row", "found"),
    [
        ("SELECT UNICODE(x'aabb') FROM t LIMIT 1", [65533], "open"),
        ("SELECT UNICODE(b) FROM t WHERE b = 'x'", [65533], "different"),
        ("SELECT x'bb' LIKE NULL FROM t LIMIT 1", ["none"], "open"),
    ],
)
def test_what_depends_on_the_build(query: str, row: list[Any], found: str) -> None:
    """unicode(X) is undefined where X is no string; LIKE of a blob is a matter of an option."""
    assert status(MIXED, query, [row]) == found
