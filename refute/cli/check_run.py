"""The record of a `refute check`: claims judged one after the other, kept even when interrupted."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

from refute import __version__
from refute.budget import Budget
from refute.check import EnginesFor, check, unknown
from refute.claim import Claim, Verdict
from refute.errors import EXIT_ESTABLISHED, EXIT_NOT_ESTABLISHED, EXIT_REFUTED
from refute.evidence import Cost, Evidence, cpu_seconds, exit_code
from refute.record import ClaimResult, Run
from refute.site import Site
from refute.verifiers import Progress
from refute.verifiers.registry import engines_for

DECISIONS = {
    EXIT_ESTABLISHED: "accepted",
    EXIT_REFUTED: "refuted",
    EXIT_NOT_ESTABLISHED: "not established",
}
IMPLEMENTATIONS = {"cpython": "CPython", "pypy": "PyPy", "graalpy": "GraalPy"}
INTERRUPTED = "interrupted before it was judged"


def judge(
    claims: Sequence[Claim],
    site: Site,
    budget: Budget,
    progress: Progress,
    engines: EnginesFor = engines_for,
) -> Run:
    """Check the claims. After Ctrl-C the run holds what was known, and says that it was cut."""
    started = time.monotonic()
    known: dict[str, Evidence] = {}

    def keep(claim: Claim, evidence: Evidence) -> None:
        known[claim.digest()] = evidence

    interrupted = False
    try:
        evidence = check(claims, budget, site, progress=progress, engines=engines, found=keep)
    except KeyboardInterrupt:
        interrupted = True
        evidence = [known.get(c.digest(), unknown(c, INTERRUPTED)) for c in claims]
    wall = time.monotonic() - started
    return record(claims, evidence, budget, wall, interrupted=interrupted)


def record(
    claims: Sequence[Claim],
    evidence: Sequence[Evidence],
    budget: Budget,
    wall_s: float,
    *,
    interrupted: bool = False,
) -> Run:
    """The run for this evidence, one per claim in order."""
    results = [
        ClaimResult(claim, found, unmet=found.unmet(claim.need), declined=_declined(found))
        for claim, found in zip(claims, evidence, strict=True)
    ]
    code = exit_code(evidence, [claim.need for claim in claims])
    return Run(
        command="check",
        decision=DECISIONS[code],
        exit_code=code,
        reasons=tuple(f"{r.claim.name}: {r.unmet}" for r in results if r.unmet),
        results=tuple(results),
        interrupted=interrupted,
        seed=budget.seed,
        cost=Cost(cpu_seconds(evidence), wall_s),
        environment=environment(evidence),
    )


def environment(evidence: Sequence[Evidence]) -> dict[str, str]:
    """What the verdicts depend on besides the code."""
    isolation = sorted({e.isolation for e in evidence if e.isolation})
    # Not by `platform`, which takes as long to load as all else that this needs, and asks programs.
    system, (version, *_) = os.uname(), sys.version.split()
    name = IMPLEMENTATIONS.get(sys.implementation.name, sys.implementation.name)
    return {
        "refute": __version__,
        "python": f"{name} {version}",
        "platform": f"{system.sysname}-{system.release}-{system.machine}",
        "isolation": "; ".join(isolation),
    }


def _declined(evidence: Evidence) -> dict[str, str]:
    """Engines that did not take the claim, out of the merged evidence's parts."""
    return {
        part.engine: part.reason.removeprefix("declined: ")
        for part in evidence.parts
        if part.verdict is Verdict.UNKNOWN and part.reason.startswith("declined: ")
    }
