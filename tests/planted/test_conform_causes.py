"""Planted wrong results: each class comes out as a cause, from scripts that fail and that pass."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sqllogictest.render import texts
from refute.verifiers.sql.conform_causes import Causes, find_causes
from refute.verifiers.sql.conform_file import Embedded, FileResult, Run, run_file
from refute.verifiers.sql.conform_reduce_trial import shown_types
from refute.verifiers.sql.conform_run import Choice

SETUP = """
CREATE TABLE t(a INTEGER, b TEXT COLLATE NOCASE, c REAL, d)
CREATE TABLE u(k INTEGER, v TEXT)
CREATE INDEX i ON t(a)
INSERT INTO t VALUES(1, 'x', 1.5, NULL), (2, 'Y', 2.5, 7), (2, 'y', NULL, 7)
INSERT INTO t VALUES(NULL, NULL, 4.75, '8')
INSERT INTO u VALUES(1, 'one'), (3, 'three'), (NULL, 'none')
"""
# For each class statements that show it, among things that are right.
SHOWN = {
    "null_equals_null": [
        "SELECT a + 1, d = NULL, b FROM t",
        "SELECT t.a FROM t, u WHERE t.a = u.k",
    ],
    "not_in_forgets_null": ["SELECT b, a NOT IN (1, NULL) OR c > 100 FROM t"],
    "sum_of_nothing_is_zero": ["SELECT COUNT(*), SUM(a) FROM t WHERE a > 10"],
    "coalesce_takes_last": ["SELECT a, COALESCE(d, NULL, b, 'z') FROM t"],
    "case_falls_through": ["SELECT CASE a WHEN 1 THEN 'p' WHEN 2 THEN 'q' ELSE 'r' END, b FROM t"],
    "dropped_null_join_key": ["SELECT t.b, u.v FROM t LEFT JOIN u ON t.a = u.k"],
    "in_without_collation": ["SELECT a, c FROM t WHERE b IN ('X', 'z') AND a < 9"],
    "limit_off_by_one": ["SELECT a, b FROM t ORDER BY c DESC, a LIMIT 2"],
    "division_as_float": ["SELECT b, 7 / (a + 1) * 2 FROM t"],
    "distinct_keeps_duplicates": ["SELECT DISTINCT d, a FROM t"],
    "like_minds_case": ["SELECT a FROM t WHERE b LIKE 'Y%' OR b IS NULL"],
    "affinity_is_lost": ["SELECT b, a = '2' FROM t"],
    "between_without_end": ["SELECT b FROM t WHERE a BETWEEN 1 AND 2 AND c IS NOT NULL"],
    "nulls_come_last": ["SELECT a, b FROM t ORDER BY a, b, c"],
    "union_keeps_duplicates": ["SELECT a FROM t UNION SELECT k FROM u"],
    "cast_rounds": ["SELECT a, CAST(c + 1 AS INTEGER) FROM t"],
    "count_counts_null": ["SELECT b, COUNT(c) FROM t GROUP BY b"],
    "having_is_ignored": ["SELECT a, COUNT(*) FROM t GROUP BY a HAVING COUNT(*) > 1"],
    "subquery_is_cached": ["SELECT v, (SELECT COUNT(*) FROM t WHERE t.a < u.k) FROM u"],
    "index_misses_updated_rows": [
        "UPDATE t SET c = c + 1 WHERE a = 1",
        "SELECT b FROM t WHERE a = 1",
    ],
    "delete_leaves_one": ["DELETE FROM u WHERE k > 0", "SELECT v FROM u"],
    "where_is_pushed_into_left_join": ["SELECT t.b FROM t LEFT JOIN u ON t.a = u.k WHERE t.c > 2"],
    "overflow_wraps": ["SELECT b, a + 9223372036854775807 FROM t"],
    "min_of_null_is_null": ["SELECT MIN(c), MAX(c) FROM t"],
    "except_keeps_common": ["SELECT a FROM t EXCEPT SELECT k FROM u"],
}


def loaded(name: str) -> ModuleType:
    path = Path(__file__).parents[1] / "cases" / "sqllogictest" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_of_cases", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ENGINES = loaded("planted")


def in_process(bug: str) -> Any:
    return loaded("in_process").InProcess(getattr(ENGINES, bug))


class Planted(Choice):
    """The choice of an engine in this process."""

    def open(self) -> Any:
        return in_process(self.engine)


def file_of(statements: Sequence[str]) -> str:
    """The statements as a test file, with SQLite's results."""
    database, records = SQLite(), []
    for sql in statements:
        answer = database.answer(sql)
        if answer[0] == "rows":
            rows = [list(row) for row in answer[2]]
            sort = "nosort" if "ORDER BY" in sql else "rowsort"
            types = shown_types(len(answer[1]), rows)
            records.append(
                "\n".join([f"query {types} {sort}", sql, "----", *texts(types, rows, sort)])
            )
        else:
            records.append(f"statement {'error' if answer[0] == 'error' else 'ok'}\n{sql}")
    return "\n\n".join(records) + "\n"


def causes(bug: str, text: str, folder: Path) -> tuple[Causes, FileResult]:
    path = folder / "f.test"
    path.write_text(text)
    choice = Planted(bug, "sqlite", 5.0)
    engine = choice.open()
    result = run_file(Run(engine, "sqlite"), str(path), text.encode(), 0)
    return find_causes(choice, [result], 60.0, lambda _: None), result


def statements_of(bug: str) -> list[str]:
    return [line for line in SETUP.splitlines() if line] + SHOWN[bug]


def test_every_class_has_an_example() -> None:
    assert sorted(ENGINES.BUGS) == sorted(SHOWN)
    assert len(SHOWN) >= 20


@pytest.mark.parametrize("bug", sorted(SHOWN))
def test_a_class_is_one_cause_whose_script_fails_on_it_alone(bug: str, tmp_path: Path) -> None:
    found, result = causes(bug, file_of(statements_of(bug)), tmp_path)
    assert result.failures and all(f.cause == 1 for f in result.failures), result
    [cause] = found.causes
    assert cause.verified and cause.oracle and found.unknown == 0
    assert len(cause.statements) <= 6, cause.statements
    script = cause.script.encode()
    assert run_file(Run(Embedded(5.0), "sqlite"), "s.test", script, 0).failures == []
    again = run_file(Run(in_process(bug), "sqlite"), "s.test", script, 0)
    assert [f.kind for f in again.failures] == [cause.kind]
    for other in ("limit_off_by_one", "division_as_float"):
        if other != bug:  # nothing is left in it that another class would make fail
            assert run_file(Run(in_process(other), "sqlite"), "s.test", script, 0).failures == []
