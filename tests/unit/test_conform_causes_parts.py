"""The smallest wrong part of a failed query, and what it is taken for."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from refute.oracles.sqllogictest.reader import QueryRecord
from refute.verifiers.sql.conform_causes_parts import Part, Parts, shows
from refute.verifiers.sql.conform_causes_shape import Shape
from refute.verifiers.sql.conform_causes_words import words_of
from refute.verifiers.sql.conform_reduce_script import Case

SETUP = ("CREATE TABLE t(a, b)", "INSERT INTO t VALUES(1, 2)", "INSERT INTO t VALUES(3, NULL)")
TIMES = Shape("values", "", words_of("SELECT 2 * 3"), "a value instead of a value")


class Wrong:
    """SQLite with statements changed before they run. asked: all of them."""

    unstable = ""
    can: frozenset[str] = frozenset()

    def __init__(self, change: Callable[[str], str]) -> None:
        self.change = change
        self.asked: list[str] = []
        self.connection = sqlite3.connect(":memory:", isolation_level=None)

    def start(self, hash_seed: int) -> None:
        self.connection.close()
        self.connection = sqlite3.connect(":memory:", isolation_level=None)

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        for sql in statements:
            self.asked.append(sql)
            cursor = self.connection.execute(self.change(sql))
            if cursor.description is None:
                yield ["done"]
            else:
                names = [column[0] for column in cursor.description]
                yield ["rows", names, [list(row) for row in cursor.fetchall()]]

    def close(self) -> None:
        self.connection.close()


def part_of(sql: str, change: Callable[[str], str], width: int = 1) -> Part | None:
    record = QueryRecord(1, sql, (), "I" * width, "rowsort", "", [], -1, "")
    engine = Wrong(change)
    parts = Parts(engine, None)  # type: ignore[arg-type]
    try:
        return parts.of(Case(SETUP, sql, record), SETUP)
    finally:
        parts.close()
        engine.close()


def times_is_plus(sql: str) -> str:
    return sql.replace("a * b", "a + b").replace("a * 5", "a + 5")


def test_what_is_wrong_is_followed_to_the_innermost_part() -> None:
    part = part_of("SELECT 1 + (a * b) - 2 FROM t", times_is_plus)
    assert part is not None and part.sql == "SELECT a * b FROM t" and part.own == {"*"}
    assert shows(part, TIMES, "SELECT 2 * 3")
    assert not shows(part, TIMES, "SELECT 2 + 3")


def test_a_wrong_part_inside_of_a_right_one_is_not_taken() -> None:
    def two(sql: str) -> str:
        return times_is_plus(sql).replace("MAX(a)", "MIN(a)")

    part = part_of("SELECT MAX(a), COALESCE(7, SUM(a * 5)) FROM t", two, 2)
    assert part is not None and part.own == {"MAX()"}
    assert not shows(part, TIMES, "SELECT 2 * 3")


def test_a_construct_that_is_right_inside_is_not_what_is_wrong() -> None:
    def lost(sql: str) -> str:
        return sql.replace("ABS(a * 5)", "7")

    part = part_of("SELECT ABS(a * 5) FROM t", lost)
    assert part is not None and part.own == {"ABS()"}
    assert not shows(part, TIMES, "SELECT 2 * 3")


@pytest.mark.parametrize(
    "sql", ["SELECT a FROM t", "SELECT a * 5 FROM t AS t, t AS u, t AS v, t AS w, t AS x"]
)
def test_what_is_right_or_too_large_has_no_part(sql: str) -> None:
    assert part_of(sql, times_is_plus) is None


def test_tables_that_grow_are_filled_once() -> None:
    engine = Wrong(times_is_plus)
    parts = Parts(engine, None)  # type: ignore[arg-type]
    sql = "SELECT a * b FROM t"
    record = QueryRecord(1, sql, (), "I", "rowsort", "", [], -1, "")
    for number in (2, 3):
        part = parts.of(Case(SETUP[:number], sql, record), SETUP[:number])
        assert part is not None and part.own == {"*"}
    assert [sql for sql in engine.asked if not sql.startswith("SELECT")] == list(SETUP)
    parts.close()
    engine.close()
