"""The crash explorer as a verifier: claims in, findings out.

One search serves all properties of a configuration. What it believes to be broken is played once
in fresh processes before it is reported, and made smaller; `refute.replay` then plays it again.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Hashable, Sequence

from refute import plain
from refute.budget import Budget
from refute.claim import Claim, Verdict, is_command
from refute.errors import RefuteError
from refute.evidence import Cost, Finding, Scope
from refute.plain import Plain
from refute.replay import Counterexample
from refute.site import Site
from refute.specs.crash import KIND, PERSISTENCE
from refute.verifiers import Progress
from refute.verifiers.crash.describe import point_text, steps
from refute.verifiers.crash.explore import Explorer, Found
from refute.verifiers.crash.leak import with_first
from refute.verifiers.crash.recovery import Recovery
from refute.verifiers.crash.replayer import CrashReplayer
from refute.verifiers.crash.scope import COLLISIONS, needed, own_stage, scope_text, vacuous
from refute.verifiers.crash.shrink import shrink
from refute.verifiers.crash.stages import search
from refute.verifiers.crash.subject import Subject

NAME = "crash"
VERSION = "1"
NOT_AGAIN = "recovery of one image gave different results, but not again"


class CrashExplorer:
    """Explores crashes and faults of systems that are written over a block device."""

    name = NAME
    version = VERSION
    cost = 30

    def declines(self, claim: Claim) -> str:
        """Why the claim is not taken; empty when it is."""
        if claim.statement.kind != KIND:
            return f"not a statement of kind {KIND}"
        if is_command(claim.subject):
            return "a command cannot be given a block device; name a class with format and mount"
        return ""

    def group(self, claim: Claim) -> Hashable:
        """Claims that differ only in the property share one search."""
        params = {k: v for k, v in claim.statement.params.items() if k != "property"}
        key = [claim.subject, list(claim.statement.spec), list(claim.covers), params]
        return plain.digest(key)

    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> Sequence[Finding]:
        """One finding for each claim."""
        try:
            return _Search(claims, budget, site, progress).findings()
        except RefuteError as error:
            return [_unknown(error.message)] * len(claims)

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> CrashReplayer:
        """What plays the engine's cases."""
        return CrashReplayer(claim, site, budget)


class _Search:
    """One search for the properties of several claims on one subject and configuration."""

    def __init__(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> None:
        self._claims = claims
        self._budget = budget
        self._site = site
        self._progress = progress
        self._started = (time.monotonic(), time.thread_time())
        self._subject = Subject(claims[0], site, budget)
        self._recovery = Recovery(
            self._subject.name,
            self._subject.configuration,
            self._subject.open_worker,
            self._subject.spec_worker,
        )

    def findings(self) -> list[Finding]:
        wanted = [c.statement.params["property"] for c in self._claims]
        explorer = self._explorer(wanted, self._progress)
        try:
            self._subject.check_loads()
            search(explorer)
            settled = {p: self._cases(f, explorer) for p, f in explorer.found.items()}
        finally:
            self._recovery.close()
            self._subject.close()
        cost = Cost(self._spent(), time.monotonic() - self._started[0])
        return [self._finding(p, explorer, settled.get(p), cost) for p in wanted]

    def _explorer(self, wanted: Sequence[str], progress: Callable[[str], None]) -> Explorer:
        return Explorer(self._subject, wanted, self._budget, progress, self._spent, self._recovery)

    def _spent(self) -> float:
        workers = self._subject.spent() + self._recovery.spent()
        return time.thread_time() - self._started[1] + workers

    def _cases(self, found: Found, explorer: Explorer) -> tuple[Found, ...] | str:
        """The cases to propose, the smallest first; or why what was seen does not count.

        They are not played here: `replay` does that, and takes the next when one does not break.
        """
        claim = next(
            c for c in self._claims if c.statement.params["property"] == found.case.property
        )
        if found.unstable:
            replayer = CrashReplayer(claim, self._site, self._budget)
            with_cause = with_first(found, explorer, replayer)
            return (with_cause,) if with_cause is not None else NOT_AGAIN
        if not self._budget.shrink or found.minimal:
            return (found,)
        less = shrink(
            found, lambda: self._explorer([found.case.property], lambda _: None), self._spent
        )
        return (found,) if less is found else (less, found)

    def _finding(
        self, prop: str, explorer: Explorer, settled: tuple[Found, ...] | str | None, cost: Cost
    ) -> Finding:
        counts, configuration = explorer.counts, self._subject.configuration
        reason, verdict = "", Verdict.UNKNOWN
        counterexamples: tuple[Counterexample, ...] = ()
        if isinstance(settled, tuple):
            reason = f"{settled[0].violation.observed} (to be replayed)"
            counterexamples = tuple(self._counterexample(found) for found in settled)
        elif settled is not None:
            reason = settled
        elif empty := vacuous(prop, configuration, self._subject.alphabet()):
            reason = empty
        elif needed(prop) <= set(explorer.complete):
            verdict = Verdict.EXHAUSTED
        elif own_stage(prop) in explorer.complete and not explorer.found:
            verdict = Verdict.SURVIVED
        else:
            reason = explorer.stopped or "no crash state was tried"
        return Finding(
            engine=NAME,
            version=VERSION,
            verdict=verdict,
            reason=reason,
            scope=Scope(
                text=scope_text(configuration, explorer),
                bounds={"persistence": configuration.persistence},
                depths=_depths(configuration, explorer) if verdict is Verdict.EXHAUSTED else {},
            ),
            tried=counts.states + counts.faults,
            distribution="all sequences in a fixed order; samples drawn by seed",
            counterexamples=counterexamples,
            assumptions=(f"device: {PERSISTENCE[configuration.persistence]}", COLLISIONS),
            isolation=self._subject.recorder.isolation,
            cost=cost,
            statistics={**dataclasses.asdict(counts), "stages": explorer.complete},
        )

    def _counterexample(self, found: Found) -> Counterexample:
        flushes = self._subject.configuration.persistence == "block"
        crash = found.case.crash
        point = point_text(found.run, crash, flushes) if crash is not None else "no crash"
        if found.case.fault is not None:
            fault = found.case.fault
            where = "read" if fault.reads else "write or flush"
            point = f"{fault.kind} at {where} {fault.call + 1}; {point}"
        if found.case.again is not None:
            again = found.case.again
            point += f"; recovery itself crashes after {again.point} of its writes and flushes"
        if found.case.first is not None:
            point += "; in a process that recovered another image before"
        return Counterexample(
            engine=NAME,
            inputs=found.case.to_plain(),
            steps=steps(found.run, crash, flushes),
            observed=found.violation.observed,
            expected=found.violation.expected,
            point=point,
        )


def _depths(configuration: Plain, explorer: Explorer) -> dict[str, int]:
    depths = {"depth": configuration.depth, "fault_depth": configuration.fault_depth}
    if "subsets" in explorer.complete:
        depths["subsets"] = configuration.subsets
    return depths


def _unknown(reason: str) -> Finding:
    return Finding(engine=NAME, version=VERSION, verdict=Verdict.UNKNOWN, reason=reason)
