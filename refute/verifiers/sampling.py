"""Sampling: tries a claim about functions on all of its inputs, or on many of them.

Where the inputs have no more values than the budget has cases, all of them are tried, simplest
first, and the verdict is EXHAUSTED. Otherwise come the edge cases, then what Hypothesis draws, then
refute's own sampler, which is faster and goes on for as long as there is budget.
"""

from __future__ import annotations

import importlib
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import cast

from refute.budget import Budget, derive_seed
from refute.claim import Claim
from refute.evidence import Finding, Scope
from refute.fuzz.samples import sampler
from refute.fuzz.shrinking import simpler
from refute.fuzz.values import edges, enumerate_values
from refute.plain import Plain
from refute.replay import Replayer
from refute.site import Site
from refute.specs.domains import Records
from refute.specs.function import KIND, given_of
from refute.verifiers import Progress
from refute.verifiers.functions import EqualsPlayer, FunctionPlayer, PropertyPlayer
from refute.verifiers.one_by_one import OneByOne
from refute.verifiers.playing import CaseReplayer
from refute.verifiers.search import Quarry, Search, Source

HYPOTHESIS_CASES = 500
PLAYERS: dict[str, type[FunctionPlayer]] = {"property": PropertyPlayer, "equals": EqualsPlayer}


class Sampling(OneByOne):
    """The engine for `Holds` and `Equals`."""

    kind = KIND
    name = "sampling"
    version = "1"
    cost = 10

    def _unfit(self, claim: Claim) -> str:
        """Why this engine does not take a claim of its kind; empty when it does."""
        form = claim.statement.params.get("form")
        return "" if form in PLAYERS else f"knows no form {form!r} of {KIND!r}"

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> Replayer:
        """Plays a case in fresh workers."""
        kind = PLAYERS[claim.statement.params["form"]]
        admits = given_of(claim.statement).contains
        return CaseReplayer(lambda hash_seed: kind(claim, site, budget, hash_seed), admits)

    def _run(self, claim: Claim, budget: Budget, site: Site, progress: Progress) -> Finding:
        domain = given_of(claim.statement)
        kind = PLAYERS[claim.statement.params["form"]]
        quarry = Quarry(
            engine=self.name,
            version=self.version,
            scope=_scope(domain),
            sources=sources(domain, budget),
            open_player=lambda hash_seed: kind(claim, site, budget, hash_seed),
            simpler=lambda case: simpler(domain, case),
            progress=progress,
        )
        return Search(quarry, budget).finding()


def _scope(domain: Records) -> Scope:
    shown = {name: str(d) for name, d in domain.of.items()}
    text = ", ".join(f"{name} in {d}" for name, d in shown.items())
    return Scope(text=text or "the only case", bounds=shown or {"cases": 1})


def sources(domain: Records, budget: Budget) -> list[Source]:
    """Where the cases of a domain come from, under a budget."""
    size = domain.size
    if size is not None and size <= budget.cases:
        name = f"of all {size} in order"
        return [Source(name, enumerate_values(domain), budget.cases, complete=True)]
    drawn = min(HYPOTHESIS_CASES, max(1, budget.cases // 2))
    return [
        Source("edge cases", edges(domain), max(1, budget.cases // 4)),
        Source("drawn by Hypothesis", _lazily(drawn_by_hypothesis(domain, drawn, budget)), drawn),
        Source("sampled", _samples(domain, budget), budget.cases),
    ]


def _lazily(make: Callable[[], Sequence[Plain]]) -> Iterator[Plain]:
    yield from make()


def drawn_by_hypothesis(
    domain: Records, cases: int, budget: Budget
) -> Callable[[], Sequence[Plain]]:
    """What Hypothesis draws; it is loaded only when its turn comes, after the edge cases."""

    def make() -> Sequence[Plain]:
        strategies = importlib.import_module("refute.fuzz.strategies")
        seed = derive_seed(budget.seed, "hypothesis")
        return cast(Sequence[Plain], strategies.generate(domain, cases, seed))

    return make


def _samples(domain: Records, budget: Budget) -> Iterator[Plain]:
    draw = sampler(domain)
    rng = random.Random(derive_seed(budget.seed, "sampled"))
    return (draw(rng) for _ in itertools.count())
