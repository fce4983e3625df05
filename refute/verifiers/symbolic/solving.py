"""Queries to Z3: one incremental solver, its limits, and answers that say why they are none.

Where everything is propositional, a finite-domain SAT solver keeps what it has learnt from query to
query: at ten resource managers of two-phase commit it needs half the time of the general solver for
fourteen steps, and less the deeper it goes. The first formula with an integer or a quantifier
moves all of them to the general one. Seeds are fixed. A query has a time limit of its own, and all
of them share a memory limit, so that a query that is too hard is an answer like any other.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import z3

from refute.frozen import frozen
from refute.verifiers.symbolic.folding import Bit, Term, term_of

FINITE = "QF_FD"  # Z3's name for the solver of finite domains
GENERAL = "SMT"
LEAST_S = 0.01
MEMORY_SHARE = 0.8  # of a worker's memory that Z3 may take; the rest is Python's
_PROPOSITIONAL = z3.Probe("is-propositional")


@frozen
class Answer:
    """said: "sat", "unsat" or "unknown", and then why. model: where it is "sat".

    needed: of "unsat", the assumptions that contradict the rest.
    """

    said: str
    why: str = ""
    model: Any = None
    needed: tuple[Term, ...] = ()


class Queries:
    """What is asserted so far, and what is asked about it. Subclasses in tests lie.

    query_s: seconds that one query may take.
    """

    def __init__(self, query_s: float, seed: int = 0, solver: str = FINITE) -> None:
        self.query_s = query_s
        self.seed = seed
        self.solver = solver
        self.asked = 0
        self.spent_s = 0.0
        self._made: Any = _solver(solver, seed)
        self._given: list[Term] = []

    @property
    def given(self) -> tuple[Term, ...]:
        """All that is asserted."""
        return tuple(self._given)

    def add(self, *formulas: Bit) -> None:
        """Assert formulas; Python's True is nothing to assert."""
        new = [term_of(f) for f in formulas if f is not True]
        self._given += new
        if self.solver == FINITE and not all(map(propositional, new)):
            self.solver = GENERAL
            self._made = _solver(GENERAL, self.seed)
            new = self._given
        if new:
            self._made.add(*new)

    def ask(self, assumptions: Sequence[Term] = (), at_most_s: float | None = None) -> Answer:
        """Whether all that is asserted can be true together with the assumptions (literals)."""
        seconds = self.query_s if at_most_s is None else min(self.query_s, at_most_s)
        if seconds <= 0:
            return Answer("unknown", "no time was left for it")
        self._made.set("timeout", int(1000 * max(seconds, LEAST_S)))
        began = time.monotonic()
        self.asked += 1
        try:
            answer = self._answer(assumptions, seconds)
        except (z3.Z3Exception, MemoryError) as error:
            answer = Answer("unknown", f"the solver failed: {_said(error)}")
        self.spent_s += time.monotonic() - began
        return answer

    def _answer(self, assumptions: Sequence[Term], seconds: float) -> Answer:
        found = self._made.check(*assumptions)
        if found == z3.sat:
            return Answer("sat", model=self._made.model())
        if found == z3.unsat:
            core = tuple(self._made.unsat_core()) if assumptions else ()
            return Answer("unsat", needed=core)
        why = self._made.reason_unknown()
        if why in ("timeout", "canceled", "sat.canceled", "interrupted from keyboard"):
            why = f"it was not answered in {seconds:.3g} s"
        return Answer("unknown", why)


def _solver(name: str, seed: int) -> Any:
    made = z3.SolverFor(name) if name == FINITE else z3.Solver()
    made.set("random_seed", seed % 2**31)
    return made


def propositional(formula: Term) -> bool:
    """Whether a formula has Boolean unknowns only, and no quantifier."""
    goal = z3.Goal()
    goal.add(formula)
    return bool(_PROPOSITIONAL(goal))


def limit_memory(size: int) -> None:
    """Z3 gives up a query that would take more than its share of so many bytes."""
    z3.set_param("memory_max_size", max(64, int(size * MEMORY_SHARE) >> 20))


def _said(error: BaseException) -> str:
    found = error.args[0] if error.args else type(error).__name__
    return found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)
