"""check: choose verifiers, run them cheapest first, replay what they propose, merge, record.

Claims of one group go to an engine together, because all properties of a machine, or of a crash
exploration, need one search. Witnesses found before are replayed first: the cheapest refutation is
the one already known. An engine that raises, hangs up or miscounts is UNKNOWN by name, never a
verdict and never a skip.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from refute.budget import Budget
from refute.claim import Claim, Verdict
from refute.errors import RefuteError, UsageError
from refute.evidence import Cost, Evidence, Exhaustion, Finding, cpu_seconds, merge
from refute.replay import HASH_SEEDS, Counterexample, Replayed, Witness, replay
from refute.site import Site
from refute.verifiers import Follower, Interrupted, Progress, Verifier
from refute.verifiers.registry import engines_for

LEAST_S = 1.0  # for a claim or an engine whose turn comes when the time is up
DOUBT_SHARE = 0.1  # of the budget, for the engine that looks again after a proof
REPLAYED_AT_MOST = 3  # counterexamples of one finding that are replayed, best first

EnginesFor = Callable[[str], Sequence[Verifier]]


class Store(Protocol):
    """What `check` asks of a ledger."""

    def lookup(self, claim: Claim, site: Site) -> Evidence | None:
        """Evidence that meets the claim's need for exactly these inputs, or None."""
        ...

    def record(self, claim: Claim, site: Site, evidence: Evidence) -> None:
        """Keep the evidence, if it is of a kind that may be kept."""
        ...

    def witnesses(self, claim: Claim) -> Sequence[Counterexample]:
        """Cases that once broke the claim, to be replayed first."""
        ...

    def keep(self, claim: Claim, witness: Witness) -> None:
        """Keep a witness with its claim for ever."""
        ...


class Checkable(Protocol):
    """Something that states claims about itself, such as a machine built with its constants."""

    def claims(self) -> Sequence[Claim]:
        """One claim per property."""
        ...

    def site(self) -> Site:
        """The trees that the claims' references are read in."""
        ...


def _silent(_: str) -> None:
    return None


def check(
    what: Claim | Iterable[Claim] | Checkable,
    budget: Budget | None = None,
    site: Site | None = None,
    *,
    store: Store | None = None,
    progress: Progress = _silent,
    engines: EnginesFor = engines_for,
    found: Callable[[Claim, Evidence], None] | None = None,
    stop_at_refutation: bool = False,
) -> list[Evidence]:
    """The evidence on each claim, in order.

    what: a claim, several, or a machine as `TwoPhase.build(RM=3)` gives it. site: where references
    are read; the current directory, or the machine's own place, by default.
    found: called with each claim's evidence as soon as it is there, so that an interrupted run
    keeps what it knew. stop_at_refutation: claims after the first refuted group get UNKNOWN
    ("not run"). Raises UsageError for a statement kind that no engine takes, and KeyboardInterrupt
    when interrupted; an engine that can says first what it has found.
    """
    ordered, site = _claims_and_site(what, site)
    budget = budget or Budget()
    done: dict[int, Evidence] = {}

    def settle(index: int, evidence: Evidence) -> None:
        done[index] = evidence
        if found is not None:
            found(ordered[index], evidence)

    for index, claim in enumerate(ordered):
        known = _already_known(claim, site, store, budget, engines)
        if known is not None:
            settle(index, known)
    groups = _groups([i for i in range(len(ordered)) if i not in done], ordered, engines)
    clock, used_s = budget.clock(), 0.0
    interrupted: KeyboardInterrupt | None = None
    for number, group in enumerate(groups):
        members = [ordered[i] for i in group]
        if stop_at_refutation and _any_refuted(done.values()):
            results = [unknown(c, "not run: another claim was already refuted") for c in members]
        else:
            part = _share(budget, clock.left, budget.cpu_s - used_s, len(groups) - number)
            try:
                results = _check_group(members, part, site, store, progress, engines)
            except Interrupted as stopped:
                results, interrupted = list(stopped.found), stopped
            used_s += cpu_seconds(results)
        for index, evidence in zip(group, results, strict=True):
            settle(index, evidence)
        if interrupted is not None:
            raise interrupted
    return [done[i] for i in range(len(ordered))]


def _claims_and_site(
    what: Claim | Iterable[Claim] | Checkable, site: Site | None
) -> tuple[list[Claim], Site]:
    here = Site(Path.cwd(), Path.cwd())
    if isinstance(what, Claim):
        return [what], site or here
    if isinstance(what, Iterable):
        return list(what), site or here
    return list(what.claims()), site or what.site()


def _share(budget: Budget, wall_s: float, cpu_s: float, groups: int) -> Budget:
    """An equal part of the seconds that are left for so many groups; cases are for each claim."""
    return dataclasses.replace(
        budget,
        wall_s=max(wall_s / groups, LEAST_S),
        cpu_s=max(cpu_s / groups, LEAST_S),
    )


def _any_refuted(evidence: Iterable[Evidence]) -> bool:
    return any(e.verdict is Verdict.REFUTED for e in evidence)


def unknown(claim: Claim, reason: str, engine: str = "check", version: str = "1") -> Evidence:
    """UNKNOWN with a reason: what a claim gets when nothing could be established."""
    return Evidence(
        claim=claim.name,
        verdict=Verdict.UNKNOWN,
        engine=engine,
        version=version,
        existential=claim.statement.existential,
        reason=reason,
    )


def _already_known(
    claim: Claim, site: Site, store: Store | None, budget: Budget, engines: EnginesFor
) -> Evidence | None:
    if store is None:
        return None
    for engine in engines(claim.statement.kind):
        if claim.statement.existential or engine.declines(claim):
            continue
        for case in store.witnesses(claim):
            evidence = _replay_known(claim, case, engine, site, budget)
            if evidence is not None:
                return evidence
    return store.lookup(claim, site)


def _replay_known(
    claim: Claim, case: Counterexample, engine: Verifier, site: Site, budget: Budget
) -> Evidence | None:
    started = time.monotonic()
    try:
        replayer = engine.replayer(claim, site, budget)
        if not replayer.play(case, HASH_SEEDS[0]).broke:
            return None  # old cases mostly no longer break; one play tells
        replayed = replay(case, replayer)
    except RefuteError:
        return None  # an old case that no longer fits the claim says nothing about it
    if replayed.witness is None:
        return None
    return Evidence(
        claim=claim.name,
        verdict=Verdict.REFUTED,
        engine=engine.name,
        version=engine.version,
        witness=replayed.witness,
        tried=1,
        reason=_flaky_note(replayed.witness) or "a known counterexample still breaks the claim",
        seed=budget.seed,
        cost=Cost(wall_s=time.monotonic() - started),
    )


def _groups(indices: list[int], claims: list[Claim], engines: EnginesFor) -> list[list[int]]:
    """Indices grouped so that the first engine of a kind can judge a group in one run."""
    groups: dict[Hashable, list[int]] = {}
    for index in indices:
        claim = claims[index]
        first = next(iter(engines(claim.statement.kind)), None)
        key = (claim.statement.kind, first.group(claim) if first else index)
        groups.setdefault(key, []).append(index)
    return list(groups.values())


def _check_group(
    claims: list[Claim],
    budget: Budget,
    site: Site,
    store: Store | None,
    progress: Progress,
    engines: EnginesFor,
) -> list[Evidence]:
    parts: list[list[Evidence]] = [[] for _ in claims]
    clock = budget.clock()
    interrupted = False
    for engine in engines(claims[0].statement.kind):
        open_ones = [i for i, found in enumerate(parts) if not _settled(claims[i], found)]
        if isinstance(engine, Follower):
            open_ones = [i for i in open_ones if engine.follows(claims[i], parts[i])]
        takes = []
        for i in open_ones:
            why = engine.declines(claims[i])
            if why:
                parts[i].append(unknown(claims[i], f"declined: {why}", engine.name, engine.version))
            else:
                takes.append(i)
        if not takes:
            continue
        chosen = [claims[i] for i in takes]
        doubting = all(any(not e.unmet(claims[i].need) for e in parts[i]) for i in takes)
        part = budget.part(f"{engine.name}/{chosen[0].name}", DOUBT_SHARE if doubting else 1)
        left = max(clock.left, LEAST_S)  # the wall clock caps all engines together
        part = dataclasses.replace(part, wall_s=min(part.wall_s, left))
        try:
            found = _run(engine, chosen, part, site, progress)
        except Interrupted as stopped:
            found, interrupted = list(stopped.found), True
        for i, evidence in zip(takes, found, strict=True):
            parts[i].append(evidence)
        if interrupted:
            break
    results = [merge(found) for found in parts]
    if store is not None:
        for claim, evidence in zip(claims, results, strict=True):
            store.record(claim, site, evidence)
            if evidence.witness is not None and not claim.statement.existential:
                store.keep(claim, evidence.witness)
    if interrupted:
        raise Interrupted(results)
    return results


def _settled(claim: Claim, found: list[Evidence]) -> bool:
    """Refuted; or the need is met, and a proof has been doubted by another engine."""
    if found and found[-1].verdict is Verdict.REFUTED:
        return True
    met = [e for e in found if not e.unmet(claim.need)]
    looked = sum(e.verdict is not Verdict.UNKNOWN for e in found)
    return any(e.verdict is not Verdict.PROVED or looked > 1 for e in met)


def _run(
    engine: Verifier, claims: list[Claim], budget: Budget, site: Site, progress: Progress
) -> list[Evidence]:
    """The engine's findings as evidence; whatever goes wrong in it is UNKNOWN by its name."""
    started = time.monotonic()
    interrupted = False
    try:
        findings = list(engine.run(claims, budget, site, progress))
    except Interrupted as stopped:
        findings, interrupted = list(stopped.found), True
    except UsageError:
        raise
    except Exception as error:
        reason = f"the engine failed: {type(error).__name__}: {error}"
        return [unknown(c, reason, engine.name, engine.version) for c in claims]
    if len(findings) != len(claims) or not all(isinstance(f, Finding) for f in findings):
        reason = f"the engine returned {len(findings)} findings for {len(claims)} claims"
        return [unknown(c, reason, engine.name, engine.version) for c in claims]
    wall = (time.monotonic() - started) / len(claims)
    evidence = [
        _judge(engine, claim, finding, budget, site, wall)
        for claim, finding in zip(claims, findings, strict=True)
    ]
    if interrupted:
        raise Interrupted(evidence)
    return evidence


def _judge(
    engine: Verifier, claim: Claim, finding: Finding, budget: Budget, site: Site, wall_s: float
) -> Evidence:
    """One finding as evidence: counterexamples are replayed, and only that decides."""
    try:
        replayed = _replay_proposed(engine, claim, finding, budget, site)
        evidence = _evidence(claim, finding, replayed, budget, wall_s)
    except (RefuteError, ValueError, TypeError) as error:
        return unknown(claim, f"illegal finding: {error}", engine.name, engine.version)
    return evidence


def _replay_proposed(
    engine: Verifier, claim: Claim, finding: Finding, budget: Budget, site: Site
) -> Replayed | None:
    last: Replayed | None = None
    for case in finding.counterexamples[:REPLAYED_AT_MOST]:
        last = replay(case, engine.replayer(claim, site, budget))
        if last.witness is not None:
            return last
    return last


def _evidence(
    claim: Claim, finding: Finding, replayed: Replayed | None, budget: Budget, wall_s: float
) -> Evidence:
    witness = replayed.witness if replayed is not None else None
    existential = claim.statement.existential
    verdict, reason = finding.verdict, finding.reason
    exhaustion = None
    if witness is not None:
        verdict = Verdict.PROVED if existential else Verdict.REFUTED
        reason = _flaky_note(witness)
    elif replayed is not None:
        verdict, reason = Verdict.UNKNOWN, replayed.reason
    elif existential and finding.exhausted and finding.confirmed_by:
        exhaustion = Exhaustion(finding.engine, finding.confirmed_by, finding.tried)
        verdict = Verdict.REFUTED
        reason = finding.reason or "a complete search found no example"
    elif existential:
        verdict = Verdict.UNKNOWN
        reason = finding.reason or "no example was found, and the search was not complete"
    return Evidence(
        claim=claim.name,
        verdict=verdict,
        engine=finding.engine,
        version=finding.version,
        existential=existential,
        reason=reason,
        scope=finding.scope,
        tried=finding.tried,
        discarded=finding.discarded,
        distribution=finding.distribution,
        witness=witness,
        exhaustion=exhaustion,
        assumptions=finding.assumptions,
        isolation=finding.isolation,
        seed=budget.seed,
        cost=Cost(finding.cost.cpu_s, finding.cost.wall_s or wall_s),
        disputes=(finding.engine,) if replayed is not None and replayed.engine_wrong else (),
        statistics=finding.statistics,
    )


def _flaky_note(witness: Witness) -> str:
    return f"flaky: broke in {witness.broke} of {witness.runs} replays" if witness.flaky else ""
