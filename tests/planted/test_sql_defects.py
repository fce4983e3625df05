"""Planted defects of SQL engines are found by generated queries, and reduced to what one reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Need, Verdict, claim
from refute.evidence import Evidence
from refute.plain import Plain
from refute.site import Site
from refute.specs.sql import FEATURES, AgreesWithSQLite

TREE = Path(__file__).parents[1] / "cases" / "sql"
SITE = Site(TREE, TREE, (".",))
CASES = 3000
STATEMENTS = 4  # of a reduced case: two tables with their rows
LETTERS = 100  # of its query


def judged(engine: str, cases: int = CASES, **options: Plain) -> Evidence:
    """The evidence on one engine of `planted.py`."""
    budget = Budget(cases=cases, wall_s=600.0, cpu_s=60.0)
    [evidence] = check(claim("it", AgreesWithSQLite(f"planted:{engine}", **options)), budget, SITE)
    return evidence


def broken(evidence: Evidence) -> dict[str, Plain]:
    """The reduced case of a refutation."""
    assert evidence.verdict is Verdict.REFUTED, evidence.reason
    assert evidence.witness is not None
    inputs: Plain = evidence.witness.counterexample.inputs
    assert inputs["before"] == []
    case: dict[str, Plain] = inputs["case"]
    return case


@pytest.mark.parametrize(
    ("engine", "mentions"),
    [
        ("null_in_not_in", "NULL"),
        ("float_division", "/"),
        ("nulls_join", "JOIN"),
        ("left_as_inner", "LEFT JOIN"),
        ("counts_nulls", "COUNT("),
        ("distinct_drops_nulls", "DISTINCT"),
        ("distinct_keeps_nulls", "DISTINCT"),
        ("having_alone", "HAVING"),
        ("two_valued_not", "NOT"),
        ("nocase_as_binary", "NOCASE"),
        ("limit_off_by_one", "LIMIT"),
        ("nulls_last", "ORDER BY"),
        ("sum_of_nothing", "SUM("),
        ("union_keeps", "UNION"),
        ("text_as_number", ""),
        ("case_without_else", "CASE"),
        ("case_sensitive_like", "LIKE"),
        ("average_of_integers", "AVG("),
        ("concat_of_null", "||"),
        ("except_keeps", "EXCEPT"),
        ("between_excludes", "BETWEEN"),
        ("floats_for_integers", "GROUP BY"),
        ("wide_integers", ""),
    ],
)
def test_a_wrong_answer_is_found_and_made_small(engine: str, mentions: str) -> None:
    case = broken(judged(engine))
    assert case["as"] == "rows"
    assert len(case["setup"]) <= STATEMENTS
    assert len(case["query"]) <= LETTERS
    assert mentions in "\n".join([*case["setup"], case["query"]])
    assert sum(s.count("), (") for s in case["setup"]) <= 2


def test_a_constraint_that_is_not_kept_is_found() -> None:
    evidence = judged("forgets_unique", features=["unique", "violation"])
    case = broken(evidence)
    assert case["as"] == "accepted"
    assert "UNIQUE" in "\n".join(case["setup"])
    assert "UNIQUE constraint failed" in evidence.witness.counterexample.expected  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("engine", "features", "mentions"),
    [
        ("keeps_some", ["unique", "not-null", "violation"], "), ("),
        ("separates_otherwise", ["aggregate", "group-concat"], "GROUP_CONCAT("),
    ],
)
def test_what_needs_few_features_is_found_with_them(
    engine: str, features: list[str], mentions: str
) -> None:
    case = broken(judged(engine, cases=2000, features=features))
    assert case["as"] == "rows"
    assert mentions in "\n".join([*case["setup"], case["query"]])


@pytest.mark.parametrize(
    ("engine", "observed"),
    [
        ("raises", "builtins.KeyError, which is no DB-API error"),
        ("exits", "ended its process (exit status 3)"),
        ("cannot_connect", "RuntimeError: no connection"),
        ("lies", "a value of type planted.Lies.Value"),
        ("no_such_engine", "AttributeError"),
    ],
)
def test_an_engine_that_falls_over_is_refuted(engine: str, observed: str) -> None:
    evidence = judged(engine, cases=200, features=["like"])
    broken(evidence)
    assert observed in evidence.witness.counterexample.observed  # type: ignore[union-attr]


def test_an_engine_that_hangs_is_refuted_within_the_budget() -> None:
    statement = AgreesWithSQLite("planted:hangs", features=["like"])
    budget = Budget(cases=100, wall_s=6.0, cpu_s=30.0)  # a query may take a sixth of that
    [evidence] = check(claim("it", statement), budget, SITE)
    assert "LIKE" in broken(evidence)["query"]
    assert "did not answer in time" in evidence.witness.counterexample.observed  # type: ignore[union-attr]


def test_what_depends_on_queries_before_is_shown_with_them() -> None:
    evidence = judged("remembers", cases=100)
    assert evidence.verdict is Verdict.REFUTED, evidence.reason
    assert evidence.witness is not None
    inputs: Plain = evidence.witness.counterexample.inputs
    assert len(inputs["before"]) == 2
    assert {case["setup"][0] for case in inputs["before"]} == {inputs["case"]["setup"][0]}


def test_what_an_engine_refuses_is_learned_and_told() -> None:
    evidence = judged("refuses_much", cases=150)
    assert evidence.verdict is Verdict.SURVIVED, evidence.reason
    left_out = evidence.statistics["features the engine refuses"]
    assert {"left-join", "union", "case", "group-by", "having"} <= set(left_out)
    assert not {"in-list", "order-by", "aggregate", "distinct"} & set(left_out)
    assert "not generated, because the engine refuses them: inner-join" in evidence.reason
    assert evidence.discarded < 15


def test_an_engine_that_must_support_something_cannot_refuse_it() -> None:
    case = broken(judged("refuses_much", cases=150, must_support=["left-join"]))
    assert case["as"] == "refused"
    assert "LEFT JOIN" in case["query"]


def test_an_engine_that_refuses_everything_establishes_nothing() -> None:
    evidence = judged("refuses_all", cases=100)
    assert evidence.verdict is Verdict.UNKNOWN
    assert "not today" in evidence.reason
    assert evidence.unmet(Need()) != ""
    broken(judged("refuses_all", cases=100, features=FEATURES, must_support=["like"]))
