"""A store for runs on trees that are wrong on purpose.

What is found on a knocked-out or known-wrong tree says nothing about the code, so no evidence of it
is kept; only the cases are, under a name of their own, because the case that refuted a knock-out
yesterday will most likely refute it today.
"""

from __future__ import annotations

from collections.abc import Sequence

from refute.claim import Claim
from refute.evidence import Evidence
from refute.ledger.store import Ledger
from refute.replay import Counterexample, Witness
from refute.site import Site


class Hints:
    """Implements `refute.check.Store`. kind: a family of wrong trees; thing: which of them."""

    def __init__(self, ledger: Ledger, kind: str, thing: str) -> None:
        self._ledger = ledger
        self._kind = kind
        self._thing = thing

    def lookup(self, claim: Claim, site: Site) -> Evidence | None:
        """Nothing: wrong trees are judged anew."""
        return None

    def record(self, claim: Claim, site: Site, evidence: Evidence) -> None:
        """Keep nothing."""

    def witnesses(self, claim: Claim) -> Sequence[Counterexample]:
        """Cases that broke the claim on this wrong tree before."""
        return self._ledger.cases(self._kind, f"{claim.name}\n{self._thing}")

    def keep(self, claim: Claim, witness: Witness) -> None:
        """Remember the case for the next time."""
        self._ledger.put_case(self._kind, f"{claim.name}\n{self._thing}", witness.counterexample)
