"""Programs: databases and their queries, the same for a seed and a number everywhere."""

from __future__ import annotations

import os
import random
import re
import sqlite3
import subprocess
import sys
from collections import Counter

import pytest

from refute.fuzz.sql.definition_looks import PROBES
from refute.fuzz.sql.definitions import Trigger
from refute.fuzz.sql.features import OF_TABLES, features_in, features_of, supported
from refute.fuzz.sql.grammar import Grammar
from refute.fuzz.sql.program import Program, database, program
from refute.fuzz.sql.queries import PRODUCTIONS
from refute.fuzz.sql.schema import Column, Schema, Shape, Table, affinity, literal
from refute.fuzz.sql.text import Node, read, write
from refute.oracles.sql.sqlite import SQLite
from refute.specs.sql import FEATURES, SETUP_FEATURES
from refute.verifiers.sql.fuzz_dialect import Refused, Writing

ALL = Shape(frozenset(FEATURES), 3, 8)
GRAMMAR = Grammar(PRODUCTIONS, ALL.features)


def texts(of: Program) -> list[str]:
    return [write(tree) for tree in (*of.setup, *of.queries)]


def databases(count: int, shape: Shape = ALL) -> list[tuple[Schema, tuple[Node, ...]]]:
    grammar = Grammar(PRODUCTIONS, shape.features)
    return [database(random.Random(f"1/{i}"), shape, grammar) for i in range(count)]


def test_a_program_comes_from_its_seed_and_number_alone() -> None:
    first = [texts(program(1, number, ALL, GRAMMAR, 5)) for number in range(6)]
    again = [texts(program(1, number, ALL, GRAMMAR, 5)) for number in reversed(range(6))]
    assert first == again[::-1]
    assert first != [texts(program(2, number, ALL, GRAMMAR, 5)) for number in range(6)]
    assert len({tuple(program) for program in first}) == 6


def test_a_program_is_the_same_under_every_hash_seed() -> None:
    code = (
        "from refute.fuzz.sql.grammar import Grammar\n"
        "from refute.fuzz.sql.program import program\n"
        "from refute.fuzz.sql.queries import PRODUCTIONS\n"
        "from refute.fuzz.sql.schema import Shape\n"
        "from refute.fuzz.sql.text import write\n"
        "from refute.specs.sql import FEATURES\n"
        "shape = Shape(frozenset(FEATURES), 3, 8)\n"
        "grammar = Grammar(PRODUCTIONS, shape.features)\n"
        "for number in range(40):\n"
        "    made = program(1, number, shape, grammar, 2)\n"
        "    print(*map(write, made.setup), *map(write, made.queries), sep='\\n')\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1 and len(printed.pop()) > 5000


def test_every_feature_is_produced_and_sqlite_takes_nearly_all_statements() -> None:
    """What is refused breaks a constraint, and mostly on purpose."""
    seen: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    count = 0
    for _, trees in databases(700):
        engine = SQLite()
        for tree, answer in zip(trees, engine.run([write(t) for t in trees]), strict=True):
            count += 1
            seen.update(features_in(tree))
            if answer[0] == "error":
                refused[answer[1]] += 1
        engine.close()
    assert set(seen) >= set(SETUP_FEATURES)
    assert set(refused) <= {"sqlite3.IntegrityError"}, refused
    assert refused.total() <= 0.03 * count


def test_what_queries_may_name_is_there() -> None:
    """Every column of every table and view, and the number of a row where it is said to be."""
    kinds: Counter[str] = Counter()
    for schema, trees in databases(150):
        engine = SQLite()
        engine.run([write(tree) for tree in trees])
        for table in schema.tables:
            kinds[table.kind] += 1
            names = [f"x.{column.name}" for column in table.columns]
            names += ["x.rowid"] if table.rowid else []
            answers = engine.run([f"SELECT {', '.join(names)} FROM {table.name} AS x"])
            hints = [f"SELECT 1 FROM {table.name} INDEXED BY {i} WHERE 0" for i in table.indexes]
            answers += engine.run([h for h in hints if not table.conditions])
            assert [a for a in answers if a[0] == "error" and "integer overflow" not in a[2]] == []
        engine.close()
    assert min(kinds["table"], kinds["view"]) > 40 and kinds["virtual"] > 0


@pytest.mark.parametrize("seed", range(12))
def test_databases_stay_within_their_features(seed: int) -> None:
    rng = random.Random(seed)
    refused = [name for name in FEATURES if rng.random() < 0.25]
    chosen = frozenset(supported(list(FEATURES), refused))
    for _, trees in databases(25, Shape(chosen, 3, 4)):
        for tree in trees:
            assert features_in(tree) <= chosen, write(tree)


def test_statements_are_read_as_they_were_written() -> None:
    for _, trees in databases(250):
        for tree in trees:
            text = write(tree)
            again = read(text)
            assert again is not None, text
            assert write(again) == text
            assert features_of([text]) == features_in(tree), text


@pytest.mark.parametrize("name", sorted(PROBES))
def test_a_feature_that_is_wanted_is_in_most_databases(name: str) -> None:
    shape = Shape(ALL.features, 3, 8, often=name)
    found = sum(any(name in features_in(t) for t in trees) for _, trees in databases(16, shape))
    assert found >= 3
    assert name in OF_TABLES


def test_databases_are_mostly_small_and_some_are_not() -> None:
    sizes = sorted(len(trees) for _, trees in databases(300))
    assert sizes[len(sizes) // 2] <= 7
    assert sizes[-1] >= 14


def test_triggers_end_and_write_only_to_tables_that_come_after() -> None:
    found = 0
    for _, trees in databases(60, Shape(ALL.features, 3, 8, often="trigger")):
        for trigger in (tree for tree in trees if isinstance(tree, Trigger)):
            found += 1
            [body] = trigger.expressions
            into = body.this.this if body.key == "insert" else body.this
            assert trigger.args["table"].name < into.name
    assert found >= 10


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("VARCHAR(10)", "TEXT"),
        ("BIGINT", "INTEGER"),
        ("FLOATING POINT", "INTEGER"),  # "INT" counts first
        ("DOUBLE", "REAL"),
        ("BOOLEAN", "NUMERIC"),
        ("BLOB", ""),
        ("", ""),
    ],
)
def test_a_declared_type_has_the_affinity_that_sqlite_gives_it(words: str, found: str) -> None:
    assert affinity(words) == found
    answers = SQLite().run([f"CREATE TABLE t (a {words})", "INSERT INTO t VALUES ('1')"])
    assert all(answer[0] != "error" for answer in answers)


def test_values_are_literals_of_themselves() -> None:
    values = [None, -1, 2**63 - 1, -0.0, float("-inf"), "it's", b"\xce\x00"]
    [answer] = SQLite().run([f"SELECT {', '.join(write(literal(value)) for value in values)}"])
    assert answer[0] == "rows" and "inf" in str(answer)


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE t (a INT PRIMARY KEY, b DOUBLE PRECISION, c BOOLEAN) WITHOUT ROWID",
        "CREATE TABLE t (a, b, PRIMARY KEY (a COLLATE NOCASE DESC, b), UNIQUE (b COLLATE RTRIM))",
        "CREATE TABLE t (a INT, b AS (a) COLLATE NOCASE, c REAL AS (a + 1) STORED)",
        "CREATE TABLE t (a INTEGER, b ANY) STRICT",
        "CREATE INDEX i ON t(CAST(a AS NUMERIC), b COLLATE NOCASE DESC) WHERE (~a) IS NOT NULL",
        "UPDATE OR IGNORE t SET a = 1 WHERE b = ';'",
        "CREATE TRIGGER g BEFORE UPDATE OF a, b ON t WHEN NEW.a > ';' "
        "BEGIN INSERT OR IGNORE INTO u VALUES (OLD.a, 'x;y'); DELETE FROM u WHERE a = 1; END",
        "REINDEX i",
        "CREATE VIRTUAL TABLE f USING fts5(a, b)",
    ],
)
def test_definitions_keep_their_words(sql: str) -> None:
    tree = read(sql)
    assert tree is not None and write(tree) == sql
    assert write(tree.copy()) == sql


def test_what_is_no_trigger_is_not_read_as_one() -> None:
    assert read("CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT FROM WHERE; END") is None
    tree = read("REPLACE INTO t VALUES (1)")
    assert tree is not None and write(tree) == "INSERT OR REPLACE INTO t VALUES (1)"


def test_queries_ask_for_what_indexes_are_about() -> None:
    """As it stands there; which chance alone would hardly write."""
    asked = 0
    shape = Shape(ALL.features, 2, 4, often="partial-index")
    for number in range(40):
        made = program(3, number, shape, GRAMMAR, 8)
        known = [c for table in made.schema.tables for c in (*table.conditions, *table.expressions)]
        queries = [write(query) for query in made.queries]
        asked += any(_near(write(condition)) in _near(q) for condition in known for q in queries)
    assert asked >= 12


def _near(text: str) -> str:
    """Without the names of tables."""
    return re.sub(r"\b[txv]\d+\.", "", text)


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE u (a TEXT PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE u (a TEXT) STRICT",
        "CREATE VIRTUAL TABLE u USING fts5(a)",
        "UPDATE OR IGNORE t SET a = 1",
        "CREATE TRIGGER g AFTER DELETE ON t BEGIN DELETE FROM t; END",
        "REINDEX",
    ],
)
def test_other_dialects_refuse_what_they_do_not_have(sql: str) -> None:
    writing = Writing("duckdb")
    for text in ("CREATE TABLE t (a INTEGER, b TEXT)", sql):
        tree = read(text)
        assert tree is not None
        written = writing.statement(tree, text)
    writing.close()
    assert isinstance(written, Refused)


def contents(statements: list[str], schema: Schema, *, backwards: bool) -> list[object]:
    """What the tables hold, with the numbers of rows where queries may ask for them."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    held: list[object] = []
    database.execute(f"PRAGMA reverse_unordered_selects = {backwards}")
    for statement in statements:
        try:
            database.execute(statement)
        except sqlite3.Error as error:
            held.append((statement, str(error)))
    for table in (t for t in schema.tables if t.kind != "view"):
        shown = [f"quote({c.name})" for c in table.columns] + ["rowid"] * table.rowid
        rows = database.execute(f"SELECT {', '.join(shown)} FROM {table.name}").fetchall()
        held.append(sorted(map(repr, rows)))
    database.close()
    return held


@pytest.mark.parametrize("often", ["", "trigger", "update", "update-or", "insert-select", "delete"])
def test_what_a_database_holds_does_not_depend_on_an_order(often: str) -> None:
    for schema, trees in databases(50, Shape(ALL.features, 3, 8, often=often)):
        statements = [write(tree) for tree in trees]
        usual, other = (contents(statements, schema, backwards=b) for b in (False, True))
        assert usual == other, statements


def test_what_does_depend_on_an_order_would_be_seen() -> None:
    table = Table("t", (Column("a", ""),), {})
    statements = [
        "CREATE TABLE t (a UNIQUE, b)",
        "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)",
        "UPDATE OR IGNORE t SET a = 9",
    ]
    usual, other = (contents(statements, Schema((table,)), backwards=b) for b in (False, True))
    assert usual != other
