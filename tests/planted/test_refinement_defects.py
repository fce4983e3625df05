"""Machines that do not implement what they say are refuted by a trace; one that does is spared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from behaving import judged, loaded

from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict
from refute.specs.machine.asking import find_machines
from refute.specs.machine.play import Play
from refute.verifiers.model.refined import not_a_departure

FILE = Path(__file__).parents[1] / "cases" / "machines" / "refinement_machines.py"

# machine → what the report says, steps of the trace
DEFECTS = {
    "Unfair": ("the weak fairness of tick in Clock is broken", 1),
    "Skips": ("Clock has no step from hour = 0 to hour = 3", 2),
    "Late": ("Clock does not start with hour = 2", 0),
    "Short": ("Clock has no step from hour = 2 to hour = 3", 6),
}
THINK = {"do": "think", "params": [], "choices": []}
STEP = {"do": "step", "params": [], "choices": []}


@pytest.fixture(scope="module")
def machines() -> Iterator[ModuleType]:
    with loaded("refinement_machines") as module:
        yield module


@pytest.mark.parametrize("name", DEFECTS)
def test_the_departure_is_found_and_replays(machines: ModuleType, name: str) -> None:
    liveness = judged(machines, name)
    assert set(liveness.hits) == {"clock"} and not liveness.reasons
    trace: Any = liveness.hits["clock"]
    assert (trace["why"], len(trace["case"]["steps"])) == DEFECTS[name]
    assert Play(getattr(machines, name), {}, trace["case"]).judge()["broke"] is True
    assert not_a_departure(liveness.ir.to_plain(), trace["case"]) == ""


def test_a_refinement_is_not_accused(machines: ModuleType) -> None:
    liveness = judged(machines, "Good")
    assert liveness.hits == {} and liveness.reasons == {}


def test_traces_of_a_refinement_are_no_witnesses(machines: ModuleType) -> None:
    base = {"property": "clock", "predicate": "", "start": [False, False, False]}
    round_trip = [THINK, STEP] * 4
    wrong: dict[str, dict[str, Any]] = {
        "the start is right": {"steps": []},
        "the step is allowed": {"steps": [THINK, STEP]},
        "step is not treated fairly": {"steps": [THINK], "loop": 1, "condition": 0},
        "the condition is kept": {"steps": round_trip, "loop": 0, "condition": 0},
        "the cycle does not close": {"steps": [THINK, STEP], "loop": 0, "condition": 0},
        "the trace is no run": {"steps": [STEP]},
    }
    data = machines.Good.build().ir.to_plain()
    for why, case in wrong.items():
        assert not_a_departure(data, {**base, **case}) == why
    for why in ("the start is right", "the step is allowed", "the condition is kept"):
        assert Play(machines.Good, {}, {**base, **wrong[why]}).judge()["broke"] is False


def test_through_workers_and_replay() -> None:
    for name, verdict in (("Skips", Verdict.REFUTED), ("Good", Verdict.EXHAUSTED)):
        found = find_machines(FILE, FILE.parent, (".",), {}, name)
        claims = [c for c in found.claims if c.statement.params["prop"] == "clock"]
        (evidence,) = check(claims, Budget(cpu_s=30.0, wall_s=60.0), found.site)
        assert evidence.verdict is verdict
