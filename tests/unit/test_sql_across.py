"""Answers of engines of other dialects: what is the same, what is wrong, and what is open."""

from __future__ import annotations

import math
from typing import Any

import pytest

from refute.fuzz.sql.text import Node, look
from refute.oracles.sql.partial.across import compared, in_kinds, same
from refute.oracles.sql.partial.bags import rows_of
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.transpile.kinds import INT, REAL, TEXT
from refute.oracles.sql.transpile.targets import target_of
from refute.oracles.sql.transpile.translator import Translator

SETUP = (
    "CREATE TABLE t (a INTEGER, b TEXT, c REAL)",
    "INSERT INTO t VALUES (1, 'x', 0.5), (2, 'y', -0.0), (NULL, NULL, NULL)",
)
LARGE = (*SETUP, "INSERT INTO t VALUES (9007199254740993, 'É', 0.1), (3, 'é', 0.2)")


def judged(query: str, rows: list[list[Any]], setup: tuple[str, ...] = SETUP) -> tuple[str, str]:
    """Status and reason, for rows that an engine of DuckDB's dialect gives."""
    tree = look(query)
    assert tree is not None
    translator = Translator(target_of("duckdb"), strict=True)
    for statement in setup:
        translator.translate(statement)
    kinds = translator.translate_tree(tree).kinds
    translator.close()
    database = SQLite()
    *_, right = database.run([*setup, query])
    database.close()
    names = [f"c{place}" for place in range(len(kinds))]
    found = compared("duckdb", setup, query, right, in_kinds(["rows", names, rows], kinds))
    return found.status, found.why


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT a FROM t", [[None], [2], [1]]),
        ("SELECT a FROM t", [["2"], [None], ["1"]]),  # decimals come as their digits
        ("SELECT sum(a) FROM t", [["3"]]),
        ("SELECT COALESCE(a, c) FROM t", [[1.0], [None], [2.0]]),
        ("SELECT c FROM t", [[0.5], [None], [0.0]]),  # the sign of zero
        ("SELECT avg(c) FROM t", [["0.25"]]),
        ("SELECT a AS c0, b AS c1 FROM t ORDER BY c0", [[None, None], [1, "x"], [2, "y"]]),
        ("SELECT b FROM t ORDER BY a > 0", [[None], ["y"], ["x"]]),  # ties
        ("SELECT a FROM t ORDER BY 1 DESC LIMIT 1", [[2]]),
    ],
)
def test_the_same_rows_are_the_same(query: str, rows: list[list[Any]]) -> None:
    assert judged(query, rows) == ("same", "")


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT a FROM t", [[1], [2]]),
        ("SELECT a FROM t", [[1], [2], [3]]),
        ("SELECT b FROM t", [["x"], ["y"], [""]]),
        ("SELECT b FROM t", [["x"], ["Y"], [None]]),
        ("SELECT a FROM t ORDER BY a", [[1], [2], [None]]),
        ("SELECT c FROM t", [[0.5], [None], [1e-9]]),
        ("SELECT a FROM t ORDER BY 1 DESC LIMIT 1", [[1]]),
        ("SELECT upper(b) FROM t", [["x"], ["Y"], [None]]),
        ("SELECT a = 1.0 FROM t", [[1], [1], [None]]),
    ],
)
def test_other_rows_are_wrong(query: str, rows: list[list[Any]]) -> None:
    assert judged(query, rows)[0] == "different"


@pytest.mark.parametrize(
    ("query", "rows", "why"),
    [
        ("SELECT a * 9007199254740993 AS x FROM t WHERE a > 3", [[1]], "more than 64 bits"),
        ("SELECT a = 9007199254740992.0 FROM t WHERE a > 3", [[1]], "more than 53 bits"),
        ("SELECT lower(b) FROM t WHERE a > 3", [["é"]], "letters beyond ASCII"),
        ("SELECT b LIKE 'É' FROM t WHERE a = 3", [[1]], "letters beyond ASCII"),
        ("SELECT c * 1e308 * 1e308 * 0 FROM t WHERE a = 1", [[math.nan]], "infinity"),
        ("SELECT sum(c) = 0.8 FROM t WHERE a <> 2", [[5]], "order of rows"),
    ],
)
def test_what_other_dialects_do_otherwise_is_open(
    query: str, rows: list[list[Any]], why: str
) -> None:
    status, said = judged(query, rows, LARGE)
    assert status == "open" and why in said


def test_a_glance_looks_at_order_only_where_it_is_fixed() -> None:
    rows, other = [[1, 2], [1, 3], [2, 4]], [[1, 3], [1, 2], [2, 4]]

    def glance(query: str) -> bool:
        tree = look(query)
        assert isinstance(tree, Node)
        answers = (["rows", ["a", "b"], given] for given in (rows, other))
        return same(tree, *answers)

    assert glance("SELECT a, b FROM t")
    assert glance("SELECT a AS x, b AS y FROM t ORDER BY x")
    assert not glance("SELECT a AS x, b AS y FROM t ORDER BY 1, 2")
    assert not glance("SELECT a AS x, b AS y FROM t ORDER BY b + 1")  # left to a closer look
    assert not glance("SELECT a, b FROM t LIMIT 3")


def test_what_was_not_written_for_the_engine_is_open() -> None:
    found = compared("duckdb", SETUP, "SELECT 1", ["rows", ["a"], [[1]]], ["rows", ["a"], [[2]]])
    assert found.status == "open"


def test_numbers_of_columns_of_two_kinds_are_compared_as_floats() -> None:
    """EXCEPT makes a column of both sides' types; a form of it with EXISTS has that of one."""
    wide = 2**63 - 1
    answers = [["rows", ["c"], [[float(wide)]], [REAL]], ["rows", ["c"], [[wide]], [INT]]]
    assert rows_of(answers) == [[[float(wide)]], [[float(wide)]]]
    alike = [["rows", ["c"], [[5.0]], [REAL]], ["rows", ["c"], [[5]], [REAL]]]
    assert rows_of(alike) == [[[5.0]], [[5]]]
    texts = [["rows", ["c"], [["5"]], [TEXT]], ["rows", ["c"], [[5]], [INT]]]
    assert rows_of(texts) == [[["5"]], [[5]]]
