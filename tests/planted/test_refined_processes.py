"""Machines that refine one with processes: departures are found, and nobody else is accused."""

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
from refute.verifiers.model.native.forms import Unsuited
from refute.verifiers.model.native.graph_program import graph_programs
from refute.verifiers.model.refined import not_a_departure

FILE = Path(__file__).parents[1] / "cases" / "machines" / "hiding_machines.py"
AFTER = ", after what came before"

# machine → what the report says, steps of the trace
DEFECTS = {
    "Hasty": (f"Lock has no step from inside = {{P0}} to inside = {{P0, P1}}{AFTER}", 2),
    "Lazy": ("the weak fairness of user in Lock is broken", 0),
    "Again": (f"Once has no step from inside = {{}} to inside = {{P0}}{AFTER}", 7),
}


@pytest.fixture(scope="module")
def machines() -> Iterator[ModuleType]:
    with loaded("hiding_machines") as module:
        yield module


@pytest.mark.parametrize("name", DEFECTS)
def test_the_departure_is_found_and_replays(machines: ModuleType, name: str) -> None:
    liveness = judged(machines, name)
    assert set(liveness.hits) == {"lock"} and not liveness.reasons
    trace: Any = liveness.hits["lock"]
    assert (trace["why"], len(trace["case"]["steps"])) == DEFECTS[name]
    assert Play(getattr(machines, name), {}, trace["case"]).judge()["broke"] is True
    assert not_a_departure(liveness.ir.to_plain(), trace["case"]) == ""


def test_traces_of_a_sound_refinement_are_no_witnesses(machines: ModuleType) -> None:
    """Those of the others are runs of this one too; the second programs follow hidden places."""
    liveness = judged(machines, "Peterson")
    assert liveness.hits == {} and liveness.reasons == {}
    trace: Any = judged(machines, "Again").hits["lock"]
    assert not_a_departure(liveness.ir.to_plain(), trace["case"]) == "the step is allowed"
    assert Play(machines.Peterson, {}, trace["case"]).judge()["broke"] is False
    begun = {**trace["case"], "steps": []}
    assert not_a_departure(liveness.ir.to_plain(), begun) == "the start is right"
    assert Play(machines.Peterson, {}, begun).judge()["broke"] is False


def test_fairness_of_what_nobody_sees_is_open(machines: ModuleType) -> None:
    liveness = judged(machines, "Open")
    assert liveness.hits == {}
    assert "of its states, which differ in what a mapping does not give" in liveness.reasons["lock"]


def test_the_native_engine_declines_by_name(machines: ModuleType) -> None:
    with pytest.raises(Unsuited, match="Lock, refined, with processes"):
        graph_programs(machines.Peterson.build().ir)


def test_through_workers_and_replay() -> None:
    verdicts = {"Again": Verdict.REFUTED, "Peterson": Verdict.EXHAUSTED, "Open": Verdict.UNKNOWN}
    for name, verdict in verdicts.items():
        found = find_machines(FILE, FILE.parent, (".",), {}, name)
        claims = [c for c in found.claims if c.statement.params["prop"] == "lock"]
        (evidence,) = check(claims, Budget(cpu_s=30.0, wall_s=60.0), found.site)
        assert evidence.verdict is verdict
