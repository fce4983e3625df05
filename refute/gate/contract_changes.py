"""Contracts under a change: the file that holds them is code and judge at once.

The base's contract judges the head's function, whatever the head wrote above it. What is found
here is that the head would leave the next run a weaker judge: a condition that differs, a helper or
constant that a condition reaches, an exception more in the docstring; or code that runs when the
module is loaded beside the judge and could change what any name means there.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence

from refute.change.units import pieces
from refute.claim import Claim
from refute.closure import module_file, module_names, parse
from refute.errors import RefuteError
from refute.gate.session import Session
from refute.record import SpecEvent
from refute.specs.contract import KIND
from refute.specs.contract_loading import Loading
from refute.specs.contract_meaning import meaning_of


def is_contract(claim: Claim) -> bool:
    """Whether the claim's judge is a contract in the subject's own file."""
    return claim.statement.kind == KIND


def contract_events(session: Session) -> Iterator[SpecEvent]:
    """Everything about the head that would make a contract of the base another one."""
    claims = [claim for claim in session.claims if is_contract(claim)]
    for claim in claims:
        yield from _meaning_events(session, claim)
    if claims:
        files = _judging_files(session, claims)
        yield from _loading_events(session, files)
        yield from _shadow_events(session, files)


def _meaning_events(session: Session, claim: Claim) -> Iterator[SpecEvent]:
    roots = session.config.roots
    try:
        before = meaning_of(session.base_dir, roots, claim.subject)
    except RefuteError:
        return  # the base has no contract that could judge, which its claim says by being UNKNOWN
    module = claim.subject.partition(":")[0]
    place = module_file(session.base_dir, roots, module) or ""
    try:
        after = meaning_of(session.head_dir, roots, claim.subject)
    except RefuteError as error:
        detail = f"its contract can no longer be read: {error.message}"
        yield SpecEvent("changed", claim.subject, detail, place, 1)
        return
    names = [k for k in {**before, **after} if before.get(k) != after.get(k)]
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        detail = f"its contract differs: {', '.join(names[:3])}{more}"
        yield SpecEvent("changed", claim.subject, detail, place, 1)


def _judging_files(session: Session, claims: Sequence[Claim]) -> frozenset[str]:
    """The files that a worker would load beside the judge if the head were the base."""
    files: set[str] = set()
    for claim in claims:
        files |= set(session.new_site.spec_closure(claim).files)
    return frozenset(files)


def _loading_events(session: Session, files: frozenset[str]) -> Iterator[SpecEvent]:
    """Changed code that runs when a module is loaded beside the judge, and is not quiet."""
    modules = {path: parse((session.head_dir / path).read_bytes()) for path in sorted(files)}
    loading = Loading({path: tree for path, tree in modules.items() if tree is not None})
    changed = [c.path for c in session.changes if c.path in loading.modules]
    for path in changed:
        known: frozenset[str] = frozenset()
        if path in session.base.entries:
            before = parse((session.base_dir / path).read_bytes())
            known = frozenset(p.text for p in pieces(before)) if before is not None else known
        for piece in pieces(loading.modules[path]):
            new = piece.text not in known
            why = loading.why(path, piece.qualname, piece.node) if new else ""
            if why:
                detail = f"{why} when the module is loaded beside its contracts"
                thing = f"{path}:{piece.qualname}"
                yield SpecEvent("changed", thing, detail, path, piece.node.lineno)


def _shadow_events(session: Session, files: frozenset[str]) -> Iterator[SpecEvent]:
    """New files that stand in front of a module of the standard library or an installed one."""
    roots, before = session.config.roots, session.base.entries
    own = {_top(n) for p in before if p.endswith(".py") for n in module_names(p, roots)}
    for path in sorted(files - set(before)):
        for top in dict.fromkeys(map(_top, module_names(path, roots))):
            if top not in own and (top in sys.stdlib_module_names or _is_installed(top)):
                yield SpecEvent("changed", path, f"it stands in front of {top}", path, 1)
                break


def _top(name: str) -> str:
    return name.partition(".")[0]


def _is_installed(top: str) -> bool:
    try:
        return importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        return False
