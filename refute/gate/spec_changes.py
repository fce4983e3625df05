"""Rule 3: no claim, spec, control or policy is removed or weakened by the change under test.

Base's own claims and judges judge the head, so a spec change cannot make this run any kinder; what
is found here is that the head would leave the next run a different judge. Claims are compared by
digest, claims modules by syntax (see `additive`), everything else that judges by content.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from refute.change.difference import DELETED, FileChange
from refute.claim import Claim, is_command
from refute.closure import module_file, module_names
from refute.config import FILE, Config, read_config, read_exemptions
from refute.describe import claim_files
from refute.errors import RefuteError
from refute.gate.additive import not_additive
from refute.gate.contract_changes import contract_events, is_contract
from refute.gate.session import Findings, Session
from refute.globs import matches
from refute.record import SpecEvent


def find_spec_changes(session: Session, findings: Findings) -> None:
    """Record every spec event of the change and set `session.new_claims`."""
    findings.events += _claim_events(session)
    findings.events += _module_events(session)
    findings.events += contract_events(session)
    findings.events += _control_events(session)
    findings.events += _policy_events(session)
    findings.events += _exemption_events(session)


def _claim_events(session: Session) -> Iterator[SpecEvent]:
    """Claims removed, changed or added; sets the new ones."""
    try:
        head = {claim.name: claim for claim in session.read_claims(session.head_dir)}
    except RefuteError as error:
        yield SpecEvent("changed", "the head's claims cannot be read", error.message)
        return
    for claim in session.claims:
        place = claim.where
        now = head.get(claim.name)
        if now is None:
            yield SpecEvent("removed", claim.name, "the claim is gone", place.file, place.line)
        elif now.digest() != claim.digest():
            what = ", ".join(_different(claim, now))
            yield SpecEvent("changed", claim.name, what, now.where.file, now.where.line)
    known = {claim.name for claim in session.claims}
    session.new_claims = tuple(c for c in head.values() if c.name not in known)
    for claim in session.new_claims:
        detail = "spec written with the change"
        yield SpecEvent("added", claim.name, detail, claim.where.file, claim.where.line)


def _different(before: Claim, now: Claim) -> Iterator[str]:
    if before.need != now.need:
        yield f"need {before.need} became {now.need}"
    if before.covers != now.covers:
        yield f"covers {list(before.covers)} became {list(now.covers)}"
    gone = sorted(set(before.controls) - set(now.controls))
    if gone:
        yield f"controls gone: {', '.join(gone)}"
    elif before.controls != now.controls:
        yield "controls differ"
    if before.statement != now.statement:
        yield f"statement {before.statement.text!r} became {now.statement.text!r}"


def spec_files(session: Session) -> frozenset[str]:
    """The files that judge: claims modules, and what only they and the claims' specs import.

    A module that a subject of the base imports too stays code: the base's version of it judges,
    the head's version is judged. Claims modules and modules that a claim names as its spec are
    specs in any case.
    """
    tree, roots = session.base_dir, session.config.roots
    code: set[str] = set()
    specs: set[str] = set()
    named = set(claim_files(tree, session.config.claims))
    for claim in session.claims:
        specs |= set(session.base_site.spec_closure(claim).files)
        for reference in () if is_contract(claim) else claim.statement.spec:
            named |= {module_file(tree, roots, reference.partition(":")[0]) or ""}
        if not is_command(claim.subject):
            code |= set(session.base_site.subject_closure(claim).files)
    return frozenset((specs - code) | named)


def _module_events(session: Session) -> Iterator[SpecEvent]:
    specs = spec_files(session)
    judged_by = _judge_modules(session)
    for change in session.changes:
        if change.path in specs and not change.same_syntax:
            yield from _file_event(session, change, judged_by)
    yield from _shadow_events(session, specs)


def _judge_modules(session: Session) -> frozenset[str]:
    """Names of the base's modules that its judges import already."""
    files: set[str] = set()
    for claim in session.claims:
        files |= set(session.base_site.spec_closure(claim).files)
    roots = session.config.roots
    return frozenset(name for path in files for name in module_names(path, roots))


def _file_event(
    session: Session, change: FileChange, modules: frozenset[str]
) -> Iterator[SpecEvent]:
    if change.kind == DELETED:
        yield SpecEvent("removed", change.path, "a file that judges is gone", change.path, 1)
        return
    if not matches(change.path, session.config.claims):
        line = change.units[0].line if change.units else 1
        names = ", ".join(u.qualname for u in change.units[:3])
        what = f"judging code differs: {names}" if names else "a file that judges differs"
        yield SpecEvent("changed", change.path, what, change.path, line)
        return
    before = (session.base_dir / change.path).read_bytes()
    after = (session.head_dir / change.path).read_bytes()
    line, why = not_additive(before, after, modules)
    if why:
        yield SpecEvent("changed", change.path, why, change.path, line)


def _shadow_events(session: Session, specs: frozenset[str]) -> Iterator[SpecEvent]:
    """New files that the base's judges would import in the head, such as one shadowing a spec."""
    known = set(session.base.entries)
    seen: set[str] = set()
    for claim in session.claims:
        if is_contract(claim):
            continue  # its judge is the subject's own file; see `contract_changes`
        closure = session.new_site.spec_closure(claim)
        for path in set(closure.files) - known - seen:
            seen.add(path)
            if not _imported_by_claims_only(session, path):
                uses = "import it" if path.endswith(".py") else "read it"
                yield SpecEvent("changed", path, f"{claim.name}'s judge would {uses}", path, 1)


def _imported_by_claims_only(session: Session, path: str) -> bool:
    """Whether a new file is a claims module: those judge only the claims they add."""
    return matches(path, session.config.claims)


def _control_events(session: Session) -> Iterator[SpecEvent]:
    wanted = {control for claim in session.claims for control in claim.controls}
    for change in session.changes:
        if change.path in wanted:
            kind = "removed" if change.kind == DELETED else "changed"
            yield SpecEvent(kind, change.path, "a known-wrong control", change.path, 1)


def _policy_events(session: Session) -> Iterator[SpecEvent]:
    before = _config_or_none(session.base_dir)
    after = _config_or_none(session.head_dir)
    if after is None:
        yield SpecEvent("policy", FILE, "the configuration cannot be read", FILE, 1)
    elif before is not None and before.digest() != after.digest():
        names = [
            name
            for name in ("roots", "claims", "exclude", "exemptions")
            if getattr(before, name) != getattr(after, name)
        ]
        yield SpecEvent("policy", FILE, f"[tool.refute] {', '.join(names)} differs", FILE, 1)


def _config_or_none(tree: Path) -> Config | None:
    try:
        return read_config(tree)
    except RefuteError:
        return None


def _exemption_events(session: Session) -> Iterator[SpecEvent]:
    before = read_exemptions(session.base_dir, session.config)
    after = read_exemptions(session.head_dir, session.config)
    grown = sorted(after - before)
    if grown:
        more = f" and {len(grown) - 3} more" if len(grown) > 3 else ""
        detail = f"exempt now: {', '.join(grown[:3])}{more}"
        yield SpecEvent("exemptions", session.config.exemptions, detail, session.config.exemptions)
