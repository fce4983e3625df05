"""The temporal properties of the published specifications hold; without fairness they do not."""

from __future__ import annotations

import dataclasses

import pytest

from refute.machine import Model
from refute.specs.library.allocator import SchedulingAllocator, SimpleAllocator
from refute.specs.library.async_termination import AsyncTerminationDetection
from refute.specs.library.chang_roberts import ChangRoberts
from refute.specs.library.dining_philosophers import DiningPhilosophers
from refute.specs.library.ewd840 import EWD840
from refute.specs.library.prisoners import Prisoners
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.liveness import Liveness

MODELS = [
    Prisoners.build(),
    ChangRoberts.build(N=3),
    DiningPhilosophers.build(NP=4),
    EWD840.build(N=3),
    AsyncTerminationDetection.build(N=3),
    SimpleAllocator.build(),
    SchedulingAllocator.build(),
]


def judged(ir: MachineIR) -> Liveness:
    liveness = Liveness(ir)
    while not liveness.advance(20.0)["finished"]:
        pass
    return liveness


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_published_temporal_properties_hold(model: Model) -> None:
    liveness = judged(model.ir)
    assert model.ir.temporals
    assert liveness.hits == {} and liveness.reasons == {}


def test_two_phase_commit_is_transaction_commit() -> None:
    liveness = judged(TwoPhase.build(RM=3).ir)
    assert [r.name for r in liveness.ir.refinements] == ["commits"]
    assert liveness.hits == {} and liveness.reasons == {}


@pytest.mark.parametrize("model", MODELS[:-2], ids=repr)
def test_without_fairness_they_fail_by_stuttering(model: Model) -> None:
    unfair = dataclasses.replace(
        model.ir,
        actions=tuple(dataclasses.replace(a, fair="") for a in model.ir.actions),
        processes=tuple(dataclasses.replace(p, fair="") for p in model.ir.processes),
        properties=tuple(p for p in model.ir.properties if p.kind not in ("weak", "strong")),
    )
    liveness = judged(unfair)
    stated = (*model.ir.temporals, *model.ir.refinements)
    assert set(liveness.hits) == {t.name for t in stated}
    temporal = [liveness.hits[t.name]["why"] for t in model.ir.temporals]
    assert all("stuttering" in why for why in temporal)
