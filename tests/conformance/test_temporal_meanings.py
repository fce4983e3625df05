"""Temporal properties of random small machines against a brute force over all of their lassos.

The brute force knows nothing of automata or components: it takes every strongly connected set of
edges as what a behaviour does for ever, asks every fairness condition of it, and evaluates the
formula on every short way into it. A lasso that the checker finds is played on the real class and
walked on the IR.
"""

from __future__ import annotations

import importlib.util
import itertools
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from refute.specs.machine.play import Play
from refute.verifiers.model.lasso import not_a_witness
from refute.verifiers.model.liveness import Liveness

Edge = tuple[int, int]
Formula = tuple[Any, ...]

HEAD = """
from __future__ import annotations
from typing import Annotated
from refute.machine import *

class M(Machine):
    s: Var[Annotated[int, Range(0, 2)]] = var(one_of={starts})
"""
ACTION = """
    @action({fair})
    def act{at}(self) -> None:
        source, target = any_of({table})
        when(self.s == source)
        self.s = target
"""
FAIR = """
    @fair("{kind}")
    def condition{at}(self, after: M) -> bool:
        return (self.s, after.s) in {table}
"""
TEMPORAL = """
    @temporal
    def formula{at}(self) -> Formula:
        return {text}
"""
ONE = {"always": "always", "eventually": "eventually", "not": "~"}


class Drawn:
    """A random machine as tables. steps: edges and fairness of each action, and of conditions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        pick = self.random
        self.starts = sorted(pick.sample(range(3), pick.choice([1, 1, 2])))
        every = list(itertools.product(range(3), repeat=2))
        kinds = ["", "", "weak", "strong"]
        self.actions = [
            (sorted(pick.sample(every, pick.randrange(1, 4))), pick.choice(kinds))
            for _ in range(pick.randrange(1, 4))
        ]
        self.conditions = [
            (sorted(pick.sample(every, 3)), pick.choice(["weak", "strong"]))
            for _ in range(pick.choice([0, 0, 1]))
        ]
        self.formulas = [self.formula(3) for _ in range(4)]

    def formula(self, depth: int) -> Formula:
        forms = ["is"] if not depth else ["is", "not", "and", "or"] + 3 * ["always", "eventually"]
        form = self.random.choice(forms)
        if form == "is":
            return ("is", self.random.randrange(3))
        parts = [self.formula(depth - 1) for _ in range(2 if form in ("and", "or") else 1)]
        return (form, *parts)

    def source(self) -> str:
        text = HEAD.format(starts=self.starts)
        for at, (table, kind) in enumerate(self.actions):
            text += ACTION.format(at=at, table=table, fair=f'fair="{kind}"' if kind else "")
        for at, (table, kind) in enumerate(self.conditions):
            text += FAIR.format(at=at, table=set(table), kind=kind)
        for at, formula in enumerate(self.formulas):
            text += TEMPORAL.format(at=at, text=written(formula))
        return text


def written(formula: Formula) -> str:
    match formula:
        case ("is", value):
            return f"implies(lambda: True, lambda: self.s == {value})"
        case ("and" | "or" as op, left, right):
            return f"({written(left)} {'&' if op == 'and' else '|'} {written(right)})"
        case (op, inner):
            return f"{ONE[op]}({written(inner)})"
    raise AssertionError(formula)


def true_of(formula: Formula, states: list[int], loop: int, at: int) -> bool:
    """The formula on the word states[:loop] states[loop:]^ω, by its definition."""
    match formula:
        case ("is", value):
            return states[at] == value
        case ("not", inner):
            return not true_of(inner, states, loop, at)
        case ("and", left, right):
            return true_of(left, states, loop, at) and true_of(right, states, loop, at)
        case ("or", left, right):
            return true_of(left, states, loop, at) or true_of(right, states, loop, at)
    places = set(range(at, len(states))) | set(range(loop, len(states)))
    found = [true_of(formula[1], states, loop, place) for place in places]
    return all(found) if formula[0] == "always" else any(found)


def rounds(edges: list[Edge]) -> Iterator[tuple[list[Edge], list[int]]]:
    """Every strongly connected set of edges, with a closed walk through all of it."""
    for state in range(3):
        yield [], [state]
    for size in range(1, len(edges) + 1):
        for chosen in itertools.combinations(edges, size):
            walk = closed_walk(list(chosen))
            if walk:
                yield list(chosen), walk


def closed_walk(edges: list[Edge]) -> list[int]:
    """A walk over these edges alone that takes each of them and returns; empty if there is none."""
    ways: dict[tuple[int, int], list[int]] = {(s, s): [] for s in range(3)}
    for _ in range(3):
        for (source, middle), way in list(ways.items()):
            for start, end in edges:
                if start == middle:
                    ways.setdefault((source, end), [*way, end])
    walk = [edges[0][0]]
    for start, end in [*edges, (edges[0][0], -1)]:
        if (walk[-1], start) not in ways:
            return []
        walk += ways[walk[-1], start]
        walk += [end] if end >= 0 else []
    return walk[:-1] if len(walk) > 1 else walk


def fair(drawn: Drawn, edges: list[Edge], chosen: list[Edge], walk: list[int]) -> bool:
    """Whether a behaviour that takes exactly these edges for ever is fair."""
    for table, kind in drawn.actions + drawn.conditions:
        if not kind:
            continue
        own = {e for e in edges if e in table}
        able = [any(e[0] == state for e in own) for state in set(walk)]
        bound = any(able) if kind == "strong" else all(able)
        if bound and not own & set(chosen):
            return False
    return True


def ways_in(drawn: Drawn, edges: list[Edge], goal: int, steps: int) -> Iterator[list[int]]:
    paths = [[s] for s in drawn.starts]
    for _ in range(steps):
        yield from (p[:-1] for p in paths if p[-1] == goal)
        paths = [[*p, end] for p in paths for start, end in edges if start == p[-1]]


def brute(drawn: Drawn, formula: Formula) -> bool:
    """Whether some short fair lasso breaks the formula."""
    found = {e for table, _ in drawn.actions for e in table if e[0] != e[1]}
    edges = sorted(found)
    for chosen, walk in rounds(edges):
        if not fair(drawn, edges, chosen, walk):
            continue
        for prefix in ways_in(drawn, edges, walk[0], 5):
            if not true_of(formula, prefix + walk, len(prefix), 0):
                return True
    return False


def loaded(directory: Path, name: str, text: str) -> ModuleType:
    (directory / f"{name}.py").write_text(text)
    spec = importlib.util.spec_from_file_location(name, directory / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def compare(directory: Path, seed: int) -> tuple[int, int]:
    """How many formulas of a random machine hold, and how many do not."""
    drawn = Drawn(seed)
    module = loaded(directory, f"temporal_machine_{seed}", drawn.source())
    try:
        model = module.M.build()
        liveness = Liveness(model.ir)
        while not liveness.advance(5.0)["finished"]:
            pass
        assert not liveness.reasons
        for at, formula in enumerate(drawn.formulas):
            trace: Any = liveness.hits.get(f"formula{at}")
            if trace is None:
                assert not brute(drawn, formula), (seed, at)
                continue
            assert not_a_witness(model.ir.to_plain(), trace["case"]) == "", (seed, at)
            assert Play(module.M, {}, trace["case"]).judge()["broke"] is True, (seed, at)
        return len(drawn.formulas) - len(liveness.hits), len(liveness.hits)
    finally:
        del sys.modules[module.__name__]


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 10**6))
def test_random_formulas_of_random_machines(tmp_path_factory: Any, seed: int) -> None:
    held, broken = compare(tmp_path_factory.mktemp("temporal"), seed)
    assert held + broken == 4


def test_the_brute_force_itself_is_not_blind(tmp_path: Path) -> None:
    held, broken, seen = 0, 0, 0
    for seed in range(12):
        more = compare(tmp_path, seed)
        held, broken = held + more[0], broken + more[1]
        seen += sum(brute(Drawn(seed), f) for f in Drawn(seed).formulas)
    assert held > 5 and broken > 5
    assert seen == broken
