"""Planted temporal defects are found and replay; sound machines are spared; liars are caught."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from behaving import judged, loaded

from refute.budget import Budget, Clock
from refute.check import check
from refute.claim import Verdict
from refute.evidence import Evidence
from refute.sandbox import Worker
from refute.specs.machine.asking import find_machines
from refute.specs.machine.play import Play
from refute.verifiers import Progress
from refute.verifiers.model.deciding import Searched
from refute.verifiers.model.engine import ModelChecker
from refute.verifiers.model.lasso import not_a_witness

FILE = Path(__file__).parents[1] / "cases" / "machines" / "temporal_machines.py"

# machine → property → what the report says, steps of the trace, place the cycle starts at
DEFECTS = {
    "Stutters": {"full": ("fails by stuttering, add fair= to up", 0, 0)},
    "FirstState": {
        "positive": ("positive is False", 0, 0),
        "settles": ("repeats its last 2 steps", 2, 0),
    },
    "Goes": {"leaves": ("repeats its last 2 steps", 2, 0)},
    "Avoids": {"leaves": ("repeats its last 2 steps", 2, 0)},
    "Starves": {"each": ("each(P0) is False", 2, 0)},
    "Impolite": {"gets_in": ("gets_in(0) is False", 2, 0)},
}
SOUND = ("Fills", "Leaves", "Serves", "Peterson")
OPEN = {
    "Runaway": "vacuous: no fair behaviour stays within the constraint few",
    "Raises": "a predicate of ratio raises ZeroDivisionError",
    "Asserts": "a predicate of returns raises AssertionError",
}


@pytest.fixture(scope="module")
def machines() -> Iterator[ModuleType]:
    with loaded("temporal_machines") as module:
        yield module


@pytest.mark.parametrize("name", DEFECTS)
def test_the_defect_is_found_and_nothing_else(machines: ModuleType, name: str) -> None:
    liveness = judged(machines, name)
    assert set(liveness.hits) == set(DEFECTS[name])
    assert not liveness.reasons
    for prop, (why, steps, loop) in DEFECTS[name].items():
        trace: Any = liveness.hits[prop]
        assert why in trace["why"]
        assert (len(trace["case"]["steps"]), trace["case"]["loop"]) == (steps, loop)
        assert Play(getattr(machines, name), {}, trace["case"]).judge()["broke"] is True
        assert not_a_witness(liveness.ir.to_plain(), trace["case"]) == ""


@pytest.mark.parametrize("name", SOUND)
def test_sound_machines_are_not_accused(machines: ModuleType, name: str) -> None:
    liveness = judged(machines, name)
    assert liveness.hits == {} and liveness.reasons == {}


@pytest.mark.parametrize("name", OPEN)
def test_what_cannot_be_said_is_left_open(machines: ModuleType, name: str) -> None:
    liveness = judged(machines, name)
    assert liveness.hits == {}
    assert OPEN[name] in next(iter(liveness.reasons.values()))


UNFAIR = {"property": "leaves", "predicate": "", "start": [False, False], "params": [], "loop": 0}
SWITCH = {"do": "switch", "params": [], "choices": []}


def test_a_lasso_must_be_a_fair_closed_run_that_breaks_the_formula(machines: ModuleType) -> None:
    data = machines.Leaves.build().ir.to_plain()
    leave = {**SWITCH, "do": "leave"}
    wrong = {
        "switch is not treated fairly": [],
        "leave is not treated fairly": [SWITCH, SWITCH],
        "the cycle does not close": [SWITCH],
        "the trace is no run": [leave],
    }
    for why, steps in wrong.items():
        assert not_a_witness(data, {**UNFAIR, "steps": steps}) == why
    fine = [SWITCH, leave, SWITCH, SWITCH]
    assert not_a_witness(data, {**UNFAIR, "steps": fine, "loop": 2}) == "the formula is true of it"
    assert Play(machines.Leaves, {}, {**UNFAIR, "steps": fine, "loop": 2}).judge()["broke"] is False
    assert Play(machines.Leaves, {}, {**UNFAIR, "steps": [SWITCH]}).judge()["broke"] is False


def checked(name: str, engine: ModelChecker | None = None) -> dict[str, Evidence]:
    machines = find_machines(FILE, FILE.parent, (".",), {}, name)
    engines = {"engines": lambda _: (engine,)} if engine else {}
    results = check(machines.claims, Budget(cpu_s=30.0, wall_s=60.0), machines.site, **engines)  # type: ignore[arg-type]
    props = (str(c.statement.params["prop"]) for c in machines.claims)
    return dict(zip(props, results, strict=True))


def test_through_workers_and_replay() -> None:
    evidence = checked("Goes")["leaves"]
    assert evidence.verdict is Verdict.REFUTED and evidence.witness is not None
    steps = [s.text for s in evidence.witness.counterexample.steps]
    assert steps == ["start", "switch()", "switch()", "again from 1, for ever"]
    assert checked("Leaves")["leaves"].verdict is Verdict.EXHAUSTED
    vacuous = checked("Runaway")["never_mind"]
    assert vacuous.verdict is Verdict.UNKNOWN and "vacuous" in vacuous.reason


class Unfair(ModelChecker):
    """Takes a run that is not fair for a counterexample."""

    name = "unfair"

    def _with_temporals(
        self, worker: Worker, found: Searched, budget: Budget, clock: Clock, progress: Progress
    ) -> Searched:
        searched = super()._with_temporals(worker, found, budget, clock, progress)
        case: Mapping[str, Any] = {**UNFAIR, "steps": [SWITCH, SWITCH]}
        trace = {"case": case, "steps": [{"text": "start", "changes": {}}], "why": "it lies"}
        hits = dict(searched.report["hits"])
        hits["leaves"] = trace
        return Searched(**{**vars(searched), "report": {**searched.report, "hits": hits}})


def test_an_unfair_counterexample_is_not_believed() -> None:
    evidence = checked("Leaves", Unfair())["leaves"]
    assert evidence.verdict is Verdict.UNKNOWN
