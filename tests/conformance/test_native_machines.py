"""The native engine and the plain one agree: states, counts, verdicts and traces.

Random machines are compiled without optimisation. Where both searches end, everything that they
report is equal, the traces too; larger ones are compared as far as the plain engine comes.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from test_machine_meanings import executed, loaded  # type: ignore[import-not-found]
from typed_machines import source  # type: ignore[import-not-found]

from refute.errors import Unsupported
from refute.machine import Model
from refute.specs.library.all_reduce import OneShotAllReduce, RendezvousAllReduce, RingAllReduce
from refute.specs.library.allocator import SchedulingAllocator, SimpleAllocator
from refute.specs.library.alternating_bit import AlternatingBit
from refute.specs.library.async_termination import AsyncTerminationDetection
from refute.specs.library.atomic_commitment import AtomicCommitment
from refute.specs.library.chang_roberts import ChangRoberts
from refute.specs.library.dining_philosophers import DiningPhilosophers
from refute.specs.library.ewd840 import EWD840
from refute.specs.library.inner_fifo import InnerFIFO
from refute.specs.library.mutual_exclusion import Bakery, Peterson
from refute.specs.library.paxos import Paxos
from refute.specs.library.prisoners import Prisoners
from refute.specs.library.simple_regular import SimpleRegular
from refute.specs.library.transaction_commit import TCommit
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.library.write_ahead_log import WriteAheadLog
from refute.verifiers.model.native.compiler import QUICK
from refute.verifiers.model.native.forms import ROOMS, Unsuited, with_room
from refute.verifiers.model.native.here import native_search
from refute.verifiers.model.native.search import NativeSearch
from refute.verifiers.model.search import Search

CASES = Path(__file__).parents[1] / "cases" / "machines"
STATES = 300  # expanded by the plain engine at most
CPU_S = 1.0  # spent on it at most; some machines have thousands of ways to take a step
SEEDS = 24
CHUNK = 12


def reported(search: Any) -> dict[str, Any]:
    """What both engines report; the order in which steps first fired is the plain engine's own."""
    found = dict(search.report())
    found["fired"] = sorted(map(repr, found.get("fired", ())))
    return {k: v for k, v in found.items() if k not in ("bytes", "memory", "unfit")}


def compared(model: Model) -> str:
    """How the engines were compared: "whole", "part" or why the native one declined."""
    try:
        native = native_search(model.ir, flags=QUICK)
    except Unsuited as why:
        return str(why)
    plain = Search(model.ir)
    begun = time.process_time()
    while plain.at < min(len(plain.states), STATES) and time.process_time() - begun < CPU_S:
        if plain.at == plain.level_end:
            plain.level_end = len(plain.states)
            plain.depth += 1
        plain.expand(plain.at)
        plain.at += 1
    plain.finished = plain.at == len(plain.states)
    native.advance(5.0 if plain.finished else 0.1)
    assert not native.statistics()["unfit"]
    if plain.finished:
        assert reported(native) == reported(plain)
    known = min(len(plain.states), native.statistics()["distinct"])
    for number in range(known):
        words, parent = native.library.state(number)
        assert native.layout.unpack(words) == plain.states[number]
        assert plain.links[number][0] == (parent if parent < 0xFFFFFFFF else -1)
    return "whole" if plain.finished else "part"


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_random_machines_are_searched_alike(first: int, tmp_path: Path) -> None:
    ways = []
    for seed in range(first, first + CHUNK):
        module = loaded(tmp_path, seed, loops=True)
        try:
            ways.append(compared(module.M.build()))
        finally:
            del sys.modules[module.__name__]
    assert ways.count("whole") + ways.count("part") >= CHUNK * 3 // 4, ways  # few are declined
    assert ways.count("whole") >= CHUNK // 4


@pytest.mark.parametrize("first", range(0, 36, CHUNK))
def test_random_machines_over_all_types_are_searched_alike(first: int, tmp_path: Path) -> None:
    ways = []
    for seed in range(first, first + CHUNK):
        name = f"typed_machine_{seed}"
        file = tmp_path / f"{name}.py"
        file.write_text(source(seed))
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        try:
            ways.append(compared(executed(name, spec).M.build()))
        except Unsupported:  # a comparison that can never hold is refused
            continue
        finally:
            del sys.modules[name]
    assert ways.count("whole") >= CHUNK // 2


PUBLISHED = [
    (TCommit.build(RM=3), (34, 94)),
    (DiningPhilosophers.build(NP=5), (67, 336)),
    (ChangRoberts.build(N=3), (137, 227)),
    (Prisoners.build(), (214, 860)),
    (TwoPhase.build(RM=3), (288, 1146)),
    (TwoPhase.build(RM=7), (296_448, 2_744_706)),
    (EWD840.build(N=3), (302, 2001)),
    (SimpleAllocator.build(), (400, 1633)),
    (SchedulingAllocator.build(), (1690, 5854)),
    (InnerFIFO.build(), (3864, 9660)),
    (InnerFIFO.build(Message=4), (13_648, 35_536)),  # our own: it once filled the table
    (Paxos.build(), (3921, 23563)),
    (AsyncTerminationDetection.build(N=4), (4097, 53_271)),
    (AtomicCommitment.build(P=3), (54_944, 218_352)),
    (SimpleRegular.build(N=8), (277_726, 1_454_776)),
]


@pytest.mark.parametrize(("model", "expected"), PUBLISHED, ids=repr)
def test_published_counts(model: Model, expected: tuple[int, int]) -> None:
    found = native_search(model.ir, flags=QUICK).advance(60.0)
    assert (found["distinct"], found["generated"]) == expected
    assert found["finished"] and not found["raised"]


OWN = [
    RingAllReduce.build(N=3),
    RendezvousAllReduce.build(N=3),
    OneShotAllReduce.build(N=2, CLEAR=1),
    OneShotAllReduce.build(N=2, BUFFERS=3, CLEAR=1),
    Peterson.build(),
    Bakery.build(N=2),
    WriteAheadLog.build(),
    AlternatingBit.build(),
]


@pytest.mark.parametrize("model", OWN, ids=repr)
def test_machines_of_the_library_are_reported_alike(model: Model) -> None:
    plain = Search(model.ir)
    plain.advance(20.0)
    assert reported(searched(model)) == reported(plain)


def planted() -> list[Model]:
    models = []
    for name in (
        "planted_machines",
        "folds",
        "crash_machines",
        "matches",
        "bags",
        "large_types",
        "own_values",
        "long_steps",
        "covering",
        "natural",
        "writing",
        "telling_calls",
        "optional_numbers",
        "narrowed",
        "rowwise",
    ):
        spec = importlib.util.spec_from_file_location(name, CASES / f"{name}.py")
        assert spec is not None
        module = executed(name, spec)
        found = [c for c in vars(module).values() if getattr(c, "__module__", "") == name]
        models += [c.build() for c in found if hasattr(c, "build")]
    return models


@pytest.mark.parametrize("model", planted(), ids=repr)
def test_planted_machines_are_reported_alike(model: Model) -> None:
    plain = Search(model.ir)
    plain.advance(20.0)
    assert reported(searched(model)) == reported(plain)


def searched(model: Model) -> NativeSearch:
    """The native search with as much room as it needs."""
    for room in ROOMS:
        with with_room(room):
            native = native_search(model.ir, flags=QUICK)
        native.advance(20.0)
        if not native.statistics()["unfit"]:
            break
    return native


@pytest.mark.parametrize("words", [1, 3])
def test_threads_find_the_same_states(words: int) -> None:
    one, two = (native_search(wide(words), cores=n, flags=("-O1", *QUICK[1:])) for n in (1, 2))
    assert one.layout.words == words
    for search in (one, two):
        search.advance(60.0)
    assert two.statistics() | {"bytes": 0, "memory": 0} == one.statistics() | {
        "bytes": 0,
        "memory": 0,
    }
    states = [{s.library.state(n)[0] for n in range(40_000)} for s in (one, two)]
    assert len(states[0]) == len(states[1]) == 40_000
    levels = [len(s.report()["hits"]["can_commit"]["steps"]) for s in (one, two)]
    assert levels == [23, 23]


@pytest.mark.parametrize("cores", [1, 2])
def test_hashes_find_the_same_states_and_the_way_to_them(cores: int) -> None:
    exact = native_search(wide(3), cores=cores, flags=("-O1", *QUICK[1:]))
    hashed = native_search(wide(3), cores=cores, flags=("-O1", *QUICK[1:]), hashed=True)
    for search in (exact, hashed):
        search.advance(60.0)
    names = ("distinct", "generated", "depth", "outside", "raised", "finished")
    counts = [[s.statistics()[n] for n in names] for s in (exact, hashed)]
    assert counts[0] == counts[1]
    assert hashed.statistics()["bytes"] < 0.8 * exact.statistics()["bytes"]
    ways = [s.report()["hits"] for s in (exact, hashed)]
    assert set(ways[0]) == set(ways[1])
    assert len(ways[1]["can_commit"]["steps"]) == 23
    if cores == 1:
        assert ways[0] == ways[1]


def wide(words: int) -> Any:
    """Two-phase commit with seven managers, in states of one word or with unused variables."""
    import dataclasses

    from refute.specs.machine import types as t
    from refute.specs.machine.ir import Variable

    ir = TwoPhase.build(RM=7).ir
    extra = [Variable(f"unused{n}", t.Int(0, 2**60), (n,)) for n in range(words - 1)]
    return dataclasses.replace(ir, variables=(*ir.variables, *extra))
