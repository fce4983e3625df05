"""From findings to a decision: what stands in the way of accepting a change, in order of weight.

There is one way to exit 0: no reason is left. A reason is never dropped because another one is
there, and whatever was not asked is listed as not done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from refute.change.difference import FileChange
from refute.claim import Verdict
from refute.errors import EXIT_ESTABLISHED, EXIT_NOT_ESTABLISHED, EXIT_REFUTED
from refute.evidence import Cost
from refute.gate.knockout import UNCOVERED, UNDECIDED
from refute.gate.session import Findings, Session
from refute.record import Run

ACCEPTED, REFUTED = "accepted", "refuted"
NOT_ESTABLISHED, NOTHING = "not established", "nothing to judge"
ADEQUACY = "rule 4: whether the specs are adequate for the changed lines (mutation) is not checked"
REASONS_SHOWN = 5


def decide(
    session: Session, findings: Findings, mode: tuple[str, str], cost: Cost, *, empty: bool
) -> Run:
    """The run's record with its decision. empty: there was nothing to judge."""
    reasons = tuple(_reasons(session, findings))
    decision, code = ACCEPTED, EXIT_ESTABLISHED
    if empty:
        decision, code = NOTHING, EXIT_NOT_ESTABLISHED
        reasons = (f"{session.head.label} does not differ from {session.base.label}",)
    elif findings.canary is None or findings.canary.unmet:
        decision, code = NOT_ESTABLISHED, EXIT_NOT_ESTABLISHED
    elif findings.refuted:
        decision, code = REFUTED, EXIT_REFUTED
    elif reasons:
        decision, code = NOT_ESTABLISHED, EXIT_NOT_ESTABLISHED
    notes = [*session.base.notes, *session.head.notes]
    return Run(
        command="gate",
        decision=decision,
        exit_code=code,
        reasons=reasons,
        mode=mode[0],
        mode_reason=mode[1],
        base=_named(session.base.label, session.base.commit),
        head=_named(session.head.label, session.head.commit),
        changed=tuple(name for change in session.changes for name in _names(change)),
        results=tuple(findings.results),
        controls=tuple(findings.controls),
        canary=findings.canary,
        coverage=tuple(findings.coverage),
        spec_events=tuple(findings.events),
        not_done=(*dict.fromkeys(findings.not_done), *dict.fromkeys(notes), ADEQUACY),
        interrupted=findings.interrupted,
        seed=session.budget.seed,
        cost=cost,
        environment=_environment(session),
    )


def _named(label: str, commit: str) -> str:
    return label if not commit or commit.startswith(label) else f"{label} ({commit[:12]})"


def _names(change: FileChange) -> list[str]:
    if change.units:
        return [str(unit) for unit in change.units]
    note = " (syntax unchanged)" if change.same_syntax else ""
    return [f"{change.path} ({change.kind}){note}" if not note else f"{change.path}{note}"]


def _environment(session: Session) -> Mapping[str, str]:
    ledger = session.ledger
    return {
        **ledger.surroundings(),
        "ledger": ledger.note or str(ledger.path),
        "configuration": session.config.source,
    }


def _reasons(session: Session, findings: Findings) -> Iterator[str]:
    canary = findings.canary
    if canary is not None and canary.unmet:
        yield f"the harness is broken: {canary.unmet}"
        return
    refuted = [r for r in findings.results if r.evidence.verdict is Verdict.REFUTED]
    for result in refuted:
        yield f"refuted: {result.claim.name}" + _note(result.evidence.reason)
    if findings.interrupted:
        yield "interrupted: not everything was judged"
    for event in findings.events:
        if event.kind != "added":
            yield f"spec {event.kind}: {event.thing}: {event.detail}; it needs approval"
    open_ones = [r for r in findings.results if r.unmet and not r.pre_existing]
    open_ones = [r for r in open_ones if r.evidence.verdict is not Verdict.REFUTED]
    if refuted and open_ones:
        others = "1 other claim" if len(open_ones) == 1 else f"{len(open_ones)} other claims"
        yield f"not judged to the end, because of that: {others}"
    for result in () if refuted else open_ones:
        yield f"not established: {result.claim.name}: {result.unmet}"
    for result in findings.controls:
        if result.unmet:
            yield f"not established: {result.claim.name}: {result.control}: {result.unmet}"
    for line in findings.coverage:
        if line.status in (UNCOVERED, UNDECIDED):
            where = line.file if line.unit == line.file else f"{line.file}:{line.unit}"
            yield f"no spec, no code: {where} is {line.status}: {line.detail}"
    if not (session.claims or session.new_claims) and not findings.interrupted:
        yield "there are no claims, so nothing is established; refute init writes a first one"


def _note(reason: str) -> str:
    return f" ({reason})" if reason else ""
