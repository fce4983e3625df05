"""k-induction: what holds for k states in a row holds after the next step, from any state at all.

All invariants are assumed together in the first k states of a path, and asked for in the last. One
that fails there is no longer assumed, until what is left is inductive together: the largest such
set. Properties of steps, errors and deadlocks are asked for last, where the invariants that were
proved hold in the last state too; nothing leans on them.

A path that fails is a counterexample to induction. It begins in any state, reachable or not, so it
says nothing about the machine but that these invariants are not enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import z3

from refute.frozen import frozen
from refute.specs.machine.ir import Property
from refute.verifiers.symbolic.folding import Term, implies, not_
from refute.verifiers.symbolic.goals import Goal, Goals, switched
from refute.verifiers.symbolic.reading import true_in
from refute.verifiers.symbolic.solving import Answer, Queries
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.unrolling import Path
from refute.verifiers.symbolic.world import World


class Contradicted(Exception):
    """The solver's model does not do what it is a model of."""


@frozen
class Step:
    """A counterexample to induction. model: of `path`, whose last state breaks the goal.

    assumed: names of the invariants that all but its last state satisfy.
    """

    goal: Goal
    model: Any
    path: Path
    assumed: tuple[str, ...]


@frozen
class Proved:
    """By k-induction; needed: the other invariants that the proof leans on."""

    k: int
    needed: tuple[str, ...]


class Induction:
    """What of a machine is k-inductive, for one k after the other.

    invariants: what may be assumed, and is to be proved with it. goals: all that is asked for.
    open_: why a goal was not decided.
    """

    def __init__(
        self,
        encoding: Encoding,
        goals: Goals,
        invariants: Sequence[Property],
        new_queries: Callable[[], Queries],
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.encoding = encoding
        self.goals = goals
        self.invariants = {p.name: p for p in invariants}
        self.new_queries = new_queries
        self.told = told
        self.proved: dict[str, Proved] = {}
        self.steps: dict[str, Step] = {}
        self.open: dict[str, str] = {}

    @property
    def left(self) -> tuple[str, ...]:
        """Goals that are not proved."""
        gone = {*self.proved, *self.goals.outside}
        return tuple(name for name in (*self.invariants, *self._others) if name not in gone)

    @property
    def _others(self) -> tuple[str, ...]:
        return tuple(n for n in self.goals.names if n not in self.invariants)

    def run(self, k: int, until: float, broken: Collection[str] = ()) -> None:
        """Prove by k-induction what can be. until: of `time.monotonic`. Raises Outside.

        broken: goals that some behaviour breaks. None of the others may be broken by one of less
        than k steps.
        """
        self.open.clear()
        attempt = _Attempt(self, k, until)
        left = [n for n in (*self.invariants, *self._others) if n not in {*self.proved, *broken}]
        kept = attempt.largest([n for n in left if n in self.invariants])
        self.proved |= attempt.proofs(kept or ())
        self.proved |= attempt.others([n for n in left if n not in self.invariants])


class _Attempt:
    """One k. What is assumed has a literal each, so that a core names what was needed."""

    def __init__(self, induction: Induction, k: int, until: float) -> None:
        self.of = induction
        self.k = k
        self.until = until
        self.queries = induction.new_queries()
        first = induction.encoding.arbitrary("w0")
        self.path = Path(induction.encoding, self.queries, first, "w")
        for _ in range(k):
            self.path.extend()
        self.named: dict[str, str] = {}  # of the literals, the invariant that each assumes
        self.before = {n: self._literal(n, self.path.worlds[:-1]) for n in induction.invariants}
        self.after = {n: self._literal(n, self.path.worlds[-1:]) for n in induction.invariants}

    def _literal(self, name: str, worlds: Sequence[World]) -> Term:
        """What has to be assumed so that an invariant holds in these states."""
        made = z3.FreshBool(name)
        self.named[str(made)] = name
        for world in worlds:
            judged = self.of.encoding.holds(self.of.invariants[name], world)
            self.queries.add(*judged.facts, implies(made, judged.holds))
        return made

    def largest(self, names: Sequence[str]) -> tuple[str, ...] | None:
        """The largest set of these invariants that is inductive with those proved before.

        None where that was not decided.
        """
        goals = [self._broken(name) for name in names]
        kept = list(names)
        while kept:
            self.of.told(f"{self.k}-induction of {', '.join(kept)}")
            answer, named = self._ask([g for g in goals if g.name in kept], self._assumed(kept))
            if answer.said == "unknown":
                self.of.open |= dict.fromkeys(kept, answer.why)
                return None
            if answer.said == "unsat":
                break
            broken = self._met(named, answer.model)
            for goal in broken:
                self._note(goal, answer.model, kept)
            kept = [n for n in kept if n not in {goal.name for goal in broken}]
        return tuple(kept)

    def proofs(self, names: Sequence[str]) -> dict[str, Proved]:
        """Of invariants that are inductive together, for each what its proof needs."""
        found = {}
        for name in names:
            answer, _ = self._ask([self._broken(name)], self._assumed(names))
            found[name] = Proved(self.k, self._needed(answer, name, names))
        return found

    def others(self, names: Sequence[str]) -> dict[str, Proved]:
        """What of these, which are no invariants, follows where all proved invariants hold."""
        found = {}
        known = [n for n in self.of.proved if n in self.after]
        for name in names:
            self.of.told(f"{self.k}-induction of {name}")
            goals = self.of.goals.at(self.path, [name])
            if name in self.of.goals.outside:
                continue
            answer, named = self._ask(goals, self._assumed(()))
            if answer.said == "unsat":
                found[name] = Proved(self.k, self._needed(answer, name, known))
            elif answer.said == "unknown":
                self.of.open[name] = answer.why
            else:
                self._note(self._met(named, answer.model)[0], answer.model, ())
        return found

    def _broken(self, name: str) -> Goal:
        """That an invariant is not true in the last state, be it that it raises there."""
        judged = self.of.encoding.holds(self.of.invariants[name], self.path.last)
        return Goal(name, not_(judged.holds), f"{name} is not True", judged.facts)

    def _assumed(self, names: Sequence[str]) -> list[Term]:
        """These in all states but the last one, and what was proved before in all of them."""
        known = [n for n in self.of.proved if n in self.before]
        found = [self.before[n] for n in (*names, *known)]
        return found + [self.after[n] for n in known]

    def _ask(self, goals: Sequence[Goal], assumed: Sequence[Term]) -> tuple[Answer, Sequence[Goal]]:
        """Whether any of the goals is met, and the goals as a model says which."""
        wanted, named = switched(goals, self.queries)
        if wanted is False:
            return Answer("unsat"), named
        return self.queries.ask([*assumed, wanted], self.until - time.monotonic()), named

    def _met(self, named: Sequence[Goal], model: Any) -> list[Goal]:
        """The goals that a model meets."""
        found = [goal for goal in named if true_in(model, goal.found)]
        if not found:
            raise Contradicted(f"a model of {self.k}-induction breaks nothing it was asked for")
        return found

    def _needed(self, answer: Answer, name: str, names: Sequence[str]) -> tuple[str, ...]:
        """The other invariants in the core; all of them where no core was found."""
        if answer.said != "unsat":
            return tuple(n for n in names if n != name)
        core = {self.named.get(str(literal), name) for literal in answer.needed}
        return tuple(n for n in self.of.invariants if n in core and n != name)

    def _note(self, goal: Goal, model: Any, kept: Sequence[str]) -> None:
        """The first counterexample of each goal is kept: that with the most assumed."""
        known = [n for n in self.of.proved if n in self.before]
        if goal.name not in self.of.steps or self.of.steps[goal.name].path.length < self.k:
            self.of.steps[goal.name] = Step(goal, model, self.path, (*kept, *known))
