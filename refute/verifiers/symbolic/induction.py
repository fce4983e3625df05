"""k-induction: what holds for k states in a row holds after the next step, from any state at all.

All invariants are assumed together in the first k states of a path, and asked for in the last. One
that fails there is no longer assumed, until what is left is inductive together: the largest such
set. Properties of steps, errors and deadlocks are asked for last, where the invariants that were
proved hold in the last state too; nothing leans on them.

Where the question about all of them is not answered within its share of the time, each is asked for
alone, first with little time and then with what is left. One that is not decided stays open, and is
not assumed either: what was proved with its help is asked again without.

A path that fails is a counterexample to induction. It begins in any state, reachable or not, so it
says nothing about the machine but that these invariants are not enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import z3

from refute.frozen import frozen
from refute.specs.machine.commuting import expressions
from refute.specs.machine.ir import Property
from refute.verifiers.symbolic.folding import Term, implies, not_
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.goals import Goal, Goals, switched
from refute.verifiers.symbolic.reading import true_in
from refute.verifiers.symbolic.singling import Alone, Hypothesis, variables_of
from refute.verifiers.symbolic.solving import Answer, Queries
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.unrolling import Path
from refute.verifiers.symbolic.world import World

JOINT_SHARE = 0.4  # of the time that is left, for one question about many goals
ALONE_SHARES = (0.3, 0.9)  # of it, for all of them one by one: at first, and then what is left


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
        self.proved |= attempt.proofs(kept)
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
        self._given = list(self.queries.given)  # without what is assumed
        self._leaning: dict[str, frozenset[str]] = {}  # of what was proved alone, on what
        self.before: dict[str, Hypothesis] = {}
        self.after: dict[str, Hypothesis] = {}
        for name, prop in induction.invariants.items():
            try:
                before = self._hypothesis(prop, self.path.worlds[:-1])
                after = self._hypothesis(prop, self.path.worlds[-1:])
            except Outside as reason:
                induction.goals.outside[name] = str(reason)
                continue
            self.before[name], self.after[name] = before, after
        self.named = {str(h.literal): h.name for h in (*self.before.values(), *self.after.values())}

    def _hypothesis(self, prop: Property, worlds: Sequence[World]) -> Hypothesis:
        """What has to be assumed so that an invariant holds in these states."""
        judged = [self.of.encoding.holds(prop, world) for world in worlds]
        facts = tuple(fact for one in judged for fact in one.facts)
        holds = tuple(one.holds for one in judged)
        literal = z3.FreshBool(prop.name)
        self.queries.add(*facts, *(implies(literal, one) for one in holds))
        return Hypothesis(prop.name, literal, facts, holds, variables_of(prop.predicate))

    def largest(self, names: Sequence[str]) -> tuple[str, ...]:
        """The largest set of these invariants that is inductive with those proved before, as far
        as that was decided."""
        goals = {name: self._broken(name) for name in names if name in self.before}
        kept = list(goals)
        while kept:
            self.of.told(f"{self.k}-induction of {', '.join(kept)}")
            wanted = [goals[name] for name in kept]
            answer, named = self._ask(wanted, self._assumed(kept), JOINT_SHARE)
            if answer.said == "unknown":
                return self._each(goals, answer.why)
            if answer.said == "unsat":
                break
            broken = self._met(named, answer.model)
            for goal in broken:
                self._note(goal, answer.model, kept)
            kept = [n for n in kept if n not in {goal.name for goal in broken}]
        return tuple(kept)

    def _each(self, goals: Mapping[str, Goal], why: str) -> tuple[str, ...]:
        """An inductive set of invariants, each asked for alone."""
        shown = self._leaning
        kept: list[str] = []
        for share in ALONE_SHARES:
            kept, undecided = list(goals), False
            while True:
                asked = [
                    n for n in kept if n not in shown or not shown[n] <= {*kept, *self.of.proved}
                ]
                if not asked:
                    break
                gone = []
                for at, name in enumerate(asked):
                    seconds = self._seconds(share) / (len(asked) - at)
                    answer = self._alone(goals[name], self._hypotheses(kept), seconds)
                    if answer.said == "unsat":
                        shown[name] = frozenset(self._core(answer))
                        continue
                    gone.append(name)
                    if answer.said == "sat":
                        self._note(goals[name], answer.model, kept)
                        self.of.open.pop(name, None)
                    else:
                        self.of.open[name], undecided = answer.why or why, True
                if not gone:
                    break
                kept = [name for name in kept if name not in gone]
            if not undecided:
                break
        for name in kept:
            self.of.open.pop(name, None)
        return tuple(kept)

    def proofs(self, names: Sequence[str]) -> dict[str, Proved]:
        """Of invariants that are inductive together, for each what its proof needs."""
        found = {}
        for at, name in enumerate(names):
            if name in self._leaning:
                core = self._leaning[name] - {name}
                needed = tuple(n for n in self.of.invariants if n in core)
            else:
                share = JOINT_SHARE / (len(names) - at)
                answer, _ = self._ask([self._broken(name)], self._assumed(names), share)
                needed = self._needed(answer, name, names)
            found[name] = Proved(self.k, needed)
        return found

    def others(self, names: Sequence[str]) -> dict[str, Proved]:
        """What of these, which are no invariants, follows where all proved invariants hold."""
        found: dict[str, Proved] = {}
        known = [n for n in self.of.proved if n in self.after]
        goals = {name: self._goals(name) for name in names}
        left = [name for name in names if name not in self.of.goals.outside]
        for share in ALONE_SHARES:
            asked, left = left, []
            for at, name in enumerate(asked):
                self.of.told(f"{self.k}-induction of {name}")
                answer, goal = self._decided(goals[name], share / (len(asked) - at))
                self.of.open.pop(name, None)
                if answer.said == "unsat":
                    found[name] = Proved(self.k, self._needed(answer, name, known))
                elif answer.said == "unknown":
                    self.of.open[name] = answer.why
                    left.append(name)
                elif goal is not None:
                    self._note(goal, answer.model, ())
        return found

    def _goals(self, name: str) -> list[Goal]:
        """The goals of this name at the end of the path."""
        count = len(self.queries.given)
        found = self.of.goals.at(self.path, [name])
        self._given += self.queries.given[count:]  # of the steps from the last state
        return found

    def _decided(self, goals: Sequence[Goal], share: float) -> tuple[Answer, Goal | None]:
        """Whether one of the goals of one name is met, asked together, then each alone."""
        until = time.monotonic() + self._seconds(share)
        answer, named = self._ask(goals, self._assumed(()), share * JOINT_SHARE)
        if answer.said == "sat":
            return answer, self._met(named, answer.model)[0]
        if answer.said == "unsat":
            return answer, None
        needed: list[Term] = []
        for at, goal in enumerate(goals):
            seconds = (until - time.monotonic()) / (len(goals) - at)
            answer = self._alone(goal, self._hypotheses(()), seconds)
            if answer.said != "unsat":
                return answer, goal
            needed += answer.needed
        return Answer("unsat", needed=tuple(needed)), None

    def _broken(self, name: str) -> Goal:
        """That an invariant is not true in the last state, be it that it raises there."""
        judged = self.of.encoding.holds(self.of.invariants[name], self.path.last)
        return Goal(name, not_(judged.holds), f"{name} is not True", judged.facts)

    def _hypotheses(self, names: Sequence[str]) -> list[Hypothesis]:
        """These in all states but the last one, and what was proved before in all of them."""
        known = [n for n in self.of.proved if n in self.before]
        found = [self.before[n] for n in dict.fromkeys((*names, *known))]
        return found + [self.after[n] for n in known]

    def _assumed(self, names: Sequence[str]) -> list[Term]:
        return [one.literal for one in self._hypotheses(names)]

    def _seconds(self, share: float) -> float:
        return share * (self.until - time.monotonic())

    def _ask(
        self, goals: Sequence[Goal], assumed: Sequence[Term], share: float
    ) -> tuple[Answer, Sequence[Goal]]:
        """Whether any of the goals is met, and the goals as a model says which.

        share: of the time that is left.
        """
        wanted, named = switched(goals, self.queries)
        if wanted is False:
            return Answer("unsat"), named
        return self.queries.ask([*assumed, wanted], self._seconds(share)), named

    def _alone(self, goal: Goal, hypotheses: Sequence[Hypothesis], seconds: float) -> Answer:
        """What solvers say that have seen nothing but this goal."""
        ways = tuple(bit for bit in self.path.moves[-1].taken if not isinstance(bit, bool))
        alone = Alone(self.of.new_queries, tuple(self._given), ways)
        return alone.ask(goal, hypotheses, self._variables(goal), seconds)

    def _variables(self, goal: Goal) -> frozenset[str]:
        """What a goal speaks of; all variables where that is not said by one predicate."""
        encoding = self.path.encoding
        if goal.further is not None:
            return variables_of(*expressions(encoding.action(goal.further.name).body))
        known = {p.name: p.predicate for p in encoding.flat.properties}
        name = goal.predicate or goal.name
        return variables_of(known[name]) if name in known else frozenset(encoding.kinds)

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
        core = self._core(answer)
        return tuple(n for n in self.of.invariants if n in core and n != name)

    def _core(self, answer: Answer) -> set[str]:
        """The names of the invariants that an answer needs."""
        named = {str(literal) for literal in answer.needed}
        return {name for literal, name in self.named.items() if literal in named}

    def _note(self, goal: Goal, model: Any, kept: Sequence[str]) -> None:
        """The first counterexample of each goal is kept: that with the most assumed."""
        known = [n for n in self.of.proved if n in self.before]
        if goal.name not in self.of.steps or self.of.steps[goal.name].path.length < self.k:
            self.of.steps[goal.name] = Step(goal, model, self.path, (*kept, *known))
