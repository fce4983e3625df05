"""Results, errors and variables of sqllogictest-rs: what fits, and what must not."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from refute.oracles.sqllogictest.extended.match import judge_error, judge_statement
from refute.oracles.sqllogictest.extended.program import (
    Either,
    Fails,
    Place,
    Query,
    Returns,
    Succeeds,
)
from refute.oracles.sqllogictest.extended.rs_rows import Modes, judge_query, lines_of
from refute.oracles.sqllogictest.extended.substitution import NotSubstituted, substituted

INF, NAN = float("inf"), float("nan")


def rows(*values: tuple[Any, ...], types: list[str] | None = None) -> list[Any]:
    """An answer with these rows."""
    names = [f"c{at}" for at in range(len(values[0]))] if values else ["c0"]
    answer: list[Any] = ["rows", names, [list(row) for row in values]]
    return [*answer, types] if types else answer


def fits(lines: str, answer: list[Any], *, types: str = "", sort: str = "", **modes: Any) -> bool:
    """Whether the answer is what a query with these lines expects."""
    listed = tuple(lines.split("\n")) if lines else ()
    query = Query(Place("f", 1), sql="X", types=types, sort=sort, expects=Returns(listed))
    return judge_query(query, answer, Modes(**modes)) is None


def hashed(*values: str) -> str:
    """The line of a hashed result."""
    digest = hashlib.md5("".join(f"{value}\n" for value in values).encode()).hexdigest()
    return f"{len(values)} values hashing to {digest}"


SAME: list[tuple[str, list[Any]]] = [
    ("1 2\n3 4", rows((1, 2), (3, 4))),
    ("1   a \t b", rows((1, "a b"))),
    ("x y", rows(("x\n  y",))),
    ("x\ny z", rows(("x\ny", "z"))),
    ("NULL (empty)", rows((None, ""))),
    ("1", rows((1.0,))),
    ("1.0", rows((1.0,))),
    ("100000000000000000000 1e20", rows((1e20, 1e20))),
    ("1e+20", rows((1e20,))),
    ("0.1", rows((0.1,))),
    ("NaN inf -Infinity", rows((NAN, INF, -INF))),
    ("0.1", rows((0.10000000149011612,), types=["FLOAT"])),
    ("t f true", rows((1, 0, 1), types=["BOOLEAN"] * 3)),
    ("f true NULL", rows(("false", "t", None), types=["bool"] * 3)),
    ("abc", rows((b"abc",))),
    (r"\x616263", rows((b"abc",))),
    ("616263", rows((b"abc",))),
    ("é", rows(("é".encode(),))),
    (r"\xff00", rows((b"\xff\x00",))),
    ("", rows()),
    ("", ["done"]),
    (hashed("1", "a b"), rows((1, "a b"))),
    (hashed("t"), rows((1,), types=["BOOLEAN"])),
    (hashed("true"), rows((1,), types=["BOOLEAN"])),
    (hashed("1"), rows((1.0,))),
    (hashed("1.0"), rows((1.0,))),
    (hashed("1e+15"), rows((1e15,))),
    (hashed("-1.25e-07"), rows((-1.25e-7,))),
    (hashed("1000000000000000"), rows((1e15,))),
    (f"1 values hashing to {hashlib.md5(bytes((255, 10))).hexdigest()}", rows(("\udcff",))),
]
DIFFERENT: list[tuple[str, list[Any]]] = [
    ("1 2\n3 4", rows((1, 2), (3, 5))),
    ("1 2\n3 4", rows((3, 4), (1, 2))),
    ("1 2", rows((1, 2), (3, 4))),
    ("1 2\n3 4", rows((1, 2))),
    ("1", rows()),
    ("", rows((1,))),
    ("1", ["done"]),
    ("a", rows(("A",))),
    ("ab", rows(("a b",))),
    ("NULL", rows((0,))),
    ("(empty)", rows((None,))),
    ("0.1", rows((0.10000000000000002,))),
    ("0.1000001", rows((0.10000000149011612,), types=["FLOAT"])),
    ("1_0", rows((10.0,))),
    ("1.0", rows((1,))),
    ("01", rows((1,))),
    ("1.50", rows(("1.5",))),
    ("2.5\n1.50", rows((2.5,), ("1.5",))),
    ("true", rows((0,), types=["BOOLEAN"])),
    ("yes", rows((1,), types=["BOOLEAN"])),
    ("t", rows((1,))),
    ("abd", rows((b"abc",))),
    ("NaN", rows((INF,))),
    (hashed("1", "a"), rows((1, "b"))),
    (hashed("1"), rows((1,), (1,))),
    ("1", ["error", "x.Error", "1"]),
    ("", ["error", "x.Error", "no"]),
    ("", ["crash", "x.Error", "no"]),
]


@pytest.mark.parametrize(("lines", "answer"), SAME)
def test_one_value_in_any_notation(lines: str, answer: list[Any]) -> None:
    assert fits(lines, answer)


@pytest.mark.parametrize(("lines", "answer"), DIFFERENT)
def test_another_value_in_no_notation(lines: str, answer: list[Any]) -> None:
    assert not fits(lines, answer)


def test_sorting_is_of_the_result_alone() -> None:
    answer = rows((10, 1), (2, 3), (1, 2))
    assert fits("1 2\n10 1\n2 3", answer, sort="rowsort")
    assert not fits("1 2\n2 3\n10 1", answer, sort="rowsort")
    assert fits("1\n1\n10\n2\n2\n3", answer, sort="valuesort")


def test_the_mode_of_the_file_holds_where_the_query_has_none() -> None:
    answer = rows((2, 1), (1, 2))
    for lines, sort, own, whether in (
        ("1 2\n2 1", "rowsort", "", True),
        ("1 2\n2 1", "rowsort", "nosort", False),
        ("1 2\n2 1", "nosort", "rowsort", True),
    ):
        query = Query(Place("f", 1), sort=own, expects=Returns(tuple(lines.split("\n"))))
        assert (judge_query(query, answer, Modes(sort=sort)) is None) is whether
    assert fits("2\n1\n1\n2", answer, by_value=True)
    assert not fits("2 1\n1 2", answer, by_value=True)


@pytest.mark.parametrize(
    ("lines", "text", "whether"),
    [
        ("a<slt:ignore>d", "a b c d", True),
        ("a <slt:ignore>", "a b c", True),
        ("<slt:ignore>c", "a b c", True),
        ("<slt:ignore>b<slt:ignore>", "a b c", True),
        ("a<slt:ignore>c<slt:ignore>", "a b c", True),
        ("cost: <slt:ignore>, rows: 1", "cost: 5 ms, rows: 1", True),
        ("cost: <slt:ignore>, rows: 1", "cost: 5 ms, rows: 2", False),
        ("b<slt:ignore>", "a b c", False),  # what stands before is not ignored
        ("<slt:ignore>b", "a b c", False),  # nor what stands behind
        ("a<slt:ignore>a", "a", False),  # one text is not two
        ("a<slt:ignore>c<slt:ignore>b", "a b c", False),  # the order counts
        ("ab<slt:ignore>bc", "abc", False),
    ],
)
def test_only_what_is_marked_is_ignored(lines: str, text: str, whether: bool) -> None:
    assert fits(lines, rows((text,))) is whether


def test_ignoring_goes_over_lines_and_no_further() -> None:
    answer = rows(("a",), ("b",), ("c",))
    assert fits("a\n<slt:ignore>\nc", answer)
    assert not fits("a\n<slt:ignore>\nb", answer)
    assert not fits("a\n<slt:ignore>", rows(("b",), ("a",)))


def test_types_count_when_they_are_asked_for() -> None:
    answer = rows((1, "a", 1.5))
    assert fits("1 a 1.5", answer, types="T")
    for types, whether in (
        *(("ITR", True), ("???", True), ("IT", False), ("ITRT", False)),
        *(("TTR", False), ("IIR", False), ("ITI", False), ("ITT", False), ("BTR", True)),
    ):
        assert fits("1 a 1.5", answer, types=types, strict=True) is whether, types
    assert fits("1", rows((1,), types=["INTEGER"]), types="I", strict=True)
    assert not fits("1", rows((1,), types=["INTEGER"]), types="B", strict=True)
    assert not fits("t", rows((1,), types=["BOOLEAN"]), types="I", strict=True)


def test_names_of_columns_count_where_the_file_has_them() -> None:
    def named(*names: str) -> bool:
        query = Query(Place("f", 1), types="II", names=names, expects=Returns(("1 2",)))
        return judge_query(query, ["rows", ["A", "b"], [[1, 2]]], Modes()) is None

    assert named("a", "B")
    assert named("?", "b")
    assert not named("a", "c")
    assert not named("b", "a")


def test_white_space_that_a_pattern_has_not_is_shown() -> None:
    answer = ["error", "E", "no field.\nValid fields are a"]
    mismatch = judge_error(Fails(pattern="no field. Valid"), answer)
    assert mismatch is not None and mismatch.got.endswith(
        "(with other white space: 'no field.\\nValid fields are a')"
    )
    other = judge_error(Fails(pattern="no table"), answer)
    assert other is not None and "white space" not in other.got


def test_a_boolean_is_shown_as_the_engine_writes_it() -> None:
    query = Query(Place("f", 1), sql="X", types="B", expects=Returns(("x",)))
    answer = rows((True,), (False,), types=["bool"])
    for spelled, lines in ((False, ["t", "f"]), (True, ["true", "false"])):
        modes = Modes(spelled=spelled)
        assert lines_of(query, answer, modes) == lines
        mismatch = judge_query(query, answer, modes)
        assert mismatch is not None and mismatch.got == f"2 lines: {lines[0]} | {lines[1]}"
        assert fits("1\nf", answer, spelled=spelled)


def test_datafusion_rounds_and_numbers_the_lines_of_plans() -> None:
    assert fits("0.3", rows((0.1 + 0.2,)), as_datafusion=True)
    assert not fits("0.3", rows((0.1 + 0.2,)))
    assert not fits("0.3", rows((0.3000001,)), as_datafusion=True)
    assert fits(
        "1.5 x", rows(("1.500", "x"), types=["decimal128(4, 3)", "string"]), as_datafusion=True
    )
    plan = rows(("plan", "A: x\n  B: y\n"))
    assert fits("plan\n01)A: x\n02)--B: y", plan, as_datafusion=True)
    assert not fits("plan\n01)A: x\n02)B: y", plan, as_datafusion=True)


MYSQL = "ERROR 1146 (42S02): No such table"
ERROR = ["error", "x.DatabaseError", 'relation "a" does not exist', "42P01"]


@pytest.mark.parametrize(
    ("fails", "answer", "whether"),
    [
        (Fails(), ERROR, True),
        (Fails(pattern="relation .* does not"), ERROR, True),
        (Fails(pattern="relation .* exists"), ERROR, False),
        (Fails(pattern='^db error: ERROR: relation "a"'), ERROR, True),
        (Fails(pattern='^db error: ERROR: relation "a"'), ERROR[:3], False),
        (Fails(state="42P01"), ERROR, True),
        (Fails(state="42P02"), ERROR, False),
        (Fails(state="42P01"), ERROR[:3], False),
        (Fails(message='relation "a" does not exist'), ERROR, True),
        (Fails(message='db error: ERROR: relation "a" does not exist\n'), ERROR, True),
        (Fails(message='relation "a" does not'), ERROR, False),
        (Fails(part="does not"), ERROR, True),
        (Fails(part="does too"), ERROR, False),
        (Fails(), ["done"], False),
        (Fails(), rows((1,)), False),
        (Fails(), ["crash", "x.KeyError", "a"], False),
        (Fails(), ["lost", "ended its process"], False),
        (Fails(), ["unfit", "a value of no type"], False),
        (Fails(pattern="planning"), ["error", "datafusion.Error", "planning: x"], True),
        (
            Fails(message="DataFusion error: planning"),
            ["error", "datafusion.Error", "planning"],
            True,
        ),
        (Fails(message="DataFusion error: planning"), ["error", "x.Error", "planning"], False),
        *(
            (fails, ["error", "pymysql.err.ProgrammingError", MYSQL, "42S02"], whether)
            for fails, whether in (
                (Fails(message=f"Server error: `{MYSQL}'"), True),
                (Fails(message="No such table"), True),
                (Fails(message="such table"), False),
                (Fails(pattern="1146.*No such"), True),
            )
        ),
    ],
)
def test_errors(fails: Fails, answer: list[Any], whether: bool) -> None:
    assert (judge_error(fails, answer) is None) is whether
    assert (judge_statement(fails, answer) is None) is whether


@pytest.mark.parametrize(
    ("expects", "answer", "sql", "whether"),
    [
        (Succeeds(), ["done"], "X", True),
        (Succeeds(), rows((1,)), "X", True),
        (Succeeds(), ERROR, "X", False),
        (Succeeds(), ["crash", "x", "y"], "X", False),
        (Succeeds(2), ["done", 2], "INSERT", True),
        (Succeeds(2), ["done", 3], "INSERT", False),
        (Succeeds(2), ["done"], "INSERT", False),
        (Succeeds(0), ["done"], "CREATE TABLE t(a)", True),
        (Succeeds(0), ["done"], "-- x\n DELETE FROM t", False),
        (Succeeds(2), rows((1,), (2,)), "SELECT", True),
        (Succeeds(1), rows((1,), (2,)), "SELECT", False),
        (Succeeds(7), ["rows", ["Count"], [[7]]], "INSERT INTO t SELECT", True),
        (Succeeds(1), ["rows", ["Count"], [[7]]], "INSERT INTO t SELECT", False),
        (Succeeds(1), ["rows", ["count"], [[7]]], "SELECT count", True),
        (Either(), ["done"], "X", True),
        (Either(Fails(part="exist")), ERROR, "X", True),
        (Either(Fails(part="other")), ERROR, "X", False),
    ],
)
def test_statements(expects: Any, answer: list[Any], sql: str, whether: bool) -> None:
    assert (judge_statement(expects, answer, sql) is None) is whether


VARIABLES = {"a": "1", "b_2": "two", "3": "three"}


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("$a, ${a}", "1, 1"),
        ("$b_2.$a", "two.1"),
        ("${3}", "three"),
        ("${c:x}", "x"),
        ("${a:x}", "1"),
        ("${c:$a-${b_2}}", "1-two"),
        ("${a:$c}", "1"),  # a default that is not needed needs no values
        (r"\$a \\ \{ \}", r"$a \ { }"),
        (r"${c:\}}", "}"),
        ("{a}: }", "{a}: }"),
    ],
)
def test_substitution(text: str, done: str) -> None:
    assert substituted(text, VARIABLES.get) == done


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("$c", "No such variable: $c"),
        ("${c}", "No such variable: $c"),
        ("${c:$d}", "No such variable: $d"),
        ("100 $", "Missing variable name"),
        ("${}", "Missing variable name"),
        ("${a", "Unexpected character"),
        ("${a!}", "Unexpected character"),
        ("${c:x", "Missing closing brace"),
        (r"\n", "Invalid escape sequence"),
        ("\\", "Invalid escape sequence"),
    ],
)
def test_what_cannot_be_substituted(text: str, problem: str) -> None:
    with pytest.raises(NotSubstituted, match="substitution failed") as caught:
        substituted(text, VARIABLES.get)
    assert problem in str(caught.value)
