"""Values as the format shows them, and whether an answer is what a record expects."""

from __future__ import annotations

from typing import Any

import pytest

from refute.oracles.sqllogictest.expect import KINDS, SLOW, Labels, judge, observe_skipped
from refute.oracles.sqllogictest.reader import QueryRecord, StatementRecord, read
from refute.oracles.sqllogictest.render import Value, digest, joined, texts, whole
from refute.verifiers.sql.conform_file import Embedded, Run, run_file


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        *[(kind, None, "NULL") for kind in "TIR"],
        ("I", 7, "7"),
        ("I", 2**31, "-2147483648"),
        ("I", 2**32 + 5, "5"),
        ("I", 3.99, "3"),
        ("I", -3.99, "-3"),
        ("I", 1e300, "-1"),
        ("I", float("inf"), "-1"),
        ("I", " 12abc", "12"),
        ("I", "abc", "0"),
        ("I", b"8", "8"),
        ("R", 1, "1.000"),
        ("R", 0.0005, "0.001"),
        ("R", -0.0, "0.000"),
        ("R", 0.0625, "0.063"),
        ("R", -0.0625, "-0.063"),
        ("R", 2.0005, "2.001"),
        ("R", "2.5e1x", "25.000"),
        ("R", "", "0.000"),
        ("R", -9223372036854775808.0, "-9223372036854776000.000"),
        ("R", 1e20, "100000000000000000000.000"),
        ("R", float("inf"), "Inf"),
        ("T", "", "(empty)"),
        ("T", b"", "(empty)"),
        ("T", "a\tb~\x7f", "a@b~@"),
        ("T", "ä", "@@"),
        ("T", "a\0b", "a"),
        ("T", 12, "12"),
        ("T", 1.0, "1.0"),
        ("T", 4020392070693725.0, "4.02039207069373e+15"),
        ("T", 1e20, "1.0e+20"),
        ("T", 0.1, "0.1"),
    ],
)
def test_values_are_shown_as_the_c_runner_shows_them(kind: str, value: Value, text: str) -> None:
    assert texts(kind, [[value]], "nosort") == [text]
    assert texts(kind + "I", [[value, 1]], "nosort") == [text, "1"]


def test_digits_may_be_more_than_python_reads() -> None:
    long = 5000 * "9"
    assert joined("III", [[long, f"-{long}", 5000 * "0" + "7"]], "nosort") == "-1\n0\n7"
    assert [whole(text) for text in ("-12", b"+3", "000", "٣")] == [-12, 3, 0, 3]


@pytest.mark.parametrize(
    "text",
    [
        "query I\nSELECT 1\n----\n{} values hashing to d41d8cd98f00b204e9800998ecf8427e\n",
        "control sortmode nosort\n\nstatement count {}\nSELECT 1\n",
        "control sortmode nosort\n\nhash-threshold {}\n\nstatement count 5\nSELECT 1\n",
        "# name: a/f.test\n# group: [a]\n\nhash-threshold {}\n\nquery I\nSELECT 1\n----\n2\n",
        "# group: [a]\n\nrequire vector_size {}\n\nquery I\nSELECT 1\n----\n2\n",
    ],
)
def test_numbers_of_files_may_be_of_any_length(text: str) -> None:
    run = Run(Embedded(5.0), "sqlite", dialect="auto")
    result = run_file(run, "f.test", text.format(5000 * "9").encode(), 0)
    assert (len(result.failures) == 1 or result.unmet) and not result.error


def test_sorting_is_by_text() -> None:
    rows = [[10, 2], [9, 1], [10, 1], [None, 3]]
    assert texts("II", rows, "nosort") == ["10", "2", "9", "1", "10", "1", "NULL", "3"]
    assert texts("II", rows, "rowsort") == ["10", "1", "10", "2", "9", "1", "NULL", "3"]
    assert texts("II", rows, "valuesort") == ["1", "1", "10", "10", "2", "3", "9", "NULL"]
    assert texts("IT", rows, "rowsort") == ["10", "1", "10", "2", "9", "1", "NULL", "3"]
    assert texts("IT", rows, "valuesort") == texts("II", rows, "valuesort")
    assert texts("IT", [], "rowsort") == texts("II", [], "nosort") == []


def test_equal_numbers_of_other_types_do_not_share_a_text() -> None:
    assert texts("T", [[1], [1.0], ["1"]], "nosort") == ["1", "1.0", "1"]
    assert texts("R", [[1.0], [1], ["1"]], "nosort") == ["1.000"] * 3


def test_the_hash_is_of_each_value_and_a_newline() -> None:
    assert digest("1\n2") == "6ddb4095eb719e2a9f0a3f95677d24e0"
    assert digest("") == "d41d8cd98f00b204e9800998ecf8427e"


def query(text: str) -> QueryRecord:
    [record] = read(text.encode(), "f")
    assert type(record) is QueryRecord
    return record


def rows(*values: Any) -> list[Any]:
    return ["rows", [["a"]], [[value] for value in values]]


TWO = "1\n2"
ERROR = ["error", "m.OperationalError", "no such table: t"]
OK = StatementRecord(1, "X", (), fails=False)
FAILS = StatementRecord(1, "X", (), fails=True)


@pytest.mark.parametrize(
    ("record", "answer", "passes"),
    [
        (OK, ["done"], True),
        (OK, rows(1), True),
        (OK, ERROR, False),
        (OK, ["crash", "builtins.KeyError", "x"], False),
        (OK, ["unfit", "a value"], False),
        (OK, ["lost", "ended its process"], False),
        (FAILS, ERROR, True),
        (FAILS, ["done"], False),
        (FAILS, rows(), False),
        (FAILS, ["crash", "builtins.KeyError", "x"], False),
        (FAILS, ["unfit", "a value"], False),
        (FAILS, ["lost", "ended its process"], False),
        (query("query I\nX\n----\n1\n2\n"), rows(1, 2), True),
        (query("query I\nX\n----\n1\n2\n"), rows(2, 1), False),
        (query("query I rowsort\nX\n----\n1\n2\n"), rows(2, 1), True),
        (query("query I\nX\n----\n1\n2\n"), rows(1), False),
        (query("query I\nX\n----\n1\n"), rows(1, 2), False),
        (query("query I\nX\n----\n"), rows(), True),
        (query("query I\nX\n----\n"), rows(1), False),
        (query("query I\nX\n----\n"), ERROR, False),
        (query("query I\nX\n----\n"), ["done"], False),
        (query("query II\nX\n----\n1\n1\n"), rows(1), False),
        (query("query I\nX\n"), rows(1), True),
        (query("query I\nX\n"), ERROR, False),
        (query(f"query I\nX\n----\n2 values hashing to {digest(TWO)}\n"), rows(1, 2), True),
        (query(f"query I\nX\n----\n2 values hashing to {digest(TWO)}\n"), rows(1, 3), False),
        (query(f"query I\nX\n----\n3 values hashing to {digest(TWO)}\n"), rows(1, 2), False),
    ],
)
def test_judging(record: StatementRecord | QueryRecord, answer: list[Any], passes: bool) -> None:
    assert (judge(record, answer, {}) is None) == passes


@pytest.mark.parametrize(
    ("record", "answer", "kind"),
    [
        (OK, ERROR, "error"),
        (FAILS, ["done"], "no error"),
        (FAILS, ["crash", "builtins.KeyError", "x"], "crash"),
        (OK, ["unfit", "a value"], "unfit"),
        (OK, ["lost", "ended its process (signal 11)"], "crash"),
        (OK, ["lost", f"{SLOW} (1 s)"], "hang"),
        (query("query I\nX\n----\n1\n"), ERROR, "error"),
        (query("query I\nX\n----\n1\n"), ["done"], "no rows"),
        (query("query I\nX\n----\n1\n"), rows(2), "values"),
        (query("query II\nX\n----\n1\n1\n"), rows(1), "columns"),
        (query(f"query I\nX\n----\n2 values hashing to {digest(TWO)}\n"), rows(1), "values"),
        (query("query I nosort known\nX\n"), rows(1), "label"),
    ],
)
def test_mismatches_have_kinds(
    record: StatementRecord | QueryRecord, answer: list[Any], kind: str
) -> None:
    mismatch = judge(record, answer, {"known": digest("2")})
    assert mismatch is not None
    assert mismatch.kind == kind and kind in KINDS


def test_equal_labels_have_equal_results() -> None:
    labels: Labels = {}
    first = query("query I nosort one\nX\n")
    assert judge(first, rows(1), labels) is None
    assert judge(first, rows(1), labels) is None
    assert judge(first, rows(2), labels) is not None
    assert judge(query("query I nosort two\nX\n"), rows(2), labels) is None


def test_skipped_queries_are_part_of_their_label() -> None:
    labels: Labels = {}
    assert observe_skipped(query("query I nosort one\nX\n----\n1\n"), labels) is None
    assert judge(query("query I nosort one\nX\n"), rows(2), labels) is not None
    hashed = f"query I nosort one\nX\n----\n1 values hashing to {digest('2')}\n"
    assert observe_skipped(query(hashed), labels) is not None


def test_a_mismatch_shows_where_it_begins() -> None:
    record = query("query I\nX\n----\n" + "\n".join(map(str, range(20))) + "\n")
    mismatch = judge(record, rows(*range(8), *range(100, 112)), {})
    assert mismatch is not None
    assert mismatch.expected == "20 values: … 8 | 9 | 10 | 11 | 12 | 13 …"
    assert mismatch.got == "20 values: … 100 | 101 | 102 | 103 | 104 | 105 …"
    missing = judge(record, rows(*range(19)), {})
    assert missing is not None and missing.got == "19 values and no more"
