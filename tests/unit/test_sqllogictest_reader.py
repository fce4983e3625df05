"""The reader of sqllogictest files: what it takes, and where it says a file cannot be read."""

from __future__ import annotations

import pytest

from refute.errors import UnreadableInput
from refute.oracles.sqllogictest.reader import (
    ControlRecord,
    QueryRecord,
    Record,
    StatementRecord,
    read,
)


def records(text: str | bytes) -> list[Record]:
    return list(read(text if isinstance(text, bytes) else text.encode(), "f.test"))


def only(text: str | bytes) -> Record:
    [record] = records(text)
    return record


def query(text: str) -> QueryRecord:
    record = only(text)
    assert type(record) is QueryRecord
    return record


def test_statements() -> None:
    first, second = records("\n\nstatement ok\nCREATE TABLE t\n(a)\n\nstatement error\nNO\n")
    assert first == StatementRecord(3, "CREATE TABLE t\n(a)", (), fails=False)
    assert second == StatementRecord(7, "NO", (), fails=True)


def test_a_query_with_listed_values() -> None:
    record = query("query IRT rowsort join-1\nSELECT 1,\n2, 3\n----\n1\n2.000\nx y \n")
    assert (record.line, record.types, record.sort, record.label) == (1, "IRT", "rowsort", "join-1")
    assert (record.sql, record.values) == ("SELECT 1,\n2, 3", ["1", "2.000", "x y "])


def test_a_query_with_hashed_values() -> None:
    record = query(f"query I\nSELECT 1\n----\n30 values hashing to {'0a' * 16}\n")
    assert (record.values, record.number, record.digest) == (None, 30, "0a" * 16)
    assert record.sort == "nosort"


def test_an_empty_result_is_not_the_same_as_no_expectation() -> None:
    empty = query("query I\nSELECT 1\n----\n")
    assert (empty.values, empty.expects) == ([], True)
    nothing = query("query I\nSELECT 1\n")
    assert (nothing.values, nothing.expects) == (None, False)


def test_conditions_are_stacked_and_may_have_comments() -> None:
    record = only("skipif MySQL # for 1\nonlyif sqlite\nstatement ok\nX\n")
    assert record.conditions == (("skipif", "mysql"), ("onlyif", "sqlite"))
    assert record.line == 3


def test_control_records() -> None:
    assert records("hash-threshold 8\n\nonlyif mssql\nhalt # here\n") == [
        ControlRecord(1, (), "hash-threshold"),
        ControlRecord(4, (("onlyif", "mssql"),), "halt"),
    ]


def test_comments_stand_anywhere_and_keep_line_numbers() -> None:
    text = (
        "# top\n\n# above\nskipif x\n# between\nquery I\n# in SQL\nSELECT 1\n----\n# here\n1\n# end"
    )
    record = query(text)
    assert (record.line, record.sql, record.values) == (6, "SELECT 1", ["1"])


def test_line_ends_of_all_kinds() -> None:
    text = "statement ok\nSELECT 1\n\nquery I\nSELECT 2\n----\n2\n"
    wanted = records(text)
    assert records(text.replace("\n", "\r\n")) == wanted
    assert records(text.removesuffix("\n")) == wanted
    assert records(text.replace("\n", "\r\n").removesuffix("\n")) == wanted
    assert records(text.replace("\n\n", "\n \t\n")) == wanted
    assert records("\ufeff" + text) == wanted


def test_what_only_looks_like_a_directive_or_an_end() -> None:
    sql = "SELECT query\nFROM t --\nAS\nstatement\n"
    assert [r.sql for r in records(f"skipif x\nstatement ok\n{sql}\nstatement ok\n{sql}")] == [
        sql.rstrip()
    ] * 2
    assert len(records("statement error\nSELECT nothing;")) == 1
    assert records("query T\nSELECT '----'\n----\n---- \n")[0].values == ["---- "]


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", " \n\t\n"])
def test_files_without_records(text: str) -> None:
    assert records(text) == []


UNREADABLE = [
    ("unknown directive", "\nsystem ok\nls\n", 2, "unknown directive 'system'"),
    ("indented comment", "  # note\nstatement ok\nX\n", 1, "unknown directive '  # note'"),
    ("prose", "This is a text.\n", 1, "unknown directive 'This'"),
    ("dialect", "statement count 3\nX\n", 1, "statement count"),
    ("dialect", "statement error no such table\nX\n", 1, "'no' is not understood"),
    ("dialect", "query I nosort x retry 3\nX\n", 1, "'retry' is not understood"),
    ("statement", "statement maybe\nX\n", 1, "statement maybe"),
    ("statement", "statement\nX\n", 1, "statement (nothing)"),
    ("no SQL", "statement ok\n\nstatement ok\nX\n", 1, "without SQL"),
    ("no SQL", "query I\n----\n1\n", 1, "without SQL"),
    ("types", "query IX\nX\n----\n", 1, "column types 'IX'"),
    ("types", "query\nX\n----\n", 1, "column types '(none)'"),
    ("sort", "query I colsort\nX\n----\n", 1, "unknown sort method 'colsort'"),
    ("condition", "\nskipif\nstatement ok\nX\n", 2, "skipif names no engine"),
    ("condition", "skipif x\n\nstatement ok\nX\n", 1, "stands before nothing"),
    ("threshold", "hash-threshold\n", 1, "takes a number"),
    ("threshold", "hash-threshold many\n", 1, "takes a number"),
    ("joined", "hash-threshold 8\nstatement ok\nX\n", 2, "an empty line must follow"),
    ("binary", b"statement ok\nX\n\n\x00\x01", 4, "zero byte"),
    ("encoding", "statement ok\nX 'ä'\n".encode("latin-1"), 2, "not UTF-8"),
    ("cut", "query I\nA\n----\n1\n\nquery I\nSELECT 2\n", 6, "it has no `----`"),
    ("cut", "query II\nA\n----\n1\n2\n3\n", 1, "3 values, in rows of 2"),
    ("cut", "query I\nA\n----\n30 values hashing to 3c13de", 1, "not a whole hash"),
    ("cut", "query I\nA\n----\n30 values has", 1, "not a whole hash"),
    ("cut", "statement ok\nX\n\nstatement ok\nINSERT INTO t VALUES(1, 'a", 4, "end within this"),
    ("cut", "statement ok\nX\n\nstatement error\nINSERT IN", 4, "end within this statement"),
    ("dashes", "query I\nSELECT 2\n---- \n-1\n", 1, "a line of dashes"),
    ("dashes", "query I\nSELECT 2\n-----\n-1\n", 1, "a line of dashes"),
    (
        "glued",
        "statement error\nX\nquery I rowsort x\nY\n----\n1\n",
        1,
        "'query I rowsort x' stands",
    ),
    ("glued", "skipif a\n# c\nstatement ok\nX\nstatement ok\nY\n", 3, "'statement ok' stands"),
    ("glued", "query I\nX\n----\n1\nquery I\nY\n----\n1\n", 1, "'query I' stands"),
]


@pytest.mark.parametrize(
    ("text", "line", "problem"), [row[1:] for row in UNREADABLE], ids=[row[0] for row in UNREADABLE]
)
def test_unreadable_files_name_the_line(text: str | bytes, line: int, problem: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        records(text)
    assert caught.value.message.startswith(f"f.test:{line}: ")
    assert problem in caught.value.message
    assert caught.value.next_step
