"""The order of the gate's questions.

The canary comes first, because nothing counts if refutations do not arrive; then affected claims,
cheapest first, so that a wrong change is answered early; controls and knock-outs only when nothing
was refuted. Whatever was found when the run is interrupted is reported.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from pathlib import Path

from refute.budget import Budget
from refute.change.difference import choose_base, choose_head, compare
from refute.change.git import Repository
from refute.change.trees import Tree, export, ignored_by
from refute.check import EnginesFor, unknown
from refute.config import read_config, read_policy
from refute.errors import RefuteError
from refute.gate.canary import CANARY, Canary
from refute.gate.controls import judge_controls
from refute.gate.decision import decide
from refute.gate.judging import judge_claims
from refute.gate.knockout import judge_coverage, judge_new_claims
from refute.gate.mode import mode_of
from refute.gate.session import Findings, Session, frozen, total_cost
from refute.gate.spec_changes import find_spec_changes
from refute.gate.workplace import workplace
from refute.ledger.store import LEDGER_NAME, Ledger, open_ledger
from refute.record import ClaimResult, Run
from refute.verifiers import Progress
from refute.verifiers.registry import engines_for


def _silent(_: str) -> None:
    return None


def gate(
    repo: Path,
    base: str | None = None,
    head: str | None = None,
    budget: Budget | None = None,
    policy: Path | None = None,
    progress: Progress = _silent,
    *,
    ledger: Path | None = None,
    engines: EnginesFor = engines_for,
) -> Run:
    """Judge the change from `base` to `head` in the repository at `repo`.

    base, head: revisions; head may be "worktree". Without a head: the worktree when it differs from
    HEAD, else HEAD; without a base: see `refute.change.difference.choose_base`. policy: a TOML file
    that overrides the base's configuration. ledger: another place for it. Raises GitError,
    UsageError, UnreadableInput, IllegalClaim or LedgerError for input that cannot be judged.
    """
    started = time.monotonic()
    budget = budget or Budget()
    with contextlib.ExitStack() as stack:
        work = stack.enter_context(workplace())
        canary = Canary(work)
        stack.callback(canary.close)
        repository = stack.enter_context(Repository.open(repo))
        head_tree = choose_head(repository, head)
        base_tree = choose_base(repository, base, head_tree)
        book = open_ledger(ledger or repository.main_worktree / LEDGER_NAME, engines=engines)
        stack.callback(book.close)
        mode = mode_of(repository, base, base_tree.commit, policy)
        session = _session(
            repository, base_tree, head_tree, work, book, engines, budget, policy, progress
        )
        stack.callback(session.close)
        findings = Findings()
        empty = all(change.path in session.ignored for change in session.changes)
        if not empty:
            _ask(session, findings, canary)
        return decide(session, findings, mode, total_cost(findings, started), empty=empty)


def _session(
    repository: Repository,
    base: Tree,
    head: Tree,
    work: Path,
    ledger: Ledger,
    engines: EnginesFor,
    budget: Budget,
    policy: Path | None,
    progress: Progress,
) -> Session:
    """Export both trees, compare them, read the configuration that counts."""
    base_dir, head_dir = work / "base", work / "head"
    export(repository, base, base_dir)
    export(repository, head, head_dir, (base_dir, base.entries))
    changes = compare(repository, base, head)
    config = read_config(base_dir)
    if policy is not None:
        config = read_policy(policy, config)
    ignored: frozenset[str] = frozenset()
    if head.disk is not None:
        new = [c.path for c in changes if c.path not in base.entries]
        ignored = ignored_by(base_dir, new)
    if not budget.seed:
        seed = ledger.seed(f"{base.commit}/{head.commit}")
        budget = dataclasses.replace(budget, seed=seed)
    return Session(
        repository=repository,
        base=base,
        head=head,
        base_dir=frozen(base_dir),
        head_dir=frozen(head_dir),
        work=work,
        config=config,
        ledger=ledger,
        engines=engines,
        budget=budget,
        clock=budget.clock(),
        progress=progress,
        changes=changes,
        ignored=ignored,
    )


def _ask(session: Session, findings: Findings, canary: Canary) -> None:
    """All questions in order; an interrupt ends them and keeps the answers."""
    try:
        findings.canary = _judge_canary(session, canary)
        if findings.canary.unmet:
            findings.not_done.append("claims: the canary did not fail, so no verdict would count")
            return
        session.claims = session.read_claims(session.base_dir)
        find_spec_changes(session, findings)
        judge_claims(session, findings)
        if findings.refuted:
            findings.not_done.append("controls and knock-outs: a claim was refuted already")
            return
        judge_controls(session, findings, findings.asked)
        judge_coverage(session, findings)
        judge_new_claims(session, findings)
    except KeyboardInterrupt:
        findings.interrupted = True
        findings.not_done.append("everything after the interruption")


def _judge_canary(session: Session, canary: Canary) -> ClaimResult:
    """The canary's result; the isolation of its workers is that of all others."""
    try:
        result = canary.judge()
    except RefuteError as error:
        reason = f"no worker could be started: {error.message}"
        return ClaimResult(CANARY, unknown(CANARY, reason, "gate"), reason, role="canary")
    session.ledger.isolation = canary.isolation
    return result
