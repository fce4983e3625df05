"""TLP and NoREC: what each asks of a query, and what its judge says of the answers."""

from __future__ import annotations

from typing import Any

import pytest

from refute.fuzz.sql.text import read
from refute.oracles.sql.partial.bags import Pair, Rows, depends_on_order
from refute.oracles.sql.partial.norec import NoREC
from refute.oracles.sql.partial.question import Case, Judged, Oracle
from refute.oracles.sql.partial.tlp import TLP
from refute.oracles.sql.sqlite import SQLite

SETUP = (
    "CREATE TABLE t (a INTEGER, b TEXT COLLATE NOCASE, c REAL)",
    "INSERT INTO t VALUES (1, 'x', 0.5), (NULL, 'X', 2.0), (3, NULL, -1.0), (1, 'y', NULL)",
    "CREATE TABLE u (k INTEGER, v)",
    "INSERT INTO u VALUES (1, 1), (1, 1.0), (2, 'z'), (NULL, NULL)",
)
ORACLES: dict[str, Oracle] = {"tlp": TLP(9), "norec": NoREC()}


def answers_of(statements: tuple[object, ...]) -> list[Any]:
    database = SQLite()
    database.run(SETUP)
    found = database.run([str(s) for s in statements])
    database.close()
    return [list(answer) for answer in found]


def asked(name: str, sql: str, seed: int = 0) -> list[tuple[tuple[str, ...], Judged]]:
    """What is asked about a query, and the judgement of SQLite's answers."""
    tree = read(sql)
    assert tree is not None
    found = []
    for question in ORACLES[name].questions(Case(SETUP, tree, seed)):
        answers = answers_of(question.statements)
        found.append((tuple(map(str, question.statements)), question.judge(answers)))
        assert question.oracle == name
    return found


@pytest.mark.parametrize(
    ("sql", "third"),
    [
        ("SELECT a FROM t WHERE a = 1 LIMIT 1", "SELECT a FROM t WHERE NOT (a = 1)"),
        ("SELECT DISTINCT b FROM t WHERE a < 2", "SELECT DISTINCT b FROM t WHERE NOT (a < 2)"),
        (
            "SELECT t.a FROM t LEFT JOIN u ON t.a = u.k WHERE u.k > 0 ORDER BY 1",
            "SELECT t.a FROM t LEFT JOIN u ON t.a = u.k WHERE NOT (u.k > 0)",
        ),
        (
            "SELECT a, COUNT(*) FROM t GROUP BY a HAVING COUNT(*) > 1",
            "SELECT a, COUNT(*) FROM t GROUP BY a HAVING NOT (COUNT(*) > 1)",
        ),
        (
            "SELECT MIN(a), SUM(c) FROM t WHERE b = 'X'",
            "SELECT MIN(a), SUM(c), COUNT(c), SUM(ABS(CAST(c AS REAL))) FROM t WHERE NOT (b = 'X')",
        ),
    ],
)
def test_a_query_is_split_in_three(sql: str, third: str) -> None:
    found = asked("tlp", sql)
    split = [statements for statements, _ in found if len(statements) == 4]
    assert third in [statements[2] for statements in split]
    assert len(split) + ("LIMIT" in sql) == len(found)
    assert {judged.status for _, judged in found} == {"held"}


def test_an_inner_join_is_split_unless_a_right_join_follows() -> None:
    split = [s[2] for s, _ in asked("tlp", "SELECT t.a FROM t INNER JOIN u ON t.a = u.k")]
    assert "SELECT t.a FROM t INNER JOIN u ON NOT (t.a = u.k)" in split
    text = "SELECT t.a FROM t JOIN u ON t.a = u.k RIGHT JOIN u AS w ON w.k = t.a"
    assert not any("ON NOT" in s[2] for s, _ in asked("tlp", text))


def test_a_condition_is_a_column_too() -> None:
    statements, judged = asked("norec", "SELECT t.a FROM t JOIN u ON t.a = u.k WHERE u.v = 1")[0]
    assert judged.status == "held"
    assert (
        statements
        == (
            "SELECT t.a FROM t JOIN u ON t.a = u.k WHERE u.v = 1",
            "SELECT COUNT(*) FROM t JOIN u ON t.a = u.k WHERE u.v = 1",
            "SELECT t.a, ((t.a = u.k) AND (u.v = 1)) IS TRUE AS holds FROM t CROSS JOIN u",
        )
        or "CASE WHEN" in statements[2]
    )


@pytest.mark.parametrize("name", sorted(ORACLES))
def test_only_the_query_itself_keeps_to_a_certain_index(name: str) -> None:
    statements, _ = asked(name, "SELECT t.a FROM t INDEXED BY i WHERE t.a = 1")[-1]
    assert {" INDEXED BY i WHERE t.a = 1" in s for s in statements if "INDEXED" in s} == {True}
    assert any("INDEXED" in s for s in statements) and "INDEXED" not in statements[-1]


@pytest.mark.parametrize("name", sorted(ORACLES))
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT RANDOM() FROM t WHERE a = 1",
        "SELECT a FROM t WHERE a > ABS(RANDOM())",
        "SELECT DATE('now') FROM t WHERE a = 1",
        "PRAGMA integrity_check",
    ],
)
def test_nothing_is_asked_of_what_changes_by_itself(name: str, sql: str) -> None:
    assert asked(name, sql) == []


@pytest.mark.parametrize("name", sorted(ORACLES))
def test_a_lost_row_breaks_and_an_error_leaves_it_open(name: str) -> None:
    tree = read("SELECT a, c FROM t WHERE c > 0 OR a = 3")
    assert tree is not None
    question = next(iter(ORACLES[name].questions(Case(SETUP, tree))))
    answers = answers_of(question.statements)
    assert question.judge(answers).status == "held"
    filtered = next(i for i, s in enumerate(question.statements) if " WHERE " in str(s))
    short = list(answers)
    short[filtered] = ["rows", answers[filtered][1], answers[filtered][2][1:]]
    assert question.judge(short).status == "broken"
    for other in (["error", "E", "overflow"], ["lost", "hangs"], ["crash", "E", ""]):
        failed = [*answers]
        failed[-1] = other
        assert question.judge(failed).status == "open"


def test_representatives_and_zeros_may_differ() -> None:
    tree = read("SELECT DISTINCT v FROM u WHERE k = 1")
    assert tree is not None
    question = next(iter(TLP().questions(Case(SETUP, tree))))
    whole = [["rows", ["v"], [[1], ["z"], [None]]]]
    parts = [[[1.0]], [["z"]], [[None]]]
    assert question.judge([*whole, *(["rows", ["v"], p] for p in parts)]).status == "held"
    parts[0] = [[2]]
    assert question.judge([*whole, *(["rows", ["v"], p] for p in parts)]).status == "broken"


@pytest.mark.parametrize(
    ("limit", "number"), [("LIMIT 1 OFFSET 2", 2), ("LIMIT 3", 3), ("LIMIT 1 OFFSET 50", 50)]
)
def test_rows_after_a_number_are_as_many_less(limit: str, number: int) -> None:
    tree = read(f"SELECT a FROM t, u {limit}")
    assert tree is not None
    *_, question = TLP().questions(Case(SETUP, tree))
    whole, rest = map(str, question.statements)
    assert (whole, rest[-8:].split()[-1]) == ("SELECT a FROM t, u", str(number))
    answers = answers_of(question.statements)
    assert question.judge(answers).status == "held"
    lost = [answers[0], ["rows", answers[1][1], [*answers[1][2], [0]]]]
    assert question.judge(lost).status == "broken"
    assert question.judge([answers[0], ["error", "x.Error", "no"]]).status == "open"


def test_a_number_of_rows_that_depends_on_their_order_is_open() -> None:
    tree = read("SELECT DISTINCT x.b FROM (SELECT b, MAX(c) FROM t WHERE a = 1) AS x LIMIT 1")
    assert tree is not None
    for question in TLP().questions(Case(SETUP, tree)):
        assert question.judge(answers_of(question.statements)).status in ("held", "open")


def test_an_order_by_an_expression_changes_no_row() -> None:
    tree = read("SELECT a FROM t ORDER BY CASE WHEN a = 1 THEN c END LIMIT 3")
    assert tree is not None
    *_, question = TLP().questions(Case(SETUP, tree))
    free, ordered = map(str, question.statements)
    assert (free, ordered) == ("SELECT a FROM t", f"{free} ORDER BY CASE WHEN a = 1 THEN c END")
    answers = answers_of(question.statements)
    assert question.judge(answers).status == "held"
    garbage = ["rows", answers[1][1], [[94902038966992], *answers[1][2][1:]]]
    assert question.judge([answers[0], garbage]).status == "broken"
    plain = read("SELECT a FROM t ORDER BY a")
    assert plain is not None
    assert not any("ORDER" in str(q.statements) for q in TLP().questions(Case(SETUP, plain)))


@pytest.mark.parametrize("table", [[], ["CREATE VIRTUAL TABLE f USING fts5(x)"]])
def test_what_depends_on_order_is_seen_beside_a_virtual_table(table: list[str]) -> None:
    setup = ("CREATE TABLE t (c COLLATE NOCASE)", "INSERT INTO t VALUES ('A'), ('a')", *table)
    assert depends_on_order(setup, "SELECT MIN(c) FROM t")
    assert not depends_on_order(setup, "SELECT COUNT(c) FROM t")
    assert not depends_on_order((*setup, "CREATE VIEW v AS SELECT 1"), "SELECT * FROM v")


@pytest.mark.parametrize(
    ("sql", "expected", "observed", "status"),
    [
        (  # which of the equal numbers is shown is open, whatever else may depend on an order
            "SELECT 0 / v AS x FROM u GROUP BY v EXCEPT SELECT k FROM t",
            [(0,)],
            [(0.0,)],
            "held",
        ),
        (
            "WITH o AS (SELECT a FROM t GROUP BY 0) SELECT DISTINCT 1 / v FROM u",
            [(1,), (None,)],
            [(None,), (1.0,)],
            "held",
        ),
        (  # a row that is missing is not
            "WITH o AS (SELECT a FROM t GROUP BY 0) SELECT DISTINCT 1 / k FROM u",
            [(1,), (0,), (None,)],
            [(1.0,), (0,)],
            "broken",
        ),
        (
            "WITH o AS (SELECT a FROM t GROUP BY 0) SELECT 1 / k FROM u",
            [(1,), (1,), (0,), (None,)],
            [(1.0,), (1.0,), (0,), (None,)],
            "broken",
        ),
    ],
)
def test_equal_values_may_stand_for_each_other_where_they_are_one(
    sql: str, expected: Rows, observed: Rows, status: str
) -> None:
    tree = read(sql)
    assert tree is not None
    assert Pair(Case(SETUP, tree), tree, expected, observed, "it").judged().status == status


@pytest.mark.parametrize(
    ("sql", "status"),
    [
        ("SELECT * FROM joined", "open"),
        ("SELECT * FROM (u JOIN again AS x)", "open"),
        ("SELECT 1 WHERE 'x,X,y' IN (SELECT g FROM joined)", "open"),
        ("SELECT * FROM plain", "broken"),
        ("WITH joined AS (SELECT b AS g FROM t) SELECT g FROM joined", "broken"),
    ],
)
def test_what_is_open_in_a_view_is_open_in_what_asks_for_it(sql: str, status: str) -> None:
    views = (
        "CREATE VIEW joined AS SELECT group_concat(b) AS g FROM t",
        "CREATE VIEW again AS SELECT g FROM joined",
        "CREATE VIEW plain AS SELECT b AS g FROM t",
    )
    tree = read(sql)
    assert tree is not None
    pair = Pair(Case((*SETUP, *views), tree), tree, [("x,y",)], [("y,x",)], "it")
    assert pair.judged().status == status


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("operand", ["x.c < '1'", "x.c = 1", "x.c BETWEEN 0 AND '1'"])
def test_a_condition_on_a_column_of_undefined_affinity_says_nothing(
    operand: str, seed: int
) -> None:
    """SQLite takes the affinity of either part of the compound query, another one in each form."""
    parts = "SELECT CAST(k AS REAL) AS c, k FROM u UNION ALL SELECT v, k FROM u"
    found = asked("tlp", f"SELECT 1 FROM ({parts}) AS x WHERE {operand}", seed)
    assert found and all(judged.status != "broken" for _, judged in found)


def test_a_named_index_does_not_settle_which_row_stands_for_a_group() -> None:
    setup = (*SETUP, "CREATE INDEX i ON t(c)")
    assert depends_on_order(setup, "SELECT a FROM t INDEXED BY i GROUP BY 'one'")
    assert not depends_on_order(setup, "SELECT MIN(a) FROM t INDEXED BY i GROUP BY 'one'")
