"""Causes: which findings show one defect, and which failures are worth a look."""

from __future__ import annotations

import dataclasses

import pytest

from refute.verifiers.sql.fuzz_causes import Causes
from refute.verifiers.sql.fuzz_failure import Failure
from refute.verifiers.sql.fuzz_plan import Finding

ENDED = "lost: ended its process (killed by SIGABRT)"
T = ("CREATE TABLE t (a)",)


def finding(query: str, kind: str = "wrong", why: str = "the rows", oracle: str = "tlp") -> Finding:
    """A reduced case."""
    return Finding(oracle, T, query, T, (query,), "1", "0", why, 0, 0, kind)


def failure(query: str, kind: str = "wrong") -> Failure:
    """A case as it was met."""
    return Failure("tlp", T, query, 0, 0, kind, "the rows", "1", "0", T, (query,))


@pytest.mark.parametrize(
    "one, other, kind",
    [
        ("SELECT a = 1 FROM t", "SELECT a <> 1 FROM t", "wrong"),
        ("SELECT MIN(a) FROM t LIMIT 0", "SELECT SUM(0) FROM t LIMIT 0", "wrong"),
        ("SELECT a IN (1) FROM t", "SELECT 1 FROM t JOIN t AS x WHERE NOT a IN (NULL)", ENDED),
    ],
)
def test_one_cause(one: str, other: str, kind: str) -> None:
    causes = Causes()
    assert causes.take(finding(one, kind)) is not None
    assert causes.take(finding(other, kind)) is None
    assert [found.times for found in causes.findings] == [2]


@pytest.mark.parametrize(
    "one, other",
    [
        (finding("SELECT MIN(a) FROM t"), finding("SELECT SUM(a) FROM t")),
        (finding("SELECT a LIKE 1 FROM t"), finding("SELECT a BETWEEN 1 AND 2 FROM t")),
        (finding("SELECT a LIKE 1 FROM t"), finding("SELECT a LIKE 1 FROM t", ENDED)),
        (finding("SELECT a"), finding("SELECT a", why="1 row instead of 2")),
        (finding("SELECT a = 1"), finding("SELECT a <> 1", oracle="eet")),
    ],
)
def test_two_causes(one: Finding, other: Finding) -> None:
    causes = Causes()
    assert causes.take(one) is not None and causes.take(other) is not None
    first, second = causes.findings
    assert first.cause != second.cause


@pytest.mark.parametrize(
    "other",
    [
        finding("SELECT a LIKE 1", why="1 row instead of 2"),
        finding("SELECT a LIKE 'x'", oracle="eet"),
        finding("SELECT a LIKE 1.5 FROM t WHERE 1", oracle="norec"),
    ],
)
def test_one_cause_of_several_oracles(other: Finding) -> None:
    causes = Causes()
    assert causes.take(finding("SELECT a LIKE 1")) is not None
    assert causes.take(dataclasses.replace(other, program=7)) is None
    [found] = causes.findings
    assert found.times == 2 and found.oracles == tuple(dict.fromkeys(("tlp", other.oracle)))
    assert found.also == (f"0/7 ({other.oracle})",)


def test_a_case_without_constructs_is_one_cause_too() -> None:
    causes = Causes()
    assert causes.take(finding("SELECT 0")) is not None
    assert causes.take(finding("SELECT 0 FROM (VALUES (0), (0)) AS x0")) is None


def test_what_the_engine_tells_to_be_one_cause_is() -> None:
    causes = Causes()
    first = causes.take(finding("SELECT a LIKE 1"))
    assert first is not None
    other = finding("SELECT a BETWEEN 1 AND 2 FROM t")
    assert causes.take(other, "norec", first.cause) is None
    assert causes.findings[0].oracles == ("tlp", "norec")
    assert causes.take(finding("SELECT a BETWEEN 0 AND 1 FROM t")) is None, "known as a form of it"


def test_what_a_cause_explains_is_looked_at_less_and_less() -> None:
    causes = Causes()
    causes.take(finding("SELECT a LIKE 1 FROM t"))
    many = [failure(f"SELECT a LIKE {number} FROM t WHERE a") for number in range(100)]
    looked = sum(causes.wants(one) for one in many)
    assert looked == 7 and causes.findings[0].times == 94
    assert causes.wants(failure("SELECT a BETWEEN 1 AND 2 FROM t"))


def test_causes_come_back_from_plain_data() -> None:
    causes = Causes()
    causes.take(finding("SELECT a LIKE 1 FROM t"))
    for number in range(5):
        causes.wants(failure(f"SELECT a LIKE {number} FROM t"))
    again = Causes.from_json(causes.to_json())
    assert again.findings == causes.findings and again.to_json() == causes.to_json()


def test_what_plays_a_program_again_leaves_out_what_was_dropped() -> None:
    found = dataclasses.replace(finding("SELECT 1"), program=203, without=("cte", "left-join"))
    assert found.again == "0/203 --without cte,left-join"


def test_the_same_statements_are_one_cause_under_every_oracle() -> None:
    causes = Causes()
    assert causes.take(finding("SELECT 1 FROM t WHERE a = 1")) is not None
    for oracle in ("sqlite", "norec", "pqs"):
        assert causes.take(finding("SELECT 1 FROM t WHERE a = 1", oracle=oracle)) is None
    assert causes.take(finding("SELECT 1 FROM t WHERE a = 2", oracle="eet")) is not None
    [first, _] = causes.findings
    assert first.oracles == ("tlp", "sqlite", "norec", "pqs")


def test_an_error_that_is_no_text_has_a_cause_too() -> None:
    told = Causes().take(finding("SELECT a", "crash: \ud800", oracle="crash"))
    assert told is not None and len(told.cause) == 12
