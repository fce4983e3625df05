"""Parts of reduction and grouping: words, messages, candidates, shapes, scripts as files."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from refute.fuzz.sql.hoisting import hoisted, with_values
from refute.fuzz.sql.script_reduction import fewer_rows, in_rows, named, since_dropped
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sqllogictest.reader import QueryRecord
from refute.verifiers.sql.conform_causes import Causes, find_causes
from refute.verifiers.sql.conform_causes_shape import Shape, shape_of
from refute.verifiers.sql.conform_causes_title import outcome, title_of
from refute.verifiers.sql.conform_causes_words import (
    normal_message,
    shorter,
    words_of,
    words_of_all,
)
from refute.verifiers.sql.conform_file import Embedded, FileResult, Run, run_file
from refute.verifiers.sql.conform_reduce import Reduced
from refute.verifiers.sql.conform_reduce_plain import NOT_ALIKE, NOT_SQLITE, WithoutOracle
from refute.verifiers.sql.conform_reduce_script import test_text as text_of
from refute.verifiers.sql.conform_reduce_trial import Difference, Script, difference
from refute.verifiers.sql.conform_run import Choice


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT a NOT IN (1, 2) FROM t", "NOT IN"),
        ("SELECT NOT a IN (3) FROM u", "NOT IN"),
        ("SELECT a FROM t LEFT OUTER JOIN u ON t.a<>u.b", "join LEFT_JOIN !="),
        (
            "SELECT x, count ( * ) FROM t, u AS v WHERE x IS NOT NULL",
            "WHERE COUNT(*) NOT IS_NULL join",
        ),
        ("SELECT - - 1 + 2, SUM(DISTINCT a), 'a''b' || 2.5", "+ SUM(DISTINCT) text || float"),
        ("SELECT * FROM t -- LIMIT 1\nORDER BY 1 DESC", "ORDER DESC"),
        (
            "SELECT a FROM t WHERE b IN (SELECT c FROM u UNION ALL SELECT 1)",
            "WHERE IN_(SELECT) UNION_ALL",
        ),
        ("UPDATE t SET a = 1", "UPDATE ="),
        ("SELECT '', 3000000000", "empty_text large_number"),
    ],
)
def test_words_are_constructs_without_names_and_values(sql: str, words: str) -> None:
    assert words_of(sql) == {word.replace("_", " ") for word in words.split()}


def test_a_statement_without_some_of_its_words_keeps_how_the_others_are_written() -> None:
    found = list(shorter("SELECT a FROM t LEFT OUTER JOIN u WHERE 'x  y' = 1"))
    assert "SELECT a FROM t LEFT OUTER JOIN u" in found
    assert all("'x  y'" in text or "x" not in text for text in found)
    assert list(shorter("SELECT 1"))[-2:] == ["1", "SELECT"]


def test_words_of_a_setup_are_what_is_more_than_plain_tables() -> None:
    plain = ["CREATE TABLE t(a INTEGER, b)", "INSERT INTO t VALUES(1, 2)"]
    assert words_of_all(plain) == set()
    more = [*plain, "INSERT INTO t VALUES(NULL, 1)", "CREATE INDEX i ON t(a)", "DELETE FROM t"]
    assert words_of_all(more) == {"setup NULL", "setup CREATE INDEX", "setup DELETE"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            ("no such column: t.a", "SELECT t.a FROM t"),
            ("no such column: u.k", "SELECT u.k FROM u"),
        ),
        (("no such table: v", "SELECT 1 FROM v"), ("no such table: w", "SELECT 2 FROM w")),
        (
            ("could not convert 'abc' to INT32", "SELECT 1"),
            ("could not convert 'x' to INT32", "SELECT 1"),
        ),
        (
            ("out of range: 128\nLINE 1: SELECT", "SELECT 1"),
            ("out of range: 300\nhint", "SELECT 1"),
        ),
        (
            ("No field named __expr_3. Valid fields are a, b.", "DELETE FROM t WHERE a = 1"),
            ("No field named __expr_12. Valid fields are a, b.", "DELETE FROM t WHERE b = 1"),
        ),
    ],
)
def test_errors_are_one_but_for_names_and_values(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    assert normal_message(one[0], [one[1]]) == normal_message(other[0], [other[1]])


def test_errors_about_other_functions_types_and_keywords_stay_apart() -> None:
    said = [
        normal_message("no such function: f", ["SELECT f(a) FROM t"]),
        normal_message("no such function: g", ["SELECT g(a) FROM t"]),
        normal_message('near "LIMIT": syntax error', ["DELETE FROM t LIMIT 1"]),
        normal_message('near "ORDER": syntax error', ["DELETE FROM t ORDER BY a"]),
        normal_message("no function sum(VARCHAR)", ["SELECT sum(b) FROM t"]),
        normal_message("no function sum(DATE)", ["SELECT sum(b) FROM t"]),
    ]
    assert len(set(said)) == len(said), said


def test_every_value_is_offered_alone_with_and_without_its_tables() -> None:
    found = hoisted("SELECT x.c FROM (SELECT a AS c FROM t WHERE a + 1 IN (2, 3)) AS x LIMIT 1")
    assert "SELECT a + 1 FROM t" in found
    assert "SELECT a + 1 IN (2, 3) FROM t" in found
    assert "SELECT a AS c FROM t WHERE a + 1 IN (2, 3)" in found
    assert "SELECT 1 - 2" in hoisted("SELECT 5 FROM t HAVING 1 - 2")
    assert found == sorted(found, key=len)
    assert hoisted("THIS IS NOT SQL") == []


def test_columns_give_way_to_their_values_all_at_once() -> None:
    database = SQLite()
    for sql in ("CREATE TABLE t(a, b)", "INSERT INTO t VALUES(7, 7), (NULL, 'x')"):
        database.answer(sql)
    query = "SELECT CASE a WHEN b THEN 1 + 2 END FROM t"
    found = list(with_values(query, lambda sql: database.answer(sql)[2]))
    assert "SELECT CASE 7 WHEN 7 THEN 1 + 2 END" in found
    assert "SELECT CASE NULL WHEN 'x' THEN 1 + 2 END" in found
    assert "SELECT CASE a WHEN b THEN 3 END FROM t" in found


def test_the_statements_that_a_query_needs_are_found_by_names() -> None:
    setup = [
        "CREATE TABLE t(a)",
        "CREATE TABLE other(a)",
        "CREATE VIEW v AS SELECT a FROM t",
        "INSERT INTO other VALUES(1)",
        "INSERT INTO t VALUES(1), (2)",
        "INSERT INTO t VALUES(3)",
    ]
    assert named(setup, "SELECT * FROM v") == [0, 2, 4, 5]
    assert in_rows(setup[4:]) == [f"INSERT INTO t VALUES ({n})" for n in (1, 2)] + [setup[5]]
    assert next(fewer_rows(setup)) == setup[:3]
    assert since_dropped([*setup, "DROP TABLE t", "CREATE TABLE t(b)"])[-1] == "CREATE TABLE t(b)"
    assert "CREATE TABLE t(a)" not in since_dropped([*setup, "DROP TABLE t", "CREATE TABLE t(b)"])


def reduced(sql: str, expected: str, got: str, setup: tuple[str, ...] = ()) -> Reduced:
    found = Difference("values", "", "I", "rowsort", tuple(expected.split()), tuple(got.split()))
    return Reduced(Script(setup, sql, "?", "rowsort"), found, True, True, 1)


def test_shapes_are_one_where_names_and_values_are_all_that_differs() -> None:
    one = shape_of(reduced("SELECT a / 2 FROM t", "1", "2"))
    assert one == shape_of(reduced("SELECT kk / 17 FROM other", "5", "8"))
    assert one != shape_of(reduced("SELECT a % 2 FROM t", "1", "2"))
    assert one != shape_of(reduced("SELECT a / 2 FROM t", "1", ""))


def covers(one: Reduced, other: Reduced) -> bool:
    return shape_of(one).covers(shape_of(other))


def test_a_shape_covers_what_is_more_and_wrong_in_the_same_way() -> None:
    plain = reduced("SELECT NULL = 1", "NULL", "0")
    assert covers(plain, reduced("SELECT NULL <= a FROM t WHERE 1", "NULL", "0"))
    assert covers(plain, reduced("SELECT NULL = MAX(a) FROM t", "NULL", "1"))
    assert not covers(reduced("SELECT NULL = MAX(a) FROM t", "NULL", "1"), plain)
    assert not covers(plain, reduced("SELECT NULL = 1 FROM t", "1", ""))
    assert not covers(reduced("SELECT 1", "1", "2"), plain), "what uses nothing covers nothing"
    join = reduced("SELECT 1 FROM t LEFT JOIN u ON a = b", "1", "")
    assert not covers(join, reduced("SELECT 1 FROM t WHERE a = b", "1", ""))


@pytest.mark.parametrize(
    ("expected", "got", "said"),
    [
        ("1 2", "1", "rows are missing"),
        ("1", "1 1", "too many rows"),
        ("1 2", "2 1", "rows in another order"),
        ("1", "NULL", "NULL instead of a value"),
        ("NULL", "4", "a value instead of NULL"),
        ("1 2", "3", "other rows"),
    ],
)
def test_an_outcome_says_how_the_answer_is_wrong(expected: str, got: str, said: str) -> None:
    assert outcome(reduced("SELECT 1", expected, got).difference) == said


def test_a_title_names_constructs_and_outcome() -> None:
    made = reduced("SELECT 1 FROM t LIMIT 0", "", "1")
    assert title_of(made, shape_of(made).words) == "LIMIT: too many rows"


def test_a_title_tells_setup_and_message_in_one_line() -> None:
    words = frozenset(("MIN()", "setup NULL", "setup NOT"))
    assert title_of(reduced("SELECT 1", "0", "NULL"), words) == (
        "MIN() (setup: NOT NULL, NULL): NULL instead of 0"
    )
    only = frozenset(("setup UPDATE",))
    assert title_of(reduced("SELECT 1", "1", "1 1"), only) == "setup with UPDATE: too many rows"
    said = 'ERROR:  column "x"\n does not exist\nLINE 1: SELECT "x"\n               ^'
    error = Reduced(Script((), "SELECT"), Difference("error", said=said), True, True, 1)
    assert title_of(error, frozenset()) == 'Error column "x" does not exist'
    long = Difference("error", said="x" * 500)
    assert len(title_of(dataclasses.replace(error, difference=long), frozenset())) < 130


def test_a_title_says_what_the_file_says_where_nothing_else_does() -> None:
    script = Script((), "SELECT")
    values = Reduced(script, Difference("values"), False, True, 1)
    assert title_of(values, frozenset(), ("1 line: true", "1 line: f")) == "f instead of true"
    assert title_of(values, frozenset(), ("2 lines: a | b", "1 line: f")) == "Another result"
    error = Reduced(script, Difference("error", said="no such thing"), False, True, 1)
    said = title_of(error, frozenset(), ("an error matching (?i)none", "error X: no such thing"))
    assert said == "Another error than expected: no such thing"
    assert title_of(error, frozenset(), ("1 line: 1", "error X")) == "Error no such thing"


class Lenient:
    """SQLite without the constraints of its tables."""

    def __init__(self) -> None:
        self.start(0)

    def start(self, hash_seed: int) -> None:
        self.database = SQLite()

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        for sql in statements:
            yield self.database.answer(sql.replace("PRIMARY KEY", ""))


def test_where_something_before_ended_otherwise_sqlite_is_not_said_to_be_wrong() -> None:
    before = [
        "CREATE TABLE t(a INTEGER PRIMARY KEY)",
        "INSERT INTO t VALUES(1)",
        "INSERT INTO t VALUES(1)",
    ]
    sql = "SELECT count(*) FROM t"
    for values, note in ((["1"], NOT_ALIKE), (["7"], NOT_SQLITE)):
        record = QueryRecord(9, sql, (), "I", "nosort", "", values, -1, "")
        engine: Any = Lenient()
        found = WithoutOracle(engine, before, sql, record, lambda: False, 50).run()
        assert found is not None and found.note == note


def passes(text: str) -> bool:
    return not run_file(Run(Embedded(5.0), "sqlite"), "s.test", text.encode(), 0).failures


def test_a_script_as_a_file_passes_on_sqlite_and_says_what_is_refused() -> None:
    setup = (
        "CREATE TABLE t(a NOT NULL)",
        "INSERT INTO t VALUES(NULL)",
        "INSERT INTO t\n\nVALUES(1)",
    )
    script = Script(setup, "SELECT a FROM t\n#", "?", "nosort")
    found = Difference("values", "", "I", "nosort", ("1",), ("2",))
    made = text_of(Reduced(script, found, True, True, 1, refused=(1,)), "f.test:7")
    assert "statement error\nINSERT INTO t VALUES(NULL)" in made
    assert passes(made.replace("\n #", ""))
    assert not passes(made.replace("----\n1", "----\n2").replace("\n #", ""))


def test_whole_numbers_are_no_difference_to_floats() -> None:
    script = Script((), "SELECT 3000000000", "?", "rowsort")
    right = ("rows", (("x",),), [(3_000_000_000,)])
    assert difference(script, right, ["rows", ["x"], [[3e9]]]) is None
    assert difference(script, right, ["rows", ["x"], [[3e9 + 1]]]) is not None


def sqlite_causes(text: str, folder: Path, **options: Any) -> tuple[Causes, FileResult]:
    path = folder / "f.test"
    path.write_text(text)
    choice = Choice("sqlite", "sqlite", 5.0)
    result = run_file(Run(choice.open(), "sqlite"), str(path), text.encode(), 0)
    wall_s = options.get("wall_s", 60.0)
    return find_causes(choice, [result], wall_s, lambda _: None), result


WRONG = """\
statement ok
CREATE TABLE t(a)

statement ok
CREATE TABLE u(a)

statement ok
INSERT INTO t VALUES(1)

statement ok
INSERT INTO u VALUES(1)

query I
SELECT a FROM t
----
2

query I
SELECT nope FROM t
----
1

query I
SELECT none FROM u
----
1
"""


def test_an_expectation_that_is_not_sqlites_keeps_its_query(tmp_path: Path) -> None:
    found, result = sqlite_causes(WRONG, tmp_path)
    assert [cause.count for cause in found.causes] == [2, 1]
    assert [failure.cause for failure in result.failures] == [2, 1, 1]
    error, value = found.causes
    assert (error.kind, value.kind) == ("error", "values")
    assert not value.oracle and value.verified
    assert value.statements == ("CREATE TABLE t(a)", "INSERT INTO t VALUES(1)", "SELECT a FROM t")
    assert (value.expected, value.got) == ("1 value: 2", "1 value: 1")
    assert value.note.startswith("SQLite itself does not give what the file expects")


def test_the_same_run_finds_the_same_causes(tmp_path: Path) -> None:
    assert sqlite_causes(WRONG, tmp_path)[0] == sqlite_causes(WRONG, tmp_path)[0]


def test_when_time_is_over_only_errors_of_one_message_have_a_cause(tmp_path: Path) -> None:
    found, result = sqlite_causes(WRONG, tmp_path, wall_s=0.0)
    [cause] = found.causes
    assert (cause.count, cause.reduced, cause.by_signature, found.unknown) == (2, 0, 2, 1)
    assert cause.title == "not reduced: error OperationalError: no such column: nope"
    assert (cause.script, cause.verified) == ("", False)
    assert "time" in found.ended
    assert [failure.cause for failure in result.failures] == [0, 1, 1]


def test_a_defect_of_the_reducer_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("refute.verifiers.sql.conform_reduce_plain.plain_answer", broken)
    found, result = sqlite_causes(WRONG, tmp_path)
    assert [cause.script for cause in found.causes] == [""]
    assert (found.unknown, len(result.failures)) == (1, 3)
    assert "a bug of refute at" in found.ended and "ZeroDivisionError" in found.ended


def test_errors_are_one_by_their_words_unless_nothing_else_is_shared() -> None:
    def shape(sql: str, said: str) -> Shape:
        script = Script((), sql, "?", "rowsort")
        return shape_of(Reduced(script, Difference("error", said), True, True, 1))

    assert shape("SELECT f(1)", "no f").covers(shape("SELECT f(1), 1 + 1", "no f"))
    assert shape("SELECT f(1)", "no").covers(shape("SELECT 1", "no"))
    assert not shape("SELECT f(1)", "no f").covers(shape("SELECT f(1)", "no g"))
    assert not shape("SELECT f(1)", "no").covers(shape("SELECT 1 LIMIT 2", "no"))
