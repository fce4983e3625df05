"""One by one: what all engines share that judge every claim by itself, on cases that break it.

They take one kind of statement and no existential claim, for they look for what breaks a claim and
not for examples. Claims that are handed over together share the budget equally.
"""

from __future__ import annotations

import abc
from collections.abc import Hashable, Sequence
from typing import ClassVar

from refute.budget import Budget
from refute.claim import Claim
from refute.evidence import Finding
from refute.site import Site
from refute.verifiers import Progress


class OneByOne(abc.ABC):
    """Most of an engine. kind: of the statements it takes."""

    kind: ClassVar[str]

    def declines(self, claim: Claim) -> str:
        """Why this engine does not take the claim; empty when it does."""
        if claim.statement.kind != self.kind:
            return f"takes {self.kind!r} statements, not {claim.statement.kind!r}"
        if claim.statement.existential:
            return "does not search for examples of existential claims"
        return self._unfit(claim)

    def group(self, claim: Claim) -> Hashable:
        """Every claim is judged by itself."""
        return claim.digest()

    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> Sequence[Finding]:
        """One finding per claim, in order."""
        share = 1 / len(claims)
        parts = [budget.part(c.name, share) if share < 1 else budget for c in claims]
        return [self._run(c, b, site, progress) for c, b in zip(claims, parts, strict=True)]

    def _unfit(self, claim: Claim) -> str:
        """Why this engine does not take a claim of its kind; empty when it does."""
        return ""

    @abc.abstractmethod
    def _run(self, claim: Claim, budget: Budget, site: Site, progress: Progress) -> Finding:
        """The finding on one claim."""
