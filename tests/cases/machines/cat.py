"""A cat moves to a box next to its own every night; every morning one box is looked into.

Source: tlaplus/Examples, specifications/Moving_Cat_Puzzle/Cat.tla (F. Schanda): 48 distinct states
and 128 generated for six boxes, 30 and 78 for five.
"""

from __future__ import annotations

import enum
from typing import Annotated

from refute.machine import (
    Const,
    Formula,
    Machine,
    Range,
    Var,
    action,
    any_of,
    anything,
    choose,
    const,
    eventually,
    fair,
    temporal,
    var,
    when,
)

Box = Annotated[int, Range(1, "N")]
Observed = Annotated[int, Range(2, "N - 1")]


class Direction(enum.Enum):
    LEFT = -1
    RIGHT = 1


class Cat(Machine):
    N: Const[int] = const(6)
    cat_box: Var[Box] = var(one_of=anything)
    observed_box: Var[Observed] = var(one_of=anything)
    direction: Var[Direction] = var(one_of=anything)

    @action
    def next(self) -> None:
        to = self.cat_box + any_of([1, -1])
        when(1 <= to <= self.N)
        self.cat_box = to
        next_box = self.observed_box + self.direction.value
        if 2 <= next_box <= self.N - 1:
            self.observed_box = next_box
        else:
            self.direction = choose(d for d in Direction if d != self.direction)

    @fair("weak")
    def move_cat(self, after: Cat) -> bool:
        return self.cat_box != after.cat_box

    @temporal
    def victory(self) -> Formula:
        return eventually(lambda: self.observed_box == self.cat_box)
