"""Proofs by invariants that are found: small clauses first, larger ones as long as there is time.

The samples are reachable states of small instances. True clauses of one shape after the other are
enumerated, and the largest subset that is inductive at small sizes is sought among them, where
questions are cheap. Only the few of them that the goals lean on are then put to the judge who
speaks for every size: so Z3 sees a handful of quantified formulas, not hundreds. What that judge
refutes is dropped, and the small sizes are asked again. Between small shapes and large ones, a
search from the goals backwards may find lemmas of any shape (`pdr`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from refute.frozen import frozen
from refute.specs.machine.ir import MachineIR, Property
from refute.verifiers.symbolic.alternation import chosen_by
from refute.verifiers.symbolic.candidates import FLAT, QUANTIFIED, RICH
from refute.verifiers.symbolic.clauses import Clause, goal
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.houdini import Bench, Clauses, Inductive, Judge, largest
from refute.verifiers.symbolic.inductive import SolverJudge
from refute.verifiers.symbolic.minimising import loosened, minimised
from refute.verifiers.symbolic.pdr import reachability
from refute.verifiers.symbolic.pool import Pool, Shape, enumerated
from refute.verifiers.symbolic.rewriting import sorts_of
from refute.verifiers.symbolic.rows import Columns
from refute.verifiers.symbolic.sampling_states import broken, sampled

MOST_STATES = 1000  # sampled of one instance
SAMPLING_SHARE = 0.15  # of the time
SHAPE_SHARE = 0.4  # of what is left, for enumerating the clauses of one shape
DIRECTED = 9  # shapes that are tried before a search from the goals backwards
DIRECTED_SHARE = 0.5  # of what is left, for that search
UNIVERSAL_SHARE = 0.3  # of what is left, for many lemmas of one kind at once
MOST_MEMBERS = 3  # of a Sort in an instance that judges
JUDGING = 3  # instances that do

SHAPES = (
    Shape(2, 2, FLAT),
    Shape(3, 2, FLAT),
    Shape(2, 3, FLAT),
    Shape(2, 2, QUANTIFIED),
    Shape(3, 3, FLAT),
    Shape(3, 2, QUANTIFIED),
    Shape(2, 3, QUANTIFIED),
    Shape(4, 2, FLAT),
    Shape(5, 2, FLAT),
    Shape(2, 2, QUANTIFIED, circles=True),
    Shape(3, 3, QUANTIFIED),
    Shape(2, 2, RICH, circles=True),
    Shape(2, 3, RICH),
    Shape(4, 3, FLAT),
    Shape(3, 4, FLAT),
    Shape(3, 4, QUANTIFIED),
    Shape(3, 3, RICH),
    Shape(4, 4, QUANTIFIED),
    Shape(4, 4, RICH),
)


@frozen
class Strengthened:
    """What was found.

    proved: names of goals, each true in every reachable state. lemmas: what was needed besides,
    inductive together with them. tried: how far the search went, in words. why: what stood against
    the goals that are not proved.
    """

    proved: tuple[str, ...]
    lemmas: tuple[Clause, ...]
    samples: tuple[str, ...]
    tried: tuple[str, ...]
    why: str = ""


class Strengthening:
    """One search for invariants from which the goals follow.

    small: instances of closed sizes, small first. told: progress, in words. Raises Outside.
    """

    def __init__(
        self,
        ir: MachineIR,
        small: Sequence[MachineIR],
        seconds: float,
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.ir = ir
        self.until = time.monotonic() + seconds
        self.told = told
        self.tried: list[str] = []
        self.why = ""
        share = SAMPLING_SHARE * seconds / max(1, len(small))
        self.columns = Columns([sampled(one, MOST_STATES, share) for one in small])
        judging = _judging(small)
        self.judges: list[Judge] = list(filter(None, map(_judge, judging)))
        self.larger = [one for one in small if one not in judging and one != small[0]]
        self.last: Judge = SolverJudge(ir)

    def run(self, properties: Sequence[Property]) -> Strengthened:
        """Try one shape of clauses after the other until all properties are proved."""
        false = frozenset[str]().union(*map(broken, self.columns.samples))
        goals = [goal(p) for p in properties if p.name not in false]
        if false:
            self.why = f"false at a small size: {', '.join(sorted(false))}"
        best: Clauses = {}
        for number, shape in enumerate(SHAPES):
            if number == DIRECTED and len(_goals(best)) < len(goals):
                best = self._directed(goals, properties) or best
            left = self.until - time.monotonic()
            if left < 1 or len(_goals(best)) == len(goals):
                break
            self.told(f"lemmas of {shape}")
            until = time.monotonic() + SHAPE_SHARE * left
            pool = enumerated(self.ir, self.columns, shape, until)
            self.tried.append(f"{len(pool.clauses)} lemmas of {shape}")
            for judge in (*self.judges, self.last):
                judge.forget()
            found = self._proved(pool, goals)
            if len(_goals(found)) > len(_goals(best)):
                best = found
        few = best
        if best:
            few = loosened(minimised(best, self.last, self.until), self.last, self.until)
        proved = tuple(goals[-1 - n].goal for n in sorted(_goals(few), reverse=True))
        lemmas = tuple(few[n] for n in sorted(few) if n >= 0)
        return Strengthened(
            proved, lemmas, tuple(map(str, self.columns.samples)), tuple(self.tried), self.why
        )

    def _directed(self, goals: Sequence[Clause], properties: Sequence[Property]) -> Clauses:
        """What is found from the goals backwards, for every size; nothing if there is none."""
        wanted = [p for p in properties if any(g.goal == p.name for g in goals)]
        seconds = DIRECTED_SHARE * (self.until - time.monotonic())
        found = reachability(self.ir, wanted, self.columns.samples, seconds, self.told)
        self.tried.append(": ".join(filter(None, (found.tried, found.why))))
        clauses = {**{-1 - at: g for at, g in enumerate(goals)}, **dict(enumerate(found.lemmas))}
        inductive = found.found and self.last.inductive(clauses, self.until)
        return clauses if inductive else {}

    def _proved(self, pool: Pool, goals: Sequence[Clause]) -> Clauses:
        """An inductive set with goals in it, for every size; nothing if there is none."""
        while time.monotonic() < self.until:
            inside = largest(pool, goals, self.judges, self.until, self.told)
            if not _goals(inside.clauses):
                return {}
            few = minimised(inside.clauses, Bench(self.judges), self.until)
            self.told(f"{len(few)} lemmas and goals for every size")
            try:
                ruling = self.last.ruling(few, self.until)
            except TimeoutError:
                break
            if ruling.inductive:
                return few
            if ruling.refuted and self.larger:
                self.told("a larger size")
                self.judges += filter(None, [_judge(self.larger.pop(0))])
                continue
            more = self._with_universal(few, inside, goals)
            if more.clauses:
                return more.clauses
            gone = ruling.refuted | ruling.undecided
            self.why = ruling.why or self.why
            pool.kill(n for n in gone if n >= 0)
            if not any(n >= 0 for n in gone):
                return {}
        return {}

    def _with_universal(
        self, few: Clauses, inside: Inductive, goals: Sequence[Clause]
    ) -> Inductive:
        """The largest inductive subset, for every size, of these and all that choose nothing."""
        own = [n for n, c in inside.clauses.items() if n in few or not chosen_by(c)]
        small = Pool()
        small.clauses = [inside.clauses[n] for n in own if n >= 0]
        small.alive = set(range(len(small.clauses)))
        left = self.until - time.monotonic()
        until = time.monotonic() + UNIVERSAL_SHARE * left
        return largest(small, goals, [self.last], until, self.told)


def _goals(clauses: Clauses) -> list[int]:
    return [n for n in clauses if n < 0]


def _judge(ir: MachineIR) -> SolverJudge | None:
    """Who speaks for one size; None where formulas cannot say what the machine does there."""
    try:
        return SolverJudge(ir)
    except Outside:
        return None


def _judging(small: Sequence[MachineIR]) -> list[MachineIR]:
    """The smallest instances and one of the larger ones: they drop most of what has to go."""
    fit = [ir for ir in small if all(len(k.members) <= MOST_MEMBERS for k in sorts_of(ir).values())]
    return fit[:1] + fit[1:][-(JUDGING - 1) :]
