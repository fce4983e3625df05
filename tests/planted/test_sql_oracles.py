"""Oracles of one engine at work: each finds what it says that it sees, and spares SQLite itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from sql_asking import Asked, Engine, ask, generated, given

from refute.oracles.sql.partial.crash import Crash
from refute.oracles.sql.partial.plans import Plans
from refute.oracles.sql.partial.pqs import PQS
from refute.oracles.sql.partial.question import Answer, Case, Oracle
from refute.oracles.sql.partial.reference import Reference
from refute.oracles.sql.partial.state import State
from refute.oracles.sql.partial.written import tree_of
from refute.oracles.sql.sqlite import SQLite

SETUP = (
    "CREATE TABLE t (a INTEGER UNIQUE, b TEXT)",
    "CREATE INDEX i ON t (b) WHERE b IS NOT NULL",
    "CREATE VIEW v AS SELECT a, b FROM t WHERE b > 'a'",
    "INSERT INTO t VALUES (1, 'x'), (2, NULL), (3, 'a'), (NULL, 'b')",
)


def answering(change: Callable[[str, list[Any]], Any]) -> Engine:
    """SQLite with its rows changed: gets a statement and its rows, None for those as they are."""

    def engine(database: SQLite, statements: Sequence[str]) -> Sequence[Answer]:
        answers = []
        for statement in statements:
            [answer] = database.run([statement])
            changed = change(statement, answer[2]) if answer[0] == "rows" else None
            answers.append(answer if changed is None else [answer[0], answer[1], changed])
        return answers

    return engine


def where(pattern: str, change: Callable[[list[Any]], Any]) -> Engine:
    """SQLite whose rows are changed where a statement matches."""
    found = re.compile(pattern, re.IGNORECASE)
    return answering(lambda sql, rows: change(rows) if found.search(sql) else None)


def without_last(rows: list[Any]) -> Any:
    """A row is lost."""
    return rows[:-1]


def raised(rows: list[Any]) -> Any:
    """Numbers are too large by one."""
    return [[v + 1 if type(v) is int else v for v in row] for row in rows]


@pytest.mark.parametrize(
    ("oracle", "least"),
    [(Reference, 110), (Crash, 110), (PQS, 110), (Plans, 150), (State, 150)],
)
def test_sqlite_is_spared_and_asked_much(oracle: type[Oracle], least: int) -> None:
    asked = ask(oracle(), generated(11, 10))
    assert asked.broken is None, asked.broken
    assert asked.counts["held"] >= least
    assert asked.counts["open"] <= asked.counts["held"] / 10


@pytest.mark.parametrize(
    ("oracle", "engine"),
    [
        (Reference, where(r"\bWHERE\b", without_last)),
        (Reference, where(r"\bDISTINCT\b", lambda rows: rows + rows)),
        (Reference, where(r"\bSUM\(", raised)),
        (PQS, where(r"\bNOT\b", without_last)),
        (PQS, where(r"\bIS NULL\b", without_last)),
        (PQS, where(r"^SELECT.*\bJOIN\b", lambda rows: [])),
        (PQS, where(r"\bORDER BY 1$", without_last)),
        (Plans, where(r"\bNOT INDEXED\b", without_last)),
        (Plans, where(r"\bLIKELIHOOD\b", without_last)),
        (Plans, where(r"\bLIMIT -1\b", lambda rows: rows + rows)),
        (State, where(r"^SELECT COUNT\(\*\) FROM \"t", raised)),
        (State, where(r"^SELECT M[AI][XN]\(", raised)),
        (State, where(r"\bORDER BY \"", without_last)),
        (State, where(r"\bCROSS JOIN \"t", without_last)),
        (State, where(r"FROM refute_copy$", without_last)),
        (State, where(r"^PRAGMA \w+_check$", lambda rows: [["row 1 missing from index i"]])),
    ],
)
def test_a_wrong_answer_is_seen(oracle: type[Oracle], engine: Engine) -> None:
    asked = ask(oracle(), generated(5, 12), engine)
    assert asked.broken is not None, asked.counts


def through_an_index(database: SQLite, statements: Sequence[str]) -> Sequence[Answer]:
    """An engine whose indexes, once made, lose a row of what is read through them."""
    answers = []
    indexed = False
    for statement in statements:
        indexed = indexed or statement.startswith("CREATE INDEX")
        [answer] = database.run([statement])
        if indexed and answer[0] == "rows" and "WHERE" in statement:
            answer = ["rows", answer[1], answer[2][1:]]
        answers.append(answer)
    return answers


def test_an_index_that_loses_a_row_is_seen_by_other_plans() -> None:
    asked = ask(Plans(), given(SETUP, "SELECT a FROM t WHERE a > 0", 30), through_an_index)
    assert asked.broken is not None
    assert asked.broken[1][1].startswith("CREATE INDEX refute_index ON t")


def test_another_order_is_seen_by_other_plans() -> None:
    engine = answering(lambda sql, rows: rows[::-1] if "NOT INDEXED" in sql else None)
    ordered = ask(Plans(), given(SETUP, "SELECT a AS c FROM t ORDER BY c", 30), engine)
    assert ordered.broken is not None
    assert "order" in ordered.broken[2].why
    free = ask(Plans(), given(SETUP, "SELECT a AS c FROM t", 30), engine)
    assert free.broken is None


def test_a_setting_of_the_case_is_left_as_it_is() -> None:
    own = (*SETUP, "PRAGMA reverse_unordered_selects = ON")
    for setup, some in ((SETUP, True), (own, False)):
        seen = set[str]()

        def engine(database: SQLite, statements: Sequence[str], seen: set[str] = seen) -> Any:
            seen.update(statements)
            return database.run(statements)

        ask(Plans(), given(setup, "SELECT a FROM t WHERE a > 0", 200), engine)
        assert any("automatic_index" in sql for sql in seen)
        assert any("reverse_unordered_selects" in sql for sql in seen) is some


def test_what_the_engine_refuses_says_nothing() -> None:
    def engine(database: SQLite, statements: Sequence[str]) -> Sequence[Answer]:
        refused = ["error", "x.Error", "no such thing"]
        answers = database.run(statements)
        return [answers[0], *[refused for _ in answers[1:]]]

    asked = ask(Plans(), given(SETUP, "SELECT a FROM t WHERE a > 0", 20), engine)
    assert asked.broken is None
    assert set(asked.counts) == {"open"}


def test_a_pivot_is_missed_only_where_the_tables_are_the_same() -> None:
    def engine(database: SQLite, statements: Sequence[str]) -> Sequence[Answer]:
        database.run(["DELETE FROM t"])
        return database.run(statements)

    asked = ask(PQS(), given(SETUP, "SELECT a FROM t WHERE b IS NULL", 10), engine)
    assert asked.broken is None
    assert asked.counts["open"] > 1


@pytest.mark.parametrize(
    "query",
    [
        "SELECT b FROM t WHERE a < 3",
        "SELECT t.a, x.b FROM t LEFT JOIN t AS x ON t.a < x.a WHERE x.b LIKE 'X'",
        "SELECT COUNT(*) FROM t WHERE b IN (SELECT b FROM v) GROUP BY a",
        "SELECT x.b FROM (SELECT b FROM t WHERE a > 1) AS x RIGHT JOIN t ON t.a = 1",
        "SELECT a FROM t UNION SELECT a FROM t WHERE b = 'a' ORDER BY 1 LIMIT 1",
    ],
)
def test_a_pivot_is_chosen_in_every_part_of_a_query(query: str) -> None:
    lost = answering(lambda sql, rows: [] if "WHERE" in sql or "JOIN" in sql else None)
    assert ask(PQS(), given(SETUP, query, 20)).broken is None
    assert ask(PQS(), given(SETUP, query, 20), lost).broken is not None


@pytest.mark.parametrize("times", [40])
def test_every_way_of_reading_a_table_is_used(times: int) -> None:
    seen: set[str] = set()

    def engine(database: SQLite, statements: Sequence[str]) -> Sequence[Answer]:
        seen.update(statements)
        return database.run(statements)

    asked = ask(State(), given(SETUP, "SELECT a FROM t WHERE a > 1", 2 * times), engine)
    assert asked.broken is None
    for part in (
        *("integrity_check", "quick_check", "INDEXED BY", "CROSS JOIN", "EXISTS(", " IN (SELECT"),
        *("COUNT(*)", "MIN(", "COUNT(DISTINCT", "refute_copy", "REINDEX", 'FROM "v"', "DESC"),
    ):
        assert any(part in statement for statement in seen), part


def test_an_index_with_other_rows_than_its_table_is_damage() -> None:
    # as left by writing to the schema: SQLite's own check sees it
    setup = (
        "CREATE TABLE t (a, b)",
        "INSERT INTO t VALUES (1, 2), (3, 4)",
        "CREATE INDEX i ON t (a)",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = 'CREATE INDEX i ON t (b)' WHERE name = 'i'",
        "PRAGMA writable_schema = RESET",
    )
    asked = ask(State(), given(setup, "SELECT a FROM t", 40))
    assert asked.broken is not None


def test_what_a_setup_says_is_judged_statement_by_statement() -> None:
    setup = ["CREATE TABLE t (a UNIQUE)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)"]
    setup += ["INSERT INTO t VALUES (2)", "UPDATE t SET a = 5", "SELEC", "REINDEX"]
    setup += ["ALTER TABLE t RENAME COLUMN a TO b", "ALTER TABLE t RENAME TO u"]
    done, failed = ["done", 1], ["error", "x.Error", "UNIQUE constraint failed: t.a"]
    syntax = ["error", "x.Error", "syntax"]
    lost = ["error", "x.Error", "error in index i: no such column: a"]
    answers = [done, syntax, done, failed, done, done, failed, lost, syntax]
    judged = Reference().setup_judged(setup, answers)
    said = [(one.status, one.why.split(":")[0]) for one in judged]
    assert said == [
        ("held", ""),
        ("open", "the engine refuses it"),
        ("broken", "accepted"),
        ("broken", "refused"),
        ("open", "SQLite"),  # in another order of rows it may be a key twice, or none
        ("open", "SQLite"),
        ("broken", "refused"),  # the rows are as they were
        ("broken", "refused"),  # the column is there
        ("open", "the engine refuses it"),  # perhaps it has no such thing
    ]


def test_tables_are_queries_that_show_a_wrong_change() -> None:
    setup = ("CREATE TABLE t (a)", "INSERT INTO t VALUES (1), (2)", "UPDATE t SET a = a + 1")
    oracle, other = Reference(), SQLite()
    other.run(setup[:2])
    [question] = oracle.questions(Case(setup, tree_of("SELECT * FROM t")))
    assert question.judge(other.run([str(question.statements[0])])).status == "broken"


def test_what_sqlite_refuses_is_open() -> None:
    def engine(database: SQLite, statements: Sequence[str]) -> Sequence[Answer]:
        return [["rows", ["c"], [[1]]] for _ in statements]

    asked: Asked = ask(Reference(), given(SETUP, "SELECT no_such_column FROM t"), engine)
    assert dict(asked.counts) == {"open": 1}
