"""The behaviour that a model of Z3 gives to a path: its start, and the step out of each state."""

from __future__ import annotations

from typing import Any

from refute.specs.machine import types as t
from refute.specs.machine.ir import MachineIR
from refute.verifiers.symbolic.bounded import Found
from refute.verifiers.symbolic.decoding import Universe
from refute.verifiers.symbolic.reading import Parted, Run, Taken, state_in, taken_in, true_in
from refute.verifiers.symbolic.unrolling import Path


def run_of(ir: MachineIR, path: Path, found: Found) -> Run:
    """The behaviour that a model gives to the path: its start and its steps."""
    kinds = path.encoding.kinds
    start = state_in(found.model, path.worlds[0], kinds)
    steps = [taken(found.model, path, at) for at in range(found.length)]
    further = found.goal.further
    if further is not None:
        steps.append(taken_in(found.model, further, _params(path, further.name)))
    return Run(tuple(start[v.name] for v in ir.variables), tuple(steps))


def taken(model: Any, path: Path, at: int, universe: Universe | None = None) -> Taken:
    """The step that a model takes from the state with this number. Raises Parted."""
    move = path.moves[at]
    for step, bit in zip(move.steps, move.taken, strict=True):
        if true_in(model, bit):
            return taken_in(model, step, _params(path, step.name), universe)
    raise Parted(f"the model takes no step from state {at}")


def _params(path: Path, name: str) -> list[t.Type]:
    return [p.type for p in path.encoding.action(name).params]
