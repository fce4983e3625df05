"""Sampling of contracts: the function is called with many inputs that satisfy its requires.

Cheap, and the same for functions that no solver understands. After a proof it is the second look.
Edge cases come first, small ones before large ones, then candidates near the constants of the code
(`candidates`), then what Hypothesis draws where the budget is worth loading it, then plain samples.
All but the edge cases are asked beside the specs whether they satisfy the requires before they
become cases, so what is discarded says little about how hard those are to satisfy.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import random
from collections.abc import Callable, Iterator, Sequence

from refute.budget import Budget, derive_seed
from refute.claim import Claim, Verdict
from refute.errors import RefuteError
from refute.evidence import Cost, Finding, Scope
from refute.fuzz.samples import sampler
from refute.fuzz.shrinking import simpler
from refute.fuzz.values import edges, enumerate_values
from refute.plain import Plain, dumps
from refute.replay import Replayer
from refute.sandbox import Limits, Worker
from refute.site import Site
from refute.specs.contract import KIND
from refute.specs.contract_reading import Reading, reading_of
from refute.specs.contract_types import build, carried, carrier
from refute.specs.domains import Records
from refute.verifiers import Progress
from refute.verifiers.contracts.candidates import PATIENCE, ROUND, Drawer, satisfying
from refute.verifiers.contracts.player import ContractPlayer, Tally, case_size
from refute.verifiers.one_by_one import OneByOne
from refute.verifiers.pair import SPARE_CPU_S
from refute.verifiers.playing import CaseReplayer
from refute.verifiers.sampling import drawn_by_hypothesis
from refute.verifiers.search import Quarry, Search, Source

MANY = 400  # cases of a budget from which on Hypothesis is worth loading
SCORING_S = 5.0  # wall seconds for one round of candidates


class ContractSampling(OneByOne):
    """The engine that calls a function under contract with many inputs."""

    kind = KIND
    name = "sampling"
    version = "1"
    cost = 10

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> Replayer:
        """Plays a case in fresh workers. Raises Unsupported where there is no contract to read."""
        return contract_replayer(claim, site, budget)

    def _run(self, claim: Claim, budget: Budget, site: Site, progress: Progress) -> Finding:
        try:
            reading = reading_of(claim, site)
            domain = _domain(reading)
        except RefuteError as error:
            return Finding(self.name, self.version, Verdict.UNKNOWN, reason=error.message)
        tally = Tally()
        with contextlib.closing(_Scoring(claim, site, budget, reading, tally)) as scoring:
            quarry = Quarry(
                engine=self.name,
                version=self.version,
                scope=_scope(reading),
                sources=_sources(reading, domain, budget, scoring),
                open_player=lambda seed: ContractPlayer(claim, site, budget, reading, seed, tally),
                simpler=lambda case: simpler_case(reading, case),
                progress=progress,
            )
            found = Search(quarry, budget).finding()
        return with_tally(found, tally, scoring.cpu_s)


def contract_replayer(claim: Claim, site: Site, budget: Budget) -> CaseReplayer:
    """Plays cases `{"case": {parameter: value}, "before": []}` of any engine for contracts."""
    reading = reading_of(claim, site)
    return CaseReplayer(
        lambda hash_seed: ContractPlayer(claim, site, budget, reading, hash_seed), reading.admits
    )


def with_tally(found: Finding, tally: Tally, cpu_s: float) -> Finding:
    """The finding with what the players met besides; one over exceptions alone is vacuous."""
    cost = Cost(found.cost.cpu_s + cpu_s, found.cost.wall_s)
    found = dataclasses.replace(found, cost=cost)
    if tally.given_up:
        note = f"{len(tally.given_up)} of the discarded ran out of time, memory or stack"
        note += f", and {tally.skipped} as large were not tried" if tally.skipped else ""
        told = "; ".join(filter(None, (found.distribution, note)))
        found = dataclasses.replace(found, distribution=told)
    if found.verdict.strength and not tally.returned:
        reason = f"vacuous: the function raised an allowed exception in all {found.tried} cases"
        return dataclasses.replace(found, verdict=Verdict.UNKNOWN, reason=reason, exhausted=False)
    return found


def _scope(reading: Reading) -> Scope:
    types = {name: str(kind) for name, kind in reading.parameters.items()}
    text = ", ".join(f"{name}: {kind}" for name, kind in types.items())
    return Scope(text=text or "the only case", bounds=types or {"cases": 1})


def _sources(
    reading: Reading, domain: Records, budget: Budget, scoring: _Scoring
) -> Sequence[Source]:
    size = domain.size
    if size is not None and size <= budget.cases:
        values = _built(reading, enumerate_values(domain))
        return [Source(f"of all {size} in order", values, budget.cases, complete=True)]
    small_first = sorted(_built(reading, edges(domain)), key=case_size)
    seed = derive_seed(budget.seed, "near constants")
    drawer = Drawer(reading.parameters, reading.constants, seed)
    near = _lazily(lambda: satisfying(drawer, scoring.score))
    found = [
        Source("edge cases", small_first, max(1, budget.cases // 4)),
        Source("near the constants of the code", near, max(1, budget.cases // 2)),
    ]
    if budget.cases >= MANY:
        cases = budget.cases // 5
        drawn = _lazily(drawn_by_hypothesis(domain, cases, budget))
        kept = scoring.satisfying(_built(reading, drawn))
        found.append(Source("drawn by Hypothesis", kept, cases))
    draw, rng = sampler(domain), random.Random(derive_seed(budget.seed, "sampled"))
    samples = scoring.satisfying(_built(reading, (draw(rng) for _ in itertools.count())))
    return [
        *found,
        Source("sampled", samples, max(1, budget.cases // 3)),
        Source("more near the constants", near, budget.cases),
    ]


def _lazily(make: Callable[[], Iterator[Plain] | Sequence[Plain]]) -> Iterator[Plain]:
    yield from make()


def _built(reading: Reading, values: Iterator[Plain] | Sequence[Plain]) -> Iterator[Plain]:
    for value in values:
        yield {name: build(kind, value[name]) for name, kind in reading.parameters.items()}


def simpler_case(reading: Reading, case: Plain) -> Iterator[Plain]:
    """Cases simpler than this one, simplest first."""
    whole = {name: carrier(kind, case[name]) for name, kind in reading.parameters.items()}
    return _built(reading, simpler(_domain(reading), whole))


def _domain(reading: Reading) -> Records:
    return Records({name: carried(kind) for name, kind in reading.parameters.items()})


class _Scoring:
    """Scores candidates beside the specs: in the worker of the player at work, or in its own."""

    def __init__(
        self, claim: Claim, site: Site, budget: Budget, reading: Reading, tally: Tally
    ) -> None:
        self.tally = tally
        self.claim = claim
        self.site = site
        self.limits = Limits(
            cpu_s=budget.cpu_s + SPARE_CPU_S, wall_s=SCORING_S, memory=budget.memory
        )
        self.contract = dumps(reading.data)
        self.score = self._score if reading.contract.requires else None
        self._worker: Worker | None = None

    @property
    def cpu_s(self) -> float:
        """CPU seconds of the worker."""
        return 0.0 if self._worker is None else self._worker.cpu_s

    def _score(self, cases: Sequence[Plain]) -> Sequence[tuple[int, bool]]:
        outcome = self._spec().call(
            "refute.specs.contract_judge:closeness",
            self.contract,
            list(cases),
            timeout_s=SCORING_S,
        )
        scores = outcome.value if outcome.kind == "returned" else None
        if type(scores) is not list or len(scores) != len(cases):
            return [(0, False)] * len(cases)
        return [(int(count), holds is True) for count, holds in scores]

    def _spec(self) -> Worker:
        if self.tally.player is not None:
            return self.tally.player.spec
        if self._worker is None:
            self._worker = self.site.spec_worker(self.claim, self.limits)
        return self._worker

    def satisfying(self, cases: Iterator[Plain]) -> Iterator[Plain]:
        """Those that satisfy the requires, until there was none for long."""
        if self.score is None:
            yield from cases
            return
        waited = 0
        while waited < PATIENCE and (batch := list(itertools.islice(cases, ROUND))):
            kept = [c for c, (_, h) in zip(batch, self._score(batch), strict=True) if h]
            waited = 0 if kept else waited + 1
            yield from kept

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
