"""Invariants for every size that no person wrote: found, checked again, and not found where there
is none."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from refute.machine import Machine
from refute.specs.library.toy_consensus import ToyConsensus
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.ir import MachineIR
from refute.verifiers.symbolic.clauses import Clause, goal
from refute.verifiers.symbolic.diagrams import Cube
from refute.verifiers.symbolic.inductive import SolverJudge
from refute.verifiers.symbolic.pdr import Invariant, reachability
from refute.verifiers.symbolic.sampling_states import sampled

SECONDS = 100.0  # far more than it takes, so that a busy machine changes nothing


def with_invariants(ir: MachineIR, names: tuple[str, ...]) -> MachineIR:
    kept = [p for p in ir.properties if p.kind != "invariant" or not names or p.name in names]
    return dataclasses.replace(ir, properties=tuple(kept))


def sought(
    machine: type[Machine],
    small: list[dict[str, int]],
    names: tuple[str, ...] = (),
    seconds: float = SECONDS,
) -> tuple[MachineIR, Invariant]:
    every: dict[str, Any] = dict.fromkeys(small[0], "any")
    ir = with_invariants(machine.build(**every).ir, names)
    samples = [sampled(machine.build(**sizes).ir, 500, 5.0) for sizes in small]
    return ir, reachability(ir, ir.of_kind("invariant"), samples, seconds)


@pytest.mark.parametrize(
    ("machine", "small", "names"),
    [
        (TwoPhase, [{"RM": 2}], ()),
        (ToyConsensus, [{"Node": 2, "Value": 2, "Quorum": 2}], ("agreement",)),
    ],
)
def test_what_is_found_is_inductive(
    machine: type[Machine], small: list[dict[str, int]], names: tuple[str, ...]
) -> None:
    ir, found = sought(machine, small, names)
    assert found.found, found.why
    clauses = [*map(goal, ir.of_kind("invariant")), *found.lemmas]
    ruling = SolverJudge(ir).ruling(dict(enumerate(clauses)), time.monotonic() + SECONDS)
    assert ruling.inductive
    for lemma in found.lemmas:
        assert Cube(lemma.params[::-1], lemma.literals[::-1]).clause() == _cube(lemma).clause()


def _cube(clause: Clause) -> Cube:
    return Cube(clause.params, clause.literals)


def defects() -> Any:
    file = Path(__file__).parents[1] / "cases" / "machines" / "open_defects.py"
    spec = importlib.util.spec_from_file_location("open_defects", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


MACHINES = ("TwoPhase", "ToyConsensus")
DEFECTS = [next(d for d in defects().DEFECTS if d.machine == name) for name in MACHINES]


@pytest.mark.parametrize("defect", DEFECTS, ids=str)
def test_nothing_is_found_of_what_breaks(tmp_path: Path, defect: Any) -> None:
    small = [{n: 1 for n, _ in defect.sizes}]
    _, found = sought(defect.loaded(tmp_path), small, (defect.prop,), 8.0)
    assert not found.found and found.why and not found.lemmas
