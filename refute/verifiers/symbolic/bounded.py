"""Bounded search: a shortest trace for every goal, one depth after the other.

At each depth all goals that are still open are asked for together. A goal that cannot be met at one
depth is asserted there, which is what the next depth is learnt from. Nothing found up to a depth
says just that. Only where no behaviour is as long as the path has everything been searched.

Where that one question is not answered within its share of the time, the goals are asked for one by
one. A goal that is not decided then is given up at this depth, and the others go on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import z3

from refute.frozen import frozen
from refute.verifiers.symbolic.canonical import Canonical, alike, names_matter
from refute.verifiers.symbolic.folding import Term, all_of, implies, not_
from refute.verifiers.symbolic.goals import Goal, Goals, switched
from refute.verifiers.symbolic.reading import true_in
from refute.verifiers.symbolic.solving import FINITE, Answer, Queries
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.unrolling import Path

JOINT_SHARE = 0.3  # of the time that is left, for one question about all goals
SINGLE_SHARES = (0.1, 0.5)  # of it, for those of one depth one by one: at first, and then


@frozen
class Found:
    """A goal that a model meets: at the end of the path as it then was."""

    goal: Goal
    model: Any
    length: int


class Bounded:
    """The search, a depth at a time. depth: the deepest one that was searched, -1 for none.

    unanswered: goals that were given up, with the depth and the reason. stopped: why it cannot go
    on. ended: no behaviour is longer than `depth` steps. vacuous: there is no initial state within
    the constraint. told: called with a word on what is being done.
    """

    def __init__(
        self,
        encoding: Encoding,
        goals: Goals,
        queries: Queries,
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.goals = goals
        self.queries = queries
        self.told = told
        self.depth = -1
        self.stopped = ""
        self.ended = False
        self.vacuous = False
        self.found: dict[str, Found] = {}
        self.unanswered: dict[str, tuple[int, str]] = {}
        self.path = Path(encoding, queries, encoding.start("s0"), "s")
        self.symmetry = alike(encoding.ir)
        self._canonical: Canonical | None = None
        self._apart: frozenset[str] = frozenset()
        if self.symmetry.classes and not self.symmetry.lazy:
            literal = z3.Bool("canonical")
            self._canonical = Canonical(self.symmetry, literal, queries)
            self._apart = names_matter(encoding.ir, self.symmetry)

    @property
    def open(self) -> tuple[str, ...]:
        """The names of the goals that are looked for."""
        skipped = {*self.found, *self.unanswered, *self.goals.outside}
        return tuple(name for name in self.goals.names if name not in skipped)

    @property
    def renamed(self) -> str:
        """The Sorts whose members are exchanged: of each kind of behaviour one is enough."""
        return "" if self._canonical is None else self.symmetry.text

    @property
    def over(self) -> bool:
        """Whether there is nothing more to look for, or no way to."""
        return bool(self.stopped) or self.ended or self.vacuous or not self.open

    def settle(self, names: Mapping[str, object]) -> None:
        """These goals are known never to be met: they are asserted, and no longer looked for."""
        for name in names:
            self.goals.outside.setdefault(name, "")

    def deeper(self, until: float) -> None:
        """Search one depth more, or say why not. until: of `time.monotonic`. Raises Outside."""
        if self.depth >= 0:
            self.path.extend()
            if self._canonical is not None:
                self._canonical.follow(self.path.encoding, self.path.moves[-1])
        depth = self.depth + 1
        self.told(f"depth {depth}")
        if not self._possible(depth, until):
            return
        apart = self._apart
        assumed = [] if self._canonical is None else [self._canonical.literal]
        self._decide(depth, [n for n in self.goals.names if n not in apart], assumed, until)
        self._decide(depth, [n for n in self.goals.names if n in apart], [], until)
        if self.unanswered and not self.open:
            last = [why for at, why in self.unanswered.values() if at == depth]
            self.stopped = self.stopped or (last[0] if last else "")
        if depth == 0 and not self.stopped:
            self._begin(until)
        if not self.stopped:
            self.depth = depth

    def _begin(self, until: float) -> None:
        """Whether some start is within the constraint; those outside of it were judged."""
        inside = self.path.encoding.admitted(self.path.last)
        if inside.holds is True:
            return
        literal = z3.FreshBool("inside")
        self.queries.add(*inside.facts, implies(literal, inside.holds))
        answer = self.queries.ask([literal], until - time.monotonic())
        self.vacuous = answer.said == "unsat"
        if answer.said == "unknown":
            self.stopped = f"whether there is a start within the constraint: {answer.why}"

    def _decide(
        self, depth: int, names: Sequence[str], assumed: Sequence[Term], until: float
    ) -> None:
        """All goals with these names that are met at this depth."""
        while not self.stopped:
            goals = self.goals.at(self.path, [n for n in self.open if n in names])
            answer, named = self._asked(goals, assumed, self._joint(until))
            if answer.said == "unsat":
                self._never(goals, assumed)
                return
            if answer.said == "unknown":
                self._singly(depth, goals, assumed, until)
                return
            if not self._sooner(goals, named, answer.model, assumed, until):
                self._note(named, answer.model)

    def _joint(self, until: float) -> float:
        """Until when one question about all goals may take; a SAT solver gets no better by less."""
        now = time.monotonic()
        return until if self.queries.solver == FINITE else now + JOINT_SHARE * (until - now)

    def _never(self, goals: Sequence[Goal], assumed: Sequence[Term]) -> None:
        """What is learnt for the next depths."""
        self.queries.add(*(implies(all_of(assumed), not_(g.found)) for g in goals))

    def _singly(
        self, depth: int, goals: Sequence[Goal], assumed: Sequence[Term], until: float
    ) -> None:
        """Each goal for itself; those in the last state before those of a further step."""
        left = sorted(goals, key=lambda goal: goal.further is not None)
        for share in SINGLE_SHARES:
            asked, left = [g for g in left if g.name not in self.found], []
            for at, goal in enumerate(asked):
                now = time.monotonic()
                limit = now + share * (until - now) / (len(asked) - at)
                answer, named = self._asked([goal], assumed, limit)
                if answer.said == "unsat":
                    self._never([goal], assumed)
                elif answer.said == "sat":
                    self._note(named, answer.model)
                else:
                    left.append(goal)
                    self.unanswered[goal.name] = depth, f"depth {depth}: {answer.why}"
            open_ = {goal.name for goal in left} - {*self.found}
            self.unanswered = {
                n: said for n, said in self.unanswered.items() if said[0] < depth or n in open_
            }

    def _asked(
        self, goals: Sequence[Goal], assumed: Sequence[Term], until: float
    ) -> tuple[Answer, list[Goal]]:
        wanted, named = switched(goals, self.queries)
        if wanted is False:
            return Answer("unsat"), named
        return self.queries.ask([*assumed, wanted], until - time.monotonic()), named

    def _sooner(
        self,
        goals: Sequence[Goal],
        named: Sequence[Goal],
        model: Any,
        assumed: Sequence[Term],
        until: float,
    ) -> bool:
        """Whether a goal that was met by a further step is met in the last state already."""
        longer = {g.name for g in named if g.further is not None and true_in(model, g.found)}
        ends = [g for g in goals if g.further is None and g.name in longer]
        answer, shorter = self._asked(ends, assumed, until)
        if answer.said == "sat":
            self._note(shorter, answer.model)
        return answer.said == "sat"

    def _possible(self, depth: int, until: float) -> bool:
        """Whether there is a behaviour of this length, as far as anybody can tell."""
        answer = self.queries.ask(at_most_s=until - time.monotonic())
        if answer.said == "unsat":
            self.vacuous, self.ended = depth == 0, depth > 0
        elif answer.said == "unknown":
            self.stopped = f"depth {depth}: {answer.why}"
        return answer.said == "sat"

    def _note(self, goals: Sequence[Goal], model: Any) -> None:
        met = [goal for goal in goals if true_in(model, goal.found)]
        for goal in met:
            self.found.setdefault(goal.name, Found(goal, model, self.path.length))
        if not met:
            self.stopped = "a bug of refute: a model meets none of the goals it was asked for"
