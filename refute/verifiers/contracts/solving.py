"""Solving: one obligation, one query; limits by Z3's own count of its work, not by the clock.

The same query costs the same count on every machine, so a verdict does not depend on how busy one
is; the clock only caps. E-matching alone is asked first, since it either proves a goal soon or
gives up; then Z3 may look for models of quantifiers as well. Bit operations on bounded ints are
asked as bit vectors before.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence

import z3

from refute.verifiers.contracts.bits import has_bits, proved_by_bits
from refute.verifiers.contracts.run import Obligation, Run
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.terms import Term, fold_bool, is_false, is_true, lift, neg

QUICK = 400_000
THOROUGH = 12_000_000
SHORT = 200_000
BITS_SHARE = 0.3  # share of the time for bit vectors


@dataclasses.dataclass
class Answer:
    """proved, refuted (by a model that may be spurious) or open, and why. seconds: of CPU time."""

    status: str
    seconds: float = 0.0
    reason: str = ""
    model: Term = None


def _solver(effort: int, wall_s: float, mbqi: bool) -> Term:
    solver = z3.Solver()
    solver.set("rlimit", effort)
    solver.set("timeout", max(1, int(wall_s * 1000)))
    solver.set("random_seed", 0)
    solver.set("mbqi", mbqi)
    return solver


def ask(
    axioms: Sequence[Term], facts: Sequence[Term], goal: Term, wall_s: float, effort: int
) -> Answer:
    """Whether the goal follows."""
    started, cpu = time.monotonic(), time.process_time()
    goal = fold_bool(goal)
    if is_true(goal) or any(is_false(f) for f in facts):
        return Answer("proved")
    given = [lift(f) for f in facts if not is_true(f)]
    if proved_by_bits(axioms, given, lift(goal), wall_s * BITS_SHARE):
        return Answer("proved", time.process_time() - cpu)
    quantified = any(map(_quantified, (*axioms, *given, lift(goal))))
    answer = Answer("open", 0.0, "the budget ended")
    for mbqi in (False, True) if quantified else (True,):
        left = wall_s - (time.monotonic() - started)
        if left <= 0:
            break
        solver = _solver(effort, left, mbqi)
        solver.add(*axioms, *given, lift(neg(goal)))
        result = solver.check()
        if result == z3.unsat:
            answer = Answer("proved")
            break
        if result == z3.sat:
            answer = Answer("refuted", model=solver.model())
            break
        answer = Answer("open", reason=solver.reason_unknown())
    answer.seconds = time.process_time() - cpu
    return answer


def _quantified(term: Term) -> bool:
    todo, seen = [term], set()
    while todo:
        node = todo.pop()
        if z3.is_quantifier(node):
            return True
        if node.get_id() not in seen:
            seen.add(node.get_id())
            todo += node.children()
    return False


def discharge(run: Run, obligation: Obligation, wall_s: float, effort: int = THOROUGH) -> Answer:
    """Whether an obligation holds."""
    state = obligation.state
    return ask(run.context.axioms, [*state.path, *state.facts], obligation.goal, wall_s, effort)


def holds_easily(run: Run, state: State, goal: Term) -> bool:
    """Whether a goal is proved with little effort."""
    facts = [*state.path, *state.facts]
    solver_answer = _quick(run.context.axioms, facts, goal)
    return bool(solver_answer == z3.unsat)


def _quick(axioms: Sequence[Term], facts: Sequence[Term], goal: Term) -> Term:
    goal = fold_bool(goal)
    if is_true(goal) or any(is_false(f) for f in facts):
        return z3.unsat
    solver = _solver(QUICK, 2.0, False)
    solver.add(*axioms, *(lift(f) for f in facts), lift(neg(goal)))
    return solver.check()


def satisfiable(run: Run, state: State, wall_s: float) -> Term:
    """Z3's answer to whether execution can come to this state."""
    if state.dead:
        return z3.unsat
    given = [lift(f) for f in (*state.path, *state.facts) if not is_true(f)]
    bits = any(map(has_bits, given))
    if bits and proved_by_bits(run.context.axioms, given, z3.BoolVal(False), wall_s):
        return z3.unsat
    answer = z3.unknown
    for mbqi in (False, True):  # what is impossible mostly shows without looking for a model
        solver = _solver(SHORT // 20 if bits else SHORT, wall_s, mbqi)
        # What axioms say of bit operations that no fact speaks of rules nothing out, and is hard.
        solver.add(*(a for a in run.context.axioms if bits or not has_bits(a)), *given)
        answer = solver.check()
        if answer != z3.unknown:
            break
    return answer
