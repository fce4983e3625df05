"""Refinement of a machine that hides part of its state: where its processes are, and their locals.

A mapping gives its variables only, so several of its states may fit what was seen so far. All of
them are kept (the subset construction): a step is allowed if one of them has it, perhaps after
steps that cannot be seen. That decides starts and steps exactly, for finite sets. Fairness is
decided where one state at most ever fits; otherwise another run of the other machine might be fair.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from refute.specs.machine.fairness import fairness
from refute.specs.machine.ir import Refinement
from refute.verifiers.model.automaton import Automaton
from refute.verifiers.model.compiled import State
from refute.verifiers.model.fair_cycles import Lasso, Product, StateGraph
from refute.verifiers.model.fairness import Graph
from refute.verifiers.model.refinement import (
    ENABLED,
    Abstract,
    Departure,
    fair_formula,
    unfair,
    wrong_start,
    wrong_step,
)

MOST_FITTING = 100_000  # states of the other machine that may fit one run
Fitting = frozenset[State]


class Undecided(Exception):
    """Why a refinement is not decided."""


class Shadowing:
    """Judges one refinement of a machine with hidden state, on a machine's graph.

    nodes: pairs of a state's number and of the number of the set of states that fit there.
    """

    def __init__(self, graph: Graph, states: StateGraph, refinement: Refinement) -> None:
        self.graph = graph
        self.states = states
        self.name = refinement.name
        self.abstract = Abstract(refinement.abstract)
        self.image = graph.machine.mappings[refinement.name]
        self.images = [self.image(state) for state in graph.states]
        self.sets: dict[Fitting, int] = {}
        self.fitting: list[Fitting] = []
        self.nodes: list[tuple[int, int]] = []
        self.parents: list[int] = []
        self.next: list[list[tuple[int, int]]] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._moved: dict[tuple[int, State], int] = {}

    def departure(self) -> Departure | None:
        """The first way in which the machine is no refinement; None when it is one.

        Raises Undecided.
        """
        above = self.abstract.ir
        for at in self.states.starts:
            image = self.images[at]
            found = self._set(s for s in self.abstract.starts if self.abstract.seen(s) == image)
            if not self.fitting[found]:
                return Departure(wrong_start(above, image), at)
            self._meet(at, found, -1)
        while len(self.next) < len(self.nodes):
            after = self._expand(len(self.next))
            if after is not None:
                path = self._path(len(self.next))
                before, image = self.images[path[-1]], self.image(after)
                why = f"{wrong_step(above, before, image)}, after what came before"
                return Departure(why, path[-1], after, path=path)
        conditions = fairness(above)
        if conditions and any(len(found) > 1 for found in self.fitting):
            most = max(map(len, self.fitting))
            raise Undecided(
                f"starts and steps are those of {above.name}, but whether its fairness is kept is "
                f"open: up to {most} of its states, which differ in what a mapping does not give, "
                "fit the same run; every step of its processes would have to change a variable"
            )
        found_ways = (self._unfair(number) for number in range(len(conditions)))
        return next((departure for departure in found_ways if departure), None)

    def _set(self, states: Iterable[State]) -> int:
        """The number of the set of these states and all that unseen steps lead to from them."""
        reached = dict.fromkeys(states)
        queue = list(reached)
        for state in queue:
            seen = self.abstract.seen(state)
            for after in self.abstract.steps(state):
                if after not in reached and self.abstract.seen(after) == seen:
                    reached[after] = None
                    queue.append(after)
            if len(queue) > MOST_FITTING:
                raise Undecided(f"more than {MOST_FITTING} of its states fit the same run")
        made = frozenset(reached)
        if made not in self.sets:
            self.sets[made] = len(self.fitting)
            self.fitting.append(made)
        return self.sets[made]

    def _after(self, number: int, image: State) -> int:
        """The number of the set that fits when this is seen next."""
        if (number, image) not in self._moved:
            steps = (a for s in self.fitting[number] for a in self.abstract.steps(s))
            self._moved[number, image] = self._set(
                a for a in steps if self.abstract.seen(a) == image
            )
        return self._moved[number, image]

    def _meet(self, at: int, fitting: int, parent: int) -> int:
        node = self._numbers.setdefault((at, fitting), len(self.nodes))
        if node == len(self.nodes):
            self.nodes.append((at, fitting))
            self.parents.append(parent)
        return node

    def _expand(self, node: int) -> State | None:
        """Take every step from a node; the first state that none of the fitting ones leads to."""
        at, fitting = self.nodes[node]
        before, found = self.images[at], []
        for after, mask in self.graph.rows[at].items():
            image = self.image(after)
            then = fitting if image == before else self._after(fitting, image)
            if not self.fitting[then]:
                return after
            inside = self.graph.numbers.get(after)
            if inside is not None:
                found.append((self._meet(inside, then, node), mask))
        self.next.append(found)
        return None

    def _path(self, node: int) -> tuple[int, ...]:
        """The numbers of the states on the way to a node."""
        return tuple(self.nodes[at][0] for at in self._ancestors(node))[::-1]

    def _ancestors(self, node: int) -> Iterator[int]:
        while node >= 0:
            yield node
            node = self.parents[node]

    def _unfair(self, number: int) -> Departure | None:
        """A fair behaviour that is not fair to a condition of the other machine."""
        fair, bit = fairness(self.abstract.ir)[number], 1 << number
        above = (self.states.weak | self.states.strong).bit_length()
        shadows = [next(iter(self.fitting[f])) for _, f in self.nodes]
        edges = [
            [
                (n, mask | (1 << above if self._taken(shadows[at], shadows[n]) & bit else 0))
                for n, mask in row
            ]
            for at, row in enumerate(self.next)
        ]
        graph = dataclasses.replace(
            self.states,
            edges=edges,
            enabled=[self.states.enabled[at] for at, _ in self.nodes],
            starts=[at for at, parent in enumerate(self.parents) if parent < 0],
        )
        able = [self.abstract.enabled(shadow) & bit for shadow in shadows]
        automaton = Automaton(fair_formula(fair.strong), (ENABLED,))
        lasso = Product(graph, automaton, lambda at: int(able[at] > 0), 1 << above).lasso()
        if lasso is None:
            return None
        passed = Lasso(tuple(self.nodes[at][0] for at in lasso.states), lasso.loop)
        return Departure(unfair(self.abstract.ir, fair), lasso=passed, condition=number)

    def _taken(self, before: State, after: State) -> int:
        return self.abstract.steps(before).get(after, 0)
