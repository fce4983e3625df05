"""SQL text: what SQLite takes as different is still different after reading and writing."""

from __future__ import annotations

import pytest
from sqlglot import exp

from refute.errors import UsageError
from refute.fuzz.sql.features import PROBES, TABLE_PROBES, features_in
from refute.fuzz.sql.grammar import Grammar
from refute.fuzz.sql.program import program
from refute.fuzz.sql.queries import PRODUCTIONS
from refute.fuzz.sql.schema import Shape
from refute.fuzz.sql.text import check_library, read, write, write_slowly
from refute.specs.sql import FEATURES

SHAPE = Shape(frozenset(PROBES), 3, 8)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT +a, -+a, +(a + b), ++a, -x'ce' FROM t",
        "SELECT a FROM t, u AS b CROSS JOIN c LEFT JOIN d INNER JOIN e ON TRUE",
        "SELECT a IS NOT NULL, NOT (a IS NULL), a = (b IS NOT NULL), NOT a IS NOT NULL FROM t",
        "CREATE INDEX i ON t(1) WHERE a IS NOT NULL",
        "SELECT IFNULL(a, b), COALESCE(a, b), SUBSTR(a, 1) FROM t",
        "SELECT (a, b) IN (VALUES (1, 2)), a IN (), (a, b) = (SELECT 1, 2) FROM t NOT INDEXED",
        "SELECT a FROM (t LEFT JOIN u) NATURAL FULL JOIN v",
    ],
)
def test_what_was_read_is_written(text: str) -> None:
    tree = read(text)
    assert tree is not None
    assert write(tree) == text


def test_other_words_for_the_same_are_one() -> None:
    tree = read("SELECT a NOTNULL, b ISNULL, NOT b ISNULL, SUBSTRING(a, 1, 2) FROM t")
    assert tree is not None
    assert write(tree) == ("SELECT a IS NOT NULL, b IS NULL, b IS NOT NULL, SUBSTR(a, 1, 2) FROM t")


def test_other_dialects_get_what_the_marks_mean() -> None:
    tree = read("SELECT +a, IFNULL(a, b) FROM t, u LEFT JOIN v")
    assert tree is not None
    text = tree.sql("duckdb")
    assert text == "SELECT (a), COALESCE(a, b) FROM t CROSS JOIN u LEFT JOIN v ON TRUE"


def test_generated_queries_are_read_as_they_were_made() -> None:
    """The reader gives a tree of the same text and features, so that a case may be only text."""
    grammar = Grammar(PRODUCTIONS, SHAPE.features)
    for number in range(15):
        for tree in program(11, number, SHAPE, grammar).queries:
            text = write(tree)
            again = read(text)
            assert again is not None, text
            assert write(again) == text
            assert features_in(again) == features_in(tree), text


def test_one_pass_writes_what_the_library_writes() -> None:
    everything = Shape(frozenset(FEATURES), 3, 8)
    grammar = Grammar(PRODUCTIONS, everything.features)
    read_from = [read(text) for text in (*PROBES.values(), *TABLE_PROBES.values())]
    made = [p for n in range(25) for p in (program(12, n, everything, grammar),)]
    trees = [tree for p in made for tree in (*p.setup, *p.queries)]
    for tree in (*trees, *filter(None, read_from)):
        text = write_slowly(tree)
        assert write(tree) == text
        again = read(text)
        if again is not None:
            assert write(again) == write_slowly(again)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a AS A FROM t AS x, main.u TABLESAMPLE (1) ORDER BY 1 ASC NULLS LAST",
        'SELECT "a b"."c" FROM "a b" LIMIT 1',
        "SELECT a FROM t LIMIT -1 OFFSET 2",
        "SELECT COUNT(DISTINCT a), COUNT(*), GROUP_CONCAT(a, 'x''y') FROM t",
        "SELECT SUM(a) OVER (w ORDER BY b ROWS 1 PRECEDING) FROM t WINDOW w AS (PARTITION BY c)",
        "SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT SELECT * FROM (SELECT 1 LIMIT 1)",
        "INSERT INTO t(a) VALUES (1), (NULL)",
        "SELECT CAST(a AS VARCHAR(3)), CAST(a AS BIGINT), CAST(a AS BLOB), 1 - -1, - - 1",
        "SELECT x.* FROM (VALUES (1, 2)) AS x JOIN u USING (a, b)",
        "UPDATE t SET a = 1 WHERE (a, b) IN (SELECT 1, 2)",
    ],
)
def test_both_writers_agree_on_what_people_write(text: str) -> None:
    tree = read(text)
    assert tree is not None
    assert write(tree) == write_slowly(tree)


def test_a_clause_that_was_read_stays_apart_in_a_tree_that_was_made() -> None:
    text = "SELECT a FROM t LEFT JOIN u USING (a), w GROUP BY a ORDER BY a LIMIT 2 OFFSET 1"
    tree = read(text)
    assert tree is not None
    made = type(tree)()
    made.args = dict(tree.args)
    assert write(made) == text


def test_a_compiled_library_is_refused_before_it_fails_somewhere() -> None:
    check_library(exp.Expression)
    with pytest.raises(UsageError, match="compiled classes"):
        check_library(int)  # whose methods are no functions of Python either


def test_a_plus_makes_true_a_number() -> None:
    """`2 IS TRUE` asks for a truth, `2 IS +TRUE` for the number 1."""
    tree = read("SELECT a IS +TRUE, a IS NOT (+FALSE), a IS (TRUE) FROM t")
    assert tree is not None
    assert write(tree) == "SELECT a IS +1, a IS NOT (+0), a IS TRUE FROM t"
