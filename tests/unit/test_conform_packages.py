"""`duckdb`, `turso` and `datafusion` as engines, and values of drivers as plain ones."""

from __future__ import annotations

import datetime
import decimal
import importlib.util
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from refute.oracles.sql.engines.values import Unfit, plain, shortest
from refute.verifiers.sql.conform_engine import EngineCannot
from refute.verifiers.sql.conform_engines import InPackage, open_engine
from refute.verifiers.sql.conform_names import PACKAGES, name_of, shown
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.conform_worker import EngineMissing


@contextmanager
def started(name: str, timeout_s: float = 20.0) -> Iterator[Any]:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed: pip install {PACKAGES[name].install}")
    engine = open_engine(Choice(name, name, timeout_s))
    try:
        engine.start(0)
        yield engine
    finally:
        engine.close()


def row(answer: Any) -> list[Any]:
    assert answer[0] == "rows", answer
    return answer[2][0]


def test_duckdb_gives_values_as_it_shows_them() -> None:
    with started("duckdb") as engine:
        assert engine.version.startswith("DuckDB ")
        [answer] = engine.answers(
            [
                "SELECT 1.50::DECIMAL(9,2), 0.1::FLOAT, true, 'a'::BLOB, 2::HUGEINT ** 0 + 2, "
                "170141183460469231731687303715884105727, INTERVAL '14 months', "
                "'infinity'::DATE, [1, NULL], {'a': 'x'}, "
                "'2020-01-01 00:00:00.123456789'::TIMESTAMP_NS, 'nan'::DOUBLE = 'nan'::DOUBLE"
            ]
        )
        assert row(answer) == [
            *("1.50", 0.1, 1, b"a", 3.0, "170141183460469231731687303715884105727"),
            *("1 year 2 months", "infinity", "[1, NULL]", "{'a': x}"),
            *("2020-01-01 00:00:00.123456789", 1),
        ]
        assert answer[3][:3] == ["DECIMAL(9,2)", "FLOAT", "BOOLEAN"]


def test_duckdb_runs_what_has_effects_once() -> None:
    with started("duckdb") as engine:
        answers = engine.answers(
            [
                "CREATE SEQUENCE s",
                "CREATE MACRO f() AS nextval('s')",
                "SELECT f(), DATE '2020-01-01'",
                "SELECT f()",
                "CREATE TABLE t(d DATE)",
                "INSERT INTO t VALUES ('2020-01-01') RETURNING d",
                "SELECT count(*) FROM t",
            ]
        )
        assert [a[2] for a in answers][2:] == [
            [[1, "2020-01-01"]],
            [[2]],
            [],
            [["2020-01-01"]],
            [[1]],
        ]


def test_duckdb_has_no_table_named_as_a_variable_of_the_program() -> None:
    with started("duckdb") as engine:
        answer = next(engine.answers(["SELECT * FROM statement"]))
        assert answer[0] == "error" and "does not exist" in answer[2]


def test_duckdb_ends_a_slow_statement_and_goes_on() -> None:
    with started("duckdb", 0.3) as engine:
        slow = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range + b.range < 3"
        answers = list(
            engine.answers(["CREATE TEMP TABLE t(a INT)", slow, "SELECT count(*) FROM t"])
        )
        assert [a[0] for a in answers] == ["rows", "lost", "rows"]
        assert "was ended" in answers[1][1]
        assert "did not answer in time" in answers[1][1]


def test_a_large_result_comes_whole() -> None:
    with started("duckdb") as engine:
        before, answer, after = engine.answers(
            ["SELECT 1", "SELECT range, 'x' FROM range(120000)", "SELECT 2"]
        )
        assert answer[2] == [[n, "x"] for n in range(120_000)]
        assert (before[2], after[2]) == ([[1]], [[2]])


def test_duckdb_and_turso_have_several_connections_and_databases() -> None:
    for name in ("duckdb", "turso"):
        with started(name) as engine:
            engine.answer_on("", "CREATE TABLE t(a INTEGER)")
            engine.answer_on("two", "INSERT INTO t VALUES (7)")
            assert row(engine.answer_on("", "SELECT a FROM t")) == [7]
            engine.restart()
            assert row(engine.answer_on("two", "SELECT a FROM t")) == [7]
            engine.restart("other.db")
            assert engine.answer_on("", "SELECT a FROM t")[0] == "error"
            engine.start(0)
            assert engine.answer_on("", "SELECT a FROM t")[0] == "error"


def test_duckdb_begins_again_with_nothing_of_what_was_before() -> None:
    with started("duckdb") as engine:
        for number in range(3):  # cheaply, in the instance that is there
            done = list(engine.answers(["CREATE TABLE t(a INTEGER)", "INSERT INTO t VALUES (1)"]))
            assert [answer[0] for answer in done] == ["rows", "rows"], number
            engine.again()
        assert next(engine.answers(["SELECT * FROM t"]))[0] == "error"
        list(engine.answers(["CREATE TABLE t(a INTEGER)", "INSERT INTO t VALUES (2)"]))
        assert row(engine.answer_on("other", "SELECT a FROM t")) == [2]  # the database in use
        engine.again()
        query = "SELECT a FROM (VALUES (1), (NULL)) x(a) ORDER BY a"
        nulls_first = "SET default_null_order = 'nulls_first'"
        for also in ("PRAGMA disable_optimizer", "CREATE TEMP TABLE u(a INT)"):
            assert next(engine.answers(["SELECT 1"]))[2] == [[1]]
            answers = list(engine.answers([nulls_first, also, query]))
            assert answers[-1][2] == [[None], [1]], answers
            engine.again()  # settings are put back, or it is another instance
            assert next(engine.answers([query]))[2] == [[1], [None]]
            assert next(engine.answers(["SELECT * FROM u"]))[0] == "error"


def test_datafusion_gives_values_as_it_shows_them() -> None:
    with started("datafusion") as engine:
        assert engine.version.startswith("DataFusion ")
        [made, answer, bad, empty] = engine.answers(
            [
                "CREATE TABLE t(a INT)",
                "SELECT CAST(1.5 AS DECIMAL(10,2)), DATE '2020-01-01', true, "
                "TIMESTAMP '2020-01-01 01:02:03.123456789', arrow_cast(0.1, 'Float32'), "
                "CAST('ab' AS BYTEA), [1, NULL], INTERVAL '1 month', "
                "arrow_cast(18446744073709551615, 'UInt64'), NULL",
                "SELECT nope",
                "SELECT * FROM t",
            ]
        )
        assert row(answer) == [
            *("1.50", "2020-01-01", 1, "2020-01-01T01:02:03.123456789", 0.1, b"ab", "[1, NULL]"),
            *("1 mons", "18446744073709551615", None),
        ]
        assert (made, bad[0], empty) == (["done"], "error", ["rows", ["a"], [], ["int32"]])
        with pytest.raises(EngineCannot, match="another engine"):
            engine.answer_on("two", "SELECT 1")


def test_a_missing_package_is_an_error_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = PACKAGES["turso"]._replace(session="refute.oracles.sql.engines.no_such_engine:It")
    monkeypatch.setitem(PACKAGES, "turso", gone)
    engine = InPackage(Choice("turso", "turso", 5.0))
    with pytest.raises(EngineMissing, match="pip install pyturso"):
        engine.start(0)
    engine.close()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, 1),
        (2**63, "9223372036854775808"),
        (decimal.Decimal("1.50E+3"), "1500"),
        (decimal.Decimal("0.0000001"), "0.0000001"),
        (datetime.date(1, 2, 3), "0001-02-03"),
        (datetime.datetime(2020, 1, 2, 3, 4, 5, 6), "2020-01-02 03:04:05.000006"),
        (datetime.timedelta(days=3, seconds=4), "3 days 00:00:04"),
        (datetime.timedelta(days=1), "1 day"),
        (datetime.timedelta(microseconds=-1), "-1 day 23:59:59.999999"),
        (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        ([1, None, [b"\x01"]], "[1, NULL, [01]]"),
        ({"a": decimal.Decimal("1.0")}, "{a: 1.0}"),
        (bytearray(b"x"), b"x"),
        (memoryview(b"x"), b"x"),
    ],
)
def test_values_of_drivers_become_plain_ones(value: object, expected: object) -> None:
    assert plain(value) == expected
    assert type(plain(value)) is type(expected)


def test_an_integer_may_have_more_digits_than_python_writes() -> None:
    assert plain(-(10**5000)) == "-1" + 5000 * "0"


def test_what_has_no_plain_form_is_unfit() -> None:
    for value in (object(), [object()], {1: 1j}):
        with pytest.raises(Unfit, match="a value of type builtins"):
            plain(value)


def test_a_short_float_is_the_double_with_the_fewest_digits() -> None:
    assert shortest(0.10000000149011612, "f") == 0.1
    assert shortest(3.4028234663852886e38, "f") == 3.4028235e38
    assert shortest(16777216.0, "f") == 16777216.0
    assert shortest(float("inf"), "f") == float("inf")


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        ("minidb.api:connect", "minidb"),
        ("postgresql://me@host/db", "postgresql"),
        ("mariadb://me@host/db", "mysql"),
        ("cmd:./Shim.py sqlite3", "shim"),
        ("duckdb", "duckdb"),
    ],
)
def test_every_engine_has_a_name(engine: str, name: str) -> None:
    assert name_of(engine) == name


def test_a_password_is_never_shown() -> None:
    assert shown("postgresql://me:s3:c%40ret@host:5/db") == "postgresql://me:***@host:5/db"
    assert (
        shown("mysql://me:p@s/s@host/db?password=x&a=b")
        == "mysql://me:***@host/db?password=***&a=b"
    )
    assert shown("postgresql+asyncpg://me:s3cret@host") == "postgresql+asyncpg://me:***@host"
    assert shown("mysql://me@host/a:b@c") == "mysql://me@host/a:b@c"
    assert Path(shown("cmd:./x a:b@c")).name == "x a:b@c"


def test_no_report_reads_the_engine_with_its_password() -> None:
    reports = list((Path(__file__).parents[2] / "refute" / "report").glob("conform*.py"))
    assert len(reports) >= 2
    assert [p.name for p in reports if "choice.engine" in p.read_text(encoding="utf-8")] == []
