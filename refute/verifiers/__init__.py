"""Verifiers: engines that try to refute claims of some kind, behind one protocol.

An engine never refutes and never speaks of itself: it returns a `Finding`, and whatever it believes
to be a counterexample is replayed by others. Claims of one `group` share one run (all properties of
a machine need one search of its states). A new engine is one module, one line in
`refute.verifiers.registry` and one test file.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:  # engines are loaded by name, and some are run without claims and sandbox
    from refute.budget import Budget
    from refute.claim import Claim
    from refute.evidence import Evidence, Finding
    from refute.replay import Replayer
    from refute.site import Site

Progress = Callable[[str], None]


class Interrupted(KeyboardInterrupt):
    """Raised by an engine that was asked to stop and has something to say.

    found: what it would have returned; from `refute.check` on, evidence.
    """

    def __init__(self, found: Sequence[Any]) -> None:
        super().__init__()
        self.found = found


class Verifier(Protocol):
    """An engine. name, version: as evidence shows them. cost: cheaper engines run first."""

    name: str
    version: str
    cost: int

    def declines(self, claim: Claim) -> str:
        """Why this engine does not take the claim; empty when it does."""
        ...

    def group(self, claim: Claim) -> Hashable:
        """Claims with equal groups are handed to one `run` call together."""
        ...

    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> Sequence[Finding]:
        """One finding per claim, in order. Its own troubles become UNKNOWN with the reason."""
        ...

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> Replayer:
        """How counterexamples to the claim are played on the plain subject."""
        ...


@runtime_checkable
class Follower(Protocol):
    """An engine that goes on where those before it ended, and is not asked where they did not."""

    def follows(self, claim: Claim, found: Sequence[Evidence]) -> bool:
        """Whether it has anything to add to what was found of the claim."""
        ...
