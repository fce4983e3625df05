"""The second engine: a complete search by the tree-walking meaning of a machine.

It shares no search and no evaluation with the compiled engine, so that "never reached" rests on
two programs. It also walks single traces, which is how a replay of the plain class is compared
with the IR.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.meaning import Meaning, World
from refute.specs.machine.naming import with_sides
from refute.specs.machine.values import unpack_value


class Confirm:
    """A search by `Meaning`, a slice at a time; runs in a worker."""

    def __init__(self, ir: MachineIR) -> None:
        self.meaning = Meaning(ir)
        self.seen: dict[World, None] = {}
        self.inside: list[World] = []
        self.generated = self.at = self.depth = self.level_end = 0
        self.reached: set[str] = set()
        self.fired: set[str] = set()
        self.started = False
        self._starts = self.meaning.starts()

    def _inside(self, world: World) -> bool:
        return all(self.meaning.holds(p, world) for p in self.meaning.ir.of_kind("constraint"))

    def _look(self, world: World) -> None:
        for prop in self.meaning.ir.of_kind("reachable"):
            if prop.name not in self.reached and self.meaning.holds(prop, world):
                self.reached.add(prop.name)

    def advance(self, seconds: float) -> dict[str, Plain]:
        """Search on for about so long. An exception of the machine ends it as it is."""
        until = time.monotonic() + seconds
        while not self.started and time.monotonic() < until:
            self._start()
        while self.at < len(self.inside) and time.monotonic() < until:
            if self.at == self.level_end:
                self.level_end = len(self.inside)
                self.depth += 1
            for taken in self.meaning.steps(self.inside[self.at]):
                self.generated += 1
                self.fired.add(taken.name)
                self._meet(taken.after)
            self.at += 1
        return {
            "distinct": len(self.inside),
            "generated": self.generated,
            "depth": self.depth,
            "finished": self.started and self.at == len(self.inside),
            "reached": sorted(self.reached),
            "fired": sorted(with_sides(self.meaning.ir, self.fired)),
        }

    def _start(self) -> None:
        """Meet the next start; the search begins with the first after the last."""
        world = next(self._starts, None)
        if world is not None:
            self.generated += 1
            self._meet(world)
            return
        self.started = True
        self.level_end = len(self.inside)
        self.depth = 1 if self.inside else 0

    def _meet(self, world: World) -> None:
        if world in self.seen:
            return
        self.seen[world] = None
        if self._inside(world):
            self.inside.append(world)
            self._look(world)


def open_confirm(data: Plain) -> Confirm:
    """A search of the machine given as plain data; runs in a worker."""
    return Confirm(MachineIR.from_plain(data))


def passed(meaning: Meaning, case: Mapping[str, Plain]) -> list[World]:
    """The states along a trace; shorter when it gets stuck."""
    world = meaning.start(tuple(map(unpack_value, case["start"])))
    found: list[World] = []
    for step in [None, *case["steps"]]:
        if step is not None and world is not None:
            world = _follow(meaning, world, step)
        if world is None:
            break
        found.append(world)
    return found


def _follow(meaning: Meaning, world: World, step: Mapping[str, Plain]) -> World | None:
    params = tuple(map(unpack_value, step["params"]))
    choices = tuple(map(unpack_value, step["choices"]))
    try:
        for taken in meaning.step(str(step["do"]), params, world):
            if taken.choices == choices:
                return taken.after
    except Exception:
        return None
    return None
