"""CrossHair proposes inputs that chance does not meet; hostile subjects gain nothing by it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Claim, Verdict, claim
from refute.evidence import Evidence
from refute.site import Site
from refute.specs.contract import MeetsContract
from refute.verifiers.conformance import Kit, conform
from refute.verifiers.contracts.crosshair import CrossHair
from refute.verifiers.contracts.sampling import ContractSampling

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("crosshair") is None, reason="needs crosshair-tool"
)

TREE = Path(__file__).parents[1] / "cases" / "contracts"
SITE = Site(TREE, TREE, (".",))
BUDGET = Budget(cases=40, cpu_s=3.0, wall_s=60.0, memory=2**29)


def about(name: str) -> Claim:
    return claim(name, MeetsContract(f"crosshair_subjects:{name}"))


def judged(name: str, engine: Callable[[], object] = CrossHair) -> Evidence:
    [evidence] = check(about(name), BUDGET, SITE, engines=lambda _: (engine(),))
    return evidence


def test_it_keeps_the_promises_of_an_engine() -> None:
    kit = Kit(
        site=SITE,
        false=[about("one_in_a_quintillion")],
        sound=[about("sound_clamp")],
        unfit=[about("no_types"), about("of_nothing")],
        budget=BUDGET,
    )
    assert conform(CrossHair(), kit) == []


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("sum_and_product", {"a": 673, "b": 336}),
        ("password", {"word": "refute"}),
        ("deep_branch", None),
        ("third_is_the_sum", None),
        ("median_off_the_end", None),
    ],
)
def test_a_defect_beyond_chance_is_found_and_replayed(name: str, case: object) -> None:
    evidence = judged(name)
    assert evidence.verdict is Verdict.REFUTED
    assert evidence.witness is not None and not evidence.witness.flaky
    found = evidence.witness.counterexample.inputs
    assert set(found) == {"case", "before"} and found["before"] == []
    assert case is None or found["case"] == case


def test_sampling_does_not_meet_such_a_defect() -> None:
    assert judged("password", ContractSampling).verdict is Verdict.SURVIVED


def test_sound_functions_survive_over_the_cases_that_were_played() -> None:
    for name in ("sound_clamp", "sound_prefix"):
        evidence = judged(name)
        assert evidence.verdict is Verdict.SURVIVED
        assert 1 <= evidence.tried <= evidence.statistics["paths"]
        assert "paths, one each" in evidence.distribution


def test_what_is_only_wrong_under_crosshair_is_not_refuted() -> None:
    evidence = judged("right_unless_watched")
    assert evidence.verdict is Verdict.SURVIVED
    assert "seemed to break it, but not on CPython" in evidence.reason


def test_what_is_only_right_under_crosshair_is_refuted() -> None:
    assert judged("wrong_unless_watched").verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", ["ends_the_process", "hangs", "eats_memory"])
def test_a_subject_that_takes_its_worker_along_is_never_established_by_that(name: str) -> None:
    evidence = judged(name)
    if evidence.verdict is Verdict.SURVIVED:
        assert evidence.tried >= 1
        assert "CrossHair" in evidence.reason or "not on CPython" in evidence.reason
    else:
        assert evidence.verdict is Verdict.REFUTED or "CrossHair" in evidence.reason


@pytest.mark.parametrize("name", ["breaks_its_tools", "prints"])
def test_a_subject_cannot_forge_cases(name: str) -> None:
    evidence = judged(name)
    assert evidence.verdict in (Verdict.SURVIVED, Verdict.UNKNOWN)
    assert evidence.verdict is Verdict.UNKNOWN or evidence.tried >= 1
