"""Sound functions are not accused, and the evidence says exactly how much was tried."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from refute.claim import Statement, Verdict
from refute.evidence import Evidence
from refute.specs.domains import Bytes, Floats, Ints, Lists
from refute.specs.function import Equals, Holds

Judge = Callable[..., Evidence]
SMALL = {"x": Ints(0, 60)}


@pytest.mark.parametrize(
    ("statement", "cases"),
    [
        (Holds("subjects:double", "specs:doubles", SMALL), 61),
        (Holds("subjects:double", "specs:doubles_loudly", SMALL), 61),
        (Holds("subjects:double", "specs:swallows_everything", SMALL), 61),
        (Equals("subjects:double", "specs:twice", SMALL), 61),
        (Equals("subjects:raises_above", "specs:too_large", SMALL), 61),
        (Equals("subjects:shared", "specs:alone", SMALL), 61),
        (Holds("subjects:push", "specs:last_in_first_out", SMALL, {"pop": "subjects:pop"}), 61),
        (
            Holds("subjects:Shapes.area", "specs:multiplies", {"w": Ints(0, 4), "h": Ints(0, 4)}),
            25,
        ),
        (Equals("subjects:ordered", "specs:in_order", {"v": Lists(Ints(0, 2), max=3)}), 40),
        (Equals("subjects:sorts_in_place", "specs:in_order", {"v": Lists(Ints(0, 2), max=3)}), 40),
    ],
    ids=lambda value: value.text[:60] if isinstance(value, Statement) else "",
)
def test_small_domains_are_exhausted(judged: Judge, statement: Statement, cases: int) -> None:
    evidence = judged(statement)
    assert evidence.verdict is Verdict.EXHAUSTED, evidence.reason
    assert (evidence.tried, evidence.discarded) == (cases, 0)
    assert evidence.scope.bounds
    assert evidence.distribution == f"{cases} of all {cases} in order"
    assert evidence.disputes == ()


@pytest.mark.parametrize(
    "statement",
    [
        Holds("subjects:encode", "specs:round_trip", {"x": Bytes()}, {"decode": "subjects:decode"}),
        Holds("subjects:ordered", "specs:permutes", {"v": Lists(Ints())}),
        Equals("subjects:double", "specs:twice", {"x": Ints()}),
        Equals("specs:same_number", "specs:same_number", {"x": Floats()}),
    ],
    ids=lambda value: value.text[:60],
)
def test_large_domains_survive_with_the_number_of_distinct_cases(
    judged: Judge, statement: Statement
) -> None:
    evidence = judged(statement)
    assert evidence.verdict is Verdict.SURVIVED, evidence.reason
    assert evidence.tried == 120
    shares = [int(part.split()[0]) for part in evidence.distribution.split(", ")]
    assert sum(shares) == 120
    assert "Hypothesis" in evidence.distribution
    assert "edge cases" in evidence.distribution


def test_discarded_cases_are_counted_apart(judged: Judge) -> None:
    evidence = judged(Holds("subjects:double", "specs:doubles", SMALL, assume="specs:positive"))
    assert evidence.verdict is Verdict.EXHAUSTED, evidence.reason
    assert (evidence.tried, evidence.discarded) == (60, 1)


def test_the_same_seed_tries_the_same_cases(judged: Judge) -> None:
    statement = Holds("subjects:double", "specs:doubles", {"x": Ints()}, assume="specs:positive")
    first, again, other = (judged(statement, cases=150, seed=s) for s in (1, 1, 2))
    assert (first.discarded, first.distribution) == (again.discarded, again.distribution)
    assert (first.discarded, first.distribution) != (other.discarded, other.distribution)


def test_a_domain_smaller_than_its_bound_ends(judged: Judge) -> None:
    """Sampling three values for a thousand cases must end, and not claim all were tried."""
    evidence = judged(Equals("subjects:double", "specs:twice", {"x": Ints(0, 200)}), cases=199)
    assert evidence.verdict is Verdict.SURVIVED, evidence.reason
    assert 100 <= evidence.tried <= 199
