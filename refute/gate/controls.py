"""Rule 5: the known-wrong controls of an affected claim are refuted by it.

A control is a patch of the base that makes the code wrong in a known way. A claim that lets one
pass would let the same fault pass in the change, whatever it says about the change itself. Patches
and trees come from the base (from the head for new claims), applied outside any repository.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path

from refute.change.trees import apply_patch, copy_part, patched_paths
from refute.check import check, unknown
from refute.claim import Claim, Verdict
from refute.gate.hints import Hints
from refute.gate.judging import SPENT, groups
from refute.gate.parallel import at_once
from refute.gate.session import Findings, Session, frozen
from refute.record import ClaimResult
from refute.site import Site

SHARE = 0.4


def judge_controls(session: Session, findings: Findings, claims: Sequence[Claim]) -> None:
    """Judge every control of these claims on its own tree; one result per claim and control."""
    pairs = [(control, claim) for claim in claims for control in claim.controls]
    todo = [
        (control, group)
        for control in dict.fromkeys(control for control, _ in pairs)
        for new in (False, True)
        for group in groups(
            session,
            [c for name, c in pairs if name == control and (c in session.new_claims) is new],
        )
    ]
    questions = [
        functools.partial(_judge_control, session, control, group, SHARE / (len(todo) - number))
        for number, (control, group) in enumerate(todo)
    ]
    for results in at_once(questions):
        findings.controls += results


def _judge_control(
    session: Session, control: str, group: Sequence[Claim], share: float
) -> list[ClaimResult]:
    if session.clock.over:
        return [_result(claim, control, SPENT) for claim in group]
    site = session.site_of(group[0])
    source = site.spec_tree
    tree, problem = _wrong_tree(session, source, control, group)
    if tree is None:
        return [_result(claim, control, problem) for claim in group]
    wrong = Site(tree, source, site.roots)
    session.progress(f"control {control}: {', '.join(c.name for c in group)}")
    hints = Hints(session.ledger, "control case", control)
    part = session.part(f"control/{control}", session.clock.left * share, group)
    part = dataclasses.replace(part, shrink=False)
    results = []
    for claim, evidence in zip(
        group, check(group, part, wrong, store=hints, engines=session.engines), strict=True
    ):
        refuted = evidence.verdict is Verdict.REFUTED
        said = "" if refuted else f"the control was not refuted: {evidence.verdict.value}"
        said = f"{said}, {evidence.reason}" if said and evidence.reason else said
        results.append(ClaimResult(claim, evidence, said, "control", control=control))
    return results


def _result(claim: Claim, control: str, problem: str) -> ClaimResult:
    return ClaimResult(
        claim, unknown(claim, problem, "gate"), problem, role="control", control=control
    )


def _wrong_tree(
    session: Session, source: Path, control: str, group: Sequence[Claim]
) -> tuple[Path | None, str]:
    """A tree with what the claims' subjects need and the patch applied; or why there is none."""
    patch_path = source / control
    if not patch_path.is_file():
        return None, f"the control {control} does not exist"
    patch = patch_path.read_bytes()
    site = Site(source, source, session.config.roots)
    wanted = {p for p in patched_paths(patch) if (source / p).is_file()}
    for claim in group:
        wanted |= set(site.subject_closure(claim).files)
    tree = session.tree("control")
    copy_part(source, tree, sorted(wanted))
    problem = apply_patch(tree, patch)
    if problem:
        return None, f"the control {control} no longer applies: {problem.splitlines()[0]}"
    return frozen(tree), ""
