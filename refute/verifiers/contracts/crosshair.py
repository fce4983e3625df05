"""CrossHair as a proposer of cases: symbolic execution that finds inputs for each way through.

It finds what random inputs miss: one number out of 2**64, a word, a relation between arguments. It
runs in a worker beside the subject, so nothing it says is evidence, least of all its "confirmed":
it names inputs, and each is then played like any other engine's, the function in one worker and the
contract in another. What is counted as tried is what was played so; that no path broke the
contract is SURVIVED over those cases, and never more.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import importlib.util

from refute.budget import Budget
from refute.claim import Claim, Verdict
from refute.errors import RefuteError
from refute.evidence import Cost, Finding, Scope
from refute.plain import Plain
from refute.replay import Replayer
from refute.sandbox import Limits, Outcome, Remote
from refute.site import Site
from refute.specs.contract import KIND
from refute.specs.contract_reading import Reading, reading_of
from refute.verifiers import Progress
from refute.verifiers.contracts.player import ContractPlayer, Tally
from refute.verifiers.contracts.sampling import contract_replayer, simpler_case, with_tally
from refute.verifiers.one_by_one import OneByOne
from refute.verifiers.pair import says
from refute.verifiers.search import Quarry, Search, Source

DISTRIBUTION = "crosshair-tool"
SHARE = 0.6  # of the CPU seconds, for finding cases; the rest is for playing them
MOST_CPU_S = 20.0  # paths get longer and say less; what a minute does not show, an hour seldom does
SUSPECTS = 4  # paths that seem to break the contract before CrossHair is stopped
LOADING_S = 3.0  # CPU seconds, and wall seconds where the machine is busy


@dataclasses.dataclass
class Proposals:
    """What CrossHair has proposed so far, as it came over the wire. why: how its run ended."""

    suspects: list[Plain] = dataclasses.field(default_factory=list)
    others: list[Plain] = dataclasses.field(default_factory=list)
    foreign: int = 0
    why: str = ""
    cpu_s: float = 0.0
    isolation: str = ""


class CrossHair(OneByOne):
    """The engine that runs a function under contract on symbolic inputs."""

    kind = KIND
    name = "crosshair"
    cost = 40

    def __init__(self) -> None:
        try:
            self.version = importlib.metadata.version(DISTRIBUTION)
        except importlib.metadata.PackageNotFoundError:
            self.version = "not installed"

    def _unfit(self, claim: Claim) -> str:
        """Why this engine does not take a claim of its kind; empty when it does."""
        if importlib.util.find_spec("crosshair") is None:
            return f"{DISTRIBUTION} is not installed"
        return ""

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> Replayer:
        """Plays a case in fresh workers. Raises Unsupported where there is no contract to read."""
        return contract_replayer(claim, site, budget)

    def _run(self, claim: Claim, budget: Budget, site: Site, progress: Progress) -> Finding:
        clock = budget.clock()
        if budget.wall_s < LOADING_S:
            reason = "the budget's time was over before CrossHair could be loaded"
            return Finding(self.name, self.version, Verdict.UNKNOWN, reason=reason)
        try:
            reading = reading_of(claim, site)
            progress(f"{self.name}: running {claim.subject} on symbolic inputs")
            found = proposals(claim, reading, budget, site)
        except RefuteError as error:
            return Finding(self.name, self.version, Verdict.UNKNOWN, reason=error.message)
        if not (found.suspects or found.others):
            return self._nothing(found)
        left = dataclasses.replace(
            budget,
            cpu_s=max(1.0, budget.cpu_s - found.cpu_s),
            wall_s=max(1.0, clock.left),
        )
        finding = self._played(claim, reading, found, left, site, progress)
        return dataclasses.replace(
            finding,
            cost=Cost(finding.cost.cpu_s, clock.spent),
            statistics={
                **finding.statistics,
                "paths": len(found.suspects) + len(found.others),
                "suspected": len(found.suspects),
            },
        )

    def _nothing(self, found: Proposals) -> Finding:
        return Finding(
            self.name,
            self.version,
            Verdict.UNKNOWN,
            reason=found.why or "vacuous: no path satisfies the requires",
            isolation=found.isolation,
            cost=Cost(found.cpu_s),
        )

    def _played(
        self,
        claim: Claim,
        reading: Reading,
        found: Proposals,
        budget: Budget,
        site: Site,
        progress: Progress,
    ) -> Finding:
        """The proposals played on the plain subject, those that seemed to break it first."""
        tally = Tally()
        types = {name: str(kind) for name, kind in reading.parameters.items()}
        quarry = Quarry(
            engine=self.name,
            version=self.version,
            scope=Scope(text=", ".join(f"{name}: {kind}" for name, kind in types.items())),
            sources=[
                Source("of paths that seemed to break it", found.suspects, budget.cases),
                Source("of other paths, one each", found.others, budget.cases),
            ],
            open_player=lambda seed: ContractPlayer(claim, site, budget, reading, seed, tally),
            simpler=lambda case: simpler_case(reading, case),
            progress=progress,
        )
        finding = with_tally(Search(quarry, budget).finding(), tally, found.cpu_s)
        notes = [finding.reason, found.why]
        if found.suspects and not finding.counterexamples:
            notes.append(f"{len(found.suspects)} paths seemed to break it, but not on CPython")
        return dataclasses.replace(finding, reason="; ".join(filter(None, notes)))


def proposals(claim: Claim, reading: Reading, budget: Budget, site: Site) -> Proposals:
    """Run CrossHair in a worker of the subject's, and take what it proposes."""
    found = Proposals()

    def report(_: str, args: tuple[Plain, ...]) -> Plain:
        case, suspected = args
        if not reading.admits(case):
            found.foreign += 1
        else:
            (found.suspects if suspected is True else found.others).append(case)
        return None

    cpu_s = min(MOST_CPU_S, budget.cpu_s * SHARE)
    wall_s = min(budget.wall_s, min(budget.wall_s * SHARE, cpu_s * 3) + 3 * LOADING_S)
    limits = Limits(cpu_s=cpu_s + LOADING_S, wall_s=wall_s, memory=budget.memory)
    path = reading.contract.path
    order = {
        "subject": claim.subject,
        "source": (site.spec_tree / path).read_text(encoding="utf-8"),
        "path": path,
        "qualname": reading.contract.qualname,
        "raises": list(reading.raises),
        "cpu_s": cpu_s,
        "paths": budget.cases,
        "suspects": SUSPECTS,
    }
    with site.subject_worker(claim, limits) as worker:
        found.isolation = worker.isolation
        outcome = worker.call(
            "refute.verifiers.contracts.crosshair_inside:propose",
            order,
            Remote(report, callable=True),
            timeout_s=wall_s,
        )
        found.cpu_s = worker.cpu_s
    found.why = _ended(outcome)
    return found


def _ended(outcome: Outcome) -> str:
    """Why CrossHair did not come to the end of its own accord; empty when it did."""
    if outcome.kind == "returned":
        return ""
    if outcome.kind == "raised" and outcome.error == "refute.errors.Unsupported":
        return outcome.message.partition("\n")[0]
    return f"CrossHair {says(outcome)}"
