"""The symbolic engine: what formulas say of a machine, solved by Z3 in workers of its own.

It goes on where explicit search ends: where a search was cut by its budget, where values cannot be
listed, where a Sort has any number of members, or where a proof is asked for. Bounded search gives
traces, which are replayed as any other; induction gives proofs, which another process repeats.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from refute import plain
from refute.budget import Budget, Clock
from refute.claim import Claim, Verdict
from refute.errors import RefuteError, UsageError
from refute.evidence import Cost, Evidence, Finding
from refute.plain import Plain
from refute.replay import Replayer
from refute.sandbox import Limits
from refute.site import Site
from refute.specs.machine.asking import described
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.types import ANY
from refute.verifiers import Interrupted, Progress
from refute.verifiers.model.choice import SYMBOLIC, Choice
from refute.verifiers.model.playing import MachineReplayer, Played, play_together
from refute.verifiers.symbolic.errands import SESSION, Errand, Report
from refute.verifiers.symbolic.findings import (
    NAME,
    VERSION,
    Solved,
    asked_of,
    finding,
    with_ways,
)
from refute.verifiers.symbolic.repeating import recheck
from refute.verifiers.symbolic.sizes import prove_for_all

SEARCH_SHARE = 0.75  # of the wall clock; the rest is for repeating proofs, and for replays
LEAST_S = 1.0  # below which a search is not begun


class Symbolic:
    """Bounded search, induction, and proofs for every size."""

    name = NAME
    version = VERSION
    cost = 2
    chosen = ("auto", SYMBOLIC)  # kinds of `--engine` under which it runs
    session = SESSION

    def __init__(self, choice: Choice = Choice()) -> None:  # noqa: B008 - frozen
        self.choice = choice
        self._played: Played = {}

    def declines(self, claim: Claim) -> str:
        """Takes every statement of kind "machine"."""
        return "" if claim.statement.kind == "machine" else "not a claim about a machine"

    def follows(self, claim: Claim, found: Sequence[Evidence]) -> bool:
        """Whether it has anything to say after what engines before it found.

        It has where they could not look, or not at everything, or where a proof is needed.
        """
        if self.choice.engine == SYMBOLIC or not found:
            return True
        last = found[-1]
        if last.verdict is Verdict.UNKNOWN:
            return not last.statistics.get("finished", False)
        return claim.need.grade is Verdict.PROVED

    def group(self, claim: Claim) -> Hashable:
        """All properties of one machine with the same constants are solved together."""
        return claim.subject, plain.digest(dict(claim.statement.params["constants"]))

    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> Sequence[Finding]:
        """One finding for each claim."""
        clock = budget.clock()
        try:
            ir = described(claims[0], site, Limits.from_budget(budget))
            errand = Errand(budget, clock, progress, self.session)
            if any(size == ANY for _, size in ir.constants):
                return prove_for_all(ir, claims, site, errand, self.choice)
            solved = self._solved(ir, claims, errand, clock)
        except UsageError:
            raise
        except RefuteError as error:
            reason = str(error)
            return [Finding(NAME, VERSION, Verdict.UNKNOWN, reason=reason) for _ in claims]
        findings = [finding(claim, solved) for claim in claims]
        pairs = zip(claims, findings, strict=True)
        proposed = [(claim, f.counterexamples[0]) for claim, f in pairs if f.counterexamples]
        self._played = play_together(proposed, site, budget)
        if errand.interrupted:
            raise Interrupted(findings)
        return findings

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> Replayer:
        """Plays traces on the real class, of the size that they are of."""
        return MachineReplayer(claim, site, budget, self._played)

    def _solved(
        self, ir: MachineIR, claims: Sequence[Claim], errand: Errand, clock: Clock
    ) -> Solved:
        data = ir.to_plain()
        asked = asked_of(claims, ir)
        proofs = all(claim.need.grade is Verdict.PROVED for claim in claims)
        order = self.order(asked, clock.left * SEARCH_SHARE, proofs)
        report = self.report(errand, data, order)
        again = recheck(data, report.get("proved", {}), (), errand)
        cost = Cost(errand.cpu_s, clock.spent)
        return Solved(ir, with_ways(report), again, cost, errand.isolation)

    def report(self, errand: Errand, data: Plain, order: Mapping[str, Plain]) -> Report:
        """What the search finds; liars in tests have their own."""
        if errand.clock.left < LEAST_S:
            return {"stopped": "no time was left for it"}
        return errand.run(data, order)

    def order(self, asked: Sequence[str], wall_s: float, proofs: bool) -> dict[str, Plain]:
        """What the search is to do. proofs: nothing else is needed of what was searched before."""
        searched = proofs and self.choice.engine != SYMBOLIC
        return {
            "job": "search",
            "props": list(asked),
            "depth": self.choice.bound or (self.choice.induct if searched else None),
            "induct": self.choice.induct,
            "query_s": wall_s,
            "wall_s": wall_s,
        }
