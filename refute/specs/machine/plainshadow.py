"""Runs of a real class with hidden state: which of them fit what was seen of it so far.

A generator can be neither copied nor put anywhere, so each run is played again from its start. Two
runs are taken to be in the same place where the machine's own meaning says so, step for step next
to the class; where the two differ, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from refute.specs.machine.errors import Disabled
from refute.specs.machine.meaning import Meaning, World
from refute.specs.machine.plainrun import Explore, Follow, Move, PlainRun, Unplayable
from refute.specs.machine.resolve import embed
from refute.specs.machine.values import Value

Image = tuple[Value, ...]


class Run(NamedTuple):
    """A run of the class: the values it starts with, and its moves with their choices."""

    start: Image
    steps: tuple[tuple[Move, Image], ...] = ()


class Next(NamedTuple):
    """A step more: by whom, what is seen then, where that is, and the run up to there."""

    move: Move
    image: Image
    world: World
    run: Run


Fitting = Mapping[World, Run]


class Shadow:
    """The runs of a class that fit what is seen. They raise Unplayable."""

    def __init__(self, above: PlainRun) -> None:
        self.above = above
        self.meaning = Meaning(above.ir)
        self._seen = [at for at, v in enumerate(above.ir.variables) if not v.hidden]
        self._known: dict[World, list[Next]] = {}

    def begin(self, image: Image) -> Fitting:
        """The runs that start with this, and go on unseen."""
        found = {}
        for world in self.meaning.starts():
            if self.image(world) == image:
                self.above.start(world.variables)
                found[world] = Run(world.variables)
        return self._closed(found)

    def after(self, fitting: Fitting, image: Image) -> Fitting:
        """The runs that fit when this is seen next."""
        every = (n for world, run in fitting.items() for n in self.steps(world, run))
        return self._closed({n.world: n.run for n in every if n.image == image})

    def _closed(self, found: dict[World, Run]) -> Fitting:
        queue = list(found.items())
        for world, run in queue:
            for way in self.steps(world, run):
                if way.image == self.image(world) and way.world not in found:
                    found[way.world] = way.run
                    queue.append((way.world, way.run))
        return found

    def steps(self, world: World, run: Run) -> list[Next]:
        """Every step of the class after a run, which led to this place."""
        if world not in self._known:
            self._known[world] = list(self._steps(world, run))
        return self._known[world]

    def _steps(self, world: World, run: Run) -> Iterator[Next]:
        for move in self.above.moves():
            explore = _Noting()
            while True:
                self._play(run)
                explore.noted = []
                try:
                    self.above.step(*move, explore)
                    yield self._next(world, run, move, tuple(explore.noted))
                except Disabled:
                    pass
                except Unplayable:
                    raise
                except Exception:
                    break  # a step that raises leads nowhere
                if not explore.advance():
                    break

    def _play(self, run: Run) -> None:
        self.above.start(run.start)
        for move, choices in run.steps:
            self.above.step(*move, Follow(choices))

    def _next(self, world: World, run: Run, move: Move, choices: Image) -> Next:
        image = self.above.values()
        for taken in self.meaning.step(*move, world):
            if taken.choices == choices and self.image(taken.after) == image:
                steps = (*run.steps, (move, choices))
                return Next(move, image, taken.after, run._replace(steps=steps))
        raise Unplayable(f"{move[0]} of {self.above.ir.name} does what its meaning does not")

    def image(self, world: World) -> Image:
        """What is seen of a place."""
        return tuple(world.variables[at] for at in self._seen)


class _Noting(Explore):
    """Notes the choices of the vector in hand."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[Value] = []

    def __call__(self, options: Sequence[Any]) -> Any:
        """The next choice."""
        found = super().__call__(options)
        self.noted.append(embed(found))
        return found
