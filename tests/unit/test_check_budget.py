"""How `check` hands a budget out: cases are for each claim, seconds are for all of them."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from pathlib import Path

from refute.budget import Budget
from refute.check import check
from refute.claim import Claim, Statement, Verdict, Where
from refute.evidence import Cost, Finding
from refute.replay import Replayer
from refute.site import Site
from refute.verifiers import Progress


class Spender:
    """An engine that notes the budgets it gets, and spends some of the clock."""

    name, version, cost = "spender", "1", 1

    def __init__(self, sleep_s: float, cpu_s: float, at_once: int = 1) -> None:
        self.sleep_s = sleep_s
        self.cpu_s = cpu_s
        self.at_once = at_once
        self.budgets: list[Budget] = []

    def declines(self, claim: Claim) -> str:
        return ""

    def group(self, claim: Claim) -> Hashable:
        return (int(claim.name.split()[1]) - 1) // self.at_once

    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> Sequence[Finding]:
        self.budgets.append(budget)
        time.sleep(self.sleep_s)
        cost = Cost(cpu_s=self.cpu_s)
        return [
            Finding(
                self.name, "1", Verdict.SURVIVED, tried=budget.cases, distribution="all", cost=cost
            )
            for _ in claims
        ]

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> Replayer:
        raise NotImplementedError


def spent(
    budget: Budget, sleep_s: float = 0.0, cpu_s: float = 0.0, at_once: int = 1
) -> list[Budget]:
    """The budgets that four claims get."""
    engine = Spender(sleep_s, cpu_s, at_once)
    claims = [
        Claim(f"claim {n}", Statement("holds", "it holds", "m:f"), Where("claims.py", n))
        for n in range(1, 5)
    ]
    check(claims, budget, Site(Path(), Path()), engines=lambda _: (engine,))
    return engine.budgets


def test_every_claim_gets_all_cases() -> None:
    assert [b.cases for b in spent(Budget(cases=200))] == [200] * 4


def test_seconds_are_shared_and_what_one_leaves_is_for_the_others() -> None:
    given = spent(Budget(wall_s=80, cpu_s=40), cpu_s=4.0)
    assert [round(b.cpu_s, 3) for b in given] == [10.0, 12.0, 16.0, 28.0]
    assert 19 < given[0].wall_s <= 20 < given[1].wall_s < given[2].wall_s < given[3].wall_s <= 80


def test_claims_together_keep_to_the_wall_clock() -> None:
    given = spent(Budget(wall_s=4.4), sleep_s=0.1)
    assert sum(b.wall_s for b in given[:1]) <= 1.1
    assert given[3].wall_s <= 4.4 - 3 * 0.1


def test_a_budget_that_is_spent_still_leaves_each_claim_a_second() -> None:
    given = spent(Budget(wall_s=0.2, cpu_s=0.2), sleep_s=0.1, cpu_s=1.0)
    assert [(b.wall_s, b.cpu_s) for b in given[1:]] == [(1.0, 1.0)] * 3


def test_what_a_run_for_several_claims_cost_counts_once() -> None:
    pairs = spent(Budget(cpu_s=30.0), cpu_s=10.0, at_once=2)
    assert [b.cpu_s for b in pairs] == [15.0, 20.0]
