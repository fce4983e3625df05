"""Small machines with temporal properties: one defect each, or sound."""

from __future__ import annotations

from typing import Annotated, Self

from refute.machine import (
    Formula,
    Machine,
    Map,
    Range,
    Sort,
    Steps,
    Var,
    action,
    always,
    constraint,
    eventually,
    eventually_always,
    exists,
    fair,
    for_all,
    implies,
    infinitely_often,
    leads_to,
    process,
    temporal,
    var,
    when,
)

Small = Annotated[int, Range(0, 3)]
Side = Annotated[int, Range(0, 1)]


class P(Sort, size=2):
    """Processes."""


class Stutters(Machine):
    """Planted: nothing makes it go on."""

    n: Var[Small] = var(0)

    @action
    def up(self) -> None:
        when(self.n < 3)
        self.n += 1

    @temporal
    def full(self) -> Formula:
        return eventually(lambda: self.n == 3)


class Fills(Stutters):
    """Sound: as before, and it must go on."""

    @fair("weak")
    def goes_on(self, after: Self) -> bool:
        return after.n > self.n


class FirstState(Machine):
    """Planted: false at once."""

    n: Var[Small] = var(one_of=(0, 1))

    @action
    def toggle(self) -> None:
        self.n = 1 - self.n

    @temporal
    def positive(self) -> Formula:
        return always(lambda: self.n > 0)

    @temporal
    def settles(self) -> Formula:
        return eventually_always(lambda: self.n == 0) | eventually_always(lambda: self.n == 1)


class Goes(Machine):
    """Planted: the way out is open again and again, never for good, and only weakly fair."""

    lamp: Var[bool] = var(False)
    out: Var[bool] = var(False)

    @action(fair="weak")
    def switch(self) -> None:
        self.lamp = not self.lamp

    @action(fair="weak")
    def leave(self) -> None:
        when(self.lamp and not self.out)
        self.out = True

    @temporal
    def leaves(self) -> Formula:
        return eventually(lambda: self.out)


class Leaves(Machine):
    """Sound: strongly fair."""

    lamp: Var[bool] = var(False)
    out: Var[bool] = var(False)

    @action(fair="weak")
    def switch(self) -> None:
        self.lamp = not self.lamp

    @action(fair="strong")
    def leave(self) -> None:
        when(self.lamp and not self.out)
        self.out = True

    @temporal
    def leaves(self) -> Formula:
        return eventually(lambda: self.out)


class Avoids(Machine):
    """Planted: the way out is strongly fair, but one may stay where it is never open."""

    at: Var[Small] = var(0)

    @action(fair="weak")
    def step(self) -> None:
        when(self.at < 2)
        self.at = 1 - self.at

    @action
    def wander(self) -> None:
        when(self.at == 1)
        self.at = 2

    @action
    def back(self) -> None:
        when(self.at == 2)
        self.at = 1

    @action(fair="strong")
    def leave(self) -> None:
        when(self.at == 2)
        self.at = 3

    @temporal
    def leaves(self) -> Formula:
        return eventually(lambda: self.at == 3)

    @temporal
    def leaves_from_there(self) -> Formula:
        return implies(infinitely_often(lambda: self.at == 2), eventually(lambda: self.at == 3))


class Starves(Machine):
    """Planted: fair to all together, so one may be left out."""

    turns: Var[Map[P, Side]] = var(each=0)

    @action(fair_any="weak")
    def turn(self, p: P) -> None:
        self.turns[p] = 1 - self.turns[p]

    @temporal
    def each(self, p: P) -> Formula:
        def turned() -> bool:
            side: Side = 1
            return self.turns[p] == side

        return infinitely_often(turned)

    @temporal
    def one(self) -> Formula:
        return exists(P, lambda p: infinitely_often(lambda: self.turns[p] == 1))


class Serves(Machine):
    """Sound: fair to each."""

    turns: Var[Map[P, Side]] = var(each=0)

    @action(fair="weak")
    def turn(self, p: P) -> None:
        self.turns[p] = 1 - self.turns[p]

    @temporal
    def each(self) -> Formula:
        def turned(p: P, side: int) -> bool:
            return self.turns[p] == side

        return for_all(P, lambda p: infinitely_often(lambda: turned(p, 1)))


class Runaway(Machine):
    """Vacuous: every fair behaviour leaves the constraint."""

    n: Var[int] = var(0)

    @action(fair="weak")
    def up(self) -> None:
        self.n += 1

    @constraint
    def few(self) -> bool:
        return self.n < 5

    @temporal
    def never_mind(self) -> Formula:
        return eventually(lambda: self.n < 0)


class Raises(Machine):
    """Unknown: a predicate of the property has no value in some state."""

    n: Var[Small] = var(1)

    @action
    def down(self) -> None:
        when(self.n > 0)
        self.n -= 1

    @temporal
    def ratio(self) -> Formula:
        return always(lambda: 3 // self.n > 0)


class Peterson(Machine):
    """Sound: mutual exclusion, and everybody who wants gets in."""

    wants: Var[Map[Side, bool]] = var(each=False)
    turn: Var[Side] = var(0)
    inside: Var[Map[Side, bool]] = var(each=False)

    @process(fair="weak")
    def worker(self, me: Side) -> Steps[Self]:
        while True:
            self.wants[me] = True
            self = yield
            self.turn = 1 - me
            self = yield
            when(not self.wants[1 - me] or self.turn == me)
            self.inside[me] = True
            self = yield
            self.inside[me] = False
            self.wants[me] = False
            self = yield

    @temporal
    def gets_in(self, me: Side) -> Formula:
        return leads_to(lambda: self.wants[me], lambda: self.inside[me])

    @temporal
    def alone(self) -> Formula:
        return always(lambda: not (self.inside[0] and self.inside[1]))


class Impolite(Machine):
    """Planted: a lock that the same one may take again at once."""

    held: Var[bool] = var(False)
    inside: Var[Map[Side, bool]] = var(each=False)

    @process(fair="weak")
    def worker(self, me: Side) -> Steps[Self]:
        while True:
            when(not self.held)
            self.held = True
            self.inside[me] = True
            self = yield
            self.inside[me] = False
            self.held = False
            self = yield

    @temporal
    def gets_in(self, me: Side) -> Formula:
        return infinitely_often(lambda: self.inside[me])


class Asserts(Machine):
    """Unknown: a helper of the formula asserts what is false in some state."""

    n: Var[Small] = var(0)

    @action
    def up(self) -> None:
        when(self.n < 3)
        self.n += 1

    def low(self) -> bool:
        assert self.n < 2
        return self.n == 0

    @temporal
    def returns(self) -> Formula:
        return infinitely_often(self.low)
