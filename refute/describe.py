"""Describe: the claims of a tree, read without running anything of it in this process.

A claims module is Python, so loading it is running it; that happens in a worker whose filesystem
holds the module's import closure and nothing else. What comes back is data that passes the same
constructors as a claim written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from refute.claim import Claim
from refute.closure import Closure, closure_of, module_names, tree_files
from refute.errors import IllegalClaim, UnreadableInput
from refute.globs import matches
from refute.plain import Plain
from refute.sandbox import Limits, Outcome, Worker, open_worker

CLAIM_GLOBS = ("**/claims.py", "**/*_claims.py")
DEFAULT_ROOTS = (".", "src")
LIMITS = Limits(cpu_s=20.0, wall_s=30.0)


def claim_files(tree: Path, globs: Sequence[str] = CLAIM_GLOBS) -> tuple[str, ...]:
    """The claims modules of a tree, sorted."""
    return tuple(p for p in tree_files(tree) if p.endswith(".py") and matches(p, globs))


def module_of(path: str, roots: Sequence[str]) -> str:
    """The name a claims module is loaded under, from the innermost root that holds it."""
    names = module_names(path, roots)
    return names[0] if names else path.removesuffix(".py").replace("/", "_").replace("-", "_")


def claims_closure(tree: Path, roots: Sequence[str], files: Sequence[str]) -> Closure:
    """The files that loading these claims modules depends on, themselves included."""
    references = tuple(module_of(path, roots) + ":claims" for path in files)
    return closure_of(tree, roots, references, ())


def describe(
    tree: Path, roots: Sequence[str] = DEFAULT_ROOTS, files: Sequence[str] | None = None
) -> tuple[Claim, ...]:
    """All claims of the tree's claims modules, in file order.

    files: paths relative to the tree; None finds them by name. Raises UnreadableInput for a module
    that cannot be loaded (file:line) and IllegalClaim for two claims of one name.
    """
    wanted = claim_files(tree) if files is None else tuple(files)
    if not wanted:
        return ()
    closure = claims_closure(tree, roots, wanted)
    with open_worker(tree, sorted({*closure.files, *wanted}), roots, LIMITS) as worker:
        return stated_in(load_in(worker, roots, wanted), wanted)


def load_in(worker: Worker, roots: Sequence[str], files: Sequence[str]) -> Outcome:
    """Load modules that a worker has in its tree, which stay loaded there; see `stated_in`."""
    return worker.call("refute.claim_modules:load", [(p, module_of(p, roots)) for p in files])


def stated_in(loaded: Outcome, files: Sequence[str]) -> tuple[Claim, ...]:
    """The claims of the modules that were loaded. Raises as `describe` does."""
    return from_data(_answer(loaded, files))


def from_data(data: Sequence[Plain]) -> tuple[Claim, ...]:
    """Claims from their data. Raises IllegalClaim for two of one name."""
    claims = [Claim.from_json(item) for item in data]
    seen: dict[str, Claim] = {}
    for claim in claims:
        first = seen.setdefault(claim.name, claim)
        if first is not claim:
            raise IllegalClaim(
                f"two claims are called {claim.name!r}: {first.where} and {claim.where}",
                thing="claim.name",
                value=claim.name,
                next_step="give each claim a name of its own",
            )
    return tuple(claims)


def to_data(claims: Sequence[Claim]) -> Plain:
    """The inverse of `from_data`."""
    return [claim.to_json() for claim in claims]


def _answer(outcome: Outcome, files: Sequence[str]) -> list[Plain]:
    """The claims' data out of a worker's answer, every part of which may be malformed."""
    if outcome.kind != "returned" or type(outcome.value) is not list:
        why = outcome.message or outcome.detail or outcome.kind
        raise UnreadableInput(
            f"the claims in {', '.join(files)} cannot be read: {outcome.error} {why}".strip(),
            thing="claims",
            value=files[0],
            next_step="a claims module only states claims; it must load quickly and on its own",
        )
    found: list[Plain] = []
    for path, part in zip(files, outcome.value, strict=False):
        if type(part) is not dict or type(part.get("claims")) is not list:
            raise _unreadable(path, part if type(part) is dict else {})
        found += part["claims"]
    return found


def _unreadable(path: str, part: dict[str, Plain]) -> UnreadableInput:
    place = f"{part.get('file', path)}:{part.get('line', 0)}"
    possible = part.get("possible")
    return UnreadableInput(
        f"{place}: the claims cannot be read: {part.get('error', 'no claims came back')}",
        thing="claims",
        value=place,
        possible=[str(p) for p in possible] if type(possible) is list else (),
        next_step=str(part.get("next") or "repair the claims module"),
    )
