"""Machines of which one thing is not decided by formulas, or not said, and the rest is."""

from refute.machine import (
    Machine,
    OrderedSort,
    Set,
    Var,
    action,
    anything,
    empty_set,
    invariant,
    var,
    when,
)


class Place(OrderedSort):
    """Places in a row, of which a formula may have infinitely many."""


class First(Machine):
    """Takes the first place: that there is one is no formula's business."""

    taken: Var[Set[Place]] = var(empty_set)
    on: Var[bool] = var(True)

    @action
    def take(self, p: Place) -> None:
        when(all(p <= q for q in Place))
        self.taken.add(p)

    @invariant
    def stays_on(self) -> bool:
        return self.on


class Bits(Machine):
    """A counter, and what formulas over integers without bounds do not say of it."""

    count: Var[int] = var(0)
    seen: Var[int] = var(one_of=anything)

    @action
    def step(self) -> None:
        self.count = self.count + 1

    @invariant
    def two_bits(self) -> bool:
        return 0 <= (self.seen & 3) <= 3

    @invariant
    def natural(self) -> bool:
        return self.count >= 0


class Remains(Bits):
    """The same, where what is not said may raise."""

    @invariant
    def two_bits(self) -> bool:
        return (self.seen & 3) // self.seen >= 0
