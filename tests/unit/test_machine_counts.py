"""Counts are pinned: an engine that quietly looks at less, or at more, fails here.

The published figures are those of tlaplus/Examples' manifests (distinct, generated, depth); 50816
distinct states for six resource managers stand in a comment of TwoPhase.tla itself.
"""

from __future__ import annotations

import pytest

from refute.machine import Model
from refute.specs.library.allocator import SchedulingAllocator, SimpleAllocator
from refute.specs.library.async_termination import AsyncTerminationDetection
from refute.specs.library.chang_roberts import ChangRoberts
from refute.specs.library.dining_philosophers import DiningPhilosophers
from refute.specs.library.ewd840 import EWD840
from refute.specs.library.inner_fifo import InnerFIFO
from refute.specs.library.paxos import Paxos
from refute.specs.library.prisoners import Prisoners
from refute.specs.library.simple_regular import SimpleRegular
from refute.specs.library.transaction_commit import TCommit
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.confirm import Confirm
from refute.verifiers.model.search import Search

PUBLISHED = [
    (TwoPhase.build(RM=3), (288, 1146, 11)),
    (DiningPhilosophers.build(NP=5), (67, 336, 29)),
    (TCommit.build(RM=3), (34, 94, 7)),
    (Prisoners.build(), (214, 860, 14)),
    (ChangRoberts.build(N=3), (137, 227, 10)),
    (EWD840.build(N=3), (302, 2001, 9)),
    (SimpleAllocator.build(), (400, 1633, 6)),
]
LARGER = [  # by the compiled engine alone
    (SchedulingAllocator.build(), (1690, 5854, 7)),
    (InnerFIFO.build(), (3864, 9660, 11)),
    (AsyncTerminationDetection.build(N=4), (4097, 53271, 14)),
    (Paxos.build(), (3921, 23563, 17)),
    (SimpleRegular.build(N=4), (526, 1396, 13)),
]
OWN = [
    (TwoPhase.build(RM=1), (12, 20, 5)),
    (TwoPhase.build(RM=2), (56, 154, 8)),
    (DiningPhilosophers.build(NP=2), (11, 23, 11)),
]


def counts(engine: Search | Confirm) -> tuple[object, ...]:
    found = engine.advance(60.0)
    return found["distinct"], found["generated"], found["depth"]


@pytest.mark.parametrize(("model", "expected"), PUBLISHED + OWN, ids=repr)
def test_both_engines_count_the_same(model: Model, expected: tuple[int, int, int]) -> None:
    assert counts(Search(model.ir)) == expected
    assert counts(Confirm(model.ir)) == expected


@pytest.mark.parametrize(("model", "expected"), LARGER, ids=repr)
def test_larger_published_machines(model: Model, expected: tuple[int, int, int]) -> None:
    search = Search(model.ir)
    assert counts(search) == expected
    assert set(search.hits) == {p.name for p in model.ir.of_kind("reachable")}
    assert search.report()["silent"] == []


@pytest.mark.parametrize(("size", "expected"), [(4, (1568, 8258, 14)), (5, (8832, 58146, 17))])
def test_larger_two_phase_commit(size: int, expected: tuple[int, int, int]) -> None:
    assert counts(Search(TwoPhase.build(RM=size).ir)) == expected


def test_properties_of_the_library_hold() -> None:
    for model, _ in PUBLISHED:
        search = Search(model.ir)
        search.advance(60.0)
        shown = {p.name for p in model.ir.of_kind("reachable")}
        assert set(search.hits) == shown
        assert search.report()["silent"] == []
        assert search.report()["unran"] == []


def test_the_ir_is_plain_data_and_comes_back() -> None:
    for model, _ in PUBLISHED:
        assert MachineIR.from_plain(model.ir.to_plain()) == model.ir


def test_a_search_that_skips_a_state_does_not_have_the_pinned_counts() -> None:
    class Skipping(Search):
        def expand(self, at: int) -> None:
            if at != 7:
                super().expand(at)

    assert counts(Skipping(TwoPhase.build(RM=3).ir)) != (288, 1146, 11)
