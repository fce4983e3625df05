"""One planted defect is one cause, whichever oracles see it; two defects are two."""

from __future__ import annotations

from planted_causes import run_on, shows

TABLE = ("CREATE TABLE t (a)", "INSERT INTO t VALUES (1), (1), (2)")
UNION = (*TABLE, "SELECT a FROM t UNION SELECT a FROM t WHERE a > 1")
DISTINCT = (*TABLE, "SELECT DISTINCT a FROM t WHERE a < 2")
RIGHT = (*TABLE, "SELECT x.a FROM t AS x RIGHT JOIN t ON x.a > t.a")


def test_one_defect_is_one_cause_of_several_oracles() -> None:
    run = run_on([UNION, DISTINCT], "UNION keeps", oracles=("sqlite", "eet"))
    [found] = run.findings
    assert shows(found, "UNION keeps") and len(found.query) < 60
    assert found.oracles == ("sqlite", "eet") and found.times > 1 and found.also


def test_two_defects_are_two_causes() -> None:
    names = ("UNION keeps", "RIGHT JOIN is INNER")
    run = run_on([UNION, RIGHT], *names, oracles=("sqlite",))
    assert [[shows(f, name) for name in names] for f in run.findings] == [[1, 0], [0, 1]]
