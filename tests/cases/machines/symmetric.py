"""Machines for searches up to permutations: sound and broken ones, and ones that order a Sort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

from refute.machine import (
    Formula,
    Machine,
    Map,
    OrderedSort,
    Range,
    Seq,
    Set,
    Sort,
    Steps,
    Upto,
    Var,
    action,
    choose,
    empty_set,
    eventually,
    initial,
    invariant,
    process,
    reachable,
    temporal,
    var,
    when,
)


class P(Sort, size=3):
    """Processes."""


class Rank(OrderedSort, size=3):
    """Ranks."""


@dataclass(frozen=True)
class Vote:
    """Somebody's vote."""

    by: P
    good: bool


LEADER = P(1)


class Lock(Machine):
    """Test, then take: two of them are inside after four steps."""

    held: Var[bool] = var(False)
    inside: Var[Set[P]] = var(empty_set)

    @process
    def worker(self, p: P) -> Steps[Self]:
        while True:
            when(not self.held)
            self = yield
            self.held = True
            self.inside.add(p)
            self = yield
            self.inside.discard(p)
            self.held = False
            self = yield

    @invariant
    def exclusive(self) -> bool:
        return len(self.inside) <= 1

    @invariant
    def outside(self, p: P) -> bool:
        return p in self.inside or len(self.inside) < 3

    @reachable
    def crowded(self) -> bool:
        return self.inside == Set(P)

    @reachable
    def too_many(self) -> bool:
        return len(self.inside) > len(P)

    @temporal
    def gets_in(self, p: P) -> Formula:
        return eventually(lambda: p in self.inside)


class Led(Machine):
    """One process is another kind than the rest."""

    ready: Var[Set[P]] = var(empty_set)
    led: Var[bool] = var(False)

    @action
    def join(self, p: P) -> None:
        self.ready.add(p)

    @action
    def lead(self) -> None:
        when(LEADER in self.ready)
        self.led = True

    @invariant
    def follows(self) -> bool:
        return not self.led or len(self.ready) < 3


class Chooses(Machine):
    """Takes the first of the others."""

    last: Var[P | None] = var(None)

    @action
    def go(self, p: P) -> None:
        self.last = choose(x for x in P if x != p)


class Lists(Machine):
    """Keeps its members in a list."""

    queue: Var[Annotated[Seq[P], Upto(3)]] = var(())

    @action
    def fill(self) -> None:
        self.queue = Seq(P)


class LastWins(Machine):
    """Every round writes the same place."""

    last: Var[P | None] = var(None)

    @action
    def go(self) -> None:
        for p in P:
            self.last = p


class Enumerates(Machine):
    """Numbers its members."""

    place: Var[Map[P, Annotated[int, Range(0, 2)]]] = var(each=0)

    @action
    def number(self) -> None:
        for at, p in enumerate(list(P)):
            self.place[p] = at


class Starts(Machine):
    """One member begins with the token."""

    token: Var[P] = var(LEADER)

    @action
    def hand(self, p: P) -> None:
        self.token = p


class Ordered(Machine):
    """Has no Sort but one that is ordered."""

    top: Var[Rank] = var(Rank(0))

    @action
    def up(self, r: Rank) -> None:
        self.top = r


class MayRaise(Machine):
    """Whether a division by zero is seen depends on who is looked at first."""

    used: Var[Map[P, Annotated[int, Range(0, 1)]]] = var(each_of=range(2))

    @initial
    def one(self) -> bool:
        return sum(self.used.values()) == 1

    @action
    def keep(self) -> None:
        self.used = self.used

    @invariant
    def some(self) -> bool:
        return any(1 // (1 - self.used[p]) > 0 for p in P)


class Loops(Machine):
    """Loops whose rounds commute."""

    votes: Var[Set[Vote]] = var(empty_set)
    seen: Var[Map[P, Map[P, bool]]] = var(each=False)
    n: Var[Annotated[int, Range(0, 3)]] = var(0)

    @action
    def poll(self, q: P) -> None:
        when(len(self.votes) == 0)
        for p in P:
            self.votes.add(Vote(p, p == q))

    @action
    def show(self, p: P) -> None:
        for q in P:
            if Vote(q, True) in self.votes:
                self.seen[q][p] = True

    @action
    def tally(self) -> None:
        self.n = self.count()

    def count(self) -> int:
        found = 0
        for v in self.votes:
            if v.good:
                found += 1
        return found

    @invariant
    def one(self) -> bool:
        return self.n <= 1
