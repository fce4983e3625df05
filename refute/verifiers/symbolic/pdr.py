"""Property-directed reachability with clauses over members of Sorts of any size.

Frames are sets of lemmas; frame i holds of every state that at most i steps lead to. A state of the
last frame that breaks a property becomes its diagram; where no state of the frame before leads into
the diagram, what was needed of it is a new lemma; otherwise that state's diagram has to be ruled
out first. When a frame's lemmas are all kept by every step, they are inductive (A. Bradley: "SAT-
based model checking without unrolling", VMCAI 2011; Karbyshev and others, CAV 2015, for diagrams).

A diagram that contains a start, or a reachable state of a small instance, cannot be ruled out by
any clause over these conditions. That ends the search: it says nothing about the property.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator, Sequence

from refute.frozen import frozen
from refute.specs.machine.ir import Expr, MachineIR, Param, Property
from refute.specs.machine.lower import used
from refute.verifiers.symbolic.clauses import Clause, Literal
from refute.verifiers.symbolic.diagrams import Cube, weight
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.frames import Frames, GaveUp, Undecided
from refute.verifiers.symbolic.rows import Columns, Rows
from refute.verifiers.symbolic.sampling_states import Sample

QUERY_S = 5.0
MOST_FRAMES = 40


@frozen
class Invariant:
    """lemmas: inductive together with the properties, which they imply; empty where `why` says why
    none were found. tried: what was done, in words."""

    lemmas: tuple[Clause, ...]
    tried: str
    why: str = ""

    @property
    def found(self) -> bool:
        """Whether the search has ended with an inductive invariant."""
        return not self.why


class Reachability:
    """One search, a question at a time. told: progress, in words. samples: reachable states."""

    def __init__(
        self,
        ir: MachineIR,
        properties: Sequence[Property],
        samples: Sequence[Sample] = (),
        told: Callable[[str], None] = lambda _: None,
        query_s: float = QUERY_S,
    ) -> None:
        """Raises Outside."""
        self.frames = Frames(ir, properties, query_s)
        self.columns = Columns(samples)
        self.told = told
        ranges = {name for _, name in self.frames.diagrams.functions}
        self.values = {k for n, k in self.frames.sorts.items() if n in ranges}  # values of maps
        self.last = 1  # the frame in hand
        self.diagrams = 0
        self.lemmas: tuple[Clause, ...] | None = None
        self._seen: dict[tuple[Param, ...], tuple[int, dict[Expr, int]]] = {}

    def run(self, until: float) -> Invariant:
        """Search until there is an invariant, or until it cannot go on. until: of `monotonic`."""
        self.frames.until = until
        try:
            for _ in self._search():
                self.told(self.progress)
        except GaveUp as why:
            return Invariant((), self.progress, str(why))
        except Outside as why:
            return Invariant((), self.progress, str(why))
        return Invariant(self.lemmas or (), self.progress)

    @property
    def progress(self) -> str:
        """How far it is, in words."""
        counts = f"{self.diagrams} diagrams, {len(self.frames.level)} lemmas"
        return f"frame {self.last} of reachability: {counts}, {self.frames.asked} questions"

    def _search(self) -> Iterator[None]:
        if self.frames.bad(0) is not None:
            raise GaveUp("a start breaks a property")
        while self.lemmas is None:
            cube = self.frames.bad(self.last)
            if cube is not None:
                yield from self._block(cube)
                continue
            self._push()
            if self.lemmas is None:
                self._settle()
            self.last += 1
            if self.last > MOST_FRAMES:
                raise GaveUp(f"more than {MOST_FRAMES} frames")
            yield

    def _push(self) -> None:
        """Let lemmas that steps keep belong to the next frame; a frame that keeps all of its own is
        an invariant."""
        level = self.frames.level
        for number in range(1, self.last + 1):
            own = [lemma for lemma, at in level.items() if at == number]
            for lemma in own:
                if self.frames.stays(lemma, number):
                    level[lemma] = number + 1
            if all(level[lemma] > number for lemma in own):
                self.lemmas = tuple(lemma for lemma, at in level.items() if at > number)
                return

    def _settle(self) -> None:
        """The largest inductive part of all lemmas may be enough long before frames agree."""
        kept = tuple(self.frames.level)
        left: tuple[Clause, ...] = ()
        while left != kept:
            left, kept = kept, tuple(lemma for lemma in kept if self._stays(lemma, kept))
        if not self.frames.breaks(kept):
            self.lemmas = kept

    def _stays(self, lemma: Clause, kept: tuple[Clause, ...]) -> bool:
        try:
            return self.frames.stays(lemma, kept)
        except Undecided:
            return False

    def _block(self, bad: Cube) -> Iterator[None]:
        """Rule out a state of the last frame, and first what leads there."""
        waiting: list[tuple[int, int, Cube]] = [(self.last, 0, bad)]
        count = 0
        while waiting:
            number, _, cube = waiting[0]
            self.diagrams += 1
            if not self.frames.inside(cube, number):
                heapq.heappop(waiting)
                continue
            self._reached(cube, number)
            found = self._leads(cube, number)
            if isinstance(found, Cube):
                count += 1
                heapq.heappush(waiting, (number - 1, count, found))
            else:
                heapq.heappop(waiting)
                self._learn(self._general(*found, number), number)
            yield

    def _leads(self, cube: Cube, number: int) -> Cube | tuple[Cube, frozenset[Literal]]:
        """What leads into a cube; or the cube, and what of it is enough that nothing does.

        Quantifiers are asked about only where the rest is not enough.
        """
        plain = [li for li in cube.literals if not _hard(li)[0]]
        enough = self._ruled_out(plain, cube, number)
        if enough is not None:
            return cube.fewer(plain), enough
        found = self.frames.leads(cube, number - 1)
        return found if isinstance(found, Cube) else (cube, found)

    def _reached(self, cube: Cube, number: int) -> None:
        """Raise GaveUp where nothing can rule out the cube."""
        if number == 0 or self.frames.starts(cube) is None:
            steps = self.last - number
            raise GaveUp(f"a start is like a state {steps} steps before one that breaks a property")
        if not self._plausible(cube.literals, cube.params):
            raise GaveUp("a reachable state is like one that leads to one that breaks a property")

    def _plausible(self, literals: Sequence[Literal], params: tuple[Param, ...]) -> bool:
        """Whether no sample has members of which all of the literals are true."""
        if params not in self._seen:
            conditions = self.frames.diagrams.conditions(params)
            rows = Rows(self.columns, params, conditions)
            columns = dict(zip(rows.conditions, rows.columns(), strict=True))
            self._seen[params] = (1 << len(rows.found)) - 1, columns
        left, columns = self._seen[params]
        for literal in literals:
            if literal.condition not in columns:
                return True  # it raises somewhere, and is not judged
            column = columns[literal.condition]
            left &= column if literal.positive else ~column
        return not left

    def _general(self, cube: Cube, needed: frozenset[Literal], number: int) -> Cube:
        """A part of the cube that is ruled out as well, with few literals."""
        cube, needed = self._fewer_members(cube, needed, number)
        needed |= self.frames.starts(cube) or frozenset()
        kept = list(cube.literals)
        for literal in reversed(cube.literals):
            fewer = [li for li in kept if li != literal]
            if literal not in needed and self._plausible(fewer, cube.params):
                kept = fewer
        for literal in sorted(kept, key=_hard, reverse=True):
            if literal in kept:
                kept = self._without(cube, kept, literal, number)
        return cube.fewer(kept)

    def _ruled_out(
        self, literals: Sequence[Literal], cube: Cube, number: int
    ) -> frozenset[Literal] | None:
        """What of some literals of a cube keeps it out of a frame; None if nothing is known to."""
        if not literals or not self._plausible(literals, cube.params):
            return None
        part = cube.fewer(literals)
        try:
            first = self.frames.starts(part)
            found = None if first is None else self.frames.kept_out(part, number - 1)
        except Undecided:
            return None
        return None if first is None or found is None else first | found

    def _fewer_members(
        self, cube: Cube, needed: frozenset[Literal], number: int
    ) -> tuple[Cube, frozenset[Literal]]:
        """The cube without what is said of some members, if the rest is ruled out as well.

        Members that are values of maps come first: what is said of them can be said of the maps.
        """
        for param in sorted(cube.params, key=lambda p: p.type not in self.values):
            fewer = [li for li in cube.literals if param.name not in used(li.condition)]
            found = self._ruled_out(fewer, cube, number)
            if found is not None:
                cube, needed = cube.fewer(fewer), found
        return cube, needed

    def _without(
        self, cube: Cube, kept: list[Literal], literal: Literal, number: int
    ) -> list[Literal]:
        """The literals that are left where this one can go; all of them where it cannot."""
        fewer = [li for li in kept if li != literal]
        found = self._ruled_out(fewer, cube, number)
        if found is None:
            return kept
        least = [li for li in fewer if li in found]
        return least if least and self._plausible(least, cube.params) else fewer

    def _learn(self, cube: Cube, number: int) -> None:
        """A lemma, in as many frames as it is true of."""
        lemma = self.frames.learn(cube.clause())
        level = self.frames.level
        while number < self.last and self.frames.stays(lemma, number):
            number += 1
        level[lemma] = max(number, level[lemma])
        self.told(self.progress)


def _hard(literal: Literal) -> tuple[int, int]:
    return weight(literal.condition)


def reachability(
    ir: MachineIR,
    properties: Sequence[Property],
    samples: Sequence[Sample],
    seconds: float,
    told: Callable[[str], None] = lambda _: None,
) -> Invariant:
    """Search so long for lemmas from which the properties follow."""
    until = time.monotonic() + seconds
    try:
        search = Reachability(ir, properties, samples, told)
    except Outside as why:
        return Invariant((), "reachability by diagrams was not begun", str(why))
    return search.run(until)
