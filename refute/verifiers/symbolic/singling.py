"""A goal asked for by itself, of a solver that has seen nothing else, where many were too many.

One question about many goals is answered the fastest, if it is answered. Where it is not, one goal
among them is mostly what is hard, or some hypothesis with quantifiers that this goal has no need
of. So a goal is asked for alone: with no hypothesis, with those that speak of its variables, with
all; and at last for each of the ways that lead to the state it is about. What cannot be with few
hypotheses cannot be with more. A model counts where all of them hold.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from refute.frozen import frozen
from refute.specs.machine.ir import Expr
from refute.verifiers.symbolic.folding import Bit, Term, implies
from refute.verifiers.symbolic.goals import Goal
from refute.verifiers.symbolic.solving import Answer, Queries

WHOLE_SHARE = 0.5  # of the time of a goal, before it is asked for each way


@frozen
class Hypothesis:
    """What may be assumed. literal: stands for it, and names it in an answer.

    holds: what it implies. variables: those of the machine that it speaks of.
    """

    name: str
    literal: Term
    facts: tuple[Term, ...]
    holds: tuple[Bit, ...]
    variables: frozenset[str]


@frozen
class Alone:
    """What is asked, and of whom. given: what is asserted. ways: one of these is true."""

    new_queries: Callable[[], Queries]
    given: tuple[Term, ...]
    ways: tuple[Term, ...] = ()

    def ask(
        self,
        goal: Goal,
        hypotheses: Sequence[Hypothesis],
        variables: frozenset[str],
        seconds: float,
    ) -> Answer:
        """Whether the goal is met where all hypotheses hold.

        variables: that it speaks of. needed: the literals of the hypotheses that an "unsat" needs.
        """
        if goal.found is False:
            return Answer("unsat")
        sets = list(_sets(hypotheses, variables))
        whole = seconds * (WHOLE_SHARE if len(self.ways) > 1 else 1.0)
        answer = self._tried(goal, sets, (), whole)
        if answer.said != "unknown" or len(self.ways) < 2:
            return answer
        needed: list[Term] = []
        until = time.monotonic() + seconds - whole
        for at, way in enumerate(self.ways):
            left = (until - time.monotonic()) / (len(self.ways) - at)
            answer = self._tried(goal, sets, (way,), left)
            if answer.said != "unsat":
                return answer
            needed += [literal for literal in answer.needed if literal not in needed]
        return Answer("unsat", needed=tuple(needed))

    def _tried(
        self, goal: Goal, sets: Sequence[Sequence[Hypothesis]], way: Sequence[Term], seconds: float
    ) -> Answer:
        """With more hypotheses each time, until the goal is not met, or all were assumed."""
        answer = Answer("unknown", "no time was left for it")
        until = time.monotonic() + seconds
        for at, hypotheses in enumerate(sets):
            queries = self.new_queries()
            queries.add(*self.given, *goal.facts, goal.found, *way)
            for one in hypotheses:
                queries.add(*one.facts, *(implies(one.literal, holds) for holds in one.holds))
            left = (until - time.monotonic()) / (len(sets) - at)
            answer = queries.ask([one.literal for one in hypotheses], left)
            if answer.said == "unsat":
                break
        return answer


def _sets(
    hypotheses: Sequence[Hypothesis], variables: frozenset[str]
) -> Iterator[Sequence[Hypothesis]]:
    """None of them, those that share variables, all; each set once."""
    sharing = [one for one in hypotheses if one.variables & variables]
    if hypotheses:
        yield ()
    if 0 < len(sharing) < len(hypotheses):
        yield sharing
    yield hypotheses


def variables_of(*expressions: Expr) -> frozenset[str]:
    """The variables of the machine that expressions read."""
    found: set[Any] = set()
    open_ = list(expressions)
    while open_:
        one = open_.pop()
        if one.op in ("read", "next"):
            found.add(one.data)
        open_ += one.args
    return frozenset(found)
