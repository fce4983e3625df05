"""A place that is a floor or a car: what is asked for as a number has to be one.

Source of the form: tlaplus/Examples, specifications/MultiCarElevator/Elevator.tla, whose people
are on a floor or in an elevator.
"""

from __future__ import annotations

from typing import Annotated

from refute.machine import Machine, Map, Range, Sort, Var, action, invariant, var, when


class Car(Sort, size=2):
    """What goes up and down."""


Floor = Annotated[int, Range(0, 3)]


class Lift(Machine):
    """A person takes one of two cars up, which one person at a time can be in, and walks down."""

    place: Var[Floor | Car] = var(0)
    car: Var[Map[Car, Floor | None]] = var(each=None)

    @action
    def enter(self, c: Car) -> None:
        place = self.place
        when(isinstance(place, int) and place < 3)
        assert isinstance(place, int)
        self.car[c] = place + 1
        self.place = c

    @action
    def leave(self, c: Car) -> None:
        floor = self.car[c]
        when(self.place == c and floor is not None)
        assert floor is not None
        self.place = max(floor, 0)
        self.car[c] = None

    @action
    def walk(self) -> None:
        if isinstance(self.place, int):
            when(-self.place < 0)
            self.place -= 1

    @invariant
    def inside(self) -> bool:
        return isinstance(self.place, Car) or 0 <= self.place <= 3


class Careless(Lift):
    """The same, without looking whether the person is in a car."""

    @invariant
    def low(self, f: Floor) -> bool:
        return self.place != f or f < 2

    @action
    def jump(self) -> None:
        when(self.place > 2)
        self.place = 0
