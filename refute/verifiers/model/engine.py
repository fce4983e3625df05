"""The model checker: all properties of a machine by one exhaustive search.

The machine's module is loaded in a worker, which gives its IR; the search runs in another worker
that holds nothing of the tree, a slice at a time. A search that a budget cut, or that met a step
that raises, has not covered everything and says so: UNKNOWN, with what was covered.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path

from refute import plain
from refute.budget import Budget, Clock
from refute.claim import Claim, Verdict
from refute.errors import RefuteError, UsageError
from refute.evidence import Cost, Evidence, Finding, Scope
from refute.plain import Plain
from refute.replay import HASH_SEEDS, Counterexample, Replayer, Step
from refute.sandbox import Limits, Worker
from refute.sandbox.zygote import prepare_also
from refute.site import Site
from refute.specs.machine.asking import described
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.listing import require_listed
from refute.specs.machine.statement import ALL_FIRE
from refute.specs.machine.types import ANY
from refute.verifiers import Interrupted, Progress
from refute.verifiers.model.behaviours import Behaviours, with_behaviours
from refute.verifiers.model.certificate import Certificate
from refute.verifiers.model.checkpoint import Checkpoint
from refute.verifiers.model.choice import Choice
from refute.verifiers.model.deciding import (
    Searched,
    agreement,
    cut,
    needs_second,
    small,
    states_of,
    temporal_props,
    walked_through,
)
from refute.verifiers.model.exploring import NATIVE, Exploration, collisions, with_files
from refute.verifiers.model.guarded import guarded
from refute.verifiers.model.playing import MachineReplayer, Played, play_together
from refute.verifiers.model.resuming import checkpoint_of
from refute.verifiers.model.second import Second, open_blank
from refute.verifiers.model.stating import expected, misstated, walks_taken
from refute.verifiers.model.symmetric import chosen_symmetry, left_open

NAME = "model checker"
SECOND = "tree walk of the IR"
TREE_WALK_MOST = 10_000  # states that the tree walk searches again for a verdict; else `closed`
VERSION = "2"

SEARCH = "refute.verifiers.model.search:open_search"
REDUCED = "refute.verifiers.model.reduced:open_reduced"


class ModelChecker:
    """Explicit-state model checking by the compiled engine."""

    name = NAME
    version = VERSION
    cost = 1
    chosen = ("auto", "plain", "native")  # kinds of `--engine` under which it runs
    search = SEARCH
    reduced = REDUCED

    def __init__(self, choice: Choice = Choice()) -> None:  # noqa: B008 - frozen
        self.choice = choice
        self._played: Played = {}

    def declines(self, claim: Claim) -> str:
        """Takes every statement of kind "machine"."""
        return "" if claim.statement.kind == "machine" else "not a claim about a machine"

    def follows(self, claim: Claim, found: Sequence[Evidence]) -> bool:
        """Not where a Sort has any number of members, unless nobody else was chosen."""
        open_sorts = ANY in claim.statement.params["constants"].values()
        return not open_sorts or self.choice.engine != "auto"

    def group(self, claim: Claim) -> Hashable:
        """All properties of one machine with the same constants share a search."""
        return claim.subject, plain.digest(dict(claim.statement.params["constants"]))

    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> Sequence[Finding]:
        """One search, one finding for each claim."""
        if any(claim.statement.existential for claim in claims):  # something will be replayed
            prepare_also(HASH_SEEDS[1])
        clock = budget.clock()
        try:
            ir = described(claims[0], site, Limits.from_budget(budget))
            unlisted = self._unlisted(ir)
            if unlisted:
                return [self._unknown(f"declined: {unlisted}") for _ in claims]
            data = ir.to_plain()
            with (
                Certificate() as certificate,
                Second(data, budget, ahead=not self.choice.walks) as second,
            ):
                searched, interrupted = self._searched(
                    ir, claims, budget, clock, progress, certificate
                )
                proposed = [p for c in claims for p in self._proposed(c, searched)]
                self._played = play_together(proposed, site, budget)
                if not searched.stopped and (
                    small(searched.report) or needs_second(claims, searched)
                ):
                    if certificate.about is None:
                        confirmed = second.confirmed(clock, progress)
                    else:
                        confirmed = certificate.confirmed(data, budget, clock, progress)
                    interrupted |= certificate.interrupted or second.interrupted
                    said = certificate.said
                    searched = dataclasses.replace(searched, confirmed=confirmed, confirming=said)
                cpu_s = searched.cpu_s + second.cpu_s + certificate.cpu_s
                searched = dataclasses.replace(searched, cpu_s=cpu_s, wall_s=clock.spent)
        except UsageError:
            raise
        except RefuteError as error:
            return [self._unknown(str(error)) for _ in claims]
        findings = [self._finding(claim, searched) for claim in claims]
        if interrupted:
            raise Interrupted(findings)
        return findings

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> Replayer:
        """Plays traces on the real class."""
        return MachineReplayer(claim, site, budget, self._played)

    def _unlisted(self, ir: MachineIR) -> str:
        """Why not all values can be tried, where another engine may take the machine; else "".

        Raises UsageError where there is no other.
        """
        try:
            require_listed(ir)
        except UsageError as unlisted:
            if self.choice.engine != "auto" or self.choice.walks:
                raise
            return unlisted.message
        return ""

    def _unknown(self, reason: str) -> Finding:
        return Finding(self.name, self.version, Verdict.UNKNOWN, reason=reason)

    def _proposed(self, claim: Claim, searched: Searched) -> Iterator[tuple[Claim, Counterexample]]:
        """The case of a claim that is replayed first, if there is one."""
        prop = str(claim.statement.params["prop"])
        if not misstated(prop, claim.statement.existential, searched.ir):
            yield from ((claim, case) for case in self._cases(prop, searched)[:1])

    def _searched(
        self,
        ir: MachineIR,
        claims: Sequence[Claim],
        budget: Budget,
        clock: Clock,
        progress: Progress,
        certificate: Certificate,
    ) -> tuple[Searched, bool]:
        """What was found, and whether the user stopped it."""
        symmetry = chosen_symmetry(ir, self.choice)
        open_properties = left_open(ir, symmetry)
        data = guarded(ir).to_plain()
        claim = claims[0]

        def certify(report: Mapping[str, Plain]) -> bool:
            large = states_of(report) > TREE_WALK_MOST and not report["raised"]
            return large and needs_second(claims, Searched(ir, report, "", 0.0, 0.0, ""))

        constants = claim.statement.params["constants"]
        with (
            checkpoint_of(self.choice, claim.subject, constants, data, symmetry) as kept,
            _worker(budget, kept) as worker,
        ):
            exploration = Exploration(
                worker, data, budget, clock, progress, kept, certificate, certify
            )
            report, stopped = self._explore(exploration)
            found = Searched(ir, report, stopped, worker.cpu_s, clock.spent, worker.isolation)
            found = dataclasses.replace(found, undecided=open_properties, symmetry=symmetry)
            if exploration.interrupted:
                return found, True
            if temporal_props(claims, ir) and not self.choice.walks and symmetry is None:
                found = self._with_temporals(
                    worker, found, budget, clock, progress, kept is not None
                )
            cpu_s = worker.cpu_s + found.report.get("cpu_s", 0.0)
            ended_early = stopped or found.undecided.keys() - open_properties.keys()
            if kept is not None and not ended_early:
                kept.remove()
            return dataclasses.replace(found, cpu_s=cpu_s), found.interrupted

    def _explore(self, exploration: Exploration) -> tuple[Mapping[str, Plain], str]:
        """The report of the search, and why it is not complete; liars in tests have their own."""
        return exploration.run(self.reduced if self.choice.symmetry else self.search, self.choice)

    def _with_temporals(
        self,
        worker: Worker,
        found: Searched,
        budget: Budget,
        clock: Clock,
        progress: Progress,
        kept: bool,
    ) -> Searched:
        """The temporal properties too: traces of those that are false, and why others are open."""
        spent_s: float = found.report.get("cpu_s", 0.0)
        behaviours = Behaviours(worker, found.ir, budget, clock, progress, spent_s, kept)
        judged = behaviours.run(self.choice, str(found.report.get("engine", "")))
        hits = {**found.report.get("hits", {}), **judged.hits}
        merged = {**found.report, "hits": hits, "cpu_s": spent_s + judged.cpu_s}
        return dataclasses.replace(
            found,
            report=merged,
            undecided=judged.undecided,
            behaviours=judged.said,
            interrupted=judged.interrupted,
        )

    def _finding(self, claim: Claim, searched: Searched) -> Finding:
        prop = str(claim.statement.params["prop"])
        problem = misstated(prop, claim.statement.existential, searched.ir)
        if problem:
            return dataclasses.replace(self._unknown(problem), isolation=searched.isolation)
        cases = self._cases(prop, searched)
        reason = "" if cases else cut(prop, searched)
        exhausted = not cases and not reason
        if claim.statement.existential:
            return self._existential(prop, searched, cases, reason, exhausted)
        if not cases and walked_through(prop, searched):
            return self._made(searched, Verdict.SURVIVED, "", (), False)
        verdict = Verdict.EXHAUSTED if exhausted else Verdict.UNKNOWN
        if cases:
            reason = "a trace breaks it"
        made = self._made(searched, verdict, reason, cases, exhausted)
        return with_behaviours(made, searched.behaviours.get(prop, ""))

    def _made(
        self,
        searched: Searched,
        verdict: Verdict,
        reason: str,
        cases: tuple[Counterexample, ...],
        exhausted: bool,
        confirmed_by: str = "",
    ) -> Finding:
        ir, report = searched.ir, searched.report
        constraints = [p.name for p in ir.of_kind("constraint")]
        inside = f" within {', '.join(constraints)}" if constraints else ""
        walks = report.get("walks", 0)
        states = f"all {states_of(report)} reachable states"
        if not exhausted:
            states = f"{walks} random walks" if walks else states[4:].replace("reachable ", "")
        if searched.symmetry is not None:
            orbits = f"{report.get('distinct', 0)} orbits"
            inside += f", up to permutations of {searched.symmetry.text}: {orbits}"
        names: tuple[str, ...] = ("distinct", "whole", "generated", "depth", "outside")
        names += ("engine", "bytes", "finished")
        names = ("walks", "steps", "engine") if walks else names
        if report.get("engine") == NATIVE and not walks:
            inside += " (native engine)"
        if report.get("resumed"):
            inside += f" ({report['resumed']} of them from a checkpoint)"
        if report.get("native"):
            inside += f" (not by the native engine: {report['native']})"
        if report.get("unran") and report.get("finished"):
            lines = ", ".join(map(str, report["unran"]))
            inside += f"; no step runs the code from line {lines} of {Path(ir.file).name}"
        return Finding(
            self.name,
            self.version,
            verdict,
            reason=reason,
            scope=Scope(
                text=states + inside,
                bounds=dict(ir.constants),
                depths={} if walks else {"depth": report.get("depth", 0)},
            ),
            tried=walks or report.get("distinct", 0),
            distribution=walks_taken(self.choice.depth) if walks else "",
            counterexamples=cases,
            exhausted=exhausted,
            confirmed_by=confirmed_by,
            assumptions=(*(f"nothing is claimed beyond the constraint {c}" for c in constraints),)
            + (collisions(report) if report.get("hashed") and exhausted else ()),
            isolation=searched.isolation,
            cost=Cost(searched.cpu_s, searched.wall_s),
            statistics={n: report[n] for n in names if n in report},
        )

    def _existential(
        self,
        prop: str,
        searched: Searched,
        cases: tuple[Counterexample, ...],
        reason: str,
        exhausted: bool,
    ) -> Finding:
        if cases or not exhausted:
            return self._made(searched, Verdict.UNKNOWN, reason or "shown", cases, exhausted)
        agreed = agreement(prop, searched)
        silent = ", ".join(searched.report["silent"])
        what = f"never taken: {silent}" if prop == ALL_FIRE else f"{prop} holds in no state"
        why = f"{what}, in all {states_of(searched.report)} reachable states"
        if not agreed:
            why += "; the second engine did not confirm this within the budget"
            why += f": {searched.confirming}" if searched.confirming else ""
        by = str(searched.confirmed.get("by", SECOND)) if agreed else ""
        return self._made(searched, Verdict.UNKNOWN, why, (), True, by)

    def _cases(self, prop: str, searched: Searched) -> tuple[Counterexample, ...]:
        """The counterexamples (or examples) for a property, as the search's traces."""
        report = searched.report
        hits: Mapping[str, Plain] = report.get("hits", {})
        if prop == ALL_FIRE:
            fired = report.get("fired", [])
            return () if report.get("silent") or not fired else (self._case(fired),)
        if prop:
            return (self._case([hits[prop]]),) if prop in hits else ()
        shown = {p.name for p in searched.ir.of_kind("reachable")}
        return tuple(self._case([h]) for name, h in hits.items() if name not in shown)

    def _case(self, traces: Sequence[Plain]) -> Counterexample:
        last = max(traces, key=lambda trace: len(trace["steps"]))
        return Counterexample(
            engine=self.name,
            inputs={"cases": [trace["case"] for trace in traces]},
            steps=tuple(Step(s["text"], s["changes"]) for s in last["steps"]),
            observed=str(last["why"]),
            expected=expected(str(last["case"]["property"])),
        )


def _worker(budget: Budget, kept: Checkpoint | None) -> Worker:
    limits = Limits.from_budget(budget)
    return open_blank(limits) if kept is None else open_blank(with_files(limits), kept.fds)
