"""The record of one run: what a command found, as data that `report` formats and nothing else does.

Text, JSON, SARIF and JUnit are four renderings of this one value, so they cannot disagree.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from refute.claim import Claim
from refute.evidence import Cost, Evidence
from refute.frozen import frozen


@frozen
class ClaimResult:
    """One claim judged. unmet: why its need is not met; empty when it is.

    role: "claim" (of the base, or of a file), "new" (added with the change), "unaffected" (not
    judged, because the change does not reach it), "control" (a known wrong variant: it is well
    when the claim is REFUTED) or "canary" (must always fail).
    pre_existing: not established on the base either, so not charged to the change.
    declined: engine → why it did not take the claim.
    """

    claim: Claim
    evidence: Evidence
    unmet: str = ""
    role: str = "claim"
    pre_existing: bool = False
    control: str = ""
    declined: Mapping[str, str] = dataclasses.field(default_factory=dict)


@frozen
class Coverage:
    """Rule 1 for one changed function (or top-level statement, or file).

    status: "covered" (both knock-outs refuted a claim), "uncovered", "exempt" or "unknown".
    by: the claims that were refuted. detail: what was tried and what survived.
    """

    unit: str
    file: str
    line: int
    status: str
    by: tuple[str, ...] = ()
    detail: str = ""


@frozen
class SpecEvent:
    """A difference in the specs. kind: "removed", "changed", "policy", "exemptions" or "added".

    Only "added" leaves the decision alone; the others need approval and exit 3.
    """

    kind: str
    thing: str
    detail: str = ""
    file: str = ""
    line: int = 0


@frozen
class Run:
    """What a command did and decided.

    command: "gate" or "check". decision: "accepted", "refuted", "not established" or
    "nothing to judge". reasons: why it is not accepted, most important first. mode: "deciding" or
    "advisory" with mode_reason (gate only). not_done: what this version does not check.
    environment: interpreter, platform, isolation and versions the verdicts depend on.
    """

    command: str
    decision: str
    exit_code: int
    reasons: tuple[str, ...] = ()
    mode: str = ""
    mode_reason: str = ""
    base: str = ""
    head: str = ""
    changed: tuple[str, ...] = ()
    results: tuple[ClaimResult, ...] = ()
    controls: tuple[ClaimResult, ...] = ()
    canary: ClaimResult | None = None
    coverage: tuple[Coverage, ...] = ()
    spec_events: tuple[SpecEvent, ...] = ()
    not_done: tuple[str, ...] = ()
    interrupted: bool = False
    seed: int = 0
    cost: Cost = Cost()
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
