"""Judging answers as DuckDB's runner does: equal texts, close numbers, patterns, labels, hashes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from refute.oracles.sqllogictest.expect import Labels, Mismatch
from refute.oracles.sqllogictest.extended.duckdb_match import (
    judge_query,
    judge_statement,
    same,
    table,
)
from refute.oracles.sqllogictest.extended.program import (
    Either,
    Fails,
    Place,
    Query,
    Returns,
    Statement,
    Succeeds,
)

PLACE = Place("f.test", 1)


def rows(*values: Sequence[Any], types: str = "INTEGER VARCHAR") -> tuple[Any, ...]:
    kinds = types.split()
    return "rows", [f"c{n}" for n in range(len(kinds))], [list(row) for row in values], kinds


def judged(
    answer: Sequence[Any],
    *lines: str,
    sort: str = "nosort",
    label: str = "",
    labels: Labels | None = None,
    columns: int = 2,
) -> Mismatch | None:
    wanted = None if label and not lines else list(lines)
    query = Query(PLACE, types="I" * columns, sort=sort, label=label, expects=Returns(lines))
    return judge_query(query, answer, wanted, {} if labels is None else labels)


TWO = rows(("2", "b"), ("1", None))


@pytest.mark.parametrize("text", ["2\tb;1\tNULL", "2;b;1;NULL", "2\t\tb;1\tNULL"])
def test_rows_are_listed_by_line_or_by_value(text: str) -> None:
    assert judged(TWO, *text.split(";")) is None


@pytest.mark.parametrize(
    ("lines", "got"),
    [
        (("2\tb", "1\tc"), "NULL"),
        (("2\tb",), "and no more"),
        (("2\tb", "1\tNULL", "3\td"), "4 values and no more"),
        (("2\tb\tx", "1\tNULL"), "2 | b"),
        (("1\tNULL", "2\tb"), "2 | b"),
        ((), "2 | b"),
    ],
)
def test_a_wrong_result_is_a_mismatch(lines: tuple[str, ...], got: str) -> None:
    mismatch = judged(TWO, *lines)
    assert mismatch is not None
    shown = f"{mismatch.expected} {mismatch.got}"
    assert got in shown or got in mismatch.got


def test_sorting() -> None:
    assert judged(TWO, "1\tNULL", "2\tb", sort="rowsort") is None
    assert judged(TWO, "1", "2", "NULL", "b", sort="valuesort") is None
    assert judged(TWO, "2\tb", "1\tNULL", sort="rowsort") is not None


def test_the_number_of_columns_is_asked() -> None:
    mismatch = judged(TWO, "2\tb", "1\tNULL", columns=3)
    assert mismatch is not None
    assert (mismatch.kind, mismatch.expected) == ("columns", "3 columns")


def test_hashes_are_of_texts_as_the_runner_writes_them() -> None:
    answer = rows(("42", "84"), ("10", "20"), types="INTEGER INTEGER")
    right = "4 values hashing to 3da2bc3a8f3f2e5f8ed5b0e0f2d5a1a9"
    mismatch = judged(answer, right)
    assert mismatch is not None
    hashed = mismatch.got.partition(" (")[0]
    assert judged(answer, hashed) is None
    flags = rows(("true",), ("false",), types="BOOLEAN")
    assert table(flags, "nosort").values == ["1", "0"]


def test_labels_hold_results_together_whatever_is_listed() -> None:
    labels: Labels = {}
    assert judged(TWO, label="x", labels=labels) is None
    assert judged(TWO, label="x", labels=labels) is None
    other = judged(rows(("3", "b")), label="x", labels=labels)
    assert other is not None
    assert other.kind == "label"
    assert judged(TWO, "2\tz", "1\tNULL", label="y", labels=labels) is not None


@pytest.mark.parametrize(
    ("kind", "have", "want", "equal"),
    [
        ("DOUBLE", "0.1", "0.1005", True),
        ("DOUBLE", "0.1", "0.102", False),
        ("FLOAT", "1e10", "10000000000", True),
        ("DOUBLE", "nan", "NaN", True),
        ("DOUBLE", "inf", "1e300", False),
        ("DOUBLE", "0.0", "NULL", False),
        ("VARCHAR", "0.1", "0.1001", False),
        ("INTEGER", "1", "1.0", True),
        ("INTEGER", "1", "2", False),
        ("HUGEINT", "1", "one", False),
        ("DECIMAL(4,2)", "1.50", "1.5", True),
        ("DECIMAL(4,2)", "1.50", "1.51", False),
        ("BOOLEAN", "1", "true", True),
        ("BOOLEAN", "0", "1", False),
        ("BOOLEAN", "NULL", "maybe", False),
        ("VARCHAR", "1", "true", False),
        ("VARCHAR", "a\nb", "<REGEX>:a.*b", True),
        ("VARCHAR", "xa", "<REGEX>:a", False),
        ("VARCHAR", "xa", "<!REGEX>:.*a", False),
        ("VARCHAR", "xa", "<!REGEX>:.*b.*", True),
        ("DATE", "2020-01-01", "2020-01-02", False),
    ],
)
def test_values_of_a_type(kind: str, have: str, want: str, equal: bool) -> None:
    assert same(kind, have, want) is equal


def test_texts_of_values() -> None:
    answer = rows(("", None, "a\0b"), types="VARCHAR VARCHAR VARCHAR")
    assert table(answer, "nosort").values == ["(empty)", "NULL", "a\\0b"]
    untyped = ("rows", ["a", "b", "c"], [[1.0, b"\x00a", 7]])
    assert table(untyped, "nosort") == (["DOUBLE", "VARCHAR", "BIGINT"], ["1.0", "\\x00a", "7"])


ERROR = ("error", "x.BinderException", "Binder Error: no column q7")


@pytest.mark.parametrize(
    ("expects", "answer", "passes"),
    [
        (Succeeds(), ("done",), True),
        (Succeeds(), TWO, True),
        (Succeeds(), ERROR, False),
        (Fails(), ERROR, True),
        (Fails(), ("done",), False),
        (Fails(part="no column {v}"), ERROR, True),
        (Fails(part="no column q8"), ERROR, False),
        (Fails(part="<REGEX>:Binder.*q\\d"), ERROR, True),
        (Fails(part="<REGEX>:q\\d"), ERROR, False),
        (Fails(part="<!REGEX>:.*q7"), ERROR, False),
        (Fails(part="INTERNAL"), ("error", "x", "INTERNAL Error: oh"), False),
        (Fails(), ("crash", "x", "y"), False),
        (Either(Fails(part="conflict")), ("done",), True),
        (Either(Fails(part="conflict")), ERROR, False),
        (Either(Fails(part="column")), ERROR, True),
        (Either(), ("lost", "ended its process"), False),
    ],
)
def test_statements(expects: Any, answer: Sequence[Any], passes: bool) -> None:
    statement = Statement(PLACE, sql="X", expects=expects)
    found = judge_statement(statement.expects, answer, lambda text: text.replace("{v}", "q7"))
    assert (found is None) is passes


def test_a_statement_has_no_rows_to_compare() -> None:
    assert judged(("done",), columns=1) is None
    assert judged(("done",), "1", columns=1) is not None
    lost = judged(("lost", "did not answer in time"), "1", columns=1)
    assert lost is not None
    assert lost.kind == "hang"
