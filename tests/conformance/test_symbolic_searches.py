"""Searches by formulas find on random machines what explicit search finds, after as many steps.

The comparison is of whole searches: verdicts, lengths of shortest traces, and that the plain engine
can walk them. What each step means is compared in `test_symbolic_machines`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from symbolic_searches import (  # type: ignore[import-not-found]
    SOURCES,
    Compared,
    built,
    compared,
    explicit,
    variants,
)

from refute.errors import Unsupported
from refute.specs.machine import types as t
from refute.verifiers.symbolic import arithmetic, goals
from refute.verifiers.symbolic.comparing import equal
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.executing import Way
from refute.verifiers.symbolic.folding import Bit, all_of, not_
from refute.verifiers.symbolic.forms import Sym
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.world import Judged, World

DEPTH = 4
SECONDS = 5.0  # for each of the two searches, of the wall clock
TYPED, WIDE = range(14), range(110, 126)


def searches(directory: Path, kind: str, seeds: range) -> Iterator[tuple[int, Compared]]:
    """The machines with these seeds that the language takes, in both searches."""
    for seed in seeds:
        try:
            with built(directory, kind, seed) as ir:
                for one in variants(ir, seed):
                    yield seed, compared(one, DEPTH, SECONDS)
        except Unsupported:
            continue


@pytest.mark.parametrize(
    ("kind", "seeds"),
    [("typed", TYPED[:7]), ("typed", TYPED[7:]), ("wide", WIDE[:8]), ("wide", WIDE[8:])],
)
def test_random_machines_are_searched_alike(kind: str, seeds: range, tmp_path: Path) -> None:
    found = list(searches(tmp_path, kind, seeds))
    assert not [(seed, one.wrong) for seed, one in found if one.wrong]
    assert sum(one.found for _, one in found) > len(seeds)
    assert sum(one.proved for _, one in found) > len(seeds) // 4
    assert sum(one.depth >= 1 for _, one in found) > len(seeds) // 2


CHOOSING = """
from typing import Annotated
from refute.machine import *

class M(Machine):
    v: Var[Annotated[int, Range(0, 2)]] = var(0)
    m: Var[Map[bool, bool]] = var(each=False)

    @action
    def act(self) -> None:
        if self.v == AT:
            x = any_of(SOURCE)
        self.v = 1
"""


@pytest.mark.parametrize(
    ("at", "source", "steps"),
    [
        ("2", "Set()", {}),
        ("2", "Set() & Set([1])", {}),
        ("1", "Set()", {"deadlock-free": 1}),
        ("1", "Set() & Set([1])", {"deadlock-free": 1}),
        ("1", "Set() if 1 // (1 - self.v) > 0 else Set()", {"well_defined": 2}),
        ("1", "{k: 1 // (1 - self.v) for k in self.m}.keys()", {"well_defined": 2}),
        ("1", "list({k: 1 // (1 - self.v) for k in self.m})", {"well_defined": 2}),
        ("1", "[1 // n for n in range(2)]", {"well_defined": 2}),
        ("1", "[n for n in range(2) if 1 // n > 5]", {"well_defined": 2}),
        ("1", "[1 // n for n in range(2) if n > 0]", {}),
    ],
)
def test_what_is_chosen_from_is_evaluated_whole(
    at: str, source: str, steps: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What raises for another element than the chosen one, and what there is none of."""
    made = CHOOSING.replace("AT", at).replace("SOURCE", source)
    monkeypatch.setitem(SOURCES, "chosen", lambda _: made)
    with built(tmp_path, "chosen", 0) as ir:
        assert compared(ir).wrong == ""
        assert explicit(ir, SECONDS).steps == {"fires:act": 1, **steps}


def kept_paths(way: Way, test: Bit) -> Way:
    """A `when` that changes nothing."""
    return way


def all_but_one(encoding: Encoding, left: World, right: World) -> Bit:
    """A frame with a hole: what a step leaves in the last variable is forgotten."""
    names = list(encoding.kinds)[:-1]
    return all_of(equal(left.values[n], right.values[n]) for n in names)


def everywhere(encoding: Encoding, world: World) -> Judged:
    """Constraints that nobody asks."""
    return Judged(True, False)


def at_most(a: Sym, b: Sym, kind: t.Type, ctx: Context) -> Bit:
    """`<=` where `<` is meant."""
    return not_(BELOW(b, a, kind, ctx))


BELOW = arithmetic.below


@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        (Way, "narrowed", kept_paths),
        (Encoding, "equated", all_but_one),
        (Encoding, "admitted", everywhere),
        (arithmetic, "below", at_most),
        (goals, "moves", lambda encoding, action, world: True),
    ],
)
def test_a_wrong_encoding_is_noticed(
    where: object, name: str, wrong: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, wrong)
    kinds = (("wide", WIDE[8:12]), ("typed", TYPED[:2]))
    assert any(one.wrong for kind, seeds in kinds for _, one in searches(tmp_path, kind, seeds))
