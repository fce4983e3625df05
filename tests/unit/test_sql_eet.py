"""EET: what each rule makes of a query, where it has to leave it alone, and that it still means the
same."""

from __future__ import annotations

import pytest

from refute.fuzz.sql.text import read, write
from refute.oracles.sql.partial.columns import Scope, catalog_of
from refute.oracles.sql.partial.eet import EET, RULES, transformed
from refute.oracles.sql.partial.places import places
from refute.oracles.sql.partial.question import Case
from refute.oracles.sql.partial.trees import without_ends
from refute.oracles.sql.sqlite import SQLite

SETUP = (
    "CREATE TABLE t (a INTEGER, b TEXT COLLATE NOCASE, c TEXT, d)",
    "INSERT INTO t VALUES (1, 'x', 'x', 1), (NULL, 'X', NULL, '1'), (3, NULL, 'X', 1.0)",
    "CREATE TABLE u (k INTEGER, v TEXT)",
    "INSERT INTO u VALUES (1, 'x'), (1, 'X'), (NULL, NULL), (4, 'z')",
    "CREATE VIEW w AS SELECT k AS m, v || '' AS n FROM u",
)
WRITTEN = {  # rule, query: what it becomes; "" where the rule has to leave it alone
    ("NOT NOT", "SELECT t.a FROM t WHERE t.a > 1"): (
        "SELECT t.a FROM t WHERE (NOT (NOT (t.a > 1)))"
    ),
    ("OR false", "SELECT t.a AND t.d FROM t"): (
        "SELECT ((t.a) OR (((t.a) AND (NOT (t.a))) AND (NOT ((t.a) IS NULL)))) AND "
        "((t.d) OR (((t.d) AND (NOT (t.d))) AND (NOT ((t.d) IS NULL)))) FROM t"
    ),
    ("De Morgan", "SELECT t.a FROM t WHERE t.a > 1 AND t.d"): (
        "SELECT t.a FROM t WHERE (NOT ((NOT (t.a > 1)) OR (NOT (t.d))))"
    ),
    ("BETWEEN as comparisons", "SELECT t.d BETWEEN t.a AND 3 FROM t"): (
        "SELECT ((t.d >= t.a) AND (t.d <= 3)) FROM t"
    ),
    ("IN as OR", "SELECT t.d IN (1, t.a) FROM t"): (
        "SELECT ((t.d = 1) OR (t.d = COALESCE(t.a, NULL))) FROM t"
    ),
    ("IN as OR", "SELECT t.b IN (t.c COLLATE NOCASE) FROM t"): "",
    ("IN as EXISTS", "SELECT 'X' IN (SELECT t.b FROM t) FROM u"): "",
    ("EXISTS as COUNT", "SELECT EXISTS(SELECT COUNT(*) FROM t) FROM u"): "",
    ("IS as CASE", "SELECT t.a IS (TRUE COLLATE NOCASE) FROM t"): "",  # IS TRUE, all the same
    ("IS as CASE", "SELECT t.a IS NOT t.d FROM t"): (
        "SELECT (CASE WHEN ((t.a) IS NULL) AND ((t.d) IS NULL) THEN 0 WHEN t.a = t.d THEN 0 "
        "ELSE 1 END) FROM t"
    ),
    ("EXISTS as COUNT", "SELECT EXISTS(SELECT t.a FROM t WHERE t.a = u.k) FROM u"): (
        "SELECT ((SELECT COUNT(*) FROM t WHERE t.a = u.k) > 0) FROM u"
    ),
    ("comparison mirrored", "SELECT t.b = t.c FROM t"): "",  # NOCASE, or BINARY the other way
    ("comparison mirrored", "SELECT t.c < u.v FROM t, u"): "SELECT (u.v > t.c) FROM t, u",
    ("rows by elements", "SELECT (t.a, t.c) < (1, 'x') FROM t"): (
        "SELECT ((t.a < 1) OR ((t.a = 1) AND (t.c < 'x'))) FROM t"
    ),
    ("rows by elements", "SELECT (t.a, t.c) IS (1, FALSE) FROM t"): "",  # one IS FALSE, alone
    ("rows by elements", "SELECT (t.a, t.c) IS (1, 'x') FROM t"): (
        "SELECT ((t.a IS 1) AND (t.c IS 'x')) FROM t"
    ),
    ("CASE of one value", "SELECT t.a FROM t WHERE t.d = 1"): (
        "SELECT (CASE WHEN (t.a) IS NULL THEN t.a ELSE t.a END) FROM t "
        "WHERE t.d = (CASE WHEN (1) IS NULL THEN 1 ELSE 1 END)"
    ),
    ("CASE of one value", "SELECT COUNT(*) FROM t WHERE t.a = t.d"): (  # INTEGER decides there
        "SELECT (CASE WHEN (COUNT(*)) IS NULL THEN COUNT(*) ELSE COUNT(*) END) FROM t "
        "WHERE t.a = t.d"
    ),
    ("constant hidden", "SELECT w.n = w.m FROM w"): "",
    ("COALESCE of one value", "SELECT 1 FROM w WHERE w.n = w.m"): (
        "SELECT COALESCE(1, 1) FROM w WHERE w.n = w.m"  # n is a column, though an expression inside
    ),
    ("no affinity", "SELECT t.a FROM t WHERE t.a > 1"): "SELECT +t.a FROM t WHERE (+t.a > 1)",
    ("no affinity", "SELECT t.a || '' FROM t WHERE t.a > '1'"): (
        "SELECT +t.a || '' FROM t WHERE t.a > '1'"
    ),
    ("FILTER as CASE", "SELECT COUNT(*) FILTER(WHERE t.a > 1) FROM t"): (
        "SELECT COUNT(CASE WHEN t.a > 1 THEN 1 END) FROM t"
    ),
    ("WHERE in ON", "SELECT t.a FROM t LEFT JOIN u ON t.a = u.k WHERE u.k = 1"): "",
    ("WHERE in ON", "SELECT t.a FROM t JOIN u ON t.a = u.k WHERE u.k = 1"): (
        "SELECT t.a FROM t INNER JOIN u ON (t.a = u.k) AND (u.k = 1)"
    ),
    ("other join order", "SELECT * FROM t, u"): "",
    ("LEFT JOIN as INNER and rest", "SELECT t.a FROM t LEFT JOIN u ON t.a = u.k"): (
        "SELECT t.a FROM t INNER JOIN u ON t.a = u.k UNION ALL SELECT t.a FROM t LEFT JOIN u "
        "ON 1 = 0 WHERE (NOT (EXISTS(SELECT 1 FROM u WHERE t.a = u.k)))"
    ),
    ("RIGHT as LEFT", "SELECT t.a FROM t RIGHT JOIN u ON t.a = u.k, w"): (
        "SELECT t.a FROM u LEFT JOIN t ON t.a = u.k, w"
    ),
    ("RIGHT as LEFT", "SELECT t.a FROM t RIGHT JOIN u ON t.a = u.k NATURAL JOIN w"): "",
    ("tables as subqueries", "SELECT t.a FROM t WHERE t.rowid = 1"): "",
    ("tables as subqueries", "SELECT x.a FROM t AS x"): ("SELECT x.a FROM (SELECT * FROM t) AS x"),
    ("DISTINCT as GROUP BY", "SELECT DISTINCT t.a, 1 FROM t"): "",
    ("compound as EXISTS", "SELECT t.c FROM t EXCEPT SELECT t.a FROM t"): "",
    ("compound as EXISTS", "SELECT t.c FROM t EXCEPT SELECT t.b FROM t"): (
        "SELECT DISTINCT eet_l.c FROM (SELECT t.c FROM t) AS eet_l WHERE NOT (EXISTS(SELECT 1 "
        "FROM (SELECT t.b FROM t) AS eet_r WHERE (eet_l.c IS eet_r.b)))"
    ),
    ("operands exchanged", "SELECT t.b FROM t UNION SELECT t.c FROM t"): "",
    ("operands exchanged", "SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3"): "",
    ("ORDER BY added", "SELECT t.a FROM t LIMIT 1"): "SELECT t.a FROM t ORDER BY 1",
}


def by(rule: str, sql: str) -> str:
    """The query by a rule; empty where the rule does not apply."""
    tree = read(sql)
    assert tree is not None
    before = write(tree)
    for seed in range(30):  # some rules choose between all values and columns only
        query = without_ends(tree)
        case = Case(SETUP, tree, seed)
        made = transformed(rule, case, Scope(catalog_of(SETUP), query), query, list(places(query)))
        assert write(tree) == before, "the case's own tree was changed"
        if made is not None and " DESC" not in write(made):
            return write(made)
    return ""


@pytest.mark.parametrize(("rule", "sql"), sorted(WRITTEN))
def test_a_rule_writes_what_means_the_same_or_nothing(rule: str, sql: str) -> None:
    assert by(rule, sql) == WRITTEN[rule, sql]


@pytest.mark.parametrize(("rule", "sql"), sorted(k for k, v in WRITTEN.items() if v))
def test_both_ways_have_the_same_rows(rule: str, sql: str) -> None:
    tree = read(sql)
    assert tree is not None
    questions = list(EET(most=1, rules=(rule,)).questions(Case(SETUP, tree)))
    database = SQLite()
    database.run(SETUP)
    for question in questions:
        answers = [list(a) for a in database.run([str(s) for s in question.statements])]
        assert question.judge(answers).status == "held"
        if len(answers[0][2]) > 0:
            answers[1][2] = answers[1][2][1:]
            judged = question.judge(answers)
            assert (judged.status, judged.why.split(":")[0]) == ("broken", rule)
    assert questions
    database.close()


def test_rules_are_taken_in_an_order_of_the_seed() -> None:
    tree = read("SELECT t.a FROM t WHERE t.a > 1")
    assert tree is not None
    asked = {
        seed: [q.statements for q in EET().questions(Case(SETUP, tree, seed))] for seed in range(20)
    }
    again = {
        seed: [q.statements for q in EET().questions(Case(SETUP, tree, seed))] for seed in range(20)
    }
    assert asked == again
    assert all(len(statements) == 2 for statements in asked.values())
    assert len({s[-1][1] for s in asked.values()}) > 10
    assert len(RULES) == len(set(RULES)) >= 40
