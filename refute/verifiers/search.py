"""The search for a case that breaks a claim: one loop for every engine that plays cases.

An engine says where cases come from and how one is played; the loop here counts what was tried,
never twice the same case, keeps to the budget, and turns the first broken case into a small
counterexample.

The wall clock only caps: when it runs out first, the finding is UNKNOWN, and never a weaker grade
than a faster machine would have given. CPU seconds and cases are the budget proper.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from refute import plain
from refute.budget import Budget
from refute.claim import Verdict
from refute.evidence import Cost, Finding, Scope
from refute.fuzz.shrinking import Simpler
from refute.plain import Plain
from refute.replay import HASH_SEEDS, Counterexample
from refute.verifiers.playing import Judgement, Player
from refute.verifiers.reduction import Shrinker

BATCH_S = 0.2  # a batch is grown until it takes about this long
MAX_BATCH = 256
HISTORY = 4096  # cases played by one player, all of which a broken case may depend on
AGAIN = 32  # cases played a second time, and no more than an eighth of all
DRAWS = 10  # drawn for each case wanted, so that a small domain or a strict assumption ends


@dataclasses.dataclass(frozen=True)
class Source:
    """Where cases come from. name: as the distribution shows it. complete: these are all cases.

    most: at most so many of them are tried.
    """

    name: str
    cases: Iterable[Plain]
    most: int
    complete: bool = False


@dataclasses.dataclass(frozen=True)
class Quarry:
    """What is searched. scope: what a complete source covers. simpler: candidates to shrink to.

    open_player: a player whose workers have that hash seed.
    """

    engine: str
    version: str
    scope: Scope
    sources: Sequence[Source]
    open_player: Callable[[int], Player]
    simpler: Simpler
    progress: Callable[[str], None]


class Search:
    """One run over the sources of a quarry, under a budget."""

    def __init__(self, quarry: Quarry, budget: Budget) -> None:
        self.quarry = quarry
        self.budget = budget
        self.clock = budget.clock()
        self.seen: set[str] = set()
        self.history: list[Plain] = []
        self.tried = self.discarded = self.asked = 0
        self.isolation = ""
        self.cpu_s = 0.0
        self.player: Player | None = None
        self.hash_seed = HASH_SEEDS[0]
        self.shares: list[str] = []
        self.cut = ""

    def finding(self) -> Finding:
        """Search until something breaks, everything was tried, or the budget is spent."""
        exhausted = False
        try:
            for source in self.quarry.sources:
                end = self._run(source)
                if end is not None:
                    return end
                exhausted = exhausted or (source.complete and not self.cut)
                if self._spent():
                    break
            return self._again(self._end(exhausted))
        finally:
            self._close()

    def _again(self, found: Finding) -> Finding:
        """Some cases once more, backwards and under another hash seed, before they are believed.

        What depends on the hash seed, on the order or on chance held once and may not hold twice.
        Who only wants any refutation, without shrinking, gets no second look.
        """
        if found.verdict is Verdict.UNKNOWN or not self.budget.shrink:
            return found
        self._close()
        cases = self.history[:: -max(8, len(self.history) // AGAIN)][:AGAIN]
        self.history, self.hash_seed = [], HASH_SEEDS[1]
        broken = self._play(cases)
        if broken is not None:
            return broken
        self._close()
        return dataclasses.replace(found, cost=Cost(cpu_s=self.cpu_s, wall_s=self.clock.spent))

    def _run(self, source: Source) -> Finding | None:
        """Play the cases of one source; a finding when the search must end with it."""
        before, size = self.tried, 1
        cases = self._fresh(source)
        most = min(source.most, self.budget.cases - self.tried)
        while not self._spent() and (room := most - (self.tried - before)) > 0:
            batch = list(itertools.islice(cases, min(size, room)))
            if not batch:
                break
            started = time.monotonic()
            end = self._play(batch)
            if end is not None:
                return end
            quick = time.monotonic() - started < BATCH_S
            size = min(MAX_BATCH, size * 2) if quick else max(1, size // 2)
            self.quarry.progress(f"{self.quarry.engine}: {self.tried} cases")
        if self.tried > before:
            self.shares.append(f"{self.tried - before} {source.name}")
        if source.complete and next(cases, None) is not None:
            self.cut = f"the budget ended before all of them were tried: {source.name}"
        return None

    def _fresh(self, source: Source) -> Iterator[Plain]:
        """Cases not played before; ends when too many draws gave nothing new."""
        draws = DRAWS * min(source.most, self.budget.cases) + DRAWS
        for case in source.cases if source.complete else itertools.islice(source.cases, draws):
            text = plain.dumps(case)
            if text not in self.seen:
                self.seen.add(text)
                yield case

    def _play(self, batch: Sequence[Plain]) -> Finding | None:
        todo = list(batch)
        while todo:
            player = self._current()
            judged = player.play(todo)
            for case, judgement in zip(todo, judged, strict=False):
                self.asked += judgement.asked
                if judgement.status == "unfit":
                    return self._finding(Verdict.UNKNOWN, reason=judgement.observed)
                if judgement.status == "broken":
                    self.tried += 1
                    return self._broken(case, judgement)
                self.history.append(case)
                self.tried += judgement.status == "held"
                self.discarded += judgement.status == "discarded"
            if not judged:
                return self._finding(Verdict.UNKNOWN, reason="a player played no case")
            todo = todo[len(judged) :]
        return None

    def _current(self) -> Player:
        if self.player is not None and len(self.history) >= HISTORY:
            self._close()
        if self.player is None:
            self.player = self.quarry.open_player(self.hash_seed).__enter__()
            self.isolation = self.player.isolation
            self.history = []
        return self.player

    def _close(self) -> None:
        if self.player is not None:
            self.cpu_s += self.player.cpu_s
            self.player.__exit__(None, None, None)
            self.player = None

    def _spent(self) -> bool:
        used = self.cpu_s + (self.player.cpu_s if self.player is not None else 0.0)
        return self.clock.over or used >= self.budget.cpu_s

    def _broken(self, case: Plain, judgement: Judgement) -> Finding:
        self._close()
        held = {plain.dumps(played) for played in self.history}
        quarry = self.quarry
        opened = functools.partial(quarry.open_player, self.hash_seed)
        shrinker = Shrinker(quarry.engine, opened, quarry.simpler, held, self.clock.left)
        shrink = shrinker.smallest if self.budget.shrink else shrinker.unshrunk
        found = shrink(self.history, case, judgement)
        self.cpu_s += shrinker.cpu_s
        return self._finding(Verdict.UNKNOWN, "a counterexample is proposed", (found,))

    def _end(self, exhausted: bool) -> Finding:
        if self.tried == 0:
            return self._finding(Verdict.UNKNOWN, self._nothing_judged())
        if self.asked == 0:
            return self._finding(Verdict.UNKNOWN, "vacuous: no case ever asked the subject")
        if exhausted:
            return self._finding(Verdict.EXHAUSTED)
        if self.clock.over:
            cap = f"the cap of {self.budget.wall_s:.3g} s wall clock was reached"
            return self._finding(Verdict.UNKNOWN, f"{cap} after {self.tried} cases")
        return self._finding(Verdict.SURVIVED, self.cut)

    def _nothing_judged(self) -> str:
        if self._spent():
            return "the budget was spent before any case was judged"
        if self.discarded:
            return f"vacuous: all {self.discarded} cases were discarded"
        return "vacuous: there is no case"

    def _finding(
        self,
        verdict: Verdict,
        reason: str = "",
        counterexamples: tuple[Counterexample, ...] = (),
    ) -> Finding:
        self._close()
        return Finding(
            engine=self.quarry.engine,
            version=self.quarry.version,
            verdict=verdict,
            reason=reason,
            scope=self.quarry.scope,
            tried=self.tried,
            discarded=self.discarded,
            distribution=", ".join(self.shares),
            counterexamples=counterexamples,
            exhausted=verdict is Verdict.EXHAUSTED,
            isolation=self.isolation,
            cost=Cost(cpu_s=self.cpu_s, wall_s=self.clock.spent),
            statistics={"calls": self.asked},
        )
