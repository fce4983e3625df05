"""Small machines for the symbolic engine, each with what it should say of them beside it."""

from __future__ import annotations

from typing import Annotated, Self

from refute.machine import (
    Machine,
    Map,
    Range,
    Sort,
    Var,
    action,
    any_of,
    anything,
    constraint,
    invariant,
    reachable,
    refines,
    terminal,
    transition,
    var,
    when,
)


class Turnstile(Machine):
    """Counts without bound; broken after three steps, reached after two."""

    count: Var[int] = var(0)
    open: Var[bool] = var(False)

    @action
    def pay(self) -> None:
        """Opens a closed one."""
        when(not self.open)
        self.open = True

    @action
    def go(self) -> None:
        """Someone passes."""
        when(self.open)
        self.open = False
        self.count = self.count + 1

    @invariant
    def few(self) -> bool:
        """False after three steps: the second payment."""
        return self.count == 0 or not self.open

    @invariant
    def natural(self) -> bool:
        """By 1-induction."""
        return self.count >= 0

    @reachable
    def passed(self) -> bool:
        """After two steps."""
        return self.count == 1

    @transition
    def grows(self, after: Self) -> bool:
        """By 1-induction."""
        return after.count >= self.count


class Lights(Machine):
    """Two lights that are never green together; that is 1-inductive only with a lemma."""

    first: Var[Annotated[int, Range(0, 3)]] = var(0)
    second: Var[Annotated[int, Range(0, 3)]] = var(2)

    @action
    def turn(self) -> None:
        """Both go on."""
        self.first = (self.first + 1) % 4
        self.second = (self.second + 1) % 4

    @invariant
    def apart(self) -> bool:
        """Not inductive by itself: 0 and 3 lead to 1 and 0, and these to 2 and 1."""
        return not (self.first == 1 and self.second == 1)

    @invariant
    def opposite(self) -> bool:
        """The lemma."""
        return (self.first + 2) % 4 == self.second


class Lonely(Lights):
    """The same without the lemma: any two values that are equal are led to 1 and 1."""

    @invariant
    def opposite(self) -> bool:
        """Says nothing."""
        return True


class Stuck(Machine):
    """Ends after two steps, where it may not stop, and its last step may raise."""

    left: Var[Annotated[int, Range(0, 2)]] = var(2)
    got: Var[Annotated[int, Range(0, 2)]] = var(0)

    @action
    def take(self) -> None:
        """Takes one."""
        when(self.left > 0)
        self.left = self.left - 1
        self.got = any_of((0, 1)) + self.got + 1

    @invariant
    def fine(self) -> bool:
        """Always: no behaviour is longer than two steps."""
        return self.left <= 2


class Who(Sort):
    """Whoever."""


class Ends(Machine):
    """Each leaves once, and that is the end."""

    there: Var[Map[Who, bool]] = var(each=True)

    @action
    def leave(self, who: Who) -> None:
        """Leaves."""
        when(self.there[who])
        self.there[who] = False

    @terminal
    def empty(self) -> bool:
        """Nobody is there."""
        return not any(self.there.values())

    @reachable
    def gone(self) -> bool:
        """After as many steps as there are members."""
        return not any(self.there.values())

    @invariant
    def someone(self) -> bool:
        """False at the end."""
        return any(self.there.values())


class Once(Machine):
    """Goes from false to true, and stays."""

    done: Var[bool] = var(False)

    @action
    def finish(self) -> None:
        """Done."""
        self.done = True


class Twice(Machine):
    """Refines Once until it goes back."""

    level: Var[Annotated[int, Range(0, 3)]] = var(0)

    @action
    def climb(self) -> None:
        """Up."""
        when(self.level < 3)
        self.level = self.level + 1

    @action
    def fall(self) -> None:
        """Down again from the top: Once cannot."""
        when(self.level == 3)
        self.level = 0

    @refines(Once)
    def once(self) -> dict[str, object]:
        """Done from two on."""
        return {"done": self.level >= 2}


class Climbs(Twice):
    """Never goes back."""

    @action
    def fall(self) -> None:
        """Never."""
        when(self.level > 3)
        self.level = 0


class Fenced(Machine):
    """Counts on, and nothing is claimed beyond the fence but of the first states there."""

    count: Var[int] = var(0)

    @action
    def more(self) -> None:
        """One more."""
        self.count = self.count + 1

    @constraint
    def fence(self) -> bool:
        """Three at most."""
        return self.count <= 3

    @invariant
    def below(self) -> bool:
        """By 1-induction inside the fence, as in the states just outside."""
        return self.count <= 4

    @reachable
    def outside(self) -> bool:
        """Never, as what is outside is not reached."""
        return self.count == 4


class Marked(Lights):
    """Lights whose invariants are promised to be inductive, as they are."""

    @invariant(inductive=True)
    def apart(self) -> bool:
        """Never green together."""
        return not (self.first == 1 and self.second == 1)


class Mistaken(Lonely):
    """An invariant that is promised to be inductive, and is true without that."""

    @invariant(inductive=True)
    def apart(self) -> bool:
        """Never green together."""
        return not (self.first == 1 and self.second == 1)


class Anywhere(Machine):
    """Starts at any integer and moves by any other one."""

    at: Var[int] = var(one_of=anything)

    @action
    def move(self) -> None:
        """Away from zero."""
        when(self.at > 1000)
        self.at = self.at + 1

    @action
    def rest(self) -> None:
        """Nowhere."""

    @invariant
    def left(self) -> bool:
        """False of some start."""
        return self.at < 4242


class Fair(Once):
    """Promises to be done some time."""

    @action(fair="weak")
    def finish(self) -> None:
        """Done."""
        self.done = True


class Lazy(Machine):
    """May never do what the other machine does some time."""

    done: Var[bool] = var(False)

    @action
    def finish(self) -> None:
        """Maybe."""
        self.done = True

    @refines(Fair)
    def once(self) -> dict[str, object]:
        """Step by step, but not for ever."""
        return {"done": self.done}
