"""Files of sqllogictest-rs: what directives are read as, what is refused, which dialect it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from refute.errors import UnreadableInput
from refute.oracles.sqllogictest.extended import dialects, includes
from refute.oracles.sqllogictest.extended.patterns import pattern_of
from refute.oracles.sqllogictest.extended.program import (
    Control,
    Fails,
    Halt,
    HashThreshold,
    Include,
    Let,
    Place,
    Query,
    Retry,
    Returns,
    Sleep,
    Statement,
    Subtest,
    Succeeds,
    System,
)
from refute.oracles.sqllogictest.extended.rs import read
from refute.oracles.sqllogictest.layout import OTHER_LAYOUT, may_be_other, other_layout
from refute.oracles.sqllogictest.reader import read as read_sqlite


def only(text: str) -> Any:
    """The only node of a file."""
    (node,) = read(text.encode(), "f.slt").nodes
    return node


AT = Place("f.slt", 1)
NODES: list[tuple[str, Any]] = [
    ("statement ok\nX\nY\n", Statement(AT, sql="X\nY")),
    ("statement ok\n\nX\n", Statement(AT, sql="X")),
    ("  statement   ok \nX", Statement(AT, sql="X")),
    ("statement ok\r\nX\r\n\r\n", Statement(AT, sql="X")),
    ("statement ok\nX\n# no comment\n", Statement(AT, sql="X\n# no comment")),
    ("statement ok\nX\n \nY\n", Statement(AT, sql="X\n \nY")),
    ("statement error\nX;", Statement(AT, sql="X;", expects=Fails())),
    ("query rowsort\nX", Query(AT, sql="X", types="rowsort", expects=Returns(()))),
    ("query I;$\nX\n----\n", Query(AT, sql="X", types="I;$", expects=Returns(()))),
    ("statement count 3\nX", Statement(AT, sql="X", expects=Succeeds(3))),
    ("statement error\nX\n", Statement(AT, sql="X", expects=Fails())),
    ("statement error a  b\nX", Statement(AT, sql="X", expects=Fails(pattern="a b"))),
    ("statement error (42P01)\nX", Statement(AT, sql="X", expects=Fails(state="42P01"))),
    ("statement error (42p01)\nX", Statement(AT, sql="X", expects=Fails(pattern="(42p01)"))),
    ("statement error (42P0)\nX", Statement(AT, sql="X", expects=Fails(pattern="(42P0)"))),
    (
        "statement error\nX\n----\na\n\n  b\n\n\n",
        Statement(AT, sql="X", expects=Fails(message="a\n\n  b")),
    ),
    (
        "statement error retry 2 backoff 500ms\nX\n----\na\n\n\n",
        Statement(AT, retry=Retry(2, 0.5), sql="X", expects=Fails(message="a")),
    ),
    (
        "statement error retry twice\nX",
        Statement(AT, sql="X", expects=Fails(pattern="retry twice")),
    ),
    (
        "statement ok retry 3 backoff 1m30s\nX",
        Statement(AT, retry=Retry(3, 90.0), sql="X"),
    ),
    ("query\nX\n----\n", Query(AT, sql="X", expects=Returns(()))),
    ("query I\nX", Query(AT, sql="X", types="I", expects=Returns(()))),
    (
        "query I?B rowsort\nX\n----\n1 a  t\n#2\n \n\n",
        Query(AT, sql="X", types="I?B", sort="rowsort", expects=Returns(("1 a  t", "#2", " "))),
    ),
    (
        "query I rowsort l retry 1 backoff 0s\nX\n----\n1\n",
        Query(
            AT,
            retry=Retry(1, 0.0),
            sql="X",
            types="I",
            sort="rowsort",
            label="l",
            expects=Returns(("1",)),
        ),
    ),
    (
        "query a:I,b:T\nX\n----\n1 2\n",
        Query(AT, sql="X", types="IT", names=("a", "b"), expects=Returns(("1 2",))),
    ),
    ("query error no such\nX", Query(AT, sql="X", expects=Fails(pattern="no such"))),
    ("let a, b\nX\n", Let(AT, names=("a", "b"), sql="X")),
    ("let a,b\nX\n", Let(AT, names=("a", "b"), sql="X")),
    ("system ok\nX\n----\n a\n\nb\n\n\n", System(AT, command="X", stdout="a\n\nb")),
    ("system ok retry 2 backoff 1s\nX\n", System(AT, retry=Retry(2, 1.0), command="X")),
    ("control sortmode valuesort\n", Control(AT, "sortmode", "valuesort")),
    ("control resultmode valuewise\n", Control(AT, "resultmode", "valuewise")),
    ("control substitution on\n", Control(AT, "substitution", "on")),
    ("sleep 2h\n", Sleep(AT, 7200.0)),
    ("subtest name\n", Subtest(AT, "name")),
    ("hash-threshold 8\n", HashThreshold(AT, 8)),
    ("halt\n", Halt(AT)),
]


@pytest.mark.parametrize(("text", "node"), NODES, ids=[t.replace("\n", "/") for t, _ in NODES])
def test_directives(text: str, node: Any) -> None:
    assert only(text) == node


def test_what_stands_before_a_record_holds_for_that_one() -> None:
    text = (
        "onlyif A\n\n# a comment\nconnection one\nskipif b\nstatement ok\nX\n\n"
        "connection default\nquery T\nY\n----\n1\n\nlet a\nZ\n"
    )
    first, second, third = read(text.encode(), "f.slt").nodes
    assert first == Statement(
        Place("f.slt", 6), (("onlyif", "a"), ("skipif", "b")), "one", None, "X"
    )
    assert (second.connection, third.connection) == ("", "")  # type: ignore[attr-defined]


REFUSED: list[tuple[str, int, str]] = [
    ("frobnicate\n", 1, "unknown directive 'frobnicate'"),
    ("statement ok\nX\n\nshow-column-names false\n", 4, "unknown directive"),
    ("statement\nX\n", 1, "'statement'"),
    ("statement maybe\nX\n", 1, "'statement maybe'"),
    ("statement count x\nX\n", 1, "'statement count x'"),
    ("statement ok now\nX\n", 1, "'now' is not understood"),
    ("statement ok retry 0 backoff 1s\nX\n", 1, "'retry 0 backoff 1s'"),
    ("statement ok retry 1 backoff soon\nX\n", 1, "'soon' is no duration"),
    ("statement ok retry 1 backoff 1s more\nX\n", 1, "is not understood"),
    ("statement error (a\nX\n", 1, "is no regular expression"),
    (r"statement error [a&&[b]]" + "\nX\n", 1, "is no regular expression"),
    (r"statement error \p{Greek}" + "\nX\n", 1, "is no regular expression"),
    ("statement error a\nX\n----\nb\n", 3, "an error is expected twice"),
    ("statement error (42P01)\nX\n----\nb\n", 3, "an error is expected twice"),
    ("statement ok\nX\n----\n1\n", 3, "a statement has no results"),
    ("statement ok\n", 1, "cut off"),
    ("query I\n1\n\nstatement error\nX", 4, "may end within this statement"),
    ("statement ok\n\n\n", 1, "cut off"),
    ("statement ok\nX\nstatement ok\nY\n", 3, "no empty line before it"),
    ("statement ok\n\nstatement ok\nY\n", 3, "no empty line before it"),
    ("query I\nX\n----\n1\nquery II rowsort\nY\n----\n", 5, "no empty line before it"),
    ("query error\nX\n----\nb\n\nstatement ok\nY\n", 6, "no empty line before it"),
    ("query a:I,b\nX\n", 1, "column types 'a:I,b'"),
    ("query I rowsrot sort\nX\n", 1, "'sort' is not understood"),
    ("query I rawsort\nX\n", 1, "unknown sort method 'rawsort'"),
    ("query I rowsort label more\nX\n", 1, "'more' is not understood"),
    ("let\nX\n", 1, "names no variable"),
    ("let 1a\nX\n", 1, "'1a' is no name"),
    ("let a\nX\n----\n1\n", 1, "let has no results"),
    ("system error\nX\n", 1, "'system error'"),
    ("connection a\nsystem ok\nX\n", 1, "runs on no connection"),
    ("control\n", 1, "'control' is not understood"),
    ("control sortmode\n", 1, "unknown 'control sortmode'"),
    ("control sortmode up\n", 1, "unknown 'control sortmode up'"),
    ("control resultmode rowise\n", 1, "unknown"),
    ("control substitution yes\n", 1, "unknown"),
    ("control colour on\n", 1, "unknown"),
    ("sleep 5\n", 1, "no duration"),
    ("sleep 5 s\n", 1, "is not understood"),
    ("subtest two words\n", 1, "is not understood"),
    ("hash-threshold some\n", 1, "is not understood"),
    ("halt now\n", 1, "is not understood"),
    ("connection a b\n", 1, "takes one name"),
    ("skipif\n", 1, "takes one name"),
    ("# a\nskipif a\n\n# b\n", 2, "stands before nothing"),
    ("skipif a\nhalt\n", 1, "must stand before a record"),
    ("connection a\nsleep 1s\n", 1, "must stand before a record"),
    ("include nothing*.slt\n", 1, "no file is named nothing*.slt"),
    ("statement ok\nX\0\n", 2, "a zero byte"),
]


@pytest.mark.parametrize(
    ("text", "line", "problem"), REFUSED, ids=[t.replace("\n", "/") for t, _, _ in REFUSED]
)
def test_what_is_refused_by_file_and_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        read(text.encode(), "f.slt")
    assert caught.value.message.startswith(f"f.slt:{line}: ")
    assert problem in caught.value.message


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(UnreadableInput, match=r"f.slt:2: this is not UTF-8"):
        read(b"# a\nstatement ok\xff\n", "f.slt")


def test_includes_in_order_and_each_with_its_own_lines(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/b.part").write_text("statement ok\nB\n")
    (tmp_path / "parts/a.part").write_text("# one\nstatement ok\nA\n")
    main = tmp_path / "main.slt"
    program = read(b"subtest x\n\ninclude ./parts/*.part\n", str(main))
    include = program.nodes[1]
    assert isinstance(include, Include)
    assert [(n.sql, n.place.line) for n in include.body] == [("A", 2), ("B", 1)]  # type: ignore[attr-defined]
    assert [Path(path).name for path, _ in program.reads] == ["a.part", "b.part"]


def test_a_circle_of_includes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.slt").write_text("include b.slt\n")
    (tmp_path / "b.slt").write_text("# x\ninclude a.slt\n")
    with pytest.raises(UnreadableInput, match=r"b.slt:2: .*includes itself"):
        read((tmp_path / "a.slt").read_bytes(), str(tmp_path / "a.slt"))


def test_includes_that_grow_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(includes, "MOST", 50)
    for level in range(20):
        name = f"{level + 1}.slt"
        (tmp_path / f"{level}.slt").write_text(f"include {name}\ninclude {name}\n")
    (tmp_path / "20.slt").write_text("statement ok\nX\n")
    with pytest.raises(UnreadableInput, match="more than 50 files"):
        read((tmp_path / "0.slt").read_bytes(), str(tmp_path / "0.slt"))


def test_an_included_file_that_cannot_be_read_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "b.slt").write_text("\n\nnonsense\n")
    with pytest.raises(UnreadableInput, match=r"b.slt:3: unknown directive"):
        read(b"include b.slt\n", str(tmp_path / "a.slt"))


@pytest.mark.parametrize(
    ("pattern", "message", "fits"),
    [
        ("(?i)NO such", "no such table", True),
        ("[[:digit:]]+ rows", "12 rows", True),
        ("[[:alpha:]] rows", "1 rows", False),
        (r"a\z", "ba", True),
        (r"a\z", "ab", False),
        (r"\x{e9}", "é", True),
        (r"a\.\n\nHint", "a.\n\nHint", True),
    ],
)
def test_patterns_of_rust(pattern: str, message: str, fits: bool) -> None:
    compiled, problem = pattern_of(pattern)
    assert compiled is not None, problem
    assert (compiled.search(message) is not None) is fits


# Detection.

ONLY_RS = [
    "control sortmode rowsort\n",
    "statement count 2\nX\n",
    "statement error no such table\nX\n",
    "query error\nX\n",
    "query T retry 3 backoff 1s\nX\n----\n1\n",
    "connection a\nstatement ok\nX\n",
    "system ok\nX\n",
    "let a\nX\n",
    "query a:I\nX\n----\n1\n",
]


def detected(text: str) -> str:
    """The dialect that a file is found to be in."""
    data = text.encode()
    try:
        known = list(read_sqlite(data, "f.slt"))
    except UnreadableInput as error:
        return dialects.detected(data, "f.slt", error).dialect
    if may_be_other(data) and other_layout(known):
        return dialects.detected(data, "f.slt", UnreadableInput("rows", value=OTHER_LAYOUT)).dialect
    return "sqlite"


@pytest.mark.parametrize("text", ONLY_RS, ids=[t.split("\n")[0] for t in ONLY_RS])
def test_a_directive_that_only_one_dialect_has_decides(text: str) -> None:
    assert detected(f"statement ok\nCREATE TABLE t(a)\n\n{text}") == "rs"


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("query II\nX\n----\n1 2\n3 4\n", "rs"),
        ("query II\nX\n----\n1\n2\n3\n4\n", "sqlite"),
        ("query TT\nX\n----\na b\nc d\n", "sqlite"),  # both can have it, and C's reader takes it
        ("query II\nX\n----\n1\n2\n\nquery II\nX\n----\n1 2\n3 4\n", "sqlite"),
        ("query I\nX\n----\n3 values hashing to 0123456789abcdef0123456789abcdef\n", "sqlite"),
        ("query R\nX\n----\n1.500\n", "sqlite"),
    ],
)
def test_the_layout_of_results_decides_where_directives_do_not(text: str, dialect: str) -> None:
    assert detected(text) == dialect


@pytest.mark.parametrize(
    "text",
    [
        "query I\nX\n----\na 6 NULL\nb 4 NULL\n",
        "query II\nX\n----\n1\t2\n",
        "query TT\nX\n----\na b\nc d\n\nquery II\nX\n----\n1\t2\n",
    ],
)
def test_what_several_dialects_can_read_is_asked_for(text: str) -> None:
    with pytest.raises(UnreadableInput, match=r"f.slt:1: this could be .* rs or duckdb") as caught:
        detected(text)
    assert "--dialect rs" in caught.value.possible


def test_a_row_of_texts_with_spaces_is_one_of_sqllogictest_rs() -> None:
    assert detected("query TT\nX\n----\n?column?  Decimal64(16,4)\n") == "rs"


SLIPS = [
    ("query I rowsrt\nX\n----\n1\n", "unknown sort method 'rowsrt'"),
    ("query I\nX\n----\n1 values hashing to 0123\n", "is not a whole hash"),
    ("query II\nX\n----\n1\n2\n3\n", "the file ends with 3 values, in rows of 2"),
    ("query I\nX\n---- \n1\n\nstatement ok\nX\n", "a line of dashes"),
    ("statement ok\nCREATE TABLE t(a", "the file may end within this statement"),
]


@pytest.mark.parametrize(("text", "problem"), SLIPS, ids=[problem for _, problem in SLIPS])
def test_a_slip_does_not_make_a_file_one_of_another_dialect(text: str, problem: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        detected(f"query II\nX\n----\n1\n2\n\n{text}")
    assert problem in caught.value.message


@pytest.mark.parametrize("text", ["sleep 1s\n", "query B\nX\n----\nt\n", "query\nX\n----\n"])
def test_lines_that_sqlites_dialect_has_not_are_enough(text: str) -> None:
    assert detected(f"statement ok\nX\n\n{text}") == "rs"


def test_what_no_dialect_can_read_is_refused_as_the_one_it_seems_to_be() -> None:
    with pytest.raises(UnreadableInput, match=r"f.slt:4: unknown directive 'frobnicate'"):
        detected("control substitution on\n\n\nfrobnicate\n")


def test_an_unknown_directive_in_a_plain_file_is_refused_as_before() -> None:
    with pytest.raises(UnreadableInput, match=r"f.slt:1: unknown directive 'frobnicate'"):
        detected("frobnicate\n")
