"""Whether a run of the real class is one of the class it refines, by running that class too.

The other class has actions only, so it can be put into any state and asked for every step.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from refute.specs.machine.errors import Disabled, OutOfRange
from refute.specs.machine.fairness import Fair, fairness
from refute.specs.machine.ir import Refinement
from refute.specs.machine.plainrun import Explore, Move, PlainRun, Unplayable
from refute.specs.machine.values import Value

Image = tuple[Value, ...]


class Refined:
    """A run's states, seen through a mapping as states of the other class."""

    def __init__(self, run: PlainRun, refinement: Refinement, abstract: type) -> None:
        self.run = run
        self.name = refinement.name
        self.above = PlainRun(abstract, dict(refinement.abstract.constants))

    def image(self, row: Mapping[str, Any]) -> Image | None:
        """The other machine's values; None where they are outside its types."""
        live = self.run.mapped(self.name, row)
        freeze, kinds = self.run.resolver.freeze, self.above.kinds
        try:
            return tuple(freeze(live[name], kind) for name, kind in kinds.items())
        except OutOfRange:
            return None

    def wrong_start(self, row: Mapping[str, Any]) -> bool:
        """Whether the other machine does not start there."""
        image = self.image(row)
        if image is None:
            return True
        try:
            self.above.start(image)
        except Unplayable:
            return True
        return False

    def wrong_step(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
        """Whether the other machine has no step from the one to the other."""
        left, right = self.image(before), self.image(after)
        if left is None or left == right:
            return left is None
        return all(found != right for _, found in self.steps(left))

    def unfair(self, number: int, cycle: Sequence[Mapping[str, Any]]) -> bool:
        """Whether a cycle breaks a fairness condition of the other machine."""
        fair = fairness(self.above.ir)[number]
        images = [image for image in map(self.image, cycle) if image is not None]
        if len(images) < len(cycle):
            return False
        able = [any(True for _ in self.taken(fair, image)) for image in images]
        bound = any(able) if fair.strong else all(able)
        pairs = itertools.pairwise(images)
        return bound and not any(b in set(self.taken(fair, a)) for a, b in pairs)

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
