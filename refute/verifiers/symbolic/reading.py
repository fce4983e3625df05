"""What a model of Z3 says, as states and steps of the machine, and these as a trace.

A model is no evidence: the steps that it names are taken by the plain engine, from the state that
it starts in, and the trace is what that engine sees on its way. Where it takes no such step, the
encoding is wrong, and that is what is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import z3

from refute.frozen import frozen
from refute.plain import Plain
from refute.specs.machine import types as t
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.values import Value
from refute.verifiers.model.compiled import Choices, Compiled, Instance, State
from refute.verifiers.model.structure import instance_count
from refute.verifiers.model.trace import Trace, trace_of
from refute.verifiers.symbolic.building import decoded
from refute.verifiers.symbolic.decoding import Universe
from refute.verifiers.symbolic.folding import Bit, Term
from refute.verifiers.symbolic.rewriting import is_ordered
from refute.verifiers.symbolic.world import Step, World


class Parted(Exception):
    """The plain engine does not do what a model says: the encoding, or that engine, is wrong."""


@frozen
class Taken:
    """One step: who takes it, with which parameters and choices."""

    name: str
    params: tuple[Value, ...]
    choices: tuple[Value, ...]


@frozen
class Run:
    """A behaviour: the values of the variables in its start, and its steps."""

    start: tuple[Value, ...]
    steps: tuple[Taken, ...]


def true_in(model: Any, bit: Bit) -> bool:
    """Whether a formula is true in a model, where what the model leaves open is anything."""
    if isinstance(bit, bool):
        return bit
    return bool(z3.is_true(model.eval(bit, model_completion=True)))


def universe_of(model: Any, sorts: Mapping[str, t.Atoms]) -> Universe:
    """The members of each open Sort in a model, those of an OrderedSort in their order."""
    found: dict[str, Sequence[Term]] = {}
    for name, kind in sorts.items():
        if not kind.kind.startswith("open"):
            continue
        sort = z3.DeclareSort(name)
        elements = list(model.get_universe(sort) or ())
        if not elements:
            elements = [model.eval(z3.Const(f"{name}?", sort), model_completion=True)]
        if is_ordered(kind):
            less = z3.Function(f"{name}<", sort, sort, z3.BoolSort())
            elements.sort(key=lambda e: sum(true_in(model, less(o, e)) for o in elements))
        found[name] = elements
    return found


def state_in(
    model: Any, world: World, kinds: Mapping[str, t.Type], universe: Universe | None = None
) -> dict[str, Value]:
    """The values of the variables in a state under a model."""
    return {n: decoded(model, world.values[n], kind, universe) for n, kind in kinds.items()}


def taken_in(
    model: Any, step: Step, kinds: Sequence[t.Type], universe: Universe | None = None
) -> Taken:
    """A step under a model; of one that raises, the choices made before. kinds: of parameters."""
    pairs = zip(step.params, kinds, strict=True)
    params = tuple(decoded(model, sym, kind, universe) for sym, kind in pairs)
    chosen = [c for c in step.choices if true_in(model, c.condition)]
    choices = tuple(decoded(model, c.value, c.type, universe) for c in chosen)
    return Taken(step.name, params, choices)


class _Named(Choices):
    """Choices as they are named, one after the other."""

    def __init__(self, named: Sequence[Value]) -> None:
        super().__init__()
        self.named = list(named)

    def pick(self, options: Any) -> Any:
        """The next one. Raises Parted if it is not among the options."""
        if not self.named or self.named[0] not in options:
            raise Parted("the plain engine does not have the choice that the model names")
        return self.named.pop(0)


class Following:
    """The plain engine of a machine of known sizes, taking the steps that a model names."""

    def __init__(self, ir: MachineIR) -> None:
        self.ir = ir
        self.machine = Compiled(ir)
        self.instances = {(i.name, i.params): i for i in self.machine.instances}
        self.places = tuple(((p.entry,),) * instance_count(p) for p in ir.processes)

    def trace(self, name: str, why: str, run: Run, predicate: str = "") -> Plain:
        """The trace of a run; its last step may raise. name: of the property. Raises Parted."""
        states: list[State] = [(*run.start, *self.places)]
        moves = []
        for step in run.steps:
            instance = self.instances.get((step.name, step.params))
            if instance is None or not states[-1]:
                raise Parted(f"the plain engine has no step {step.name} with {step.params!r}")
            moves.append((instance, step.choices, states[-1]))
            states.append(self._after(instance, step, states[-1]))
        return trace_of(Trace(self.ir, name, why, predicate, tuple(states), tuple(moves)))

    def _after(self, instance: Instance, step: Taken, state: State) -> State:
        """The state after a step; () where it raises."""
        named = _Named(step.choices)
        try:
            after = instance.function(state, named, *instance.params)
        except Parted:
            raise
        except Exception:
            after = ()
        if after is None or named.named:
            raise Parted(f"the plain engine does not take the step {step.name} so")
        return after
