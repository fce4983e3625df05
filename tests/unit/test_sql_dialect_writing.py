"""What is written for other dialects in one pass is what sqlglot's writer gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from refute.fuzz.sql.grammar import Grammar
from refute.fuzz.sql.program import program
from refute.fuzz.sql.queries import PRODUCTIONS
from refute.fuzz.sql.schema import Shape
from refute.fuzz.sql.text import Node, look, write
from refute.oracles.sql.transpile import translator, writer
from refute.oracles.sql.transpile.targets import TARGETS
from refute.specs.sql import FEATURES
from refute.verifiers.sql.fuzz_dialect import Refused, Writing
from refute.verifiers.sql.fuzz_dialect_profile import LEFT_OUT, mixed

CASES = Path(__file__).parent.parent / "cases" / "sql" / "transpile"
SETUP = [s for s in (CASES / "setup.sql").read_text().split(";\n") if s.strip()]
MEANINGS = (CASES / "meanings.sql").read_text().splitlines()
DIALECTS = sorted(name for name, target in TARGETS.items() if not target.verbatim)


def read(sql: str) -> Node:
    tree = look(sql)
    assert tree is not None
    return tree


@pytest.mark.parametrize("dialect", DIALECTS)
def test_both_writers_give_the_same_text(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def both(target: writer.Target, tree: writer.Node) -> str:
        slow, fast = writer.slowly(target, tree), writer.write_for(target, tree)
        seen.append(fast == slow or (fast, slow))
        return fast

    monkeypatch.setattr(translator, "write_for", both)
    made = translator.Translator(TARGETS[dialect])
    for statement in [*SETUP, *MEANINGS]:
        made.translate(statement)
    made.close()
    assert seen == [True] * len(seen)
    assert len(seen) > 100


@pytest.mark.parametrize("dialect", DIALECTS)
def test_most_generated_queries_can_be_said_and_trees_stay_as_they_are(dialect: str) -> None:
    features = frozenset(FEATURES) - set(LEFT_OUT) - {"generated", "stored", "check", "view"}
    grammar = Grammar(PRODUCTIONS, features, mixed=mixed(dialect))
    asked, refused = 0, 0
    for number in range(4):
        made = program(7, number, Shape(features, 2, 4), grammar, 25)
        writing = Writing(dialect)
        for tree in made.setup:
            writing.statement(tree)
        for query in made.queries:
            before = write(query)
            found = writing.statement(query)
            refused += isinstance(found, Refused)
            asked += 1
            assert write(query) == before
            assert isinstance(found, Refused) or writing.kinds
        writing.close()
    assert refused < 0.4 * asked


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 FROM (VALUES (1), (2, 3)) AS x",
        "SELECT TOTAL() FILTER(WHERE a = 1) FROM t",
        "SELECT MAX(DISTINCT) FILTER(WHERE a = 1) FROM t",
        "SELECT REPLACE(b, 'a') FROM t",
        "SELECT a FROM t UNION SELECT a, b FROM t",
        "SELECT nosuch FROM t",
    ],
)
def test_what_sqlite_would_refuse_is_refused_and_raises_nothing(query: str) -> None:
    writing = Writing("duckdb")
    assert writing.statement(read("CREATE TABLE t (a INTEGER, b TEXT)"))
    assert isinstance(writing.statement(read(query)), Refused)
    writing.close()


def test_what_cannot_be_said_of_a_database_leaves_the_rest_of_it() -> None:
    writing = Writing("duckdb")
    for statement, said in {
        "CREATE TABLE t (a INTEGER, b TEXT)": True,
        "INSERT INTO t VALUES ('x', 'y')": False,  # a text in a column of integers
        "INSERT INTO t VALUES (1, 'y')": True,
        "CREATE TABLE u (a)": False,
        "CREATE VIEW v AS SELECT a FROM t WHERE a < b": False,
        "SELECT * FROM t": True,
        "SELECT * FROM u": False,
        "SELECT * FROM v": False,
    }.items():
        assert isinstance(writing.statement(read(statement)), str) == said, statement
    writing.close()
