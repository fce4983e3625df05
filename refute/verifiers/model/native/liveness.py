"""Temporal properties and refinements on the native graph: as `verifiers.model.liveness`.

The library builds the graph, maps states, makes the product with the automaton of a negated
property and takes it apart. What it finds is a row of states; the plain engine then takes the steps
between them, so that a trace is found twice before it is replayed. What the library cannot hold or
compute is left to the plain engine.

A conjunction is judged part by part: a run breaks it if it breaks one of them, and the shortest
such run is shown.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from refute.plain import Plain
from refute.specs.machine.fairness import fairness
from refute.specs.machine.ir import LTL, MachineIR, Refinement, Temporal, atoms
from refute.specs.machine.meaning import bindings
from refute.verifiers.model.automaton import Automaton, pushed
from refute.verifiers.model.compiled import Compiled, State
from refute.verifiers.model.fair_cycles import (
    Goal,
    Lasso,
    Way,
    around,
    goals_of,
    moved,
    shortened,
    shows,
)
from refute.verifiers.model.liveness import open_to_vacuity, vacuous
from refute.verifiers.model.native.forms import Unsuited, with_room
from refute.verifiers.model.native.graph import (
    ABOVE,
    ATOMS,
    CONDITION,
    DONE,
    FULL,
    NONE,
    RAISES,
    UNFIT,
    Answer,
    Asking,
    GraphLibrary,
    Source,
)
from refute.verifiers.model.native.graph_program import numbered
from refute.verifiers.model.native.program import layout_of
from refute.verifiers.model.native.search import RESERVE, shape_of
from refute.verifiers.model.refinement import ENABLED, fair_formula, unfair, wrong_start, wrong_step
from refute.verifiers.model.telling import NoStep, Telling

MAX_PREDICATES = 63  # of one part of a formula
MAX_PROMISES = 64
GRAPH_SHARE = 0.8  # of memory; a graph that needs more is cut there


@dataclasses.dataclass
class Task:
    """One thing to judge. automaton: of the runs that break it; None for starts and steps."""

    name: str
    automaton: Automaton | None
    source: Source = Source()
    temporal: Temporal | None = None
    params: tuple[Any, ...] = ()
    refinement: int = -1
    begun: bool = False


class NativeLiveness:
    """Judges the temporal properties and refinements of one machine; runs in a worker."""

    def __init__(self, ir: MachineIR, paths: Sequence[Path], memory: int) -> None:
        """paths: the library of the machine, and those of the machines that it refines."""
        self.ir = ir
        words, room = shape_of(paths[0])
        with with_room(room):
            self.layout = layout_of(ir)
            self.above_layouts = [layout_of(r.abstract) for r in ir.refinements]
        self.fair = fairness(ir)
        self.strong = sum(1 << at for at, fair in enumerate(self.fair) if fair.strong)
        self.weak = (1 << len(self.fair)) - 1 - self.strong
        self.library = Asking(paths[0], words, len(self.fair))
        self.above = [
            GraphLibrary(path, layout.words, len(fairness(made.abstract)))
            for path, layout, made in zip(
                paths[1:], self.above_layouts, ir.refinements, strict=True
            )
        ]
        self.memory = max(memory - RESERVE, memory // 4)
        self.tasks = list(self._tasks())
        self.at = 0
        self.hits: dict[str, Plain] = {}
        self._broken_in: dict[str, tuple[Any, ...]] = {}  # the parameters of a hit
        self.reasons: dict[str, str] = {}
        self.products: dict[str, list[int]] = {}
        self.unfit = False  # it met what it cannot hold or compute
        self.disagrees = ""
        self.full = not self.library.open(self.memory)
        self.grown = False
        self.ended = ""  # why the graph was cut
        self._plain: Telling | None = None

    @property
    def machine(self) -> Compiled:
        """The plain engine's steps and predicates, made when something was found."""
        return self._told.machine

    @property
    def _told(self) -> Telling:
        if self._plain is None:
            self._plain = Telling(self.ir, Compiled(self.ir))
        return self._plain

    def _tasks(self) -> Iterator[Task]:
        names = numbered(self.ir.temporals)
        for temporal in self.ir.temporals:
            split = [(p, Automaton(p, atoms(p))) for p in parts(pushed(temporal.formula, True))]
            for part, automaton in split:
                if len(atoms(part)) > MAX_PREDICATES or len(automaton.promises) > MAX_PROMISES:
                    raise Unsuited(f"{len(atoms(part))} predicates in one part of {temporal.name}")
            for case, params in enumerate(bindings(temporal.params)):
                for part, automaton in split:
                    held = tuple(names[temporal.name, predicate] for predicate in atoms(part))
                    source = Source(ATOMS, case, held)
                    yield Task(temporal.name, automaton, source, temporal, params)
        for at, refinement in enumerate(self.ir.refinements):
            yield Task(refinement.name, None, refinement=at)
            for number, fair in enumerate(fairness(refinement.abstract)):
                automaton = Automaton(fair_formula(fair.strong), (ENABLED,))
                source = Source(CONDITION, number)
                yield Task(refinement.name, automaton, source, refinement=at)
        yield Task("", Automaton(LTL("and"), ()))

    def advance(self, seconds: float) -> dict[str, Plain]:
        """Go on for about so long, or to the end of one task. finished: all are judged."""
        try:
            self._advance(seconds)
        except NoStep as error:
            self.disagrees = str(error)
        except MemoryError:
            self.full = True
        counts = self.library.counts()
        found = {n: counts[n] for n in ("distinct", "generated", "outside", "raised", "edges")}
        left = counts["distinct"] - counts["expanded"]
        pairs = sum(found for found, _ in self.products.values())
        done = bool(self.disagrees) or (self.grown and self.at == len(self.tasks))
        flags = {"finished": done, "full": self.full, "unfit": self.unfit}
        return {**found, "left": left, "pairs": pairs, **flags}

    def _advance(self, seconds: float) -> None:
        if self.full or self.unfit or self.disagrees:
            return
        if not self.grown:
            self.library.limit(int(GRAPH_SHARE * self.memory))
            status = self.library.grow(seconds)
            if status == FULL:
                self.cut("memory ended")
            else:
                self.grown = self._over(status)
            return
        self._share_memory()
        until = time.monotonic() + seconds
        while self.at < len(self.tasks) and (left_s := until - time.monotonic()) > 0:
            if not self._worked(self.tasks[self.at], left_s):
                break
            self.at += 1

    def cut(self, why: str) -> None:
        """Judge what there is of the graph: what breaks a property there does so in all of it."""
        if not self.grown:
            self.ended = why
            self.grown = True

    def report(self) -> dict[str, Plain]:
        """As the plain engine; products: name → how many pairs and edges were looked at.

        disagrees: what the plain engine did not find again. ended: why the graph was cut.
        judged: the properties that are decided, wherever the work ended.
        """
        found: dict[str, Plain] = {"hits": self.hits, "reasons": self.reasons}
        more: dict[str, Plain] = {
            "products": self.products,
            "disagrees": self.disagrees,
            "ended": self.ended,
        }
        more["judged"] = self._decided()
        return {**found, **more}

    def _decided(self) -> list[str]:
        if not self.grown or self.ended or self._may_be_vacuous():
            return []
        left = {task.name for task in self.tasks[self.at :]}
        return [name for name in dict.fromkeys(t.name for t in self.tasks) if name not in left]

    def _share_memory(self) -> None:
        libraries = [self.library, *self.above]
        used = [made.used() for made in libraries]
        for made, own in zip(libraries, used, strict=True):
            made.limit(self.memory - sum(used) + own)

    def _over(self, status: int, above: GraphLibrary | None = None) -> bool:
        """Whether a piece of work is over; notes why it cannot go on."""
        if status == ABOVE and above is not None:
            status = above.status()
        self.full |= status == FULL
        self.unfit |= status == UNFIT
        return status in (DONE, RAISES)

    def _worked(self, task: Task, seconds: float) -> bool:
        """Whether the task is done."""
        if not task.name and not self._may_be_vacuous():
            return True
        known = self._broken_in.get(task.name, task.params) != task.params
        if known or (task.refinement >= 0 and task.name in {*self.hits, *self.reasons}):
            return True
        above = self.above[task.refinement] if task.refinement >= 0 else None
        if task.automaton is None and above is not None:
            return self._mapped(task, above, seconds)
        return self._answered(task, above, seconds)

    def _mapped(self, task: Task, above: GraphLibrary, seconds: float) -> bool:
        refinement = self.ir.refinements[task.refinement]
        if not task.begun:
            task.begun = True
            self.full |= not above.open(self.memory // 4)
            self.library.refine(task.refinement, above)
        if self.full:
            return False
        status = self.library.map(seconds)
        if not self._over(status, above):
            return False
        wrong, at, after = self.library.departed()
        if status == RAISES:
            self.reasons[task.name] = self._raised_mapping(refinement, at)
        elif wrong:
            self.hits[task.name] = self._departure(refinement, wrong, at, after)
        return True

    def _departure(self, refinement: Refinement, wrong: int, at: int, after: int) -> Plain:
        states = self._way(at)
        image, above = self.machine.mappings[refinement.name], refinement.abstract
        if wrong == 1:
            return self._told.passing(
                refinement.name, wrong_start(above, image(states[-1])), states
            )
        states.append(self._state(after))
        why = wrong_step(above, image(states[-2]), image(states[-1]))
        return self._told.passing(refinement.name, why, states)

    def _answered(self, task: Task, above: GraphLibrary | None, seconds: float) -> bool:
        assert task.automaton is not None
        if not task.begun:
            task.begun = True
            self.full |= not self.library.ask(task.automaton, task.source)
        if self.full:
            return False
        status = self.library.answer(seconds)
        if not self._over(status, above):
            return False
        found = self.library.answered()
        pairs, edges = self.products.get(task.name, (0, 0))
        self.products[task.name] = [pairs + found.pairs, edges + found.edges]
        if status == RAISES:
            self.reasons[task.name] = self._raised(task, self.library.raised_at())
        elif found.standing < 0 and found.first < 0:
            if not task.name:
                left = open_to_vacuity(self.ir, self.hits)
                self.reasons.update(dict.fromkeys(left, vacuous(self.ir)))
        elif task.name:
            self._keep(task, self._broken(task, self._lasso(task.automaton, found)))
        return True

    def _keep(self, task: Task, trace: Plain) -> None:
        """Keep the shortest of the parts that break a property with the same parameters."""
        self._broken_in[task.name] = task.params
        known = self.hits.get(task.name)
        if known is None or len(trace["steps"]) < len(known["steps"]):
            self.hits[task.name] = trace

    def _may_be_vacuous(self) -> bool:
        outside = self.library.counts()["outside"]
        return bool(outside and not self.ended and open_to_vacuity(self.ir, self.hits))

    def _broken(self, task: Task, lasso: Lasso) -> Plain:
        states = [self._state(at) for at in lasso.states]
        if task.temporal is not None:
            return self._told.broken(task.temporal, task.params, states, lasso.loop)
        above = self.ir.refinements[task.refinement].abstract
        number = task.source.given
        made = self._told.lasso(
            task.name, unfair(above, fairness(above)[number]), states, lasso.loop
        )
        made["case"] = {**made["case"], "condition": number}
        return made

    def _lasso(self, automaton: Automaton, found: Answer) -> Lasso:
        if found.standing >= 0:
            path = moved(self._prefix(found.standing))
            return Lasso(tuple(path), len(path) - 1)

        def met(goal: Goal, at: int, mask: int) -> bool:
            _, node, _, enabled = self.library.pair(at)
            return shows(goal, at, mask, enabled, automaton.nodes[node].kept)

        def nearest(start: int, goals: Sequence[Goal]) -> Way:
            wanted = {"at": -1, "kept": 0, "weak": 0, "strong": 0}
            for kind, bit in goals:
                wanted[kind] = bit if kind == "at" else wanted[kind] | bit
            way = self.library.nearest(start, found.count, **wanted)
            if not way and self.library.status() == FULL:
                raise MemoryError
            if not way:
                raise NoStep("a fair set of pairs has no way round that shows it")
            return [(at, self.library.taken(label)) for at, label in way]

        goals = goals_of((1 << len(automaton.promises)) - 1, self.weak, self.strong & found.ever)
        path = around(found.first, goals, met, nearest)
        prefix = moved(self._prefix(found.first))
        cycle = moved([self.library.pair(at)[0] for at in path])
        return shortened([*prefix, *cycle[1:]], len(prefix) - 1)

    def _prefix(self, pair: int) -> list[int]:
        """The states of the way from a start to a pair."""
        states: list[int] = []
        while pair != NONE:
            state, _, pair, _ = self.library.pair(pair)
            states.append(state)
        return states[::-1]

    def _way(self, number: int) -> list[State]:
        """The states from a start to the one with this number."""
        states: list[State] = []
        while number != NONE:
            words, number = self.library.state(number)
            states.append(self.layout.unpack(words))
        return states[::-1]

    def _state(self, number: int) -> State:
        return self.layout.unpack(self.library.state(number)[0])

    def _raised(self, task: Task, at: int) -> str:
        state = self._state(at)
        try:
            for function in self.machine.atoms[task.name]:
                function(state, *task.params)
        except Exception as error:
            return f"a predicate of {task.name} raises {type(error).__name__}: {error}"
        raise NoStep(f"no predicate of {task.name} raises")

    def _raised_mapping(self, refinement: Refinement, at: int) -> str:
        try:
            self.machine.mappings[refinement.name](self._state(at))
        except Exception as error:
            return f"the mapping {refinement.name} raises {type(error).__name__}: {error}"
        raise NoStep(f"the mapping {refinement.name} does not raise")


def parts(formula: LTL) -> list[LTL]:
    """The formulas of which one has to hold."""
    if formula.op != "or":
        return [formula]
    return [part for arg in formula.args for part in parts(arg)]


def open_native_liveness(data: Plain, names: Sequence[str], memory: int) -> NativeLiveness:
    """The temporal properties of the machine given as plain data, by libraries in the tree.

    names: of the machine's library, and of those of the machines it refines. Runs in a worker.
    """
    paths = [next(p for base in sys.path if (p := Path(base) / n).is_file()) for n in names]
    return NativeLiveness(MachineIR.from_plain(data), paths, memory)
