"""What a lying engine says becomes UNKNOWN by its name, or is disputed; never a verdict."""

from __future__ import annotations

from pathlib import Path

import lying_engines as liars
import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Claim, Need, Verdict, claim
from refute.evidence import Evidence
from refute.site import Site
from refute.specs.domains import Ints
from refute.specs.function import Holds
from refute.verifiers.conformance import Kit, conform
from refute.verifiers.sampling import Sampling

TREE = Path(__file__).parents[1] / "cases" / "functions"
SITE = Site(TREE, TREE, (".",))
BUDGET = Budget(cases=30, wall_s=20.0)
NUMBERS = {"x": Ints(0, 100)}
SOUND = claim("sound", Holds("subjects:double", "specs:doubles", {"x": Ints(0, 20)}))
FALSE = claim("false", Holds("subjects:double", "specs:first_item", NUMBERS))
UNFIT = claim("unfit", Holds("subjects:double", "specs:returns_none", NUMBERS))


def judged(about: Claim, *engines: Sampling) -> Evidence:
    [evidence] = check(about, BUDGET, SITE, engines=lambda kind: engines)
    return evidence


@pytest.mark.parametrize(
    ("liar", "reason"),
    [
        (liars.ExhaustsNothing(), "illegal finding"),
        (liars.ExhaustsWithoutBounds(), "illegal finding"),
        (liars.SurvivesNothing(), "illegal finding"),
        (liars.SaysNothing(), "illegal finding"),
        (liars.Refutes(), "the engine failed: IllegalEvidence"),
        (liars.Raises(), "the engine failed: RuntimeError: boom"),
        (liars.Miscounts(), "the engine returned 2 findings for 1 claims"),
        (liars.ReturnsStrings(), "the engine returned 1 findings for 1 claims"),
        (liars.Invents(), "the engine is wrong"),
        (liars.InventsNonsense(), "could not be replayed"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Sampling) else "",
)
def test_a_lie_is_unknown_by_name(liar: Sampling, reason: str) -> None:
    evidence = judged(SOUND, liar)
    assert evidence.verdict is Verdict.UNKNOWN
    assert evidence.engine == "liar"
    assert reason in evidence.reason


def test_an_invented_counterexample_is_blamed_on_its_engine() -> None:
    assert judged(SOUND, liars.Invents()).disputes == ("liar",)


def test_a_false_proof_is_doubted_and_disputed_by_a_witness() -> None:
    evidence = judged(FALSE, liars.Proves(), Sampling())
    assert evidence.verdict is Verdict.REFUTED, evidence.reason
    assert evidence.disputes == ("liar",)
    assert [p.verdict for p in evidence.parts] == [Verdict.PROVED, Verdict.REFUTED]


def test_a_liar_beside_an_honest_engine_changes_nothing() -> None:
    for liar in (liars.SurvivesNothing(), liars.Raises(), liars.Invents(), liars.Miscounts()):
        evidence = judged(SOUND, liar, Sampling())
        assert evidence.verdict is Verdict.EXHAUSTED, evidence.reason
        assert evidence.unmet(Need(Verdict.EXHAUSTED)) == ""


KIT = Kit(SITE, false=[FALSE], sound=[SOUND], unfit=[UNFIT], budget=BUDGET)


@pytest.mark.parametrize(
    ("liar", "promise"),
    [
        (liars.Proves(), "establishes nothing that is false"),
        (liars.ExhaustsNothing(), "tries what it establishes"),
        (liars.ExhaustsWithoutBounds(), "says what it exhausted"),
        (liars.SurvivesNothing(), "tries what it establishes"),
        (liars.SaysNothing(), "gives a reason with UNKNOWN"),
        (liars.Refutes(), "comes back without raising"),
        (liars.Raises(), "comes back without raising"),
        (liars.Miscounts(), "gives one finding per claim"),
        (liars.ReturnsStrings(), "gives one finding per claim"),
        (liars.Invents(), "spares the sound"),
        (liars.InventsNonsense(), "its counterexamples replay"),
        (liars.Overspends(), "keeps to the budget's cases"),
        (liars.Blames(), "signs its findings"),
        (liars.TakesAnything(), "declines other kinds with a reason"),
        (liars.Wavers(), "repeats itself for a seed"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Sampling) else "",
)
def test_the_conformance_kit_catches_each_liar(liar: Sampling, promise: str) -> None:
    kit = KIT
    if isinstance(liar, liars.Overspends):
        wide = claim("wide", Holds("subjects:double", "specs:doubles", {"x": Ints()}))
        kit = Kit(SITE, false=[], sound=[wide], budget=BUDGET)
    assert promise in {breach.promise for breach in conform(liar, kit)}


def test_the_conformance_kit_catches_an_engine_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refute.verifiers.conformance.PATIENCE_S", 0.0)
    kit = Kit(SITE, false=[], sound=[SOUND], budget=Budget(cases=5, wall_s=0.2))
    [breach, *_] = conform(liars.Hangs(), kit)
    assert breach.promise == "comes back without raising"
    assert "did not come back" in breach.seen
