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
from refute.evidence import Cost, Finding, Scope
from refute.frozen import frozen
from refute.plain import Plain
from refute.replay import HASH_SEEDS, Counterexample, Replayer, Step
from refute.sandbox import Limits, Worker
from refute.sandbox.zygote import prepare_also
from refute.site import Site
from refute.specs.machine.asking import described
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.statement import ALL, ALL_FIRE, DEADLOCK_FREE, WELL_DEFINED
from refute.specs.machine.symmetry import Symmetry
from refute.verifiers import Interrupted, Progress
from refute.verifiers.model.behaviours import Behaviours, with_behaviours
from refute.verifiers.model.checkpoint import Checkpoint
from refute.verifiers.model.choice import Choice
from refute.verifiers.model.exploring import NATIVE, Exploration, collisions, with_files
from refute.verifiers.model.exploring import counted as _counted
from refute.verifiers.model.playing import MachineReplayer, Played, play_together
from refute.verifiers.model.resuming import checkpoint_of
from refute.verifiers.model.second import ALWAYS_SECOND, Second, open_blank
from refute.verifiers.model.stating import expected, misstated, undecided, walks_taken
from refute.verifiers.model.symmetric import chosen_symmetry, left_open

NAME = "model checker"
SECOND = "tree walk of the IR"
VERSION = "2"

SEARCH = "refute.verifiers.model.search:open_search"
REDUCED = "refute.verifiers.model.reduced:open_reduced"


@frozen
class Searched:
    """What one search found. stopped: why it is not complete, empty when it is.

    undecided: for properties without a trace, why they are not established.
    behaviours: for properties of behaviours, how they were judged.
    symmetry: of which permutations one state stands for those it leads to; None for no such search.
    """

    ir: MachineIR
    report: Mapping[str, Plain]
    stopped: str
    cpu_s: float
    wall_s: float
    isolation: str
    confirmed: Mapping[str, Plain] = dataclasses.field(default_factory=dict)
    undecided: Mapping[str, str] = dataclasses.field(default_factory=dict)
    behaviours: Mapping[str, str] = dataclasses.field(default_factory=dict)
    symmetry: Symmetry | None = None


class ModelChecker:
    """Explicit-state model checking by the compiled engine."""

    name = NAME
    version = VERSION
    cost = 1
    search = SEARCH
    reduced = REDUCED

    def __init__(self, choice: Choice = Choice()) -> None:  # noqa: B008 - frozen
        self.choice = choice
        self._played: Played = {}

    def declines(self, claim: Claim) -> str:
        """Takes every statement of kind "machine"."""
        return "" if claim.statement.kind == "machine" else "not a claim about a machine"

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
            with Second(ir.to_plain(), budget, ahead=not self.choice.walks) as second:
                searched, interrupted = self._searched(ir, claims, budget, clock, progress)
                proposed = [p for c in claims for p in self._proposed(c, searched)]
                self._played = play_together(proposed, site, budget)
                if not searched.stopped and (
                    _small(searched.report) or _needs_second(claims, searched)
                ):
                    confirmed = second.confirmed(clock, progress)
                    searched = dataclasses.replace(searched, confirmed=confirmed)
                cpu_s = searched.cpu_s + second.cpu_s
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
    ) -> tuple[Searched, bool]:
        """What was found, and whether the user stopped it."""
        symmetry = chosen_symmetry(ir, self.choice)
        open_properties = left_open(ir, symmetry)
        data = ir.to_plain()
        claim = claims[0]
        constants = claim.statement.params["constants"]
        with (
            checkpoint_of(self.choice, claim.subject, constants, data) as kept,
            _worker(budget, kept) as worker,
        ):
            exploration = Exploration(worker, data, budget, clock, progress, kept)
            report, stopped = self._explore(exploration)
            found = Searched(ir, report, stopped, worker.cpu_s, clock.spent, worker.isolation)
            found = dataclasses.replace(found, undecided=open_properties, symmetry=symmetry)
            if exploration.interrupted:
                return found, True
            if _temporal_props(claims, ir) and not self.choice.walks and symmetry is None:
                found = self._with_temporals(worker, found, budget, clock, progress)
            cpu_s = worker.cpu_s + found.report.get("cpu_s", 0.0)
            cut = stopped or found.undecided.keys() - open_properties.keys()
            if kept is not None and not cut:
                kept.remove()
            return dataclasses.replace(found, cpu_s=cpu_s), False

    def _explore(self, exploration: Exploration) -> tuple[Mapping[str, Plain], str]:
        """The report of the search, and why it is not complete; liars in tests have their own."""
        return exploration.run(self.reduced if self.choice.symmetry else self.search, self.choice)

    def _with_temporals(
        self, worker: Worker, found: Searched, budget: Budget, clock: Clock, progress: Progress
    ) -> Searched:
        """The temporal properties too: traces of those that are false, and why others are open."""
        spent_s: float = found.report.get("cpu_s", 0.0)
        behaviours = Behaviours(worker, found.ir, budget, clock, progress, spent_s)
        judged = behaviours.run(self.choice, str(found.report.get("engine", "")))
        hits = {**found.report.get("hits", {}), **judged.hits}
        merged = {**found.report, "hits": hits, "cpu_s": spent_s + judged.cpu_s}
        return dataclasses.replace(
            found, report=merged, undecided=judged.undecided, behaviours=judged.said
        )

    def _finding(self, claim: Claim, searched: Searched) -> Finding:
        prop = str(claim.statement.params["prop"])
        problem = misstated(prop, claim.statement.existential, searched.ir)
        if problem:
            return dataclasses.replace(self._unknown(problem), isolation=searched.isolation)
        cases = self._cases(prop, searched)
        reason = "" if cases else _cut(prop, searched)
        exhausted = not cases and not reason
        if claim.statement.existential:
            return self._existential(prop, searched, cases, reason, exhausted)
        if not cases and _walked_through(prop, searched):
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
        states = f"all {_states(report)} reachable states"
        if not exhausted:
            states = f"{walks} random walks" if walks else states[4:].replace("reachable ", "")
        if searched.symmetry is not None:
            orbits = f"{report.get('distinct', 0)} orbits"
            inside += f", up to permutations of {searched.symmetry.text}: {orbits}"
        names: tuple[str, ...] = ("distinct", "whole", "generated", "depth", "outside")
        names += ("engine", "bytes")
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
        agreed = _agreement(prop, searched)
        silent = ", ".join(searched.report["silent"])
        what = f"never taken: {silent}" if prop == ALL_FIRE else f"{prop} holds in no state"
        why = f"{what}, in all {_states(searched.report)} reachable states"
        if not agreed:
            why += "; the second engine did not confirm this within the budget"
        return self._made(searched, Verdict.UNKNOWN, why, (), True, SECOND if agreed else "")

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


def _cut(prop: str, searched: Searched) -> str:
    """Why the search does not decide a property it found no trace for; empty when it does."""
    report = searched.report
    if searched.stopped:
        return undecided(prop, searched.ir, "walks" in report, searched.stopped)
    if searched.confirmed and not _same_counts(searched):
        theirs = _counted(searched.confirmed)
        return f"a bug of refute: the engines disagree, {_counted(report)} against {theirs}"
    if not report.get("distinct"):
        return "vacuous: the machine has no initial state within its constraint"
    if report["raised"] and prop != WELL_DEFINED:
        return (
            f"{report['raised']} steps or predicates raise or leave a type's range, and nothing "
            "is known beyond them; see well_defined"
        )
    if prop in searched.undecided:
        return searched.undecided[prop]
    existential = prop == ALL_FIRE or prop in {p.name for p in searched.ir.of_kind("reachable")}
    if existential and report["outside"]:
        return f"not found, and the constraint cuts the search at {report['outside']} states"
    if prop == ALL:
        shown = {p.name for p in searched.ir.of_kind("reachable")} - set(report["hits"])
        missing = [f"{name} is never reached" for name in sorted(shown)]
        missing += [f"{name} never takes a step" for name in report["silent"]]
        missing += [f"{name}: {why}" for name, why in searched.undecided.items()]
        return "; ".join(missing)
    return ""


def _walked_through(prop: str, searched: Searched) -> bool:
    """Whether random walks were taken that judged the property all along."""
    report = searched.report
    kinds = ("invariant", "transition", "observe")
    judged = [p.name for k in kinds for p in searched.ir.of_kind(k)]
    judged += [DEADLOCK_FREE, WELL_DEFINED]
    return bool(report.get("walks")) and not report.get("raised") and prop in judged


def _temporal_props(claims: Sequence[Claim], ir: MachineIR) -> bool:
    """Whether some claim is about a temporal property or a refinement."""
    known = {t.name for t in ir.temporals} | {r.name for r in ir.refinements}
    props = {str(c.statement.params["prop"]) for c in claims}
    return bool(known) and (ALL in props or bool(known & props))


def _needs_second(claims: Sequence[Claim], searched: Searched) -> bool:
    """Whether some claim is refuted by the search being complete."""
    props = [str(c.statement.params["prop"]) for c in claims if c.statement.existential]
    known = {p.name for p in searched.ir.of_kind("reachable")}
    hits = searched.report.get("hits", {})
    return any(
        (p in known and p not in hits) or (p == ALL_FIRE and searched.report.get("silent"))
        for p in props
    )


def _small(report: Mapping[str, Plain]) -> bool:
    """Whether the second engine can repeat the whole search for next to nothing."""
    return not report["raised"] and _states(report) <= ALWAYS_SECOND


def _states(report: Mapping[str, Plain]) -> int:
    """The states found; of a search up to permutations those of all orbits."""
    return int(report.get("whole", report.get("distinct", 0)))


def _same_counts(searched: Searched) -> bool:
    """Whether both engines counted alike; the second one searches all states of orbits."""
    first, second = searched.report, searched.confirmed
    if "whole" in first:
        return bool(first["whole"] == second["distinct"])
    return all(second[n] == first[n] for n in ("distinct", "generated"))


def _agreement(prop: str, searched: Searched) -> bool:
    """Whether the second engine finished, with the same counts and without an example either."""
    second, first = searched.confirmed, searched.report
    if not second or not _same_counts(searched):
        return False
    if prop == ALL_FIRE:
        return not set(first["silent"]) & set(second["fired"])
    return prop not in second["reached"]
