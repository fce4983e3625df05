"""Evidence cannot say more than was done; merging lets a replayed witness win."""

from __future__ import annotations

import dataclasses

import pytest

from refute.claim import Need, Verdict
from refute.errors import IllegalEvidence
from refute.evidence import Evidence, Exhaustion, Finding, Scope, exit_code, merge
from refute.replay import Counterexample, Playback, Witness, replay

PROVED, EXHAUSTED, SURVIVED = Verdict.PROVED, Verdict.EXHAUSTED, Verdict.SURVIVED
UNKNOWN, REFUTED = Verdict.UNKNOWN, Verdict.REFUTED
BOUNDS = Scope(bounds={"RM": 3}, depths={"depth": 4})
FOUND = Exhaustion("first", "second", 10)


class Always:
    """Breaks the claim each time."""

    def play(self, counterexample: Counterexample, hash_seed: int) -> Playback:
        return Playback(True, "broken")


def witness() -> Witness:
    made = replay(Counterexample("engine", 1), Always()).witness
    assert made is not None
    return made


def evidence(verdict: Verdict, engine: str = "engine", **fields: object) -> Evidence:
    defaults: dict[str, object] = {
        PROVED: {},
        EXHAUSTED: {"tried": 5, "scope": BOUNDS},
        SURVIVED: {"tried": 5},
        UNKNOWN: {"reason": "budget"},
        REFUTED: {"witness": witness()},
    }[verdict]
    return Evidence("claim", verdict, engine, "1", **{**defaults, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verdict", "fields", "problem"),
    [
        (REFUTED, {"witness": None}, "needs a replayed witness"),
        (REFUTED, {"witness": None, "exhaustion": FOUND}, "needs a replayed witness"),
        (UNKNOWN, {"reason": ""}, "needs a reason"),
        (SURVIVED, {"tried": 0}, "at least one case"),
        (SURVIVED, {"tried": -1}, "negative"),
        (SURVIVED, {"discarded": -1}, "negative"),
        (EXHAUSTED, {"tried": 0}, "vacuous"),
        (EXHAUSTED, {"scope": Scope("all of it")}, "scope with bounds"),
        (SURVIVED, {"witness": witness()}, "together with a witness"),
        (PROVED, {"witness": witness()}, "together with a witness"),
        (PROVED, {"engine": ""}, "no engine"),
        (PROVED, {"existential": True}, "established only by a replayed witness"),
        (EXHAUSTED, {"existential": True}, "established only by a replayed witness"),
        (REFUTED, {"existential": True, "witness": None}, "only by exhaustion"),
        (REFUTED, {"existential": True, "exhaustion": FOUND}, "yet with a witness"),
    ],
)
def test_illegal_evidence_cannot_be_built(
    verdict: Verdict, fields: dict[str, object], problem: str
) -> None:
    with pytest.raises(IllegalEvidence, match=problem):
        evidence(verdict, **fields)


@pytest.mark.parametrize("second", ["", "first"])
def test_exhaustion_needs_a_second_engine(second: str) -> None:
    alone = Exhaustion("first", second, 10)
    with pytest.raises(IllegalEvidence, match="second engine"):
        evidence(REFUTED, existential=True, witness=None, exhaustion=alone)


def test_legal_evidence_can_be_built() -> None:
    for verdict in Verdict:
        assert evidence(verdict).verdict is verdict
    assert evidence(PROVED, existential=True, witness=witness()).witness is not None
    refuted = evidence(REFUTED, existential=True, witness=None, exhaustion=FOUND)
    assert refuted.exhaustion == FOUND


def test_replacing_a_field_cannot_make_it_illegal() -> None:
    with pytest.raises(IllegalEvidence):
        dataclasses.replace(evidence(SURVIVED), tried=0)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_evidence_has_no_truth_value(verdict: Verdict) -> None:
    with pytest.raises(TypeError, match="not true or false"):
        bool(evidence(verdict))


def test_an_engine_cannot_say_refuted() -> None:
    with pytest.raises(IllegalEvidence, match="an engine cannot refute"):
        Finding("engine", "1", REFUTED)


@pytest.mark.parametrize(
    ("found", "need", "why"),
    [
        (evidence(SURVIVED), Need(), ""),
        (evidence(SURVIVED), Need(EXHAUSTED), "weaker"),
        (evidence(EXHAUSTED), Need(SURVIVED, cases=1000), ""),
        (evidence(PROVED), Need(EXHAUSTED, bounds=(("RM", 9),)), ""),
        (evidence(PROVED, assumptions=("A",)), Need(), ""),
        (evidence(PROVED, assumptions=("A",)), Need(allow=("A",)), ""),
        (evidence(PROVED, assumptions=("A",)), Need(allow=()), "assumption"),
        (evidence(SURVIVED, tried=9), Need(cases=10), "9 cases tried, 10 needed"),
        (evidence(SURVIVED, tried=1, discarded=99), Need(), "99% of the cases were discarded"),
        (evidence(EXHAUSTED), Need(EXHAUSTED, bounds=(("RM", 3),)), ""),
        (evidence(EXHAUSTED), Need(EXHAUSTED, bounds=(("RM", 4),)), "RM=3, not 4"),
        (evidence(EXHAUSTED), Need(EXHAUSTED, bounds=(("RM", 3.0),)), "RM=3, not 3.0"),
        (evidence(EXHAUSTED), Need(EXHAUSTED, bounds=(("depth", 2),)), ""),
        (evidence(EXHAUSTED), Need(EXHAUSTED, bounds=(("depth", 5),)), "depth=4, not 5"),
        (evidence(EXHAUSTED), Need(EXHAUSTED, bounds=(("other", 1),)), "no bound other"),
        (evidence(UNKNOWN), Need(), "budget"),
        (evidence(REFUTED), Need(), "REFUTED"),
    ],
    ids=str,
)
def test_unmet_needs_say_why(found: Evidence, need: Need, why: str) -> None:
    unmet = found.unmet(need)
    assert (unmet == "") == (why == "")
    assert why in unmet


def test_exit_codes() -> None:
    need = Need()
    assert exit_code([evidence(SURVIVED)], [need]) == 0
    assert exit_code([], []) == 3
    assert exit_code([evidence(SURVIVED), evidence(UNKNOWN)], [need, need]) == 3
    assert exit_code([evidence(UNKNOWN), evidence(REFUTED)], [need, need]) == 1
    assert exit_code([evidence(SURVIVED)], [Need(EXHAUSTED)]) == 3


def test_the_strongest_grade_stands_and_the_rest_is_kept() -> None:
    parts = [evidence(SURVIVED, "sampler"), evidence(PROVED, "prover"), evidence(UNKNOWN, "other")]
    merged = merge(parts)
    assert merged.verdict is PROVED
    assert merged.parts == tuple(parts)
    assert merged.disputes == ()
    assert merge([parts[0]]) is parts[0]


def test_a_part_may_meet_the_need_that_the_strongest_does_not() -> None:
    proof = evidence(PROVED, "prover", assumptions=("axiom",))
    merged = merge([proof, evidence(EXHAUSTED, "search")])
    assert merged.unmet(Need(allow=())) == ""
    assert merge([proof]).unmet(Need(allow=())) != ""


@pytest.mark.parametrize("order", [1, -1])
def test_a_witness_beats_any_proof_and_disputes_it(order: int) -> None:
    parts = [
        evidence(PROVED, "prover"),
        evidence(EXHAUSTED, "search"),
        evidence(SURVIVED, "sampler"),
        evidence(REFUTED, "finder"),
    ][::order]
    merged = merge(parts)
    assert merged.verdict is REFUTED
    assert sorted(merged.disputes) == ["prover", "search"]
    assert merged.unmet(Need()) != ""


@pytest.mark.parametrize("order", [1, -1])
def test_a_witness_establishes_an_existential_claim_against_exhaustion(order: int) -> None:
    shown = evidence(PROVED, "finder", existential=True, witness=witness())
    denied = evidence(REFUTED, "search", existential=True, witness=None, exhaustion=FOUND)
    merged = merge([shown, denied][::order])
    assert merged.verdict is PROVED
    assert merged.disputes == ("search",)
    assert merged.unmet(Need()) == ""


def test_unknowns_are_merged_with_all_their_reasons() -> None:
    merged = merge([evidence(UNKNOWN, "a", reason="slow"), evidence(UNKNOWN, "b", reason="lost")])
    assert merged.verdict is UNKNOWN
    assert merged.reason == "a: slow; b: lost"
    given = {"a": "slow", "b": "lost", "c": "slow"}
    merged = merge([evidence(UNKNOWN, name, reason=why) for name, why in given.items()])
    assert merged.reason == "a, c: slow; b: lost"  # what several say is said once


def test_evidence_on_different_claims_is_not_merged() -> None:
    other = dataclasses.replace(evidence(SURVIVED), claim="another")
    with pytest.raises(IllegalEvidence, match="cannot merge"):
        merge([evidence(SURVIVED), other])
    with pytest.raises(IllegalEvidence, match="cannot merge"):
        merge([])


def test_a_proof_that_nobody_found_an_input_for_says_so() -> None:
    proof = evidence(PROVED, "prover", assumptions=("x",))
    idle = evidence(UNKNOWN, "sampling", reason="vacuous: all 9 cases were discarded")
    away = evidence(UNKNOWN, "other", reason="declined: takes 'x' statements")
    said = merge([proof, idle, away]).assumptions
    assert said == ("x", "that any input satisfies what is required; sampling found none to try")
    assert merge([proof, away]).assumptions == ("x",)
    assert merge([proof, idle, evidence(SURVIVED, "fuzzer", tried=3)]).assumptions == ("x",)
