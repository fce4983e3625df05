"""What may differ from SQLite's answer, and what may not: each leniency from both sides."""

from __future__ import annotations

from typing import Any

import pytest

from refute.fuzz.sql.text import read
from refute.oracles.sql.compare import compare, overflow_is_open
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.variants import variants

NUMBERS = ["CREATE TABLE t (a, b)", "INSERT INTO t VALUES (1, 10), (2, 20), (2, 21), (NULL, 30)"]
TEXTS = ["CREATE TABLE t (a TEXT COLLATE NOCASE, b)", "INSERT INTO t VALUES ('x', 1), ('X', 1)"]
REALS = ["CREATE TABLE t (a REAL, b INTEGER)", "INSERT INTO t VALUES (5.0, 5)"]
FLOATS = ["CREATE TABLE t (a)", "INSERT INTO t VALUES (0.1), (0.2), (0.3), (1e10)"]

DOWN = [[2], [2], [1], [None]]


def status(setup: list[str], query: str, rows: list[Any], names: int | None = None) -> str:
    """The comparison of these rows with SQLite's answer."""
    database = SQLite()
    database.run(setup)
    [right] = database.run([query])
    width = names if names is not None else len(right[1]) if right[0] == "rows" else 1
    left = ["rows", [f"x{i}" for i in range(width)], rows]
    return compare(setup, query, right, left).status


@pytest.mark.parametrize(
    ("setup", "query", "same", "different"),
    [
        # without ORDER BY any order, but the same rows, each as often
        (NUMBERS, "SELECT b FROM t WHERE a = 2", [[21], [20]], [[20], [20]]),
        (NUMBERS, "SELECT b FROM t WHERE a = 2", [[20], [21]], [[20]]),
        # ORDER BY fixes the order of unequal keys only
        (NUMBERS, "SELECT b FROM t ORDER BY a", [[30], [10], [21], [20]], [[10], [30], [20], [21]]),
        (NUMBERS, "SELECT a AS c FROM t ORDER BY c DESC", DOWN, [[None], [2], [2], [1]]),
        (NUMBERS, "SELECT a FROM t ORDER BY 1 DESC", DOWN, DOWN[::-1]),
        (TEXTS, "SELECT a FROM t ORDER BY a", [["X"], ["x"]], [["X"], ["X"]]),
        (TEXTS, "SELECT a FROM t ORDER BY a COLLATE BINARY", [["X"], ["x"]], [["x"], ["X"]]),
        # LIMIT may keep any of the tied rows, and no others
        (NUMBERS, "SELECT b FROM t ORDER BY a DESC LIMIT 1", [[21]], [[10]]),
        (NUMBERS, "SELECT b FROM t ORDER BY a LIMIT 2 OFFSET 1", [[10], [21]], [[20], [21]]),
        (NUMBERS, "SELECT * FROM t ORDER BY a DESC LIMIT 1", [[2, 21]], [[1, 10]]),
        (NUMBERS, "SELECT DISTINCT * FROM t ORDER BY a DESC LIMIT 1", [[2, 21]], [[1, 10]]),
        (NUMBERS, "SELECT t.*, b FROM t ORDER BY a DESC LIMIT 1", [[2, 21, 21]], [[2, 20, 21]]),
        (NUMBERS, "SELECT b FROM t LIMIT 2", [[30], [10]], [[30], [31]]),
        (NUMBERS, "SELECT b FROM t LIMIT 2", [[30], [10]], [[30]]),
        (NUMBERS, "SELECT DISTINCT a FROM t ORDER BY 1 LIMIT 2", [[None], [1]], [[1], [2]]),
        (NUMBERS, "SELECT a FROM t UNION ALL SELECT 3 ORDER BY a LIMIT 1 OFFSET 4", [[3]], [[2]]),
        # the sign of zero is not compared, its type is
        (NUMBERS, "SELECT 0.0 * -1", [[0.0]], [[0]]),
        (NUMBERS, "SELECT 5 - 5", [[0]], [[0.0]]),
        # sums of floats may differ in the last places, other floats may not
        (FLOATS, "SELECT SUM(a) FROM t WHERE a < 1", [[0.6]], [[0.6000001]]),
        (FLOATS, "SELECT a + 0.3 FROM t WHERE a = 0.3", [[0.6]], [[0.6000000000000001]]),
        # which of equal values stands for all of them is open, up to their equality
        (TEXTS, "SELECT DISTINCT a FROM t", [["X"]], [["y"]]),
        (NUMBERS, "SELECT a FROM t INTERSECT SELECT 2.0", [[2.0]], [["2"]]),
        (TEXTS, "SELECT a FROM t EXCEPT SELECT 'y' ORDER BY 1 LIMIT 1", [["X"]], [["y"]]),
        (TEXTS, "SELECT MIN(a) FROM t", [["X"]], [["xx"]]),
        (TEXTS, "SELECT a, COUNT(*) FROM t GROUP BY a", [["X", 2]], [["X", 1]]),
        (NUMBERS, "SELECT 1 UNION SELECT 1.0", [[1.0]], [[2]]),
        # GROUP BY and DISTINCT sort their rows in SQLite, and need not
        (
            NUMBERS,
            "SELECT GROUP_CONCAT(c) FROM (SELECT b AS c FROM t GROUP BY 1) AS v",
            [["30,21,10,20"]],
            [["10,20,21"]],
        ),
        (
            ["CREATE TABLE t (a)", "INSERT INTO t VALUES ('A '), ('a '), ('a')"],
            "SELECT GROUP_CONCAT(c, '') FROM (SELECT a AS c FROM t GROUP BY 1) AS v",
            [["A a a"]],
            [["A a b"]],
        ),
        (
            NUMBERS,
            "WITH v AS (SELECT DISTINCT b AS c FROM t) SELECT GROUP_CONCAT(c) FROM v",
            [["30,10,21,20"]],
            [["10,20,21,31"]],
        ),
        # but only where there are several
        (NUMBERS, "SELECT DISTINCT b FROM t WHERE a = 1", [[10]], [[10.0]]),
        (TEXTS, "SELECT DISTINCT a FROM t WHERE a = 'x' COLLATE BINARY", [["x"]], [["X"]]),
        # SQLite shows 5 for a stored 5.0 here, and 5.0 without the HAVING
        (REALS, "SELECT a FROM t GROUP BY a HAVING a IN (SELECT b FROM t)", [[5.0]], [[6.0]]),
        (REALS, "SELECT a FROM t GROUP BY a", [[5.0]], [[5]]),
        # types of values
        (NUMBERS, "SELECT a FROM t WHERE b = 10", [[1]], [["1"]]),
        (NUMBERS, "SELECT 'a'", [["a"]], [[b"a"]]),
        (NUMBERS, "SELECT NULL", [[None]], [[0]]),
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
        (NUMBERS, "SELECT GROUP_CONCAT(b) FROM t", [["30,21,20,10"]]),
        (NUMBERS, "SELECT a, b FROM t WHERE a = 2 GROUP BY a", [[2, 20]]),
        (NUMBERS, "SELECT a, b FROM t WHERE a = 2 GROUP BY a", [[2, 21]]),
    ],
)
def test_any_answer_of_sqlite_in_another_order_is_right(
    setup: list[str], query: str, rows: list[Any]
) -> None:
    assert status(setup, query, rows) == "same"


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([["21,30,10,20"]], "same"),
        ([["10, 20, 21, 30"]], "different"),
        ([["10,20,21"]], "different"),
        ([[None]], "different"),
    ],
)
def test_only_the_order_inside_a_concatenation_is_open(rows: list[Any], wanted: str) -> None:
    query = "SELECT GROUP_CONCAT(b) FILTER(WHERE b > 1) AS c FROM t"
    assert status(NUMBERS, "SELECT GROUP_CONCAT(b) FROM t", rows) == wanted
    assert status(NUMBERS, query, rows) == wanted
    assert status(NUMBERS, "SELECT SUBSTR(GROUP_CONCAT(b), 1, 2) FROM t", [["x"]]) == "open"


def test_rows_that_were_refused_do_not_hide_what_is_open() -> None:
    setup = ["CREATE TABLE t (a NUMERIC NOT NULL)", "INSERT INTO t VALUES (1), (0.5), (2)"]
    setup.append("INSERT INTO t VALUES (NULL)")
    query = "SELECT DISTINCT a - a AS c FROM t ORDER BY c DESC"
    assert status(setup, query, [[0]]) == "same"
    assert status(setup, query, [[0.0]]) == "same"
    assert status(setup, query, [[1]]) == "different"


def test_what_is_open_says_nothing() -> None:
    assert status(NUMBERS, "SELECT b FROM t WHERE a = 2 GROUP BY a", [[10]]) == "open"
    assert status(NUMBERS, "SELECT no_such_column FROM t", [[1]]) == "open"


def test_an_overflowing_sum_is_an_error_where_it_is_computed_for_certain() -> None:
    setup = ["CREATE TABLE t (a)", f"INSERT INTO t VALUES ({2**63 - 1}), (1)"]
    assert status(setup, "SELECT SUM(a) FROM t", [[2.0**63]]) == "different"
    assert status(setup, "SELECT 1 FROM t WHERE (SELECT SUM(a) FROM t) > 0", [[1]]) == "open"


def test_a_sum_that_overflows_in_some_order_may_be_refused() -> None:
    setup = ["CREATE TABLE t (a)", f"INSERT INTO t VALUES ({2**63 - 1}), (-5), (3)"]
    query = "SELECT SUM(a) FROM t"
    assert overflow_is_open(setup, query, "integer overflow")
    assert not overflow_is_open(setup, query, "not supported")
    assert not overflow_is_open(setup, "SELECT MAX(a) FROM t", "integer overflow")
    assert status(setup, query, [[2**63 - 3]]) == "same"


def test_columns_are_counted_and_not_named() -> None:
    query = "SELECT a, b FROM t WHERE b = 10"
    assert status(NUMBERS, query, [[1, 10]], names=2) == "same"
    assert status(NUMBERS, query, [], names=1) == "different"
    assert compare(NUMBERS, query, ["rows", ["a"], []], ["done"]).status == "different"


COLLATED = (
    "CREATE TABLE t1(c TEXT COLLATE NOCASE)",
    "INSERT INTO t1 VALUES ('a')",
    "CREATE TABLE t2(c TEXT)",
    "INSERT INTO t2 VALUES ('A')",
)


@pytest.mark.parametrize(
    ("query", "exchanged"),
    [
        ("SELECT c FROM t2 UNION SELECT c FROM t1", "(c) COLLATE BINARY FROM t1 UNION SELECT c"),
        ("SELECT c FROM t1 UNION SELECT c FROM t2", "(c) COLLATE NOCASE FROM t2 UNION SELECT c"),
        ("SELECT 'b' UNION SELECT c FROM t1", "(c) COLLATE NOCASE FROM t1 UNION SELECT 'b'"),
        ("SELECT c FROM t2 EXCEPT SELECT c FROM t1", "c FROM t2 EXCEPT SELECT c FROM t1"),
    ],
)
def test_operands_are_exchanged_under_the_same_collation(query: str, exchanged: str) -> None:
    texts = [text for _, text in variants(COLLATED, read(query))]
    assert any(exchanged in text for text in texts), texts


def test_a_union_under_the_wrong_collation_is_different() -> None:
    query = "SELECT count(*) FROM (SELECT c FROM t2 UNION SELECT c FROM t1)"
    right, wrong = (["rows", ["n"], [[n]]] for n in (2, 1))
    assert compare(COLLATED, query, right, wrong).status == "different"
    kept = "SELECT c FROM t1 UNION SELECT c FROM t2"
    one, other = (["rows", ["c"], [[c]]] for c in "aA")
    assert compare(COLLATED, kept, one, other).status == "same"


def test_nan_is_no_null() -> None:
    setup = ["CREATE TABLE t (a)", "INSERT INTO t VALUES (1)"]
    right = ["rows", ["a"], [[None]]]
    left = ["rows", ["a"], [[float("nan")]]]
    assert compare(setup, "SELECT NULL FROM t", right, left).status == "different"


def test_like_of_bytes_is_open() -> None:
    setup = ["CREATE TABLE t(a)", "INSERT INTO t VALUES (x'ce')"]
    query = "SELECT 0 FROM t WHERE a LIKE '%'"
    nothing, one = (["rows", ["0"], rows] for rows in ([], [[0]]))
    assert compare(setup, query, nothing, one).status == "open"
    text = ["CREATE TABLE t(a)", "INSERT INTO t VALUES ('ce')"]
    assert compare(text, query, one, nothing).status == "different"
    beside = [*text, "CREATE TABLE u(b)", "INSERT INTO u VALUES (x'ce')"]  # which LIKE never meets
    assert compare(beside, query, one, nothing).status == "different"
    checked = ["CREATE TABLE t(a CHECK (a LIKE '%' OR a))", "INSERT INTO t VALUES (1), (x'ce')"]
    assert compare(checked, "SELECT a FROM t", nothing, one).status == "open"
