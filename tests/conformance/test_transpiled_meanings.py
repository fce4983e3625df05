"""What is written for another engine means there what it means in SQLite: DuckDB answers alike.

The pairs are not pairs of texts: each statement is run by SQLite, and what is written for DuckDB is
run there, on tables with NULLs, zeros, negative and empty values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import servers

from refute.oracles.sql.differences_errors import UNSUPPORTED
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.transpile.targets import TARGETS, target_of
from refute.oracles.sql.transpile.translator import Translator
from refute.verifiers.sql.conform_engines import open_engine
from refute.verifiers.sql.conform_excuses import INEXPRESSIBLE
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.conform_transpile import Transpiling

CASES = Path(__file__).parent.parent / "cases" / "sql" / "transpile"
SETUP = [s for s in (CASES / "setup.sql").read_text().split(";\n") if s.strip()]
MEANINGS = (CASES / "meanings.sql").read_text().splitlines()

Pair = tuple[SQLite, Translator, Any]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install duckdb")
    sqlite, translator = SQLite(), Translator(target_of("duckdb"))
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    for statement in SETUP:
        assert sqlite.answer(statement)[0] == "done", statement
        written = translator.translate(statement)
        assert not written.construct, statement
        for text in written.texts:
            connection.execute(text)
    yield sqlite, translator, connection
    connection.close()
    translator.close()
    sqlite.close()


def shown(rows: Any) -> list[Any]:
    """Rows in which booleans are no numbers; 5 is 5.0, as it is in a column that holds both."""
    return [tuple((type(v) is bool, v) for v in row) for row in rows]


@pytest.mark.parametrize("sql", MEANINGS)
def test_duckdb_answers_as_sqlite_does(pair: Pair, sql: str) -> None:
    sqlite, translator, connection = pair
    answer = sqlite.answer(sql)
    assert answer[0] == "rows", answer
    written = translator.translate(sql)
    assert not written.construct
    [text] = written.texts
    found = connection.execute(text).fetchall()
    assert Counter(shown(found)) == Counter(shown(answer[2])), text
    if "ORDER BY" in sql:
        assert shown(found) == shown(answer[2]), text


LACKING = {  # what the other engines have no way to say, or say that they have not
    "postgresql": set(),
    "mysql": {
        "GLOB with a set of characters, or a pattern that is computed",
        "unicode()",
        "trim() of several letters",
        "a share of rows",
        "a default of LAG and LEAD",
        "VALUES in FROM, or columns renamed there",
        "FULL JOIN",
        "bitwise right shift",
    },
    "datafusion": {
        "index",
        "key",
        "alter",
        "subquery",
        "operator",
        "a comparison of rows with a subquery",
    },
}


@pytest.mark.parametrize("name", sorted(LACKING))
def test_other_engines_answer_as_sqlite_does(name: str) -> None:
    url = {"postgresql": servers.postgresql, "mysql": servers.mariadb}.get(name)
    if url is None:
        pytest.importorskip("datafusion", reason="DataFusion is not installed")
    engine = url().url if url is not None else name
    opened: Any = Transpiling(open_engine(Choice(engine, "sqlite", 30.0)), name)
    sqlite = SQLite()
    wrong, unsaid = [], set()
    try:
        opened.start(0)
        statements = [*SETUP, *MEANINGS]
        for sql, answer in zip(statements, opened.answers(statements), strict=True):
            right = sqlite.answer(sql)
            if answer[0] == INEXPRESSIBLE:
                unsaid.add(answer[1].removeprefix("after: "))
            elif answer[0] == "error" and UNSUPPORTED.search(answer[2]):
                unsaid.add(re.findall("ALTER|subquery|operator", answer[2], re.I)[0].lower())
            elif right[0] == "rows" and not same(sql, answer, right[2]):
                wrong.append((sql, opened.asked, answer[1:], right[2]))
    finally:
        opened.close()
        sqlite.close()
    assert wrong == []
    assert {what for what in unsaid if "not implemented" not in what} <= LACKING[name]


def same(sql: str, answer: Any, right: Any) -> bool:
    if answer[0] != "rows":
        return False
    left = shown(answer[2])
    return left == shown(right) if "ORDER BY" in sql else Counter(left) == Counter(shown(right))


def test_what_cannot_be_said_has_a_name_and_is_not_said() -> None:
    translator = Translator(target_of("duckdb"))
    for statement in SETUP:
        translator.translate(statement)
    construct = ""
    found = []
    for line in (CASES / "inexpressible.sql").read_text().splitlines():
        if line.startswith("-- "):
            construct = line.removeprefix("-- ")
            continue
        written = translator.translate(line)
        found.append((line, written.construct, written.texts) == (line, construct, ()) or written)
    assert found == [True] * len(found)
    assert len(found) > 15


def test_a_statement_that_sqlite_refuses_goes_to_the_engine_all_the_same() -> None:
    translator = Translator(target_of("postgresql"))
    assert translator.translate("CREATE TABLE t(a INTEGER)").texts
    for refused in (
        "CREATE TABLE t(a INTEGER)",
        "INSERT INTO t VALUES (1, 2)",
        "INSERT INTO nosuch VALUES (1)",
        "SELECT nosuch FROM t",
        "SELECT count(count(*)) FROM t",
        "DROP TABLE nosuch",
    ):
        written = translator.translate(refused)
        assert written.texts and not written.construct, refused


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_every_engine_is_written_for(name: str) -> None:
    translator = Translator(target_of(name))
    for statement in [*SETUP, *MEANINGS]:
        written = translator.translate(statement)
        assert written.texts or written.construct, statement


def test_a_view_that_the_engine_drops_with_another_is_not_asked() -> None:
    translator = Translator(target_of("postgresql"))
    for statement in (
        "CREATE TABLE t(a INTEGER)",
        "CREATE VIEW one AS SELECT a FROM t",
        "CREATE VIEW two AS SELECT a FROM one",
        "CREATE VIEW three AS SELECT a FROM t",
    ):
        assert translator.translate(statement).texts
    assert translator.translate("DROP VIEW one").texts == ('DROP VIEW "one" CASCADE',)
    assert translator.translate("CREATE VIEW one AS SELECT a FROM t").texts
    constructs = [
        translator.translate(sql).construct
        for sql in ("SELECT a FROM two", "DROP VIEW two", "SELECT a FROM three", "DROP VIEW three")
    ]
    assert constructs == [
        "after: DROP of what a view shows",
        "DROP of what a view shows",
        "",
        "",
    ]


def test_a_table_is_forgotten_once_it_is_dropped() -> None:
    translator = Translator(target_of("duckdb"))
    assert translator.translate("CREATE TABLE t(a)").construct == "untyped column"
    assert translator.translate("SELECT a FROM t").construct == "after: untyped column"
    assert translator.translate("CREATE TABLE t(a INTEGER)").texts  # SQLite refuses that one
    assert translator.translate("INSERT INTO t VALUES (1, 2, 3)").construct
    assert translator.translate("DROP TABLE t").construct
    assert translator.translate("CREATE TABLE t(a INTEGER)").texts
    assert translator.translate("SELECT a FROM t").texts
