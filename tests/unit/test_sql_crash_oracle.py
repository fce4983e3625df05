"""Which answers say by themselves that an engine is broken, and which only refuse something."""

from __future__ import annotations

import pytest

from refute.oracles.sql.partial.crash import judged

ENDLESS = "WITH RECURSIVE a(b) AS (SELECT 1 UNION ALL SELECT b + 1 FROM a) SELECT COUNT(*) FROM a"
QUICK = "SELECT 1"


@pytest.mark.parametrize(
    "message",
    [
        "INTERNAL Error: Attempted to access index 3 within vector of size 2",
        "Internal error: Failed due to a difference in schemas. This issue was likely caused by a "
        "bug in DataFusion's code.",
        "thread 'main' panicked at core/src/x.rs:12:3",
        "called `Option::unwrap()` on a `None` value",
        "assertion failed: a < b",
        "database disk image is malformed",
        "malformed database schema (t0)",
        "Corrupt database: Invalid page type",
        "internal error: entered unreachable code",
        "cursor should never be null here",
        "attempt to add with overflow",
        "variable not found in subplan target list",
        "cache lookup failed for type 12",
    ],
)
def test_an_engine_that_says_it_is_broken_is_believed(message: str) -> None:
    assert judged(["error", "x.Error", message], QUICK).status == "broken"


@pytest.mark.parametrize(
    "message",
    [
        'near "unreachable": syntax error',
        "no such table: internal",
        "UNIQUE constraint failed: t0.a",
        "integer overflow",
        "malformed JSON",
        "value out of range",
        "Parse error: Parenthesized FROM clause subqueries are not supported",
        "Out of Memory Error: failed to allocate data",
        "not yet implemented: WINDOW",
        "Conversion Error: Could not convert string 'internal error' to INT32",
    ],
)
def test_an_engine_that_refuses_is_not_broken(message: str) -> None:
    assert judged(["error", "x.Error", message], QUICK).status == "held"


def test_a_message_that_the_statements_have_is_no_defect() -> None:
    setup = [
        "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT RAISE(ABORT, 'assertion failed'); END"
    ]
    answer = ["error", "x.Error", "assertion failed"]
    assert judged(answer, "INSERT INTO t VALUES (1)", setup).status == "held"
    assert judged(answer, "INSERT INTO t VALUES (1)").status == "broken"


def test_a_state_of_internal_errors_is_one() -> None:
    assert judged(["error", "x.Error", "oh", "XX000"], QUICK).status == "broken"
    assert judged(["error", "x.Error", "oh", "22012"], QUICK).status == "held"


@pytest.mark.parametrize(
    ("answer", "statement", "status"),
    [
        (["lost", "ended its process (killed by SIGSEGV)"], QUICK, "broken"),
        (["lost", "ended its process (killed by SIGSEGV)"], ENDLESS, "broken"),
        (["crash", "builtins.KeyError", "'a'"], QUICK, "broken"),
        (["unfit", "a row of 2 values for 1 columns"], QUICK, "broken"),
        (["unfit", "a result of 100 values and 9 bytes is too large"], QUICK, "open"),
        (["lost", "did not answer in time (5.0 s)"], QUICK, "broken"),
        (["lost", "did not answer in time (5.0 s)"], ENDLESS, "open"),
        (["lost", "ended its process (killed by SIGKILL)"], ENDLESS, "open"),
        (["lost", "did not answer in time (5.0 s)"], "SELECT no_such_function(1)", "open"),
        (["rows", ["a"], [[1]]], QUICK, "held"),
        (["done"], "CREATE TABLE t (a)", "held"),
    ],
)
def test_what_is_no_answer(answer: list[object], statement: str, status: str) -> None:
    assert judged(answer, statement).status == status
