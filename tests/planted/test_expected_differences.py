"""Every class of expected difference beside a bug that looks like it: the bug is not excused.

Each case has statements, a query, what an engine answers that is right, or wrong by its documented
rule, and what one with a bug answers in the same place.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest

from refute.oracles.sql.differences import DIFFERENCES
from refute.oracles.sql.differences_explain import Explainer
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sqllogictest.reader import QueryRecord, StatementRecord
from refute.oracles.sqllogictest.render import digest, joined

NUMBERS = (
    "CREATE TABLE t(a INTEGER, b INTEGER, c REAL, d TEXT)",
    "INSERT INTO t VALUES (1, 10, 0.1, 'x'), (2, 10, 0.2, 'y')",
    "INSERT INTO t VALUES (3, NULL, 0.3, 'X'), (4, 5, 0.4, 'z')",
)
KEYS = ("CREATE TABLE k(a TEXT COLLATE NOCASE)", "INSERT INTO k VALUES ('q'), ('Q'), ('r')")
BELOW = math.nextafter(0.0005, 0)  # shown as 0.000, and 0.0005 as 0.001


def error(message: str, code: str = "") -> list[str]:
    return ["error", "engine.Error", message, code]


@dataclasses.dataclass(frozen=True)
class Case:
    """types: of a query's columns; "" for a statement that is expected to pass, "!" to fail."""

    name: str
    types: str
    sql: str
    excused: list[Any]
    bugs: list[list[Any]]
    engine: str = "duckdb"
    setup: tuple[str, ...] = NUMBERS


CASES = [
    Case("row-order", "I", "SELECT a FROM t", [[4], [3], [2], [1]],
         [[[4], [3], [2]], [[4], [3], [2], [2]], [[1], [2], [3], [5]]]),
    Case("ties", "II", "SELECT b, a FROM t ORDER BY b DESC",
         [[10, 2], [10, 1], [5, 4], [None, 3]],
         [[[10, 2], [5, 4], [10, 1], [None, 3]],           [[10, 2], [10, 2], [5, 4], [None, 3]]]),
    Case("limit-ties", "I", "SELECT a FROM t WHERE b = 10 ORDER BY b LIMIT 1", [[2]],
         [[[4]], [[2], [1]], []]),
    Case("group-concat-order", "T", "SELECT group_concat(d) FROM t", [["z,X,x,y"]],
         [[["z,X,x"]], [["z,X,x,x"]], [["z;X;x;y"]]]),
    Case("bare-column", "II", "SELECT b, a FROM t GROUP BY b", [[None, 3], [5, 4], [10, 2]],
         [[[None, 3], [5, 4], [10, 3]], [[None, 3], [5, 1], [10, 2]], [[5, 4], [10, 2]]]),
    Case("equal-keys", "T", "SELECT DISTINCT a FROM k ORDER BY a", [["Q"], ["r"]],
         [[["Q"], ["R"]], [["q"], ["Q"], ["r"]], [["Q"]]], setup=KEYS),
    Case("float-sum", "R", "SELECT sum(c) FROM t", [[BELOW]], [[[0.00049]], [[None]]],
         setup=(NUMBERS[0], "INSERT INTO t(c) VALUES (0.0001), (0.0004)")),
    Case("number-text", "T", "SELECT b / 5 FROM t WHERE a = 4", [[1.0]],
         [[[1.5]], [["1.0"]], [[2]]]),
    Case("integer-overflow", "I", "SELECT 9223372036854775807 + a FROM t WHERE a = 1",
         error("Overflow in addition"), [error("out of memory"), error("constraint failed")]),
    Case("integer-wraps", "T", "SELECT a - -9223372036854775807 FROM t WHERE a IN (1, 3)",
         [[-(2**63)], [-(2**63) + 2]], [[[2**63 - 1], [-(2**63) + 2]], [[-(2**63)]]],
         engine="datafusion"),
    Case("division-by-zero", "I", "SELECT 1 / (a - 1) FROM t", error("division by zero", "22012"),
         [error("no such column")], engine="postgresql"),
    Case("integer-division", "R", "SELECT a / 2 FROM t WHERE a = 3", [[1.5]], [[[2]], [[1.4]]]),
    Case("integer-division", "R", "SELECT a * 5 / 2 * 2 FROM t WHERE a = 3", [[15.0]],
         [[[14]], [[15.1]]]),
    Case("integer-division", "RI", "SELECT a / 2 AS q, CAST(c + 0.4 AS INTEGER) FROM t WHERE a < 3 "
         "ORDER BY q", [[0.5, 1], [1.0, 1]], [[[0.5, 2], [1.0, 1]], [[0, 1], [1, 2]]]),
    Case("null-order", "I", "SELECT b FROM t ORDER BY b", [[5], [10], [10], [None]],
         [[[10], [5], [10], [None]], [[5], [10], [None], [10]]]),
    Case("cast-rounds", "I", "SELECT CAST(c + 0.5 AS INTEGER) FROM t WHERE a = 1", [[1]],
         [[[2]], [[None]]]),
    Case("like-case", "I", "SELECT a FROM t WHERE d LIKE 'x'", [[1]], [[[3]], [], [[1], [2]]]),
    Case("decimal-numbers", "R", "SELECT 0.0001 + 0.0004", [[BELOW]], [[[0.00049]], [["0"]]],
         setup=()),
    Case("sqlite-syntax", "I", "SELECT a FROM t WHERE d GLOB 'x*'",
         error("syntax error at or near GLOB", "42601"), [error("column d is gone", "42703")],
         engine="postgresql"),
    Case("sqlite-syntax", "", "DROP TRIGGER IF EXISTS g", error("syntax error at or near g"),
         [error("out of memory")]),
    Case("sqlite-syntax", "", "UPDATE t SET a = 1, A = 2", error("Multiple assignments to column"),
         [error("out of memory")]),
    Case("strict-types", "I", "SELECT a FROM t WHERE d + 1 > a",
         error("No function matches '+(VARCHAR, INTEGER)'"), [error("no such column")]),
    Case("strict-types", "I", "SELECT a FROM t WHERE d <> a", error("type mismatch", "42883"),
         [error("no such column", "42703")], engine="postgresql"),
    Case("strict-types", "T", "SELECT + + t.d FROM t", error("No function matches '+(VARCHAR)'"),
         [error("no such table")]),
    Case("strict-types", "I", "SELECT a FROM t WHERE x'31' = d OR a", error("Cannot compare"),
         [error("division by zero")]),
    Case("unique-names", "II", "SELECT a, a FROM t",
         error("Projections require unique expression names but …"), [error("no such column")],
         engine="datafusion"),
    Case("dependent-objects", "", "DROP VIEW v", error("cannot drop", "2BP01"),
         [error("no such view", "42P01")], engine="postgresql",
         setup=(*NUMBERS, "CREATE VIEW v AS SELECT a FROM t", "CREATE VIEW w AS SELECT a FROM v")),
    Case("affinity", "", "INSERT INTO t(a) VALUES ('text')", error("invalid input for bigint"),
         [], engine="postgresql"),
    Case("only-sqlite-refuses", "!", "SELECT group_concat(DISTINCT d, ',') FROM t", ["done"], []),
]  # fmt: skip
NO_ROOM = [  # the class is near, and does not apply
    Case("integer-overflow", "I", "SELECT a + 1 FROM t", [], [error("Overflow in addition")]),
    Case("division-by-zero", "I", "SELECT 1 / a FROM t", [], [error("division by zero")]),
    Case("affinity", "", "INSERT INTO t(a) VALUES ('7')", [], [error("invalid input syntax")]),
    Case("sqlite-syntax", "I", "SELECT a FROM t WHERE d = 'GLOB'", [], [error("syntax error")]),
    Case("strict-types", "I", "SELECT a FROM t WHERE a + 1 > c AND d = 'x'", [],
         [error("No function matches"), error("type mismatch", "42883")]),
    Case("strict-types", "T", "SELECT d FROM t WHERE + a = - - 3 ORDER BY + b", [],
         [error("Cannot compare")]),
    Case("unique-names", "II", "SELECT a, b FROM t", [], [error("unique expression names")],
         engine="datafusion"),
    Case("dependent-objects", "", "DROP TABLE t", [], [error("cannot drop", "2BP01")],
         setup=(*NUMBERS, "CREATE TABLE u(a TEXT DEFAULT 't')")),
    Case("only-sqlite-refuses", "!", "INSERT INTO t VALUES (1)", [], [["done"]]),
    Case("unsupported", "I", "SELECT a FROM t", [], [["crash", "KeyError", "not supported"]]),
    Case("group-concat-order", "I", "SELECT a FROM t WHERE d > 'a' ORDER BY a", [],
         [[[4], [2], [1]]]),
    Case("float-sum", "R", "SELECT c FROM t WHERE a = 1", [], [[[0.101]]]),
    Case("bare-column", "I", "SELECT max(a) FROM t GROUP BY b", [], [[[1], [3], [4]]]),
]  # fmt: skip


def explained(case: Case, answer: list[Any], *, transpiled: bool, off: str = "") -> tuple[str, str]:
    database = SQLite()
    database.run(case.setup)
    if case.types in ("", "!"):
        record: Any = StatementRecord(1, case.sql, (), case.types == "!")
    else:
        record = expecting(case, database)
    if not answer or type(answer[0]) is not str:
        answer = ["rows", ["c"] * len(case.types), answer]
    explainer = Explainer(case.engine, transpiled, frozenset({off}))
    return explainer.explain(record, answer, database)


def expecting(case: Case, database: SQLite) -> QueryRecord:
    """The query with a hash of what SQLite answers: the explainer has to know more than that."""
    answer = database.answer(case.sql)
    text = joined(case.types, answer[2], "nosort")
    number = text.count("\n") + 1 if text else 0
    return QueryRecord(1, case.sql, (), case.types, "nosort", "", None, number, digest(text))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_expected_is_excused(case: Case) -> None:
    bare = DIFFERENCES[case.name].bare
    assert explained(case, case.excused, transpiled=not bare) == (case.name, "")
    assert explained(case, case.excused, transpiled=not bare, off=case.name) == ("", "")
    if bare:
        assert explained(case, case.excused, transpiled=True) == ("", "")


@pytest.mark.parametrize("case", [*CASES, *NO_ROOM], ids=lambda case: f"{case.name} {case.sql}")
def test_a_bug_beside_it_is_not(case: Case) -> None:
    for transpiled in (False, True):
        for bug in case.bugs:
            assert explained(case, bug, transpiled=transpiled) == ("", ""), bug


def test_every_class_is_here() -> None:
    planted = {case.name for case in [*CASES, *NO_ROOM] if case.bugs}
    assert planted == set(DIFFERENCES) - {"after-difference"}  # which has tests of its own


AFTER = [  # what the engine refused, what it is asked then, the answer that follows, and others
    ("UPDATE t SET a = 9", "SELECT a FROM t WHERE a > 3", [[4]], [[[9]], [[4], [4]], []]),
    ("UPDATE t SET a = 9", "SELECT d FROM t WHERE a = 1", [["x"]], [[["X"]], error("syntax")]),
    ("CREATE TABLE u(a)", "DROP TABLE u", error("no table u"), []),
    ("CREATE TABLE u(a)", "SELECT a FROM u", error("no table u"), [[[1]]]),
    ("DELETE FROM t", "UPDATE t SET a = 9", [], [error("out of memory")]),
    ("DELETE FROM t", "INSERT INTO u VALUES (1)", [], [error("no table u")]),
]


@pytest.mark.parametrize(("refused", "sql", "follows", "others"), AFTER)
def test_what_follows_from_an_expected_difference_is_one(
    refused: str, sql: str, follows: list[Any], others: list[list[Any]]
) -> None:
    database, behind = SQLite(), SQLite()
    database.run([*NUMBERS, refused])
    behind.run(NUMBERS)
    record: Any = StatementRecord(2, sql, (), False)
    if sql.startswith("SELECT"):
        types = "T" if sql.startswith("SELECT d") else "I"
        record = (
            expecting(Case("", types, sql, [], []), database)
            if "u" not in sql
            else (QueryRecord(2, sql, (), types, "nosort", "", [], 0, ""))
        )
    explainer = Explainer("", False, frozenset())

    def said(answer: list[Any]) -> str:
        given = answer if answer and type(answer[0]) is str else ["rows", ["c"], answer]
        return explainer.explain(record, given, database, behind)[0]

    if follows:
        assert said(follows) == "after-difference"
        assert explainer.explain(record, follows, database)[0] == ""
    assert all(said(other) == "" for other in others)
    off = Explainer("", False, frozenset({"after-difference"}))
    assert off.explain(record, ["rows", ["c"], follows], database, behind)[0] == ""


UNSUPPORTED = ("… not implemented: OFFSET", "Only up to 63 tables can be joined")


@pytest.mark.parametrize("answer", [*map(error, UNSUPPORTED), error("no", "0A000")])
def test_what_an_engine_says_it_has_not_is_named_and_not_passed(answer: list[Any]) -> None:
    case = CASES[0]
    name, construct = explained(case, answer, transpiled=True)
    assert name == ""
    assert construct.startswith("unsupported: ")
    assert explained(case, answer, transpiled=True, off="unsupported") == ("", "")


def test_what_only_holds_for_another_engine_excuses_nothing() -> None:
    case = next(case for case in CASES if case.name == "null-order")
    other = dataclasses.replace(case, engine="turso")
    assert explained(other, case.excused, transpiled=False) == ("", "")


def test_a_file_that_sqlite_contradicts_excuses_nothing() -> None:
    database = SQLite()
    database.run(NUMBERS)
    record = QueryRecord(1, "SELECT a FROM t", (), "I", "nosort", "", ["1", "2", "3", "7"], -1, "")
    answer = ["rows", ["a"], [[4], [3], [2], [1]]]
    assert Explainer("duckdb", False, frozenset()).explain(record, answer, database) == ("", "")
