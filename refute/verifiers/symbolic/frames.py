"""What property-directed reachability asks Z3: about states in a frame, and steps out of one.

One solver for each action, and one each for the states of frames and the starts. Lemmas and what a
diagram says are asserted behind switches, so that a question is a choice of switches, and the core
of its refutation says what of the diagram was needed.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

import z3

from refute.specs.machine.ir import MachineIR, Property
from refute.specs.machine.types import OPEN, OPEN_ORDERED
from refute.verifiers.symbolic.clauses import Clause, Literal
from refute.verifiers.symbolic.diagrams import MOST_MEMBERS, Atoms, Cube, Diagrams, constant
from refute.verifiers.symbolic.folding import Bit, Term, all_of, any_of, implies, not_, term_of
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.reading import universe_of
from refute.verifiers.symbolic.rewriting import sorts_of
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.world import World

START, BAD = "start", "bad"
Frame = int | tuple[Clause, ...]  # a frame by its number, or any lemmas


class GaveUp(Exception):
    """The search ends without an answer; the message says why."""


class Undecided(GaveUp):
    """Z3 does not answer one question."""


class Place:
    """A solver, and the state that it is asked about. name: of the action that leads there."""

    def __init__(self, name: str, given: Sequence[Bit], atoms: Atoms) -> None:
        self.name = name
        self.atoms = atoms
        self.solver = z3.Solver()
        self.solver.set("random_seed", 0)
        self.switches: dict[Any, Term] = {}
        self.literals: dict[str, Literal] = {}  # by the names of their switches
        self.add(*given)

    def add(self, *formulas: Bit) -> None:
        """Assert formulas."""
        new = [term_of(f) for f in formulas if f is not True]
        if new:
            self.solver.add(*new)

    def switch(self, key: Any, formula: Bit) -> Term:
        """What to assume for a formula to be true, made once for each key."""
        if key not in self.switches:
            made = self.switches[key] = z3.Bool(f"{self.name}:{len(self.switches)}")
            self.add(implies(made, formula))
        return self.switches[key]

    def cube(self, cube: Cube) -> list[Term]:
        """What to assume for a cube to be true in the place's state."""
        found = [self._literal(literal) for literal in cube.literals]
        for at, a in enumerate(cube.params):
            for b in (p for p in cube.params[:at] if p.type == a.type):
                key = (a.name, b.name)
                if key not in self.switches:
                    apart = constant(a.name, a.type) != constant(b.name, b.type)
                    self.switch(key, apart)
                found.append(self.switches[key])
        return found

    def _literal(self, literal: Literal) -> Term:
        """The switch of a literal; by its identity, as equality looks at all of an expression."""
        if id(literal) not in self.switches:
            formula = self.atoms.literal(literal)
            self.add(*self.atoms.facts)
            self.atoms.facts.clear()
            made = self.switch(id(literal), formula)
            self.literals[made.decl().name()] = literal  # which keeps it alive
        return self.switches[id(literal)]

    def at_most(self, sort: str, count: int) -> Term:
        """What to assume for a Sort to have no more members."""
        kind = z3.DeclareSort(sort)
        some = z3.Const(f"{sort}?", kind)
        members = [z3.Const(f"{sort}~{at}", kind) for at in range(count)]
        return self.switch((sort, count), z3.ForAll([some], z3.Or([some == m for m in members])))


class Frames:
    """The questions about one machine and its properties. Raises Outside.

    level: of each lemma, the last frame that it belongs to.
    """

    def __init__(self, ir: MachineIR, properties: Sequence[Property], query_s: float) -> None:
        self.sorts = sorts_of(ir)
        closed = [n for n, k in self.sorts.items() if k.kind not in (OPEN, OPEN_ORDERED)]
        if closed:
            raise Outside(f"reachability by diagrams with {closed[0]} of a known size")
        self.query_s = query_s
        self.until = 0.0
        self.asked = 0
        self.level: dict[Clause, int] = {}
        self.opposites: dict[int, Cube] = {}  # of the lemmas, by their identity
        self.encoding = encoding = Encoding(ir)
        self.diagrams = Diagrams(ir)
        self.before = before = encoding.arbitrary("before")
        admitted = encoding.admitted(before)
        given = (*before.facts, *admitted.facts, admitted.holds)
        start = encoding.start(START)
        self.start = Place(START, start.facts, self._atoms(start))
        self.states = Place("states", given, self._atoms(before))
        self.actions = [
            Place(step.name, (*given, *step.facts, step.enabled), self._atoms(step.after))
            for step in encoding.steps(before, "step")
            if step.enabled is not False
        ]
        judged = [encoding.holds(p, before) for p in properties]
        self.states.add(*(fact for j in judged for fact in j.facts))
        self.states.switch(BAD, any_of(not_(j.holds) for j in judged))
        first = encoding.initial(before)
        for place in (self.states, *self.actions):
            place.add(*first.facts)
            place.switch(START, first.holds)
            for sort in self.sorts:
                for count in range(1, MOST_MEMBERS + 1):
                    place.at_most(sort, count)

    def _atoms(self, world: World) -> Atoms:
        return Atoms(world, self.sorts)

    def learn(self, lemma: Clause) -> Clause:
        """A lemma that is true in the starts, as the object that stands for it from now on."""
        for known in self.level:
            if known == lemma:
                return known
        literals = tuple(Literal(li.condition, not li.positive) for li in lemma.literals)
        self.opposites[id(lemma)] = Cube(lemma.params, literals)
        self.level[lemma] = 0
        return lemma

    def outside(self, cube: Cube) -> Bit:
        """That the state before is not in a cube, whatever its members are called."""
        inside = [self.states.atoms.literal(literal) for literal in cube.literals]
        members = [constant(p.name, p.type) for p in cube.params]
        for a, b in itertools.combinations(members, 2):
            if a.sort() == b.sort():
                inside.append(a != b)
        found = not_(all_of(inside))
        return z3.ForAll(members, found) if members and not isinstance(found, bool) else found

    def frame(self, frame: Frame, place: Place) -> list[Term]:
        """What to assume for the state before to be in a frame; the starts are frame 0."""
        if frame == 0:
            return [place.switches[START]]
        if isinstance(frame, int):
            frame = tuple(lemma for lemma, level in self.level.items() if level >= frame)
        return [self._lemma(lemma, place) for lemma in frame]

    def _lemma(self, lemma: Clause, place: Place) -> Term:
        if id(lemma) not in place.switches:
            place.switch(id(lemma), self.outside(self.opposites[id(lemma)]))
        return place.switches[id(lemma)]

    def ask(self, place: Place, assumed: Sequence[Term]) -> bool:
        """Whether the place has a state where all of it is true. Raises GaveUp."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise GaveUp("its time ended")
        place.solver.set("timeout", int(1000 * max(0.01, min(self.query_s, left))))
        self.asked += 1
        found = place.solver.check(*assumed)
        if found == z3.unknown:
            what = place.name if place in self.actions else "the frames"
            raise Undecided(f"Z3 does not decide a question about {what}")
        return bool(found == z3.sat)

    def smallest(self, place: Place, assumed: Sequence[Term]) -> Cube:
        """The diagram of the state before in a smallest model of what can be. Raises GaveUp."""
        fixed = list(assumed)
        for sort in self.sorts:
            for count in range(1, MOST_MEMBERS + 1):
                limit = place.at_most(sort, count)
                if self.ask(place, [*fixed, limit]):
                    fixed.append(limit)
                    break
            else:
                raise GaveUp(f"a state that has more than {MOST_MEMBERS} members of {sort}")
        if not self.ask(place, fixed):
            raise GaveUp("Z3 contradicts itself")
        model = place.solver.model()
        return self.diagrams.of(model, universe_of(model, self.sorts), self.states.atoms)

    def breaks(self, frame: Frame) -> bool:
        """Whether a state of a frame breaks a property. Raises GaveUp."""
        assumed = [*self.frame(frame, self.states), self.states.switches[BAD]]
        return self.ask(self.states, assumed)

    def bad(self, number: int) -> Cube | None:
        """A state of a frame that breaks a property; None if there is none. Raises GaveUp."""
        assumed = [*self.frame(number, self.states), self.states.switches[BAD]]
        return self.smallest(self.states, assumed) if self.ask(self.states, assumed) else None

    def inside(self, cube: Cube, number: int) -> bool:
        """Whether some state of a frame is in a cube. Raises GaveUp."""
        assumed = [*self.frame(number, self.states), *self.states.cube(cube)]
        return self.ask(self.states, assumed)

    def starts(self, cube: Cube) -> frozenset[Literal] | None:
        """What of a cube rules it out in the starts; None if it is not. Raises GaveUp."""
        if self.ask(self.start, self.start.cube(cube)):
            return None
        return self._needed(self.start)

    def leads(self, cube: Cube, number: int) -> Cube | frozenset[Literal]:
        """A state of a frame outside a cube that some step takes into it, or what of the cube
        rules that out. Raises GaveUp."""
        found = self._into(cube, number, self.smallest)
        return found if isinstance(found, Cube) else frozenset(found)

    def kept_out(self, cube: Cube, number: int) -> frozenset[Literal] | None:
        """What of a cube rules out that such a step exists; None if one does. Raises GaveUp."""
        found = self._into(cube, number, lambda place, assumed: cube)
        return None if isinstance(found, Cube) else frozenset(found)

    def _into(
        self, cube: Cube, number: int, met: Callable[[Place, Sequence[Term]], Cube]
    ) -> Cube | set[Literal]:
        needed: set[Literal] = set()
        outside = self.outside(cube)
        for place in self.actions:
            assumed = [*self.frame(number, place), *place.cube(cube)]
            place.solver.push()  # no switch is made inside: it would be forgotten
            try:
                place.add(outside)
                if self.ask(place, assumed):
                    return met(place, assumed)
                needed |= self._needed(place)
            finally:
                place.solver.pop()
        return needed

    def stays(self, lemma: Clause, frame: Frame) -> bool:
        """Whether a lemma is true after every step out of a frame. Raises GaveUp."""
        cube = self.opposites[id(lemma)]
        return not any(
            self.ask(place, [*self.frame(frame, place), *place.cube(cube)])
            for place in self.actions
        )

    def _needed(self, place: Place) -> frozenset[Literal]:
        names = (term.decl().name() for term in place.solver.unsat_core())
        return frozenset(place.literals[name] for name in names if name in place.literals)
