"""Whether a run of the real class is one of the class it refines, by running that class too.

A class that has actions only can be put into any state and asked for every step; of one with
processes, all runs that fit what was seen are followed (`plainshadow`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from refute.specs.machine.errors import Disabled, OutOfRange
from refute.specs.machine.fairness import Fair, fairness
from refute.specs.machine.ir import Refinement, hides
from refute.specs.machine.meaning import World
from refute.specs.machine.plainrun import Explore, Move, PlainRun, Unplayable
from refute.specs.machine.plainshadow import Fitting, Image, Run, Shadow


class Refined:
    """A run's states, seen through a mapping as states of the other class."""

    def __init__(self, run: PlainRun, refinement: Refinement, abstract: type) -> None:
        self.run = run
        self.name = refinement.name
        self.above = PlainRun(abstract, dict(refinement.abstract.constants))
        self.shadow = Shadow(self.above) if hides(refinement.abstract) else None

    def image(self, row: Mapping[str, Any]) -> Image | None:
        """The other machine's values; None where they are outside its types."""
        live = self.run.mapped(self.name, row)
        freeze, kinds = self.run.resolver.freeze, self.above.kinds
        try:
            return tuple(freeze(live[name], kind) for name, kind in kinds.items())
        except OutOfRange:
            return None

    def departs(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Whether a run leaves the other machine with its start, if it is that alone, or a step."""
        images = [self.image(row) for row in rows]
        if None in images[-2:]:
            return True
        if self.shadow is not None:
            return not self._fitting(self.shadow, images)[-1]
        if len(images) > 1:
            return self._wrong_step(images[-2], images[-1])
        try:
            self.above.start(images[0] or ())
        except Unplayable:
            return True
        return False

    def _wrong_step(self, left: Image | None, right: Image | None) -> bool:
        """Whether the other machine has no step from the one to the other."""
        if left is None or left == right:
            return left is None
        return all(found != right for _, found in self.steps(left))

    def _fitting(self, shadow: Shadow, images: Sequence[Image | None]) -> list[Fitting]:
        """The runs of the other class that fit, state after state; none after one outside."""
        found = [shadow.begin(images[0]) if images[0] is not None else {}]
        for before, after in itertools.pairwise(images):
            fits = {} if after is None else found[-1]
            found.append(fits if before == after or after is None else shadow.after(fits, after))
        return found

    def unfair(self, number: int, rows: Sequence[Mapping[str, Any]], loop: int) -> bool:
        """Whether the cycle from `loop` on breaks a fairness condition of the other machine."""
        fair = fairness(self.above.ir)[number]
        images = [self.image(row) for row in rows]
        cycle = [image for image in images[loop:] if image is not None]
        if len(cycle) < len(images) - loop:
            return False
        if self.shadow is not None:
            return self._shadow_unfair(self.shadow, fair, images, loop)
        able = [any(True for _ in self.taken(fair, image)) for image in cycle]
        bound = any(able) if fair.strong else all(able)
        pairs = itertools.pairwise(cycle)
        return bound and not any(b in set(self.taken(fair, a)) for a, b in pairs)

    def _shadow_unfair(
        self, shadow: Shadow, fair: Fair, images: Sequence[Image | None], loop: int
    ) -> bool:
        """The same of a class with hidden state, of which one run alone fits."""
        rows = self._fitting(shadow, images)
        if any(len(row) != 1 for row in rows):
            return False
        cycle = [next(iter(row.items())) for row in rows[loop:]]
        if cycle[0][0] != cycle[-1][0]:
            return False
        ways = [self._shadow_taken(shadow, fair, *place) for place in cycle]
        bound = any(ways) if fair.strong else all(ways)
        pairs = zip(ways, cycle[1:], strict=False)
        return bound and not any(world in taken for taken, (world, _) in pairs)

    def _shadow_taken(self, shadow: Shadow, fair: Fair, world: World, run: Run) -> set[World]:
        """Where the steps of a condition that change something lead after a run."""
        image = shadow.image(world)
        found: set[World] = set()
        for way in shadow.steps(world, run):
            if way.world == world:
                continue
            if fair.prop is not None:
                if self.above.true_step(fair.prop, fair.given, image, way.image):
                    found.add(way.world)
            elif way.move in fair.moves():
                found.add(way.world)
        return found

    def taken(self, fair: Fair, image: Image) -> Iterator[Image]:
        """Where the steps of a condition that change something lead."""
        for (name, params), after in self.steps(image):
            if after == image:
                continue
            if fair.prop is not None:
                if self.above.true_step(fair.prop, fair.given, image, after):
                    yield after
            elif (name, params) in fair.moves():
                yield after

    def steps(self, image: Image) -> Iterator[tuple[Move, Image]]:
        """Every step of the other machine from a state."""
        for move in self.above.moves():
            explore = Explore()
            while True:
                self.above.place(image)
                try:
                    self.above.step(*move, explore)
                    yield move, self.above.values()
                except Disabled:
                    pass
                except Exception:
                    break  # a step that raises leads nowhere
                if not explore.advance():
                    break
