"""Refinement: every behaviour of one machine, through a mapping, is one of another.

Each start must map to a start, and each step to a step or to no change. Where the other machine
states fairness, no fair behaviour may break it: a cycle in which a condition is enabled (for good,
if weak) and not taken is a counterexample.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from refute.frozen import frozen
from refute.specs.machine.fairness import Fair, fairness
from refute.specs.machine.ir import LTL, Expr, MachineIR, Refinement, visible
from refute.specs.machine.types import Bool
from refute.specs.machine.values import text
from refute.verifiers.model.automaton import Automaton
from refute.verifiers.model.compiled import Compiled, State, StepRaised, expand
from refute.verifiers.model.fair_cycles import Lasso, Product, StateGraph
from refute.verifiers.model.fairness import Graph, Masks
from refute.verifiers.model.trace import changed

ENABLED = Expr("const", Bool(), (), True)  # the predicate of `fair_formula`


@frozen
class Departure:
    """Where a machine leaves what it refines.

    at: the state's number, and `after` the next state, or None where a start is wrong. lasso and
    condition: instead, a behaviour and the number of the fairness condition that it breaks. path:
    the numbers of the states on the way, where not any way will do.
    """

    why: str
    at: int = -1
    after: State | None = None
    lasso: Lasso | None = None
    condition: int = -1
    path: tuple[int, ...] = ()


class Abstract:
    """The machine that is refined: its starts, and its steps from a state."""

    def __init__(self, ir: MachineIR) -> None:
        self.ir = ir
        self.machine = Compiled(ir)
        self.masks = Masks(self.machine)
        filters = [p for p in self.machine.predicates if p.property.kind == "initial"]
        every = self.machine.initial_states()
        self.starts = {s for s in every if all(p.test(s) for p in filters)}
        self._known: dict[State, dict[State, int]] = {}
        self._seen = [at for at, v in enumerate(ir.variables) if not v.hidden]

    def seen(self, state: State) -> State:
        """What a mapping gives of a state: neither hidden variables nor processes."""
        return tuple(state[at] for at in self._seen)

    def steps(self, state: State) -> dict[State, int]:
        """Where the steps that change something lead, and the conditions they are steps of."""
        if state not in self._known:
            row: dict[State, int] = {}
            self._known[state] = row
            for number, instance in enumerate(self.machine.instances):
                try:
                    for after, _ in expand(instance, state):
                        if after != state:
                            row[after] = row.get(after, 0) | self.masks.own[number]
                except StepRaised:
                    continue
            for after in row:
                row[after] |= self.masks.tested(state, after)
        return self._known[state]

    def enabled(self, state: State) -> int:
        """The conditions enabled in a state."""
        mask = 0
        for taken in self.steps(state).values():
            mask |= taken
        return mask


class Refining:
    """Judges one refinement on a machine's graph."""

    def __init__(self, graph: Graph, states: StateGraph, refinement: Refinement) -> None:
        self.graph = graph
        self.states = states
        self.abstract = Abstract(refinement.abstract)
        self.image: Callable[[State], State] = graph.machine.mappings[refinement.name]
        self.images = [self.image(state) for state in graph.states]

    def departure(self) -> Departure | None:
        """The first way in which the machine is no refinement; None when it is one."""
        for at in self.states.starts:
            if self.images[at] not in self.abstract.starts:
                return Departure(wrong_start(self.abstract.ir, self.images[at]), at)
        for at, row in enumerate(self.graph.rows):
            before = self.images[at]
            for after in row:
                image = self.image(after)
                if image != before and image not in self.abstract.steps(before):
                    return Departure(wrong_step(self.abstract.ir, before, image), at, after)
        conditions = enumerate(fairness(self.abstract.ir))
        found = (self._unfair(number, fair) for number, fair in conditions)
        return next((departure for departure in found if departure), None)

    def _unfair(self, number: int, fair: Fair) -> Departure | None:
        """A fair behaviour that is not fair to a condition of the other machine."""
        bit = 1 << number
        above = (self.states.weak | self.states.strong).bit_length()
        edges = [
            [(n, mask | (1 << above if self._taken(at, n) & bit else 0)) for n, mask in row]
            for at, row in enumerate(self.states.edges)
        ]
        graph = dataclasses.replace(self.states, edges=edges)
        enabled = [self.abstract.enabled(image) & bit for image in self.images]
        automaton = Automaton(fair_formula(fair.strong), (ENABLED,))
        lasso = Product(graph, automaton, lambda at: int(enabled[at] > 0), 1 << above).lasso()
        if lasso is None:
            return None
        return Departure(unfair(self.abstract.ir, fair), lasso=lasso, condition=number)

    def _taken(self, at: int, after: int) -> int:
        return self.abstract.steps(self.images[at]).get(self.images[after], 0)


def fair_formula(strong: bool) -> LTL:
    """A condition is enabled again and again (strong) or from some time on (weak)."""
    outer, inner = ("always", "eventually") if strong else ("eventually", "always")
    return LTL(outer, (LTL(inner, (LTL("holds", (), ENABLED),)),))


def wrong_start(above: MachineIR, image: State) -> str:
    """Why a start is none of the other machine."""
    return f"{above.name} does not start with {_shown(above, image)}"


def wrong_step(above: MachineIR, before: State, after: State) -> str:
    """Why a step is none of the other machine."""
    found = changed(dataclasses.replace(above, variables=visible(above)), before, after)
    changes = ", ".join(f"{name} = {value}" for name, value in found.items())
    return f"{above.name} has no step from {_shown(above, before)} to {changes}"


def unfair(above: MachineIR, fair: Fair) -> str:
    """Why a behaviour is none of the other machine."""
    kind = "strong" if fair.strong else "weak"
    return f"the {kind} fairness of {fair.name} in {above.name} is broken"


def _shown(above: MachineIR, state: State) -> str:
    pairs = zip(visible(above), state, strict=True)
    return ", ".join(f"{v.name} = {text(x, v.type)}" for v, x in pairs)
