"""Machines of which something raises, or that start nowhere: what formulas must not prove."""

from __future__ import annotations

from typing import Annotated

from refute.machine import (
    Machine,
    OrderedSort,
    Range,
    Set,
    Sort,
    Var,
    action,
    anything,
    constraint,
    empty_set,
    initial,
    invariant,
    terminal,
    var,
    when,
)


class Member(Sort):
    """Whoever."""


class Rank(OrderedSort):
    """One after the other."""


class Counts(Machine):
    """0, 1, 2, 3, and again."""

    n: Var[Annotated[int, Range(0, 9)]] = var(0)

    @action
    def up(self) -> None:
        self.n = (self.n + 1) % 4

    @invariant
    def low(self) -> bool:
        return self.n <= 3


class StepRaises(Counts):
    """What the step would do is behind the assertion."""

    @action
    def boom(self) -> None:
        when(self.n == 3)
        assert self.n < 3
        self.n = 5


class ConstraintRaises(Counts):
    """At 3."""

    @constraint
    def some(self) -> bool:
        return 6 // (3 - self.n) > -100


class PredicateRaises(Counts):
    """At 2, so that it is neither true nor false there."""

    @invariant
    def asked(self) -> bool:
        return 6 // (2 - self.n) > -100


class EndRaises(Machine):
    """Whether it may end at 2 is not known."""

    n: Var[Annotated[int, Range(0, 9)]] = var(0)

    @action
    def up(self) -> None:
        when(self.n < 2)
        self.n += 1

    @terminal
    def over(self) -> bool:
        return 6 // (2 - self.n) > -100


class ElsewhereRaises(Counts):
    """Only at 8, which is never reached; no invariant says so."""

    @invariant
    def low(self) -> bool:
        return True

    @action
    def apart(self) -> None:
        when(self.n == 8)
        self.n = 6 // (8 - self.n)

    @action
    def there(self) -> None:
        when(self.n > 4)
        self.n = 8


class StartRaises(Machine):
    """Whether it starts at 0 is not known."""

    n: Var[Annotated[int, Range(0, 3)]] = var(one_of=anything)

    @initial
    def begins(self) -> bool:
        return 6 // self.n > 2

    @action
    def down(self) -> None:
        self.n = 1

    @invariant
    def fine(self) -> bool:
        return self.n <= 3


class OnlyStartRaises(StartRaises):
    """Its only start."""

    n: Var[Annotated[int, Range(0, 3)]] = var(0)


class StartAsked(StartRaises):
    """The other predicate is asked where the first one is true."""

    @initial
    def above(self) -> bool:
        return self.n > 0

    @initial
    def begins(self) -> bool:
        return self.n > 0 and 6 // self.n > 2


class StartsOutside(Counts):
    """Nowhere within its constraint."""

    @constraint
    def some(self) -> bool:
        return self.n > 4


class Joining(Machine):
    """Of any size: whoever comes stays."""

    there: Var[Set[Member]] = var(empty_set)
    odd: Var[bool] = var(False)

    @action
    def join(self, who: Member) -> None:
        self.there.add(who)

    @invariant
    def even(self) -> bool:
        return not self.odd


class JoiningRaises(Joining):
    """Somebody who is there raises."""

    @action
    def boom(self, who: Member) -> None:
        when(who in self.there)
        assert who not in self.there
        self.odd = True


class JoiningOutside(Joining):
    """Someone would have to be there."""

    @constraint
    def some(self) -> bool:
        return any(who in self.there for who in Member)


class NoOrder(Machine):
    """Within its constraint at no size, as each order has a last member."""

    at: Var[Rank] = var(one_of=anything)

    @action
    def rest(self) -> None:
        when(self.at == self.at)

    @constraint
    def goes_on(self) -> bool:
        return all(any(low < high for high in Rank) for low in Rank)

    @invariant
    def same(self) -> bool:
        return self.at == self.at
