"""Refinement of random small machines against a brute force over starts, steps and lassos."""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path
from typing import Any

from test_temporal_meanings import (  # type: ignore[import-not-found]
    Drawn,
    fair,
    loaded,
    rounds,
    ways_in,
)

from refute.specs.machine.play import Play
from refute.verifiers.model.liveness import Liveness
from refute.verifiers.model.refined import not_a_departure

ABOVE = """
from __future__ import annotations
from collections.abc import Mapping
from typing import Annotated
from refute.machine import *

IMAGE = {image}

class Above(Machine):
    a: Var[Annotated[int, Range(0, 1)]] = var(one_of={starts})
"""
ACTION = """
    @action({fair})
    def above{at}(self) -> None:
        source, target = any_of({table})
        when(self.a == source)
        self.a = target
"""
REFINES = """
    @refines(Above)
    def image(self) -> Mapping[str, object]:
        return {"a": IMAGE[self.s]}
"""


class Pair:
    """A random machine, one it may implement, and the mapping between them."""

    def __init__(self, seed: int) -> None:
        self.low = Drawn(seed)
        self.low.formulas = []
        pick = random.Random(seed + 1)
        self.image = [0, pick.randrange(2), 1]
        self.starts = sorted({self.image[s] for s in self.low.starts} | {pick.randrange(2)})
        if pick.random() < 0.1:
            self.starts = [1 - self.starts[0]]
        edges = list(itertools.product(range(2), repeat=2))
        self.actions = [
            (sorted(pick.sample(edges, pick.randrange(2, 4))), pick.choice(["weak", "strong", ""]))
            for _ in range(2)
        ]

    def source(self) -> str:
        text = ABOVE.format(image=self.image, starts=self.starts)
        for at, (table, kind) in enumerate(self.actions):
            text += ACTION.format(at=at, table=table, fair=f'fair="{kind}"' if kind else "")
        return text + self.low.source().split("from refute.machine import *")[1] + REFINES

    def departs(self) -> bool:
        """Whether a start, a step or a fair lasso leaves the other machine."""
        image, low = self.image, self.low
        found = {e for table, _ in low.actions for e in table if e[0] != e[1]}
        edges = sorted(found)
        reached = set(low.starts)
        for _ in range(3):
            reached |= {end for start, end in edges if start in reached}
        allowed = {e for table, _ in self.actions for e in table}
        if any(image[s] not in self.starts for s in low.starts):
            return True
        mapped = [(image[s], image[e]) for s, e in edges if s in reached]
        if any(a != b and (a, b) not in allowed for a, b in mapped):
            return True
        return any(
            fair(low, edges, chosen, walk)
            and any(True for _ in ways_in(low, edges, walk[0], 4))
            and self.unfair(chosen, walk)
            for chosen, walk in rounds(edges)
        )

    def unfair(self, chosen: list[tuple[int, int]], walk: list[int]) -> bool:
        """Whether going round like this breaks a fairness condition of the other machine."""
        steps = {(self.image[s], self.image[e]) for s, e in chosen}
        for table, kind in self.actions:
            own = {e for e in table if e[0] != e[1]}
            able = [any(e[0] == self.image[s] for e in own) for s in set(walk)]
            bound = any(able) if kind == "strong" else all(able)
            if kind and bound and not own & steps:
                return True
        return False


def test_random_refinements(tmp_path: Path) -> None:
    kept, left = 0, 0
    for seed in range(60):
        pair = Pair(seed)
        module = loaded(tmp_path, f"refining_{seed}", pair.source())
        try:
            model = module.M.build()
            liveness = Liveness(model.ir)
            while not liveness.advance(5.0)["finished"]:
                pass
            trace: Any = liveness.hits.get("image")
            assert (trace is not None) == pair.departs(), seed
            if trace is None:
                kept += 1
                continue
            left += 1
            assert not_a_departure(model.ir.to_plain(), trace["case"]) == "", seed
            assert Play(module.M, {}, trace["case"]).judge()["broke"] is True, seed
        finally:
            del sys.modules[module.__name__]
    assert kept > 5 and left > 5
