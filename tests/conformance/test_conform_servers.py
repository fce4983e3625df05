"""PostgreSQL and MariaDB as engines: real servers, which tests start for themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import servers

from refute.verifiers.sql import conform_server
from refute.verifiers.sql.conform_engine import EngineCannot, EngineLost
from refute.verifiers.sql.conform_engines import open_engine
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.conform_server import EngineUnreachable
from refute.verifiers.sql.conform_worker import EngineMissing
from refute.verifiers.sql.fuzz_run import Plan, fuzz
from refute.verifiers.sql.fuzz_seeds import SeedScript

KINDS = {"postgresql": servers.postgresql, "mysql": servers.mariadb}
LIST = {
    "postgresql": "SELECT datname FROM pg_database WHERE datname LIKE 'refute%' OR datname = 'own'",
    "mysql": "SELECT schema_name FROM information_schema.schemata "
    "WHERE schema_name LIKE 'refute%' OR schema_name = 'own'",
}
SLEEP = {"postgresql": "SELECT pg_sleep(60)", "mysql": "SELECT sleep(60)"}
WHO = {"postgresql": "SELECT pg_backend_pid()", "mysql": "SELECT connection_id()"}
REAL = {"postgresql": "CAST(1.5 AS DOUBLE PRECISION)", "mysql": "1.5e0"}
BUSY = {
    "postgresql": "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' "
    "AND query LIKE '%pg_sleep(60)' AND pid <> pg_backend_pid()",
    "mysql": "SELECT count(*) FROM information_schema.processlist WHERE info = 'SELECT sleep(60)'",
}


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    KINDS[request.param]()
    return str(request.param)


@contextmanager
def started(kind: str, timeout_s: float = 20.0) -> Iterator[Any]:
    engine = open_engine(Choice(KINDS[kind]().url, kind, timeout_s))
    try:
        engine.start(0)
        yield engine
    finally:
        engine.close()


def values(answer: Any) -> list[Any]:
    assert answer[0] == "rows", answer
    return [value for row in answer[2] for value in row]


def databases(engine: Any, kind: str) -> set[str]:
    return set(values(engine.answer_on("", LIST[kind])))


def soon(true: Callable[[], bool]) -> bool:
    until = time.monotonic() + 20
    while not true() and time.monotonic() < until:
        time.sleep(0.1)
    return true()


def test_values_are_the_servers_own(kind: str) -> None:
    with started(kind) as engine:
        made, answer = engine.answers(
            [
                "CREATE TABLE t(a BIGINT, b NUMERIC(30,10), c FLOAT, d DATE, e VARCHAR(9))",
                "SELECT 9223372036854775807, CAST('12345678901234567890.5' AS DECIMAL(30,2)), "
                f"{REAL[kind]}, CAST('2020-01-02' AS DATE), 'é', NULL, 1 = 1",
            ]
        )
        assert made == ["done", 0]
        expected = [2**63 - 1, "12345678901234567890.50", 1.5, "2020-01-02", "é", None, 1]
        assert values(answer) == expected
        assert len(answer[3]) == len(expected) and all(answer[3][:5])
        assert engine.version.split()[0] in ("PostgreSQL", "MariaDB", "MySQL")


def test_errors_carry_the_sqlstate_and_the_connection_goes_on(kind: str) -> None:
    with started(kind) as engine:
        create, first, twice, nope, after = engine.answers(
            [
                "CREATE TABLE t(a INT PRIMARY KEY)",
                "INSERT INTO t VALUES (1)",
                "INSERT INTO t VALUES (1)",
                "SELEC 1",
                "SELECT count(*) FROM t",
            ]
        )
        assert (create, first) == (["done", 0], ["done", 1])
        assert twice[0] == "error" and twice[3] in ("23505", "23000")
        assert nope[0] == "error" and nope[3] in ("42601", "42000")
        assert nope[2].startswith(("ERROR:  syntax error", "ERROR 1064 (42000): You have"))
        assert values(after) == [1]


def test_a_slow_statement_is_ended_on_the_server(kind: str) -> None:
    with started(kind, 0.4) as engine:
        before, slow, after = engine.answers([WHO[kind], SLEEP[kind], WHO[kind]])
        assert slow[0] == "lost" and "did not answer in time" in slow[1]
        assert values(before) == values(after)
        assert values(engine.answer_on("two", BUSY[kind])) == [0]
        assert engine.answer_on("two", SLEEP[kind], 0.1)[0] == "lost"


def test_connections_have_transactions_of_their_own(kind: str) -> None:
    with started(kind) as engine:
        engine.answer_on("", "CREATE TABLE t(a INT)")
        engine.answer_on("two", "BEGIN")
        engine.answer_on("two", "INSERT INTO t VALUES (1)")
        assert values(engine.answer_on("", "SELECT count(*) FROM t")) == [0]
        engine.reconnect("two")
        engine.answer_on("two", "INSERT INTO t VALUES (2)")
        engine.restart()
        assert values(engine.answer_on("", "SELECT a FROM t")) == [2]
        with pytest.raises(EngineCannot, match="no way to open a database by its name"):
            engine.restart("elsewhere")


def test_a_database_that_is_begun_again_has_nothing_of_the_one_before(kind: str) -> None:
    change, show = {
        "postgresql": ("SET enable_sort = off", "SHOW enable_sort"),
        "mysql": ("SET max_sort_length = 64", "SELECT @@max_sort_length"),
    }[kind]
    with started(kind) as engine:
        before = values(next(engine.answers([show])))
        for beyond in ("SELECT 1", "CREATE TEMPORARY TABLE u(a INT)"):
            answers = list(engine.answers(["CREATE TABLE t(a INT)", change, beyond, show]))
            assert answers[0][0] == "done" and values(answers[-1]) != before
            engine.again()
            gone = engine.answers(["SELECT * FROM t", "SELECT * FROM u", show])
            assert next(gone)[0] == next(gone)[0] == "error"
            assert values(next(gone)) == before


def test_files_have_databases_of_their_own_and_others_are_left_alone(kind: str) -> None:
    with started(kind) as outer:
        outer.answer_on("", "CREATE DATABASE own")
        before = databases(outer, kind)
        with started(kind) as engine:
            assert len(databases(outer, kind) - before) == 1
            assert engine.answer_on("", "CREATE TABLE t(a INT)")[0] == "done"
            engine.start(0)
            assert engine.answer_on("", "CREATE TABLE t(a INT)")[0] == "done"
            assert outer.answer_on("", "CREATE TABLE t(a INT)")[0] == "done"
        assert databases(outer, kind) == before
        assert "own" in before
        outer.answer_on("", "DROP DATABASE own")


def test_a_connection_that_the_server_ends_is_one_answer(kind: str) -> None:
    end = {
        "postgresql": "SELECT pg_terminate_backend(pg_backend_pid())",
        "mysql": "KILL CONNECTION_ID()",
    }
    with started(kind) as engine:
        answers = list(
            engine.answers(
                ["CREATE TABLE t(a INT)", "INSERT INTO t VALUES (3)", end[kind], "SELECT a FROM t"]
            )
        )
        if answers[2][0] == "error":  # MariaDB says so before it closes the connection
            assert answers[2][3] == "70100"
            assert "lost" in answers[3][0]
        else:
            assert answers[2][0] == "lost" and values(answers[3]) == [3]
        assert values(engine.answer_on("", "SELECT a FROM t")) == [3]


def test_a_server_that_crashes_comes_back() -> None:
    server = servers.postgresql()
    with started("postgresql") as engine:
        engine.answer_on("", "CREATE TABLE t(a INT)")
        [pid] = values(engine.answer_on("", "SELECT pg_backend_pid()"))
        os.kill(pid, signal.SIGKILL)  # the server then ends all connections and recovers
        assert engine.answer_on("", "SELECT 1 FROM t")[0] == "lost"
        assert values(engine.answer_on("", "SELECT count(*) FROM t")) == [0]
        assert server.process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_database_is_left_behind_by_a_run_that_is_ended(number: int, tmp_path: Path) -> None:
    server = servers.postgresql()
    (tmp_path / "slow.test").write_text("statement ok\nSELECT pg_sleep(60)\n", encoding="utf-8")
    refute = str(Path(sys.executable).with_name("refute"))
    with started("postgresql") as engine:
        before = databases(engine, "postgresql")
        process = subprocess.Popen(
            [refute, "conform", "slow.test", "--engine", server.url],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert soon(lambda: values(engine.answer_on("", BUSY["postgresql"])) == [1])
        assert len(databases(engine, "postgresql") - before) == 1
        process.send_signal(number)
        output, _ = process.communicate(timeout=60)
        assert soon(lambda: databases(engine, "postgresql") == before)
        assert "s3cret" not in output and "Traceback" not in output


def test_a_run_names_the_version_and_no_password(tmp_path: Path) -> None:
    server = servers.postgresql()
    (tmp_path / "one.test").write_text(
        "query T\nSELECT 'x'\n----\ny\n\nonlyif postgresql\nstatement error\nSELEC\n",
        encoding="utf-8",
    )
    refute = str(Path(sys.executable).with_name("refute"))
    done = subprocess.run(
        [
            refute,
            "conform",
            "one.test",
            "--engine",
            server.url,
            "--no-reduce",
            "--json",
            "out.json",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr + (tmp_path / "out.json").read_text(encoding="utf-8")
    assert done.returncode == 1, output
    assert "PostgreSQL 1" in done.stdout and "2 records run" in done.stdout
    assert "s3cret" not in output and quote("s3cret/", safe="") not in output


def refused(url: str) -> str:
    engine = open_engine(Choice(url, "x", 5.0))
    with pytest.raises(EngineUnreachable) as raised:
        engine.start(0)
    engine.close()
    return str(raised.value)


def test_a_server_that_is_not_there_is_an_error_that_says_so(kind: str) -> None:
    scheme = "postgresql" if kind == "postgresql" else "mysql"
    assert "refused" in refused(f"{scheme}://me:s3cret@127.0.0.1:1/x")
    wrong = KINDS[kind]().url.replace(quote(servers.PASSWORD, safe=""), "wrong")
    assert "tester" in refused(wrong) and "wrong@" not in refused(wrong)


def test_texts_that_are_written_are_compared_as_sqlite_does(kind: str) -> None:
    """And not by the collation that the server gives to a connection."""
    script = SeedScript("given", ("CREATE TABLE t(a INTEGER)", "SELECT 'a' = 'A', 'b' < 'C'"))
    choice = Choice(KINDS[kind]().url, kind, 10.0)
    run = fuzz(Plan(choice, ("sqlite",), programs=0, seeds=(script,)))
    assert not run.findings and run.counts.compared


def test_an_unknown_option_of_a_url_is_an_error() -> None:
    servers.mariadb()
    assert "unix_socket" in refused("mysql://me@localhost?socket=x")


def test_a_missing_driver_is_an_error_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = conform_server.DRIVERS["mysql"]._replace(module="refute.oracles.sql.engines.no_such")
    monkeypatch.setitem(conform_server.DRIVERS, "mysql", gone)
    engine = open_engine(Choice("mysql://me:s3cret@h/x", "mysql", 5.0))
    with pytest.raises(EngineMissing, match="pip install 'pymysql'") as raised:
        engine.start(0)
    assert "s3cret" not in str(raised.value)


def test_a_keeper_that_dies_is_started_again_and_drops_what_was_left(kind: str) -> None:
    with started(kind) as engine:
        [left] = databases(engine, kind)
        keeper = conform_server.keeper_of(KINDS[kind]().url, conform_server.DRIVERS[kind])
        keeper._process.kill()
        keeper._process.wait()
        engine.start(0)
        assert values(engine.answer_on("", "SELECT 1")) == [1]
        assert left not in databases(engine, kind)


def test_a_server_that_goes_away_loses_the_file_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with started("postgresql") as engine:

        def gone(*_: object) -> None:
            raise EngineUnreachable("connection refused")

        monkeypatch.setattr(conform_server, "keeper_of", gone)
        with pytest.raises(EngineLost, match="connection refused"):
            engine.start(0)
        monkeypatch.undo()
