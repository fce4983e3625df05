"""The prover as an engine: contracts proved for all inputs by Z3, in a worker of its own.

The parent reads source texts and passes them on; the worker holds nothing of the tree but them. A
solver that hangs, or takes more memory than the budget has, is a worker that did not answer.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from refute.budget import Budget
from refute.claim import Claim, Verdict
from refute.closure import module_names
from refute.errors import RefuteError
from refute.evidence import Cost, Finding, Scope
from refute.plain import Plain
from refute.replay import Replayer
from refute.sandbox import Limits, Worker, open_worker
from refute.site import Site
from refute.specs.contract import KIND
from refute.specs.contract_loading import rebinding_in
from refute.specs.contract_reading import Reading, reading_of
from refute.verifiers import Progress
from refute.verifiers.contracts.player import ContractPlayer
from refute.verifiers.contracts.sampling import contract_replayer, simpler_case
from refute.verifiers.one_by_one import OneByOne
from refute.verifiers.pair import says
from refute.verifiers.search import Quarry, Search, Source

NAME = "prover (Z3)"
VERSION = "1"
PROVE = "refute.verifiers.contracts.inside:prove"
UNPROVED = "the contract of "  # how an assumption begins that is a callee's contract
LOAD = "refute.specs.answers:load"
LOAD_S = 5.0  # wall seconds after which a module does not load
WORKING = 0.9  # share of the time after which the worker should have answered by itself
MOST_WALL_S = 60.0
SHARE = 0.6  # of the wall clock; the rest is for the engines that look after it


class Prover(OneByOne):
    """The engine that proves functions against their contracts."""

    kind = KIND
    name = NAME
    version = VERSION
    cost = 1
    target = PROVE

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> Replayer:
        """Plays a case in fresh workers. Raises Unsupported where there is no contract to read."""
        return contract_replayer(claim, site, budget)

    def _run(self, claim: Claim, budget: Budget, site: Site, progress: Progress) -> Finding:
        clock = budget.clock()
        wall_s = min(budget.wall_s * SHARE, MOST_WALL_S)
        try:
            reading = reading_of(claim, site)
            unseen = rebinding_in(site.subject_tree, site.subject_closure(claim).files)
            if unseen:
                return Finding(self.name, self.version, Verdict.UNKNOWN, reason=unseen)
            order = {
                "subject": claim.subject,
                "raises": list(reading.raises),
                "wall_s": wall_s * WORKING,
                "subject_sources": sources(
                    site.subject_tree, site.subject_closure(claim).files, site
                ),
                "spec_sources": sources(site.spec_tree, site.spec_closure(claim).files, site),
            }
            progress(f"{self.name}: proving {claim.subject}")
            with tempfile.TemporaryDirectory() as empty, _worker(Path(empty), budget) as worker:
                outcome = worker.call(self.target, order, timeout_s=wall_s)
                cost, isolation = Cost(worker.cpu_s, clock.spent), worker.isolation
        except RefuteError as error:
            return Finding(self.name, self.version, Verdict.UNKNOWN, reason=error.message)
        answer = outcome.value
        if outcome.kind != "returned" or type(answer) is not dict:
            reason = f"the solver's worker {says(outcome)}"
            return Finding(
                self.name, self.version, Verdict.UNKNOWN, reason, isolation=isolation, cost=cost
            )
        finding = self._finding(reading, answer, cost, isolation)
        if finding.verdict is Verdict.PROVED:
            finding = _if_it_loads(finding, claim, site, Limits.from_budget(budget))
        if site.subject_tree != site.spec_tree:
            finding = _without_promises_of_its_own(finding)
        cases = [case for case in answer["cases"] if reading.admits(case)]
        if not cases:
            return finding
        left = dataclasses.replace(
            budget,
            cpu_s=max(1.0, budget.cpu_s - cost.cpu_s),
            wall_s=max(1.0, clock.left),
        )
        return self._played(claim, reading, finding, cases, left, site, progress)

    def _finding(
        self,
        reading: Reading,
        answer: Mapping[str, Plain],
        cost: Cost,
        isolation: str,
    ) -> Finding:
        """What the worker's answer says, before any input was played. A proof tries no case."""
        proved = answer["status"] == "proved" and not answer["cases"]
        statistics = {
            "obligations": len(answer["obligations"]),
            "returns": answer["returns"],
            "solver_s": answer["solver_s"],
            "discharged": [[t, p, s] for _, t, p, status, s in answer["obligations"]],
        }
        return Finding(
            engine=self.name,
            version=self.version,
            verdict=Verdict.PROVED if proved else Verdict.UNKNOWN,
            reason="" if proved else str(answer["reason"]),
            scope=Scope(text=_scope(reading, answer)),
            assumptions=tuple(answer["assumptions"]),
            isolation=isolation,
            cost=cost,
            statistics=statistics,
        )

    def _played(
        self,
        claim: Claim,
        reading: Reading,
        finding: Finding,
        cases: list[Plain],
        budget: Budget,
        site: Site,
        progress: Progress,
    ) -> Finding:
        """The inputs that models gave, played on the plain function; those that break it stay."""
        quarry = Quarry(
            engine=self.name,
            version=self.version,
            scope=finding.scope,
            sources=[Source("of models of open obligations", cases, budget.cases)],
            open_player=lambda seed: ContractPlayer(claim, site, budget, reading, seed),
            simpler=lambda case: simpler_case(reading, case),
            progress=progress,
        )
        played = Search(quarry, budget).finding()
        cost = Cost(finding.cost.cpu_s + played.cost.cpu_s, finding.cost.wall_s)
        if played.counterexamples:
            return dataclasses.replace(
                finding, counterexamples=played.counterexamples, tried=played.tried, cost=cost
            )
        inputs = "the input" if len(cases) == 1 else f"all {len(cases)} inputs"
        reason = f"{finding.reason}; the contract held for {inputs} tried for it"
        return dataclasses.replace(finding, reason=reason, cost=cost)


def _if_it_loads(finding: Finding, claim: Claim, site: Site, limits: Limits) -> Finding:
    """A proof about a function that is there once its module is imported.

    What is not installed here may be so elsewhere, and is an assumption.
    """
    with site.subject_worker(claim, limits) as worker:
        outcome = worker.call(LOAD, claim.subject, timeout_s=min(LOAD_S, limits.wall_s))
    if outcome.kind == "returned":
        return finding
    what = outcome.message or says(outcome)
    if outcome.error == "ModuleNotFoundError":
        assumption = f"that the module of {claim.subject} can be loaded; here there is {what}"
        return dataclasses.replace(finding, assumptions=(*finding.assumptions, assumption))
    reason = f"proved, but the module of {claim.subject} cannot be loaded: "
    reason += f"{outcome.error}: {what}" if outcome.error else what
    return dataclasses.replace(finding, verdict=Verdict.UNKNOWN, reason=reason)


def _without_promises_of_its_own(finding: Finding) -> Finding:
    """UNKNOWN instead of a proof that rests on an unproved contract of the judged tree.

    Whoever changes a function could write above another one whatever the proof needs.
    """
    resting = next((a for a in finding.assumptions if a.startswith(UNPROVED)), "")
    if finding.verdict is not Verdict.PROVED or not resting:
        return finding
    reason = f"the proof would rest on {resting}; in a change that is not enough"
    return dataclasses.replace(finding, verdict=Verdict.UNKNOWN, reason=reason)


def _scope(reading: Reading, answer: Mapping[str, Plain]) -> str:
    types = ", ".join(f"{name}: {kind}" for name, kind in reading.parameters.items())
    inputs = f"all inputs ({types})" if types else "the only case"
    return inputs if answer["ensures"] else f"{inputs}; there is no ensure, so only that it returns"


def sources(tree: Path, files: Sequence[str], site: Site) -> dict[str, Plain]:
    """Module name → [path, text] of the Python files, under every name they can be imported by."""
    found: dict[str, Plain] = {}
    for path in files:
        if path.endswith(".py"):
            text = (tree / path).read_bytes().decode("utf-8", "replace")
            for name in module_names(path, site.roots):
                found.setdefault(name, [path, text])
    return found


def _worker(empty: Path, budget: Budget) -> Worker:
    limits = Limits.from_budget(budget)
    return open_worker(empty, (), (".",), limits)
