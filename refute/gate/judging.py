"""Rule 2: every affected claim of the base meets its need on the head's code.

A claim is affected when what its evidence is keyed by differs between head and base. What is not
established on the base either is pre-existing and not charged, unless the base merely ran out of
budget: a small budget must not turn into an excuse. REFUTED is always charged.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
import time
from collections.abc import Hashable, Sequence

from refute.budget import Budget, Clock
from refute.check import check, unknown
from refute.claim import Claim, Verdict, is_command
from refute.closure import module_names
from refute.errors import RefuteError
from refute.evidence import Evidence
from refute.gate.parallel import as_answered
from refute.gate.session import LEAST_WALL_S, Findings, Session, result_of
from refute.record import ClaimResult
from refute.replay import HASH_SEEDS
from refute.site import Site

UNAFFECTED = "not run: the change does not reach it"
NEARLY = 0.9  # of a budget spent counts as all of it
SPENT = "not run: the budget is spent"
CLAIMS_SHARE = 0.7
GROUP_SHARE = 0.6
BASE_SHARE = 0.5
_RAN_OUT = re.compile(r"\b(budget|time|timeout|timed out|seconds|not run|cases tried)\b")


def judge_claims(session: Session, findings: Findings) -> None:
    """Judge the affected claims of the base, then the new ones; stops at the first refutation."""
    affected = []
    for claim in session.claims:
        if is_affected(session, claim):
            affected.append(claim)
        else:
            findings.results.append(_unaffected(session, claim))
    findings.asked = [*affected, *session.new_claims]
    _judge(session, findings, affected, session.head_site, "claim")
    if not findings.refuted:
        _judge(session, findings, session.new_claims, session.new_site, "new")
    _ask_the_base(session, findings)


def is_affected(session: Session, claim: Claim) -> bool:
    """Whether evidence on the head would be keyed differently from evidence on the base."""
    ledger = session.ledger
    return ledger.key(claim, session.head_site) != ledger.key(claim, session.base_site)


def _unaffected(session: Session, claim: Claim) -> ClaimResult:
    """Evidence from the ledger if there is some; an unaffected claim is not charged either way."""
    known = None if claim.statement.existential else session.ledger.lookup(claim, session.base_site)
    if known is not None:
        return result_of(claim, known)
    return result_of(claim, unknown(claim, UNAFFECTED, "gate"), "unaffected", pre_existing=True)


def groups(session: Session, claims: Sequence[Claim]) -> list[list[Claim]]:
    """Claims that one run of an engine judges together.

    Those near the change come first; among them, what is cheapest for each claim it decides.
    """
    found: dict[Hashable, list[Claim]] = {}
    for claim in claims:
        kind = claim.statement.kind
        first = next(iter(session.engines(kind)), None)
        found.setdefault((kind, first.group(claim) if first else claim.name), []).append(claim)

    def order(group: list[Claim]) -> tuple[int, float, float]:
        known = [session.ledger.expected_cost(c) for c in group]
        engines = [float(e.cost) for e in session.engines(group[0].statement.kind)]
        cost = max((k for k in known if k is not None), default=0.0)
        each = min(engines, default=0.0) / len(group)
        return min(_distance(session, c) for c in group), each, cost

    return sorted(found.values(), key=order)


def _distance(session: Session, claim: Claim) -> int:
    """0: the subject itself changed; 1: something in its module; 2: something it depends on."""
    module, _, qualname = claim.subject.partition(":")
    name = qualname.partition(".")[0]
    if is_command(claim.subject):
        return 1
    units = [unit for change in session.changes for unit in change.units]
    if any(unit.qualname.partition(".")[0] == name for unit in units):
        return 0
    roots = session.config.roots
    return 1 if any(module in module_names(c.path, roots) for c in session.changes) else 2


@dataclasses.dataclass(frozen=True)
class _Answer:
    """What one group of claims came to. ran_out: names of those that more budget might decide."""

    results: tuple[ClaimResult, ...]
    ran_out: frozenset[str] = frozenset()


def _judge(
    session: Session, findings: Findings, claims: Sequence[Claim], site: Site, role: str
) -> None:
    """Judge groups at once, the likeliest to be refuted first; the first refutation ends all."""
    end = Clock(session.clock.left * CLAIMS_SHARE)
    ordered = groups(session, claims)
    questions = [
        functools.partial(_judge_group, session, group, site, role, end) for group in ordered
    ]
    answers: dict[int, _Answer] = {}
    refuted = False
    try:
        with contextlib.closing(as_answered(questions)) as coming:
            for number, answer in coming:
                answers[number] = answer
                if any(r.evidence.verdict is Verdict.REFUTED for r in answer.results):
                    refuted = True
                    break
    finally:
        for number, group in enumerate(ordered):
            known = answers.get(number)
            if known is None and refuted:
                known = _not_run(group, "not run: another claim was already refuted", role)
            if known is not None:
                findings.results += known.results
                findings.ran_out |= known.ran_out


def _judge_group(
    session: Session, group: Sequence[Claim], site: Site, role: str, end: Clock
) -> _Answer:
    """A group may use most of what is left for claims; most groups end by cases long before."""
    if end.left < LEAST_WALL_S:
        return _not_run(group, SPENT, role)
    names = ", ".join(c.name for c in group)
    session.progress(f"judging {names}")
    part = session.part(f"{role}/{names}", end.left * GROUP_SHARE, group)
    started = time.monotonic()
    evidence = check(
        group,
        part,
        site,
        store=session.ledger,
        progress=session.progress,
        engines=session.engines,
    )
    spent = time.monotonic() - started
    results = []
    for claim, found in zip(group, evidence, strict=True):
        inputs = session.ledger.inputs(claim, site)
        results.append(result_of(claim, dataclasses.replace(found, inputs=inputs), role))
    return _Answer(tuple(results), frozenset(e.claim for e in evidence if ran_out(e, part, spent)))


def _not_run(group: Sequence[Claim], why: str, role: str) -> _Answer:
    return _Answer(tuple(result_of(claim, unknown(claim, why, "gate"), role) for claim in group))


def _ask_the_base(session: Session, findings: Findings) -> None:
    """Whether what fails on the head fails on the base too; once refuted, only that matters.

    A claim that ran out of budget on the head is charged, so the base is not asked about it.
    """
    open_ones: list[Claim] = []
    asked = False
    for index, result in enumerate(findings.results):
        if result.role != "claim" or not result.unmet or result.pre_existing:
            continue
        if result.evidence.verdict is Verdict.REFUTED:
            if not asked:  # one is enough to say that the fault is older
                findings.results[index] = _refuted_before(session, result)
            asked = True
        elif not findings.refuted and result.claim.name not in findings.ran_out:
            open_ones.append(result.claim)
    before = {claim.name for group in groups(session, open_ones) for claim in _open(session, group)}
    for index, result in enumerate(findings.results):
        if result.claim.name in before:
            findings.results[index] = dataclasses.replace(result, pre_existing=True)


def _open(session: Session, group: Sequence[Claim]) -> list[Claim]:
    """Those of the claims that the base does not establish either, and not for lack of budget."""
    if session.clock.over:
        return []
    names = ", ".join(c.name for c in group)
    session.progress(f"judging {names} on the base")
    part = session.part(f"base/{names}", session.clock.left * BASE_SHARE, group)
    started = time.monotonic()
    evidence = check(group, part, session.base_site, store=session.ledger, engines=session.engines)
    spent = time.monotonic() - started
    return [
        claim
        for claim, before in zip(group, evidence, strict=True)
        if before.unmet(claim.need) and not ran_out(before, part, spent)
    ]


def _refuted_before(session: Session, result: ClaimResult) -> ClaimResult:
    witness = result.evidence.witness
    if witness is None:
        return result
    claim, site = result.claim, session.base_site
    for engine in session.engines(claim.statement.kind):
        if engine.name != result.evidence.engine:
            continue
        session.progress(f"playing the case of {claim.name} on the base")
        try:
            replayer = engine.replayer(
                claim, site, session.part("base", session.clock.left * BASE_SHARE)
            )
            again = replayer.play(witness.counterexample, HASH_SEEDS[0])
        except RefuteError:
            return result
        if again.broke:
            said = "the same case breaks the claim on the base"
            reason = f"{result.evidence.reason}; {said}" if result.evidence.reason else said
            evidence = dataclasses.replace(result.evidence, reason=reason)
            return dataclasses.replace(result, evidence=evidence, unmet=reason)
    return result


def ran_out(evidence: Evidence, budget: Budget, wall_s: float) -> bool:
    """Whether more budget might have established more; in doubt it might."""
    if wall_s >= NEARLY * budget.wall_s or evidence.cost.cpu_s >= NEARLY * budget.cpu_s:
        return True
    reasons = [evidence.reason, *(p.reason for p in evidence.parts)]
    return any(_RAN_OUT.search(reason) for reason in reasons)
