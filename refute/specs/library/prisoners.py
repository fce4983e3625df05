"""The prisoners and the two switches, after L. Lamport's Prisoners.tla.

Source: tlaplus/Examples, specifications/Prisoners/Prisoners.tla. A warden takes prisoners into a
room, one at a time and each again and again; there they must flip exactly one of two switches.
One of them counts how often switch A was moved up; each of the others moves it up twice at most.
That repository's manifest gives 214 distinct states and 860 generated; the counter and three
others have those.
"""

from __future__ import annotations

from typing import Annotated

from refute.machine import (
    Formula,
    Machine,
    Map,
    Range,
    Sort,
    Var,
    action,
    anything,
    eventually,
    invariant,
    temporal,
    var,
)


class Other(Sort, size=3):
    """The prisoners who do not count."""


class Prisoners(Machine):
    """When the count is complete, everybody has been in the room."""

    a_up: Var[bool] = var(one_of=anything)
    b_up: Var[bool] = var(one_of=anything)
    times: Var[Map[Other, Annotated[int, Range(0, 2)]]] = var(each=0)
    count: Var[Annotated[int, Range(0, "2 * Other + 1")]] = var(0)

    def done(self) -> bool:
        """What tells the counter that all have been here."""
        return self.count == 2 * len(Other)

    @action(fair="weak")
    def other_step(self, p: Other) -> None:
        """Moves A up if it is down and was not moved by this one twice; else flips B."""
        if not self.a_up and self.times[p] < 2:
            self.a_up = True
            self.times[p] += 1
        else:
            self.b_up = not self.b_up

    @action(fair="weak")
    def counter_step(self) -> None:
        """Moves A down and counts; if it is down already, flips B."""
        if self.a_up:
            self.a_up = False
            self.count += 1
        else:
            self.b_up = not self.b_up

    @invariant
    def safety(self) -> bool:
        """Nobody is released too early."""
        return not self.done() or all(n > 0 for n in self.times.values())

    @temporal
    def released(self) -> Formula:
        """In the end all are released (Liveness)."""
        return eventually(self.done)

    @invariant
    def counted(self) -> bool:
        """The count is that of moves up, less the one not seen yet; plus one if A was up before."""
        moved = sum(n for n in self.times.values()) - (1 if self.a_up else 0)
        return self.count in (moved, moved + 1)
