"""A search up to permutations finds what a search of all states finds.

The orbits it counts must have exactly as many states as there are: a state that it forgets, or an
orbit that it takes for two, changes that sum.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
from symmetric_machines import source  # type: ignore[import-not-found]
from test_machine_meanings import executed, loaded  # type: ignore[import-not-found]
from typed_machines import source as typed_source  # type: ignore[import-not-found]

from refute.errors import RefuteError
from refute.machine import Model
from refute.specs.library.allocator import SchedulingAllocator
from refute.specs.library.inner_fifo import InnerFIFO
from refute.specs.library.paxos import Paxos
from refute.specs.library.prisoners import Prisoners
from refute.specs.library.raft import Raft
from refute.specs.library.transaction_commit import TCommit
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.play import Play
from refute.specs.machine.statement import WELL_DEFINED
from refute.specs.machine.symmetry import symmetry_of
from refute.verifiers.model import reduced
from refute.verifiers.model.compiled import State
from refute.verifiers.model.native.compiler import QUICK
from refute.verifiers.model.native.forms import ROOMS, Unsuited, with_room
from refute.verifiers.model.native.here import native_orbits
from refute.verifiers.model.orbits import Least, Orbits
from refute.verifiers.model.reduced import ReducedSearch
from refute.verifiers.model.search import Search

SEEDS = 30
CHUNK = 15
NATIVE = 3  # machines that are compiled for each start, without optimisation
STATES = 400  # of machines that are searched whole


def built(name: str, text: str, tmp_path: Path, keep: bool = False) -> Model | None:
    """The machine M of a module's text; None where the language refuses it. keep: for a play."""
    file = tmp_path / f"{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    try:
        model: Model = executed(name, spec).M.build()
    except RefuteError:
        return None
    finally:
        if not keep:
            sys.modules.pop(name, None)
    return model


def whole_search(ir: MachineIR) -> Search | None:
    """The search of all states; None when there are many."""
    search = Search(ir)
    while search.at < len(search.states):
        if len(search.states) > STATES:
            return None
        if search.at == search.level_end:
            search.level_end = len(search.states)
            search.depth += 1
        search.expand(search.at)
        search.at += 1
    search.finished = True
    return search


def findings(search: Search, lazy: bool) -> dict[str, int]:
    """What was decided, and how many steps it took."""
    found = {name: len(hit.links) for name, hit in search.hits.items()}
    return {name: n for name, n in found.items() if not (lazy and name == WELL_DEFINED)}


def compared(ir: MachineIR) -> str:
    """What came of a machine: "reduced", "same" (every orbit has one state), or why nothing."""
    symmetry = symmetry_of(ir)
    if not symmetry.classes:
        return "not symmetric"
    every = whole_search(ir)
    if every is None:
        return "large"
    search = ReducedSearch(ir)
    search.advance(60.0)
    counts, expected = search.statistics(), every.statistics()
    assert counts["finished"]
    assert (counts["whole"], counts["depth"]) == (expected["distinct"], expected["depth"])
    assert findings(search, bool(symmetry.lazy)) == findings(every, bool(symmetry.lazy))
    assert set(search.fired) == set(every.fired)
    assert bool(counts["raised"]) == bool(expected["raised"])
    assert search.machine.never_ran() == every.machine.never_ran()
    return "reduced" if counts["distinct"] < expected["distinct"] else "same"


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_random_machines_are_reduced_exactly(first: int, tmp_path: Path) -> None:
    ways = []
    for seed in range(first, first + CHUNK):
        model = built(f"symmetric_{seed}", source(seed), tmp_path)
        ways.append("refused" if model is None else compared(model.ir))
    assert ways.count("reduced") >= CHUNK // 6, ways
    assert ways.count("refused") <= CHUNK // 10


def test_random_machines_that_order_their_sorts_are_not_taken_for_symmetric(
    tmp_path: Path,
) -> None:
    """Machines of other generators, which compare, enumerate and name members freely."""
    ways = []
    for seed in range(10):
        model = built(f"typed_{seed}", typed_source(seed), tmp_path)
        if model is not None:
            ways.append(compared(model.ir))
        module = loaded(tmp_path, seed, loops=True)
        ways.append(compared(module.M.build().ir))
        sys.modules.pop(module.__name__, None)
    assert ways.count("not symmetric") > 3 and ways.count("reduced") + ways.count("same") > 3, ways


# machine, (orbits, their states, generated, depth); the states are TLC's published counts. 80 is
# also what Lamport's video course shows for two-phase commit with a symmetry set.
COUNTS = [
    (TwoPhase.build(RM=3), (80, 288, 318, 11)),
    (TwoPhase.build(RM=5), (314, 8832, 2048, 17)),
    (TCommit.build(RM=3), (13, 34, 37, 7)),
    (SchedulingAllocator.build(), (165, 1690, 619, 7)),
    (InnerFIFO.build(), (676, 3864, 1732, 11)),
    (Prisoners.build(), (78, 214, 316, 14)),
]


@pytest.mark.parametrize(("model", "expected"), COUNTS, ids=repr)
def test_orbits_of_published_specifications(
    model: Model, expected: tuple[int, int, int, int]
) -> None:
    search = ReducedSearch(model.ir)
    search.advance(60.0)
    counts = search.statistics()
    found = tuple(counts[n] for n in ("distinct", "whole", "generated", "depth"))
    assert found == expected and counts["finished"]


def test_a_trace_found_up_to_permutations_is_one_of_the_class() -> None:
    model = TwoPhase.build(RM=4)
    search = ReducedSearch(model.ir)
    search.advance(60.0)
    trace: Any = search.report()["hits"]["can_commit"]
    assert Play(model.cls, {"RM": 4}, trace["case"]).judge()["broke"] is True
    plain = Search(model.ir)
    plain.advance(60.0)
    assert len(trace["steps"]) == len(plain.hits["can_commit"].links) + 1


SAME = ("distinct", "generated", "whole", "depth", "outside", "raised", "finished", "silent")


def compared_natively(model: Model, hashed: bool) -> str:
    """What came of a machine whose orbits both engines search; traces are played on the class."""
    if not symmetry_of(model.ir).classes or whole_search(model.ir) is None:
        return "left out"
    plain: Any = ReducedSearch(model.ir)
    plain.advance(60.0)
    try:
        with with_room(ROOMS[1]):
            native = native_orbits(model.ir, flags=QUICK, hashed=hashed)
    except Unsuited as why:
        return str(why)
    native.advance(60.0)
    mine, its = plain.report(), native.report()
    assert "disagrees" not in its, its
    assert {n: its[n] for n in (*SAME, "unran")} == {n: mine[n] for n in (*SAME, "unran")}
    lengths = [{n: len(h["steps"]) for n, h in r["hits"].items()} for r in (mine, its)]
    assert lengths[0] == lengths[1]
    for trace in (*its["hits"].values(), *its["fired"]):
        played = Play(model.cls, {}, trace["case"]).judge()
        assert played["broke"] is True or trace["case"]["property"] == WELL_DEFINED
    return "compared"


@pytest.mark.parametrize("first", [1000, 2000])
def test_the_native_engine_finds_the_same_orbits(first: int, tmp_path: Path) -> None:
    compared = 0
    for seed in range(first, first + 40):
        name = f"symmetric_{seed}"
        model = built(name, source(seed), tmp_path, keep=True)
        if model is not None:
            compared += compared_natively(model, seed % 3 == 0) == "compared"
        sys.modules.pop(name, None)
        if compared == NATIVE:
            break
    assert compared == NATIVE


# The states are those of searches without symmetry.
LARGE = [
    (TwoPhase.build(RM=10), (3300, 61_515_776, 43_298, 32)),
    (Paxos.build(), (443, 3921, 2697, 17)),
    (Raft.build(), (54_816, 328_707, 180_030, 29)),
]


@pytest.mark.parametrize(("model", "expected"), LARGE, ids=repr)
def test_orbits_of_large_specifications(model: Model, expected: tuple[int, int, int, int]) -> None:
    with with_room(ROOMS[1]):
        search = native_orbits(model.ir, flags=QUICK)
    counts = search.advance(60.0)
    assert tuple(counts[n] for n in ("distinct", "whole", "generated", "depth")) == expected
    assert counts["finished"] and not counts["unfit"]


class OneTooMany(Orbits):
    """Takes states for one orbit that differ in more than the names of members."""

    def least(self, state: State) -> Least:
        found = super().least(state)
        return dataclasses.replace(found, state=(*found.state[:-1], frozenset()))


class OneTooFew(Orbits):
    """Does not try the orders of members that look alike."""

    def least(self, state: State) -> Least:
        found = super().least(state)
        return dataclasses.replace(found, state=state)


@pytest.mark.parametrize("liar", [OneTooMany, OneTooFew])
def test_wrong_representatives_change_the_number_of_states(
    liar: type[Orbits], monkeypatch: pytest.MonkeyPatch
) -> None:
    ir = SchedulingAllocator.build().ir
    monkeypatch.setattr(reduced, "Orbits", liar)
    with pytest.raises(AssertionError):
        compared_counts(ir)


def compared_counts(ir: MachineIR) -> None:
    """Whether the orbits have as many states as there are."""
    search = ReducedSearch(ir)
    search.advance(60.0)
    assert search.statistics()["whole"] == 1690
