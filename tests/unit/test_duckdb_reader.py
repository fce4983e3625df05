"""The reader of DuckDB's sqllogictest dialect: what it takes, and which line it refuses."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from refute.errors import UnreadableInput
from refute.oracles.sqllogictest.extended import duckdb_nodes as nodes
from refute.oracles.sqllogictest.extended.duckdb import read, root_of, signs
from refute.oracles.sqllogictest.extended.duckdb_lists import LISTS, expanded
from refute.oracles.sqllogictest.extended.program import (
    Either,
    Fails,
    Halt,
    Include,
    Node,
    Query,
    Returns,
    Sleep,
    Statement,
    Succeeds,
)
from refute.oracles.sqllogictest.layout import headed


def program(text: str, path: str = "f.test") -> tuple[Node, ...]:
    return read(text.encode(), path).nodes


def only(text: str) -> Node:
    [node] = program(text)
    return node


def refusal(text: str) -> UnreadableInput:
    with pytest.raises(UnreadableInput) as caught:
        program(text)
    return caught.value


def test_statements() -> None:
    first, second, third = program(
        "# name: f\n\nstatement ok con1\nBEGIN;\nSELECT 1\n# done\nstatement error\nX\n----\n"
        "no\n# such\n\nstatement maybe\nY\n----\nconflict\n"
    )
    assert isinstance(first, Statement)
    assert (first.place.line, first.connection, first.sql) == (3, "con1", "BEGIN;\nSELECT 1")
    assert first.expects == Succeeds()
    assert isinstance(second, Statement)
    assert second.expects == Fails(part="no\n# such")
    assert isinstance(third, Statement)
    assert third.expects == Either(Fails(part="conflict"))


@pytest.mark.parametrize(
    ("words", "sort", "connection", "label"),
    [
        ("II", "nosort", "", ""),
        ("II rowsort", "rowsort", "", ""),
        ("II sort", "rowsort", "", ""),
        ("II valuesort same", "valuesort", "", "same"),
        ("II con1", "nosort", "con1", ""),
        ("II con1 same", "nosort", "con1", "same"),
    ],
)
def test_a_query_may_name_a_sort_or_a_connection(
    words: str, sort: str, connection: str, label: str
) -> None:
    query = only(f"query {words}\nSELECT 1,\n2\n----\n1\t2\n \n")
    assert isinstance(query, Query)
    assert (query.sort, query.connection, query.label) == (sort, connection, label)
    assert query.expects == Returns(("1\t2", " "))


def test_a_query_without_a_result_returns_nothing_unless_it_has_a_label() -> None:
    for text in ("query I\nSELECT 1\n", "query I\nSELECT 1\n----\n"):
        query = only(text)
        assert isinstance(query, Query)
        assert query.expects == Returns(())
    labelled = only("query I nosort same\nSELECT 1\n----\n")
    assert isinstance(labelled, Query)
    assert labelled.expects == Returns(None)


def test_loops_are_nested_and_lists_have_their_members() -> None:
    outer = only("loop i 2 5\n\nforeach t <signed> !hugeint x\n\nhalt-not\n".replace("halt-not", "")
                 + "continue\n\nendloop\n\nendloop\n")  # fmt: skip
    assert isinstance(outer, nodes.Each)
    assert (outer.name, outer.values, outer.parallel) == ("i", ("2", "3", "4"), False)
    [inner] = outer.body
    assert isinstance(inner, nodes.Each)
    assert inner.values == ("tinyint", "smallint", "integer", "bigint", "x")
    assert [type(node) for node in inner.body] == [nodes.Continue]
    several = only("concurrentforeach a,b 1,2 3,4\n\nendloop\n")
    assert isinstance(several, nodes.Each)
    assert several.parallel


def test_lists_contain_each_other() -> None:
    assert set(LISTS["<signed>"]) < set(LISTS["<integral>"]) < set(LISTS["<alltypes>"])
    assert expanded(["!x", "y"]) == ("!x", "y")


def test_what_is_skipped_is_kept_for_the_count_and_its_directives_change_nothing() -> None:
    records = program(
        "mode skip later\n\nloop i 0 2\n\nstatement ok\nA\n\nendloop\n\nrequire x\n\n"
        "mode unskip\n\nstatement ok\nB\n"
    )
    assert [getattr(node, "conditions", None) for node in records] == [
        ((nodes.SKIPPED, "mode skip later"),),
        (),
    ]


def test_conditions_are_for_engines_or_values_of_loops() -> None:
    loop = only("loop i 0 9\n\nskipif i>2&&i<5\nonlyif duckdb\nstatement ok\nX\n\nendloop\n")
    assert isinstance(loop, nodes.Each)
    [record] = loop.body
    assert isinstance(record, Statement)
    assert record.conditions == (("skipif", "i>2"), ("skipif", "i<5"), ("onlyif", "duckdb"))
    assert nodes.comparison("i>=2") == ("i", ">=", "2")
    assert nodes.comparison("duckdb") is None


def test_directives_of_one_line() -> None:
    read_nodes = program(
        "require vector_size 512\n\nrequire-env A b\n\ntest-env C d\n\nload __TEST_DIR__/x.db "
        "readonly v1.0.0\n\nrestart no_extension_load\n\nreconnect\n\nsleep 20 milliseconds\n\n"
        "unzip a.db.gz NULL\n\ntags one two\n\nset ignore_error_messages HTTP Error, x\n\n"
        "set seed 0.5\n\nset variable v w\n\nreset label l\n\nhash-threshold 3\n\nskipif x\nhalt\n"
    )
    assert read_nodes[0] == nodes.Require(read_nodes[0].place, ("vector_size", "512"))
    assert isinstance(read_nodes[3], nodes.Load)
    assert (read_nodes[3].readonly, read_nodes[3].version) == (True, "v1.0.0")
    assert isinstance(read_nodes[6], Sleep)
    assert read_nodes[6].seconds == pytest.approx(0.02)
    assert isinstance(read_nodes[9], nodes.Messages)
    assert read_nodes[9].parts == ("HTTP Error", "x")
    assert isinstance(read_nodes[-1], Halt)
    assert read_nodes[-1].conditions == (("skipif", "x"),)
    assert len(read_nodes) == 15


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("statement fine\nX\n", 1, "statement fine"),
        ("statement ok\n\n", 1, "without SQL"),
        ("statement ok a b\nX\n", 1, "'b' is not understood"),
        ("statement ok\nX\n----\nno\n", 1, "with an expected error"),
        ("statement ok\nX\nstatement ok\nY\n", 3, "no empty line before it"),
        ("query I\nX\n----\n1\nstatement ok\nY\n", 1, "no empty line before it"),
        ("query IX\nX\n----\n", 1, "column types"),
        ("query I\nX\n# why\n----\n1\n", 3, "a comment between a query and its result"),
        ("statement error\nSELECT", 1, "may end within this statement"),
        ("retry 3\n", 1, "unknown directive 'retry'"),
        ("unset x\n", 1, "unknown directive 'unset'"),
        ("loop i 0 2\nstatement ok\nX\n\nendloop\n", 2, "an empty line must follow 'loop'"),
        ("\nloop i 5 5\n\nendloop\n", 2, "has no values"),
        ("loop i 0\n\nendloop\n", 1, "loop takes 3 words"),
        ("loop i a b\n\nendloop\n", 1, "two whole numbers"),
        ("foreach t\n\nendloop\n", 1, "takes a name and values"),
        ("foreach t x !x\n\nendloop\n", 1, "no values"),
        ("foreach t <alltyps>\n\nendloop\n", 1, "there is no list <alltyps>"),
        ("foreach a,b 1,2 3\n\nendloop\n", 1, "2 names, but 1 values in '3'"),
        ("loop i 0 2\n\nstatement ok\nX\n", 1, "this loop has no endloop"),
        ("endloop\n", 1, "without a loop"),
        ("loop i 0 2\n\nhalt\n\nendloop\n", 3, "halt stands in a loop"),
        ("loop i 0 2\n\nrequire-env X\n\nendloop\n", 3, "stands in a loop"),
        ("continue\n", 1, "outside of a loop"),
        ("onlyif i=2\nstatement ok\nX\n", 1, "'i' is no loop around this"),
        ("loop i 0 2\n\nonlyif i>a\nstatement ok\nX\n\nendloop\n", 3, "compares numbers"),
        ("skipif duckdb\n\n", 1, "stands before nothing"),
        ("skipif duckdb\nloop i 0 2\n\nendloop\n", 2, "cannot stand behind a condition"),
        ("mode fast\n", 1, "mode fast"),
        ("mode unskip\n", 1, "without mode skip"),
        ("set threads 3\n", 1, "set threads"),
        ("set seed x\n", 1, "takes a number"),
        ("reset table x\n", 1, "reset table"),
        ("load x.db encrypted\n", 1, "load … encrypted"),
        ("restart now\n", 1, "restart now"),
        ("sleep 2 days\n", 1, "a number and a unit"),
        ("unzip x.zip\n", 1, "ends with .gz"),
        ("statement ok\nX\n\ntags slow\n", 4, "before its records"),
        ("include nowhere.test\n", 1, "there is no file 'nowhere.test'"),
        ("hash-threshold many\n", 1, "a number of values"),
        ("statement ok\nX\n\0\n", 3, "a zero byte"),
    ],
)
def test_a_line_that_is_not_understood_is_refused(text: str, line: int, problem: str) -> None:
    error = refusal(text)
    assert error.message.startswith(f"f.test:{line}: ")
    assert problem in error.message


def test_included_files_are_read_from_the_root_or_beside(tmp_path: Path) -> None:
    folder = tmp_path / "test" / "sql"
    folder.mkdir(parents=True)
    (tmp_path / "setup.template").write_text("statement ok\nA\n", encoding="utf-8")
    (folder / "beside.template").write_text("statement ok\nB\n", encoding="utf-8")
    text = "# name: test/sql/f.test\n\ninclude setup.template\n\ninclude beside.template\n"
    path = folder / "f.test"
    assert root_of(text.encode(), str(path)) == f"{tmp_path}/"
    whole = read(text.encode(), str(path))
    found = whole.nodes
    digests = [
        hashlib.sha256(sql).hexdigest() for sql in (b"statement ok\nA\n", b"statement ok\nB\n")
    ]
    assert [digest for _, digest in whole.reads] == digests
    assert [type(node) for node in found] == [Include, Include]
    places = [node.body[0].place for node in found if isinstance(node, Include)]
    assert [Path(place.path).name for place in places] == ["setup.template", "beside.template"]
    (folder / "beside.template").write_text("include beside.template\n", encoding="utf-8")
    with pytest.raises(UnreadableInput, match="more than 16 deep"):
        program(text, str(path))


def test_tags_are_those_of_the_file_and_of_its_name() -> None:
    assert read(b"tags a b\n\nstatement ok\nX\n", "f.test_slow").tags == ("a", "b", "slow")
    assert read(b"statement ok\nX\n", "f.test_coverage").tags == ("coverage",)
    assert read(b"statement ok\nX\n", "f.test").tags == ()


def test_signs_are_lines_of_this_dialect_alone() -> None:
    text = "# name: test/a.test\n# group: [a]\n\nstatement ok\nSET x = 1\nload data\n\nloop i 0 2\n"
    assert [(sign.line, sign.what) for sign in signs(text.encode())] == [
        (1, "# name:"),
        (2, "# group:"),
        (8, "loop"),
    ]
    assert signs(b"control sortmode rowsort\n\nquery I\nSELECT 1\n----\n1\n") == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# name: test/a.test\n# description: b\n# group: [c]\n\nstatement ok\nX\n", 1),
        ("\n# License\n# name: test/a.test\n# group: [c]\n", 3),
        ("# name: test/a.test\n\nstatement ok\nX\n", 0),
        ("statement ok\nX\n\n# name: a\n# group: [c]\n", 0),
        ("# group: [c]\n# name: test/a.test\n", 0),
    ],
)
def test_the_header_of_duckdbs_files_is_theirs_alone(text: str, line: int) -> None:
    assert headed(text.encode()) == line
