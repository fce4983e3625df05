"""Prisoners count themselves by a light that each may switch.

Source: tlaplus/Examples, specifications/Prisoners_Single_Switch/Prisoner.tla (F. Schanda): 16
distinct states and 49 generated when the light is off at first, 62 and 188 when nobody knows.
"""

from __future__ import annotations

import enum
from typing import Annotated

from refute.machine import (
    Const,
    Formula,
    Machine,
    Map,
    Range,
    Set,
    Sort,
    Var,
    action,
    anything,
    const,
    empty_set,
    eventually,
    initial,
    invariant,
    temporal,
    var,
)


class Prisoner(Sort, size=3):
    """Prisoners."""


COUNTER = Prisoner(0)


class Light(enum.Enum):
    OFF = 0
    ON = 1


class Switch(Machine):
    unknown: Const[int] = const(0)
    count: Var[Annotated[int, Range(1, "2 * Prisoner")]] = var(1)
    announced: Var[bool] = var(False)
    signalled: Var[Map[Prisoner, Annotated[int, Range(0, 2)]]] = var(each=0)
    light: Var[Light] = var(one_of=anything)
    has_visited: Var[Set[Prisoner]] = var(empty_set)

    @initial
    def known(self) -> bool:
        return self.unknown == 1 or self.light == Light.OFF

    def threshold(self) -> int:
        return 2 * len(Prisoner) - 1 if self.unknown else len(Prisoner)

    @action(fair="weak")
    def warden(self, p: Prisoner) -> None:
        if p == COUNTER:
            if self.light == Light.ON:
                self.light = Light.OFF
                self.count += 1
            self.announced = self.count >= self.threshold()
        else:
            limit = 2 if self.unknown else 1
            if self.light == Light.OFF and self.signalled[p] < limit:
                self.light = Light.ON
                self.signalled[p] += 1
        self.has_visited.add(p)

    @temporal
    def terminating(self) -> Formula:
        return eventually(lambda: self.announced)

    @invariant
    def victory_ok(self) -> bool:
        return not self.announced or all(p in self.has_visited for p in Prisoner)
