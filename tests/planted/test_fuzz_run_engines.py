"""Engines that are wrong, die, hang or waver under a run: each is told as what it is."""

from __future__ import annotations

import dataclasses
import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from refute.cli.conform_place import choice_of
from refute.report.fuzz_verdict import FuzzReport
from refute.verifiers.sql import fuzz_run
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_direct import Direct
from refute.verifiers.sql.fuzz_run import FuzzRun, Plan, Quiet, fuzz
from refute.verifiers.sql.fuzz_seeds import SeedScript

TIMEOUT_S = 0.5
ENGINE = """
import os
import random
import sqlite3
import time


class Cursor(sqlite3.Cursor):
    def execute(self, sql):
        {code}
        return super().execute(sql)


class Connection(sqlite3.Connection):
    asked = ""

    def cursor(self):
        return super().cursor(Cursor)


def connect():
    return sqlite3.connect(":memory:", factory=Connection, isolation_level=None)
"""


def run_on(folder: Path, code: str, **changes: object) -> FuzzRun:
    """A short run on an engine that does this before it executes a statement."""
    (folder / "planted.py").write_text(ENGINE.format(code=code))
    plan = Plan(
        choice_of("planted:connect", "", TIMEOUT_S, folder),
        ("sqlite", "crash"),
        programs=3,
        queries=20,
        features=frozenset({"inner-join", "left-join", "order-by", "limit"}),
    )
    return fuzz(dataclasses.replace(plan, **changes))  # type: ignore[arg-type]


def script(*statements: str) -> tuple[SeedScript, ...]:
    """One script that a run begins with."""
    return (SeedScript("given", statements),)


def test_wrong_rows_are_one_cause_reduced_and_confirmed(tmp_path: Path) -> None:
    run = run_on(tmp_path, 'sql = sql.replace("LEFT JOIN", "INNER JOIN")', programs=2)
    assert run.findings, run.counts
    found = run.findings[0]
    assert found.oracle == "sqlite" and "LEFT JOIN" in found.query and len(found.query) < 90
    assert found.confirmed.startswith("2 of 2 fresh processes")
    assert found.first_query != found.query and found.asked[-1] == found.query
    assert len(run.findings) <= 2 and sum(f.times for f in run.findings) > 1


def test_a_crash_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    code = 'if "LEFT JOIN" in sql and "FROM t1" not in sql: os._exit(3)'
    run = run_on(tmp_path, code, programs=2, queries=8)
    assert [f.oracle for f in run.findings] == ["crash"]
    assert "LEFT JOIN" in run.findings[0].query and run.findings[0].kind.startswith("lost")
    assert run.stopped == "programs" and run.counts.held["sqlite"] > 4
    assert run.counts.features_refused == {"left-join": "it ends the engine"}


def test_a_hang_is_told(tmp_path: Path) -> None:
    code = 'if "42" in sql: time.sleep(60)'
    seeds = script("CREATE TABLE t (a)", "INSERT INTO t VALUES (1)", "SELECT a, 42 FROM t")
    plan = run_on(tmp_path, code, programs=0, seeds=seeds)
    [found] = plan.findings
    assert found.oracle == "crash" and "did not answer in time" in found.observed


def test_an_engine_that_is_gone_ends_the_run(tmp_path: Path) -> None:
    run = run_on(tmp_path, "os._exit(3)", programs=50, oracles=("sqlite",))
    assert run.stopped == "engine gone" and not run.counts.held and run.notes


def test_an_end_of_the_embedded_sqlite_is_not_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Direct.answers

    def dying(self: Direct, statements: Sequence[str]) -> object:
        if any("4711" in sql for sql in statements):
            os.kill(os.getpid(), signal.SIGKILL)
        return answers(self, statements)

    monkeypatch.setattr(Direct, "answers", dying)
    seeds = (*script("CREATE TABLE t (a)", "SELECT a FROM t"), *script("SELECT 4711"))
    choice = Choice("sqlite", "sqlite", TIMEOUT_S)
    run = fuzz(Plan(choice, ("sqlite", "crash"), programs=0, seeds=seeds))
    report = FuzzReport(Plan(choice), run, 1.0, "sqlite")
    assert run.counts.compared and not run.findings and run.counts.unfinished == 1
    assert report.exit_code == 3 and "killed by SIGKILL" in report.reasons[0]


def test_an_engine_that_wavers_is_not_told_as_wrong_for_certain(tmp_path: Path) -> None:
    code = 'sql = sql.replace("IN (7", "IN (8") if time.time_ns() // 1000 % 2 else sql'
    seeds = script("CREATE TABLE t (a)", "INSERT INTO t VALUES (7)", "SELECT a IN (7) FROM t")
    for _ in range(12):
        run = run_on(tmp_path, code, programs=0, seeds=seeds)
        for found in run.findings:
            assert "only" in found.confirmed or found.confirmed.startswith("2 of 2")
        if any("only" in found.confirmed for found in run.findings) or run.counts.unconfirmed:
            return
    pytest.fail("it was always the same")


def test_what_only_breaks_after_other_statements_has_them_in_its_setup(tmp_path: Path) -> None:
    code = (
        'self.connection.asked += sql if sql.startswith("SELECT") else ""\n'
        '        if sql == "SELECT a FROM t" and "count(*)" in self.connection.asked:\n'
        '            sql = "SELECT a + 1 FROM t"'
    )
    seeds = script(
        "CREATE TABLE t (a)",
        "INSERT INTO t VALUES (1)",
        "SELECT count(*) FROM t",
        "SELECT a FROM t",
    )
    [found] = run_on(tmp_path, code, programs=0, seeds=seeds).findings
    assert any("count(*)" in statement for statement in found.setup)
    assert "after other statements only" in found.confirmed


def test_a_statement_of_the_setup_that_fails_by_an_internal_error(tmp_path: Path) -> None:
    code = (
        'if sql.startswith("CREATE INDEX"):\n'
        '            raise sqlite3.OperationalError("malformed database schema (i)")'
    )
    seeds = script("CREATE TABLE t (a)", "CREATE INDEX i ON t (a)", "SELECT a FROM t")
    [found] = run_on(tmp_path, code, programs=0, seeds=seeds).findings
    assert (found.oracle, found.kind, found.why) == ("crash", "error", "internal error")
    assert found.query.startswith("CREATE INDEX")


def test_a_row_that_must_be_refused(tmp_path: Path) -> None:
    code = 'sql = sql.replace(" NOT NULL", "")'
    seeds = script(
        "CREATE TABLE t (a INTEGER NOT NULL)", "INSERT INTO t VALUES (NULL)", "SELECT a FROM t"
    )
    [found] = run_on(tmp_path, code, programs=0, seeds=seeds).findings
    assert found.why == "accepted" and found.query.startswith("INSERT")


def test_a_feature_that_is_refused_is_not_asked_again(tmp_path: Path) -> None:
    code = 'if "LEFT JOIN" in sql: raise sqlite3.OperationalError("no LEFT JOIN here")'
    run = run_on(tmp_path, code)
    assert "left-join" in run.counts.features_refused
    assert not run.findings and run.counts.refusals == 0


def test_what_mostly_is_refused_is_said(tmp_path: Path) -> None:
    code = 'if sql.startswith("SELECT") and " AS " in sql: raise sqlite3.OperationalError("no")'
    run = run_on(tmp_path, code)
    assert run.counts.mostly_refused and run.counts.accepted < run.counts.queries / 2


class Interrupt(Quiet):
    """Ctrl-C as soon as something was found."""

    def found(self, finding: object) -> None:
        """Press it."""
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_what_was_found_before_an_interrupt_is_told_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz_run, "GRACE_S", -1.0)
    (tmp_path / "planted.py").write_text(
        ENGINE.format(code='sql = sql.replace("LEFT JOIN", "INNER JOIN")')
    )
    choice = choice_of("planted:connect", "", TIMEOUT_S, tmp_path)
    plan = Plan(choice, ("sqlite",), features=frozenset({"left-join"}), queries=20, time_s=60)
    run = fuzz(plan, Interrupt(), tmp_path / "kept")
    assert run.stopped == "interrupted" and run.findings
    again = fuzz(dataclasses.replace(plan, time_s=0.0), state=tmp_path / "kept")
    assert [f.cause for f in again.findings][:1] == [run.findings[0].cause]
    assert again.counts.queries == run.counts.queries


def test_the_number_of_processes_changes_no_finding(tmp_path: Path) -> None:
    code = 'sql = sql.replace("LEFT JOIN", "INNER JOIN").replace("<> 3", "= 3")'
    table = ("CREATE TABLE t (a)", "INSERT INTO t VALUES (1), (2)")
    queries = ("SELECT x.a FROM t LEFT JOIN t AS x ON 0", "SELECT a FROM t WHERE a <> 3")
    seeds = tuple(SeedScript("given", (*table, query)) for query in queries)
    one = run_on(tmp_path, code, oracles=("sqlite",), programs=0, seeds=seeds)
    two = run_on(tmp_path, code, oracles=("sqlite",), programs=0, seeds=seeds, jobs=2)
    assert one.findings == two.findings and len(one.findings) == 2


def test_a_smallest_statement_that_breaks_is_looked_into_before_many_scripts(
    tmp_path: Path,
) -> None:
    scripts = tuple(SeedScript(f"given {n}", ("SELECT 1",)) for n in range(40))
    run = run_on(tmp_path, 'assert "JOIN" not in sql', programs=0, seeds=scripts, jobs=1)
    assert [finding.oracle for finding in run.findings] == ["crash"]
    assert run.counts.queries >= 40
