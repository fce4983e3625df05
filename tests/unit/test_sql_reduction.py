"""Reduction of databases with all kinds of statements: what is not needed goes."""

from __future__ import annotations

import itertools
import random

import pytest

from refute.fuzz.sql.grammar import Grammar
from refute.fuzz.sql.program import database
from refute.fuzz.sql.queries import PRODUCTIONS
from refute.fuzz.sql.reduction import simpler, size
from refute.fuzz.sql.reduction_flat import flattened, uncommon
from refute.fuzz.sql.reduction_statements import plainer
from refute.fuzz.sql.schema import Shape
from refute.fuzz.sql.text import read, write
from refute.oracles.sql.sqlite import SQLite
from refute.plain import Plain
from refute.specs.sql import FEATURES

WHOLE: Plain = {
    "setup": [
        "CREATE TABLE t0 (a INT PRIMARY KEY, b TEXT COLLATE NOCASE, c REAL AS (a + 1), "
        "UNIQUE (b DESC), CHECK (b <> 'zz')) WITHOUT ROWID",
        "CREATE TABLE t1 (a, b VARCHAR(10) DEFAULT 'x')",
        "CREATE TRIGGER g0 AFTER INSERT ON t0 WHEN NEW.a > 0 BEGIN INSERT INTO t1 (a) "
        "VALUES (NEW.a); DELETE FROM t1 WHERE b = 'q'; END",
        "CREATE INDEX i0 ON t0(b COLLATE NOCASE DESC, a + 1) WHERE b IS NOT NULL AND a > 0",
        "INSERT OR IGNORE INTO t0 (a, b) VALUES (1, 'x'), (2, 'Y')",
        "INSERT INTO t0 (a, b) VALUES (3, 'z') ON CONFLICT(a) DO UPDATE SET b = excluded.b",
        "UPDATE OR IGNORE t0 SET b = 'w' WHERE a = 3",
        "DELETE FROM t0 WHERE a = 7",
        "CREATE VIEW v0 (c0, c1) AS SELECT a, b FROM t0 WHERE a > 0 UNION ALL SELECT a, b FROM t1",
        "CREATE VIRTUAL TABLE f0 USING fts5(a, b)",
        "INSERT INTO f0 (a, b) VALUES ('x', 'y')",
        "ANALYZE",
        "REINDEX",
    ],
    "query": "SELECT x.c0, f.a FROM v0 AS x, f0 AS f WHERE x.c1 <> 'q' ORDER BY 1 LIMIT 5",
}


def answers(case: Plain) -> list[Plain]:
    engine = SQLite()
    found = engine.run([*case["setup"], case["query"]])
    engine.close()
    return found


def reduced(case: Plain, *needed: str) -> Plain:
    """The simplest case that SQLite takes, that returns rows and has these words."""
    while True:
        for other in simpler(case):
            text = "\n".join([*other["setup"], other["query"]])
            found = answers(other) if all(word in text for word in needed) else [["error"]]
            if all(answer[0] != "error" for answer in found) and found[-1][2]:
                case = other
                break
        else:
            return case


def test_the_whole_case_is_one_that_sqlite_takes() -> None:
    assert [answer for answer in answers(WHOLE) if answer[0] == "error"] == []


@pytest.mark.parametrize(
    ("needed", "setup"),
    [
        ("CREATE INDEX", "CREATE TABLE t0 (a)\nCREATE INDEX i0 ON t0(a)"),
        ("b IS NOT NULL", "CREATE TABLE t0 (b)\nCREATE INDEX i0 ON t0(b) WHERE b IS NOT NULL"),
        ("WITHOUT ROWID", "CREATE TABLE t0 (a PRIMARY KEY) WITHOUT ROWID"),
        ("UNIQUE", "CREATE TABLE t0 (b, UNIQUE (b))"),
        ("CHECK", "CREATE TABLE t0 (a, CHECK (0))"),
        (" AS (", "CREATE TABLE t0 (a, c AS (0))"),
        (
            "TRIGGER",
            "CREATE TABLE t0 (a)\nCREATE TRIGGER g0 AFTER INSERT ON t0 BEGIN DELETE FROM t1",
        ),
        ("UPDATE t0", "CREATE TABLE t0 (b)\nUPDATE t0 SET b = 0"),
        ("ON CONFLICT", "CREATE TABLE t0 (a PRIMARY KEY)\nINSERT INTO t0 (a) VALUES (0)"),
        ("fts5", "CREATE VIRTUAL TABLE f0 USING fts5(a)\nINSERT INTO f0 (a) VALUES ('x')"),
        ("REINDEX", "REINDEX"),
        ("CREATE VIEW", "CREATE VIEW v0 AS SELECT 0"),
        ("SELECT", ""),
    ],
)
def test_what_is_not_needed_goes(needed: str, setup: str) -> None:
    """Greedy reduction ends near the least that the engine takes."""
    text = "\n".join(reduced(WHOLE, needed)["setup"])
    assert needed in text or needed == "SELECT"
    assert len(text) <= len(setup) + 70, text
    assert text.count("CREATE TABLE") <= 1 + ("TRIGGER" in needed), text


def test_candidates_of_generated_databases_are_simpler() -> None:
    grammar = Grammar(PRODUCTIONS, frozenset(FEATURES))
    for number in range(12):
        rng = random.Random(f"reduction/{number}")
        schema, trees = database(rng, Shape(frozenset(FEATURES), 3, 4), grammar)
        setup = [write(tree) for tree in trees]
        case: Plain = {"setup": setup, "query": f"SELECT * FROM {schema.tables[-1].name}"}
        least = size(setup, case["query"])
        for other in itertools.islice(simpler(case), 60):
            assert size(other["setup"], other["query"]) < least


def test_every_step_of_a_statement_is_one_that_can_be_read() -> None:
    for statement in WHOLE["setup"]:
        tree = read(statement)
        assert tree is not None
        for text in plainer(tree):
            assert text != statement
            assert read(text) is not None, text


@pytest.mark.parametrize(
    ("query", "flat"),
    [
        (
            "SELECT 0 FROM (SELECT a AS c0 FROM t0) AS v1 WHERE c0 IS NOT 0",
            "SELECT 0 FROM t0 WHERE a IS NOT 0",
        ),
        (
            "SELECT x.c FROM t AS y, (SELECT a + 1 AS c FROM u WHERE a > 0) AS x WHERE y.b = x.c",
            "SELECT (a + 1) FROM t AS y, u WHERE (y.b = (a + 1)) AND (a > 0)",
        ),
    ],
)
def test_a_subquery_in_from_becomes_part_of_the_query(query: str, flat: str) -> None:
    tree = read(query)
    assert tree is not None and list(flattened(tree)) == [flat]


@pytest.mark.parametrize("inner", ["SELECT DISTINCT a AS c FROM t", "SELECT MAX(a) AS c FROM t"])
def test_a_subquery_that_makes_other_rows_stays(inner: str) -> None:
    tree = read(f"SELECT x.c FROM ({inner}) AS x")
    assert tree is not None and list(flattened(tree)) == []


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        (
            "WITH x(a, b) AS (SELECT 1, 2), y AS (SELECT 3) SELECT z.a FROM x AS z",
            [
                "WITH y AS (SELECT 3) SELECT z.a FROM (SELECT 1 AS a, 2 AS b) AS z",
                "WITH x(a, b) AS (SELECT 1, 2) SELECT z.a FROM x AS z",
            ],
        ),
        ("WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n FROM x) SELECT n FROM x", []),
    ],
)
def test_a_table_of_with_goes_or_becomes_a_subquery(query: str, texts: list[str]) -> None:
    tree = read(query)
    assert tree is not None
    assert [" ".join(text.split()) for text in uncommon(tree)] == texts
