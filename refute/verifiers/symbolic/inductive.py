"""Whether clauses are inductive, by Z3: for every size where Sorts are open, or for one size.

For each action one solver assumes all clauses before a step and asks for a step after which one of
them is false; each clause has a switch of its own, so one answer may refute many. With open Sorts
an answer "unknown" is split into one question for each clause, and only what is then still unknown
counts as undecided.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import z3

from refute.frozen import frozen
from refute.specs.machine.ir import MachineIR
from refute.verifiers.symbolic.clauses import Clause
from refute.verifiers.symbolic.folding import Bit, Term, address, any_of, implies, not_
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.houdini import Clauses, Judge, Ruling
from refute.verifiers.symbolic.rewriting import by_keys, resized, resized_params, sorts_of
from refute.verifiers.symbolic.solving import Answer, Queries
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.world import World

QUERY_S = 10.0  # for one question, unless told otherwise
SINGLE_S = 2.0  # for one clause after a question about all of them was not answered


@frozen
class _Place:
    """Where clauses have to hold: in the starts, or after the steps of one action.

    given: what may be assumed. before: whether clauses may be, of the state before.
    """

    name: str
    world: World
    given: tuple[Bit, ...]
    before: bool


class SolverJudge(Judge):
    """Asks Z3 about one instance. query_s: the limit of one question."""

    def __init__(self, ir: MachineIR, query_s: float = QUERY_S) -> None:
        self.encoding = Encoding(ir)
        self.sizes = sorts_of(ir)
        self.query_s = query_s
        self.before = self.encoding.arbitrary("before")
        admitted = self.encoding.admitted(self.before)
        facts = (*self.before.facts, *admitted.facts, admitted.holds)
        start = self.encoding.start("start")
        self.places = [_Place("the start", start, start.facts, False)]
        self.places += [
            _Place(step.name, step.after, (*facts, *step.facts, step.enabled), True)
            for step in self.encoding.steps(self.before, "step")
        ]
        # By identity, as a clause is large and hashed slowly; the clause is kept, so it stays one.
        self._known: dict[tuple[str, int], tuple[Bit, tuple[Term, ...], Clause]] = {}
        self.asked = 0

    def holds(self, clause: Clause, world: World, name: str) -> tuple[Bit, tuple[Term, ...]]:
        """The clause in a state, and facts about what it speaks of. Raises Outside."""
        key = (name, id(clause))
        if key not in self._known:
            params = resized_params(clause.params, self.sizes)
            predicate = by_keys(resized(clause.predicate, self.sizes))
            judged = self.encoding.judged(predicate, params, world)
            self._known[key] = judged.holds, judged.facts, clause
        return self._known[key][:2]

    def ruling(self, clauses: Clauses, until: float) -> Ruling:
        """One pass through the starts and all actions."""
        refuted: set[int] = set()
        undecided = self._outside(clauses, until)
        if undecided:  # without them others may not be inductive: they go first
            return Ruling(frozenset(), frozenset(undecided), _why(undecided))
        for place in self.places:
            rest = {n: c for n, c in clauses.items() if n not in refuted and n not in undecided}
            found, unknown = self._at(place, clauses, rest, until)
            refuted |= found
            undecided |= dict.fromkeys(unknown, f"Z3 does not decide {place.name}")
        return Ruling(frozenset(refuted), frozenset(undecided), _why(undecided))

    def forget(self) -> None:
        """Let go of the formulas of clauses."""
        self._known.clear()

    def _outside(self, clauses: Clauses, until: float) -> dict[int, str]:
        """The clauses that cannot be said in formulas, each with the reason.

        Raises TimeoutError: it is here that formulas are made.
        """
        found: dict[int, str] = {}
        for number, clause in clauses.items():
            if time.monotonic() > until:
                raise TimeoutError("there was no time to write all lemmas as formulas")
            try:
                self.holds(clause, self.before, "before")
                for place in self.places:
                    self.holds(clause, place.world, place.name)
            except Outside as reason:
                found[number] = str(reason)
        return found

    def _at(
        self, place: _Place, assumed: Clauses, asked: Clauses, until: float
    ) -> tuple[set[int], set[int]]:
        """Which of the asked clauses are false at the place, and of which it is unknown."""
        solver = self._solver(place, assumed if place.before else {})
        falsified = self._switches(solver, place, asked)
        refuted: set[int] = {n for n, switch in falsified.items() if switch is True}
        falsified = {n: s for n, s in falsified.items() if s is not True and s is not False}
        while falsified:
            some = z3.Bool(f"some of {len(falsified)} are false")
            solver.add(implies(some, any_of(falsified.values())))
            answer = self._ask(solver, some, until, self.query_s)
            if answer.said == "unsat":
                return refuted, set()
            if answer.said == "unknown":
                single, unknown = self._one_by_one(solver, falsified, until)
                return refuted | single, unknown
            seen = {n for n, s in falsified.items() if z3.is_true(answer.model.eval(s, True))}
            refuted |= seen
            falsified = {n: s for n, s in falsified.items() if n not in seen}
            if not seen:
                return refuted, set(falsified)
        return refuted, set()

    def _one_by_one(
        self, solver: Queries, falsified: Mapping[int, Term], until: float
    ) -> tuple[set[int], set[int]]:
        answers = {
            n: self._ask(solver, switch, until, SINGLE_S).said for n, switch in falsified.items()
        }
        found = {n for n, said in answers.items() if said == "sat"}
        return found, {n for n, said in answers.items() if said == "unknown"}

    def _solver(self, place: _Place, assumed: Clauses) -> Queries:
        solver = Queries(self.query_s)
        solver.add(*place.given)
        for clause in assumed.values():
            holds, facts = self.holds(clause, self.before, "before")
            solver.add(*facts, holds)
        return solver

    def _switches(self, solver: Queries, place: _Place, asked: Clauses) -> dict[int, Bit]:
        """For each clause a term that is true only where the clause is false at the place."""
        made: dict[int, Bit] = {}
        for number, clause in asked.items():
            holds, facts = self.holds(clause, place.world, place.name)
            solver.add(*facts)
            if holds is True or holds is False:
                made[number] = not holds
                continue
            switch = z3.Bool(f"clause {number} is false")
            solver.add(switch == z3.Not(holds) if self._closed else z3.Implies(switch, not_(holds)))
            made[number] = switch
        return made

    @property
    def _closed(self) -> bool:
        return not any(kind.kind.startswith("open") for kind in self.sizes.values())

    def _ask(self, solver: Queries, wanted: Term, until: float, limit_s: float) -> Answer:
        left_s = min(limit_s, until - time.monotonic())
        if left_s <= 0:
            return Answer("unknown", "no time is left")
        self.asked += 1
        return solver.ask([wanted], left_s)

    def needed(self, clauses: Clauses, wanted: int, until: float) -> frozenset[int] | None:
        """The clauses in unsatisfiable cores of what has to hold after each action."""
        found: set[int] = set()
        for place in self.places:
            if not place.before:
                continue
            core = self._core(place, clauses, wanted, until)
            if core is None:
                return None
            found |= core
        return frozenset(found)

    def _core(
        self, place: _Place, clauses: Clauses, wanted: int, until: float
    ) -> frozenset[int] | None:
        solver = Queries(self.query_s)
        solver.add(*place.given)
        holds, facts = self.holds(clauses[wanted], place.world, place.name)
        solver.add(*facts, not_(holds))
        switches: dict[int, Term] = {}
        for number, clause in clauses.items():
            assumed, known = self.holds(clause, self.before, "before")
            switches[number] = z3.Bool(f"clause {number}")
            solver.add(*known, implies(switches[number], assumed))
        answer = solver.ask(tuple(switches.values()), until - time.monotonic())
        if answer.said != "unsat":
            return None
        needed = set(map(address, answer.needed))
        return frozenset(n for n, switch in switches.items() if address(switch) in needed)


def _why(undecided: Mapping[int, str]) -> str:
    return "; ".join(dict.fromkeys(undecided.values()))
