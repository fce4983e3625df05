"""The largest inductive subset of some candidates, and what of it is needed.

Houdini (Flanagan and Leino, "Houdini, an annotation assistant for ESC/Java", FME 2001): assume all
candidates before a step; those that are false after it, or in a start, are not inductive together
with the others; drop them and begin again. What is left is the largest subset that is inductive.
The properties to be proved are candidates like the others: they are proved if they are left.

Who answers whether a set is inductive is a `Judge`. Cheap ones for small closed sizes come first
and drop most of what has to go; the last one has to speak for every size that is claimed.
"""

from __future__ import annotations

import abc
import time
from collections.abc import Callable, Mapping, Sequence

from refute.frozen import frozen
from refute.verifiers.symbolic.clauses import Clause
from refute.verifiers.symbolic.pool import Pool

Clauses = Mapping[int, Clause]


@frozen
class Ruling:
    """What a judge found of some clauses.

    refuted: those that some start, or some step from a state with all of them, makes false.
    undecided: those of which it could not say, in time, that none does, with why.
    Neither: the clauses are inductive, as far as this judge speaks.
    """

    refuted: frozenset[int] = frozenset()
    undecided: frozenset[int] = frozenset()
    why: str = ""

    @property
    def inductive(self) -> bool:
        """Whether nothing speaks against the clauses."""
        return not self.refuted and not self.undecided


class Judge(abc.ABC):
    """Says whether clauses are inductive together. Where time ends it may raise TimeoutError."""

    @abc.abstractmethod
    def ruling(self, clauses: Clauses, until: float) -> Ruling:
        """One round. Those refuted may be some of all that could be. until: of `monotonic`."""

    @abc.abstractmethod
    def needed(self, clauses: Clauses, wanted: int, until: float) -> frozenset[int] | None:
        """Clauses of an inductive set from which, before any step, the wanted one follows behind
        it: as few as are easy to find. None if time ended."""

    def inductive(self, clauses: Clauses, until: float) -> bool:
        """Whether nothing speaks against the clauses; False if time ended."""
        try:
            return self.ruling(clauses, until).inductive
        except TimeoutError:
            return False

    def forget(self) -> None:  # noqa: B027
        """Other clauses come now; what is remembered of these is in the way."""


class Bench(Judge):
    """Several judges as one: inductive is what is inductive for all of them."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        self.judges = tuple(judges)

    def ruling(self, clauses: Clauses, until: float) -> Ruling:
        """The first ruling that speaks against something."""
        for judge in self.judges:
            found = judge.ruling(clauses, until)
            if not found.inductive:
                return found
        return Ruling()

    def needed(self, clauses: Clauses, wanted: int, until: float) -> frozenset[int] | None:
        """What some of the judges needs."""
        found: frozenset[int] = frozenset()
        for judge in self.judges:
            needed = judge.needed(clauses, wanted, until)
            if needed is None:
                return None
            found |= needed
        return found

    def forget(self) -> None:
        """All of them do."""
        for judge in self.judges:
            judge.forget()


@frozen
class Inductive:
    """An inductive set: the clauses by number, negative ones the goals that were kept.

    undecided: goals that were dropped without a counterexample, with why. late: time ended, and
    nothing is known to be inductive.
    """

    clauses: Clauses
    undecided: Mapping[int, str]
    late: bool = False

    def proved(self, goals: Sequence[Clause]) -> tuple[int, ...]:
        """The places of the goals that are in the set."""
        return tuple(at for at in range(len(goals)) if -1 - at in self.clauses)


def largest(
    pool: Pool,
    goals: Sequence[Clause],
    judges: Sequence[Judge],
    until: float,
    told: Callable[[str], None] = lambda _: None,
) -> Inductive:
    """The largest inductive subset of the goals and the pool's candidates.

    Gives up early where no goal is left. The pool loses what is not inductive. told: progress.
    """
    wanted = {-1 - at: goal for at, goal in enumerate(goals)}
    undecided: dict[int, str] = {}
    at = 0
    while at < len(judges) and wanted:
        clauses = {**wanted, **{n: pool.clauses[n] for n in sorted(pool.alive)}}
        try:
            if time.monotonic() > until:
                raise TimeoutError
            ruling = judges[at].ruling(clauses, until)
        except TimeoutError:
            return Inductive({}, undecided, True)
        if ruling.inductive:
            at += 1
            continue
        gone = ruling.refuted | ruling.undecided
        undecided |= {n: ruling.why for n in ruling.undecided if n < 0}
        wanted = {n: goal for n, goal in wanted.items() if n not in gone}
        fresh = pool.kill(n for n in gone if n >= 0)
        told(f"{len(pool.alive)} candidate lemmas left")
        if fresh:
            at = 0
    clauses = {**wanted, **{n: pool.clauses[n] for n in pool.alive}} if wanted else {}
    return Inductive(clauses, undecided)
