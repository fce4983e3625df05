"""Random machines: searches that are cut, random walks and closure agree with whole searches."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from symmetric_machines import source
from test_machine_meanings import loaded
from test_symmetric_machines import built

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.checkpoint import Checkpoint
from refute.verifiers.model.closed import open_closed
from refute.verifiers.model.keeping import Keeper, OrbitKeeper
from refute.verifiers.model.native.certifying import certify
from refute.verifiers.model.native.compiler import QUICK
from refute.verifiers.model.native.forms import Unsuited
from refute.verifiers.model.native.here import native_orbits, native_search, native_walks
from refute.verifiers.model.native.keeping import Keeper as NativeKeeper
from refute.verifiers.model.reduced import ReducedSearch
from refute.verifiers.model.search import Search
from refute.verifiers.model.walks import Walks

SEEDS = (900, 901, 902, 903, 904, 906, 913, 915, 928, 934, 953)
SYMMETRIC = (3023, 3063, 3037)
MOST_S = 1.0  # for the plain engine; larger machines are left out


def reported(search: Any) -> dict[str, Plain]:
    found = dict(search.report())
    found["fired"] = sorted(map(repr, found["fired"]))
    return {k: v for k, v in found.items() if k not in ("bytes", "memory", "unfit")}


def in_pieces(place: Path, made: Any, keeper: Any, ir: MachineIR) -> dict[str, Plain]:
    """The report of a search that goes on from a checkpoint after every 64 states."""
    about = {"spec": ir.name}
    while True:
        with Checkpoint(place, about, 60.0) as checkpoint:
            search = made(ir)
            kept = keeper(search, checkpoint.fds)
            if checkpoint.saved is not None:
                assert kept.restore(checkpoint.saved)
            if search.advance(0.0)["finished"]:
                return reported(search)
            checkpoint.commit("e", "", kept.save(), {}, 0.0)
            assert not checkpoint.problem


def test_random_machines_up_to_permutations(tmp_path: Path) -> None:
    natively = 0
    for seed in SYMMETRIC:
        model = built(f"cut_{seed}", source(seed), tmp_path)
        assert model is not None
        whole = ReducedSearch(model.ir)
        assert whole.advance(60.0)["finished"] and 64 < len(whole.states) < whole.whole
        found = in_pieces(tmp_path / f"p{seed}", ReducedSearch, OrbitKeeper, model.ir)
        assert found == reported(whole)
        if natively == 2:
            continue
        quick: Any = lambda ir: native_orbits(ir, flags=QUICK)  # noqa: E731
        try:
            native = quick(model.ir)
        except Unsuited:
            continue
        if not native.advance(60.0)["unfit"]:
            pieces = in_pieces(tmp_path / f"n{seed}", quick, NativeKeeper, model.ir)
            assert pieces == reported(native)
            natively += 1
    assert natively == 2


def walked(walks: Any) -> list[Plain]:
    """What walks report; of a trace what changes, as several choices may lead to one state."""
    assert walks.advance(60.0)["finished"]
    report = walks.report()
    traces = {
        name: ([step["changes"] for step in hit["steps"]], hit["why"])
        for name, hit in report["hits"].items()
    }
    return [*(report[n] for n in ("walks", "steps", "raised", "silent")), traces]


def judged_closed(search: Any, ir: MachineIR) -> Plain:
    fd = os.memfd_create("states")
    about = certify(search, fd)
    found = open_closed(ir.to_plain(), fd, about)
    return found.check(0, found.count)


def test_random_machines(tmp_path: Path) -> None:
    compared = closed = 0
    for seed in SEEDS:
        module = loaded(tmp_path, seed, loops=True)
        ir = module.M.build().ir
        del sys.modules[module.__name__]
        whole = Search(ir)
        if not whole.advance(MOST_S)["finished"] or len(whole.states) > 800:
            continue
        try:
            native = native_search(ir, flags=QUICK)
        except Unsuited:
            continue
        assert native.advance(60.0)["finished"]
        assert in_pieces(tmp_path / f"p{seed}", Search, Keeper, ir) == reported(whole)
        quick: Any = lambda ir: native_search(ir, flags=QUICK)  # noqa: E731
        assert in_pieces(tmp_path / f"n{seed}", quick, NativeKeeper, ir) == reported(native)
        assert walked(Walks(ir, seed, 12, 30)) == walked(
            native_walks(ir, seed, 12, 30, flags=QUICK)
        )
        compared += 1
        if whole.states and not whole.raised:
            found = judged_closed(native, ir)
            assert (found["distinct"], found["generated"]) == (len(whole.states), whole.generated)
            closed += 1
    assert compared >= 6 and closed >= 3, (compared, closed)
