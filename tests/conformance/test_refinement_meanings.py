"""Refinement of random small machines against a brute force over starts, steps and lassos."""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path
from typing import Any

import pytest
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
from typing import Annotated, Self
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
PROCESS = """
    @process({fair})
    def above{at}(self) -> Steps[Self]:
        while True:
            source, target = any_of({table})
            when(self.a == source)
            self.a = target
            self = yield
"""
REFINES = """
    @refines(Above)
    def image(self) -> Mapping[str, object]:
        return {"a": IMAGE[self.s]}
"""


class Pair:
    """A random machine, one it may implement, and the mapping between them."""

    def __init__(self, seed: int, steps: str = ACTION) -> None:
        """steps: the text of the other machine's steps: actions, or processes."""
        self.steps = steps
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
            text += self.steps.format(at=at, table=table, fair=f'fair="{kind}"' if kind else "")
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


def judged(model: Any) -> Liveness:
    liveness = Liveness(model.ir)
    while not liveness.advance(5.0)["finished"]:
        pass
    return liveness


@pytest.mark.parametrize("steps", [ACTION, PROCESS], ids=["actions", "processes"])
def test_random_refinements(tmp_path: Path, steps: str) -> None:
    kept, left = 0, 0
    for seed in range(40):
        pair = Pair(seed, steps)
        module = loaded(tmp_path, f"refining_{seed}", pair.source())
        try:
            model = module.M.build()
            liveness = judged(model)
            trace: Any = liveness.hits.get("image")
            assert not liveness.reasons, seed
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


HIDDEN = """
from __future__ import annotations
from collections.abc import Mapping
from typing import Annotated, Self
from refute.machine import *

class Above(Machine):
    a: Var[Annotated[int, Range(0, 2)]] = var(one_of={starts})

    @process
    def goes(self) -> Steps[Self]:
        {mark} = False
        while True:
{places}
class Low(Machine):
    s: Var[Annotated[int, Range(0, 2)]] = var(one_of={low_starts})

    @action
    def move(self) -> None:
        source, target = any_of({edges})
        when(self.s == source)
        self.s = target

    @refines(Above)
    def above(self) -> Mapping[str, object]:
        return {{"a": self.s}}
"""
GOES = """            if any_of([True, {mark}]):
                self.a = any_of({values})
            {mark} = not {mark}
            self = yield
"""


class Hidden:
    """A random process that goes round and round; some steps may do nothing that can be seen.

    Whether one may depends on a local, which every step turns over.
    """

    def __init__(self, seed: int) -> None:
        pick = random.Random(seed)
        self.rounds = [sorted(pick.sample(range(3), pick.choice([1, 1, 2]))) for _ in range(3)]
        self.starts = sorted(pick.sample(range(3), 2))
        self.low_starts = pick.sample(self.starts, 1)
        pairs = [e for e in itertools.product(range(3), repeat=2) if e[0] != e[1]]
        self.edges = pick.sample(pairs, pick.choice([1, 2, 2, 3]))

    def source(self) -> str:
        places = "".join(GOES.format(values=v, mark="mark") for v in self.rounds)
        return HIDDEN.format(
            places=places,
            starts=self.starts,
            low_starts=self.low_starts,
            edges=self.edges,
            mark="mark",
        )

    def above(self, length: int) -> set[tuple[int, ...]]:
        """What can be seen of runs of the process, repetitions once, up to a length."""
        words: set[tuple[int, ...]] = set()
        queue = [((a,), 0, False) for a in self.starts]
        met = set(queue)
        for word, place, mark in queue:
            words.add(word)
            ways = [(*word, v) if v != word[-1] else word for v in self.rounds[place]]
            ways += [] if mark else [word]
            for way in ways:
                found = (way, (place + 1) % len(self.rounds), not mark)
                if len(way) <= length and found not in met:
                    met.add(found)
                    queue.append(found)
        return words

    def below(self, length: int) -> set[tuple[int, ...]]:
        """The same of the machine that may implement it."""
        words = {(s,) for s in self.low_starts}
        for _ in range(length - 1):
            words |= {(*w, b) for w in words for a, b in self.edges if w[-1] == a}
        return words


def test_random_hidden_places(tmp_path: Path) -> None:
    kept, left = 0, 0
    for seed in range(60):
        pair = Hidden(seed)
        module = loaded(tmp_path, f"hidden_{seed}", pair.source())
        try:
            model = module.Low.build()
            liveness = judged(model)
            assert not liveness.reasons
            trace: Any = liveness.hits.get("above")
            wrong = pair.below(7) - pair.above(7)
            assert (trace is not None) == bool(wrong), seed
            if trace is None:
                kept += 1
                continue
            left += 1
            case = trace["case"]
            assert len(case["steps"]) + 1 == min(map(len, wrong)), seed
            assert not_a_departure(model.ir.to_plain(), case) == "", seed
            assert Play(module.Low, {}, case).judge()["broke"] is True, seed
        finally:
            del sys.modules[module.__name__]
    assert kept > 5 and left > 5
