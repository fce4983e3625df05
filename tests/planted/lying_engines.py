"""Engines that lie, each in one way, about claims that `Sampling` judges honestly."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Any

from refute.budget import Budget
from refute.claim import Claim, Verdict
from refute.evidence import Finding, Scope
from refute.replay import Counterexample
from refute.site import Site
from refute.verifiers import Progress
from refute.verifiers.sampling import Sampling


class Liar(Sampling):
    """Says `what` of every claim, having done nothing."""

    name = "liar"
    cost = 1

    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> Sequence[Finding]:
        return [self.lie(claim) for claim in claims]

    def lie(self, claim: Claim) -> Finding:
        raise NotImplementedError


def said(verdict: Verdict, **fields: Any) -> Finding:
    return Finding("liar", "1", verdict, **fields)


class Proves(Liar):
    def lie(self, claim: Claim) -> Finding:
        return said(Verdict.PROVED)


class ExhaustsNothing(Liar):
    def lie(self, claim: Claim) -> Finding:
        return said(Verdict.EXHAUSTED, scope=Scope(bounds={"x": "all"}))


class ExhaustsWithoutBounds(Liar):
    def lie(self, claim: Claim) -> Finding:
        return said(Verdict.EXHAUSTED, tried=10)


class SurvivesNothing(Liar):
    def lie(self, claim: Claim) -> Finding:
        return said(Verdict.SURVIVED)


class SaysNothing(Liar):
    def lie(self, claim: Claim) -> Finding:
        return said(Verdict.UNKNOWN)


class Invents(Liar):
    """Names a case that does not break the claim."""

    def lie(self, claim: Claim) -> Finding:
        case = Counterexample("liar", {"case": {"x": 1}, "before": []}, observed="x = 1 breaks it")
        return said(Verdict.UNKNOWN, reason="found", tried=1, counterexamples=(case,))


class InventsNonsense(Liar):
    """Names a case that nobody can play."""

    def lie(self, claim: Claim) -> Finding:
        case = Counterexample("liar", "trust me")
        return said(Verdict.UNKNOWN, reason="found", tried=1, counterexamples=(case,))


class Refutes(Liar):
    """Tries to say REFUTED itself."""

    def lie(self, claim: Claim) -> Finding:
        return said(Verdict.REFUTED)


class Raises(Liar):
    def lie(self, claim: Claim) -> Finding:
        raise RuntimeError("boom")


class Hangs(Liar):
    def lie(self, claim: Claim) -> Finding:
        time.sleep(5)
        return said(Verdict.UNKNOWN, reason="slept")


class Miscounts(Liar):
    """Returns one finding too many."""

    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> Sequence[Finding]:
        return [said(Verdict.SURVIVED, tried=1)] * (len(claims) + 1)


class ReturnsStrings(Liar):
    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> Sequence[Any]:
        return ["PROVED"] * len(claims)


class Overspends(Sampling):
    """Takes ten times the cases it was given."""

    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> Sequence[Finding]:
        more = dataclasses.replace(budget, cases=budget.cases * 10)
        return super().run(claims, more, site, progress)


class Blames(Sampling):
    """Signs with another engine's name."""

    name = "somebody else"

    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> Sequence[Finding]:
        found = super().run(claims, budget, site, progress)
        return [dataclasses.replace(f, engine="sampling") for f in found]


class TakesAnything(Sampling):
    def declines(self, claim: Claim) -> str:
        return ""


class Wavers(Sampling):
    """Tries something else each time."""

    runs = 0

    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> Sequence[Finding]:
        self.runs += 1
        found = super().run(claims, budget, site, progress)
        return [dataclasses.replace(f, tried=f.tried + self.runs) for f in found]
