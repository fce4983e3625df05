"""Temporal properties and refinements, judged on the whole state graph.

The graph is built first, by a search of its own that keeps the edges. A temporal property is false
if its negation has a fair lasso, for some choice of its parameters. Runs in a worker, a slice at a
time.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from refute.plain import Plain
from refute.specs.machine.fairness import fairness
from refute.specs.machine.ir import LTL, MachineIR, Refinement, Temporal, atoms, hides
from refute.specs.machine.meaning import bindings
from refute.verifiers.model.automaton import Automaton
from refute.verifiers.model.compiled import State
from refute.verifiers.model.fair_cycles import Lasso, Product, StateGraph
from refute.verifiers.model.fairness import Graph
from refute.verifiers.model.refinement import Departure, Refining
from refute.verifiers.model.shadow import Shadowing, Undecided
from refute.verifiers.model.telling import Telling

Case = tuple[Temporal, tuple[Any, ...]]


class Liveness:
    """Judges the temporal properties and refinements of one machine."""

    def __init__(self, ir: MachineIR) -> None:
        self.ir = ir
        self.graph = Graph(ir)
        self.telling = Telling(ir, self.graph.machine)
        self.states = StateGraph([], [], [], 0, 0)
        self.cases: list[Case] = [(t, p) for t in ir.temporals for p in bindings(t.params)]
        self.at = 0
        self.hits: dict[str, Plain] = {}
        self.reasons: dict[str, str] = {}
        self.judged = False

    def advance(self, seconds: float) -> dict[str, Plain]:
        """Go on for about so long, or with one property. finished: all are judged."""
        if not self.graph.finished:
            counts = self.graph.advance(seconds)
            return {**counts, "finished": False}
        if not self.states.edges:
            self.states = StateGraph(
                self.graph.edges(),
                self.graph.enabled,
                self.graph.starts(),
                self.graph.masks.weak,
                self.graph.masks.strong,
            )
        if self.at < len(self.cases):
            self._judge(*self.cases[self.at])
            self.at += 1
        elif self.at < len(self.cases) + len(self.ir.refinements):
            self._refine(self.ir.refinements[self.at - len(self.cases)])
            self.at += 1
        elif not self.judged:
            self._vacuous()
            self.judged = True
        return {**self.graph.statistics(), "finished": self.judged}

    def report(self) -> dict[str, Plain]:
        """hits: name → trace of a lasso. reasons: name → why it is not decided."""
        return {"hits": self.hits, "reasons": self.reasons}

    def _judge(self, temporal: Temporal, params: tuple[Any, ...]) -> None:
        if temporal.name in self.hits:
            return
        negated = Automaton(LTL("not", (temporal.formula,)), atoms(temporal.formula))
        functions = self.graph.machine.atoms[temporal.name]
        states = self.graph.states

        @functools.cache
        def truth(state: int) -> int:
            held = [f(states[state], *params) for f in functions]
            return sum(1 << at for at, true in enumerate(held) if true)

        try:
            lasso = Product(self.states, negated, truth).lasso()
        except MemoryError:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            self.reasons[temporal.name] = f"a predicate of {temporal.name} raises {what}"
            return
        if lasso is not None:
            self.hits[temporal.name] = self.telling.broken(temporal, params, *self._passed(lasso))

    def _refine(self, refinement: Refinement) -> None:
        try:
            judge = Shadowing if hides(refinement.abstract) else Refining
            found = judge(self.graph, self.states, refinement).departure()
        except MemoryError:
            raise
        except Undecided as why:
            self.reasons[refinement.name] = str(why)
            return
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            self.reasons[refinement.name] = f"the mapping {refinement.name} raises {what}"
            return
        if found is None:
            return
        if found.lasso is not None:
            made = self.telling.lasso(refinement.name, found.why, *self._passed(found.lasso))
            made["case"] = {**made["case"], "condition": found.condition}
        else:
            made = self._step(refinement.name, found)
        self.hits[refinement.name] = made

    def _step(self, name: str, found: Departure) -> dict[str, Plain]:
        """The shortest trace to a state, and one step more."""
        path, at = list(found.path[::-1]), found.at
        while not found.path and at >= 0:
            path.append(at)
            at = self.graph.links[at][0]
        states = [self.graph.states[at] for at in reversed(path)]
        states += [] if found.after is None else [found.after]
        return self.telling.passing(name, found.why, states)

    def _passed(self, lasso: Lasso) -> tuple[list[State], int]:
        return [self.graph.states[at] for at in lasso.states], lasso.loop

    def _vacuous(self) -> None:
        """A constraint that no fair behaviour stays within makes every property hold."""
        left = open_to_vacuity(self.ir, self.hits)
        if not left or not self.graph.outside:
            return
        anything = Automaton(LTL("and"), ())
        if Product(self.states, anything, lambda state: 0).lasso() is None:
            self.reasons.update(dict.fromkeys(left, vacuous(self.ir)))


def open_to_vacuity(ir: MachineIR, hits: Mapping[str, Plain]) -> list[str]:
    """What holds of every fair behaviour, so also where there is none within the constraint."""
    stated = [r.name for r in ir.refinements if fairness(r.abstract)]
    stated += [t.name for t in ir.temporals]
    return [name for name in stated if name not in hits]


def vacuous(ir: MachineIR) -> str:
    """Why a constraint leaves such properties open."""
    cut = ", ".join(p.name for p in ir.of_kind("constraint"))
    return f"vacuous: no fair behaviour stays within the constraint {cut}"


def open_liveness(data: Plain) -> Liveness:
    """The temporal properties of the machine given as plain data; runs in a worker."""
    return Liveness(MachineIR.from_plain(data))
