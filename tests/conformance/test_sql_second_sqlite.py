"""A second SQLite says whether a difference is one between SQLite's own releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from refute.oracles.sql.partial.pqs import PQS
from refute.oracles.sql.partial.question import Case, Judged, Question
from refute.oracles.sql.partial.written import tree_of
from refute.verifiers.sql.fuzz_second import SecondSQLite

SETUP = ["CREATE TABLE t (a UNIQUE)", "INSERT INTO t VALUES (1), (2)"]


@pytest.fixture(scope="module")
def second() -> Iterator[SecondSQLite]:
    """Opened once: its worker is kept."""
    made = SecondSQLite()
    if not made.installed:
        pytest.skip("needs a second SQLite: pip install apsw")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("query", "left", "says", "engine"),
    [
        ("SELECT a FROM t", ["rows", ["a"], [[1]]], "agrees", False),
        ("SELECT a FROM t WHERE 0", ["rows", ["a"], [[1]]], "agrees", False),
        ("SELECT no_such_column FROM t", ["rows", ["a"], [[1]]], "agrees", False),
        ("SELECT a FROM t WHERE sqlite_version() = 'x'", ["rows", ["a"], []], "agrees", False),
    ],
)
def test_releases_are_compared(
    second: SecondSQLite, query: str, left: list[object], says: str, engine: bool
) -> None:
    opinion = second.opinion(SETUP, query, left)
    assert (opinion.says, opinion.engine) == (says, engine)


class Other(SecondSQLite):
    """A release whose last answer is another one."""

    def _answers(self, statements: Sequence[str]) -> list[Sequence[Any]] | None:
        return [*[["done"]] * (len(statements) - 1), ["rows", ["a"], [[7]]]]


def test_an_engine_that_answers_as_the_other_release_is_known() -> None:
    other = Other()
    for rows, engine in (([[7]], True), ([[8]], False)):
        opinion = other.opinion(SETUP, "SELECT a FROM t WHERE a = 1", ["rows", ["a"], rows])
        assert (opinion.says, opinion.engine) == ("differs", engine)


def test_a_query_without_end_gets_no_opinion(second: SecondSQLite) -> None:
    query = "WITH RECURSIVE a(b) AS (SELECT 1 UNION ALL SELECT b + 1 FROM a) SELECT * FROM a"
    assert second.opinion([], query + " LIMIT 99999999").says == "missing"
    assert second.opinion(SETUP, "SELECT a FROM t").says == "agrees"


def test_a_row_that_only_the_engine_misses_is_its_own_defect(second: SecondSQLite) -> None:
    case = Case((SETUP[0], SETUP[1]), tree_of("SELECT a FROM t WHERE a > 1"), seed=3)
    *_, question = PQS().questions(case)
    asked = [str(statement) for statement in question.statements]
    assert second.judged(PQS(), case, asked).says == "agrees"
    assert second.judged(PQS(), case, ["SELECT 1"]).says == "missing"


def test_a_row_that_both_miss_may_be_the_release(second: SecondSQLite) -> None:
    class Demanding(PQS):
        def questions(self, case: Case) -> Iterator[Question]:
            broken = Judged("broken", "it always is")
            yield Question("pqs", ("SELECT 1",), lambda answers: broken)

    opinion = second.judged(Demanding(), Case((), tree_of("SELECT 1")), ["SELECT 1"])
    assert (opinion.says, opinion.engine) == ("differs", True)


def test_where_it_is_not_installed_that_is_said() -> None:
    absent = SecondSQLite()
    absent.installed = False
    opinion = absent.opinion(SETUP, "SELECT a FROM t")
    assert opinion.says == "missing"
    assert "pip install apsw" in opinion.text
