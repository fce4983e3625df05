"""The parent's side of machines: ask a worker what is in a file, and get claims, IRs and plays.

Everything a worker answers may be malformed or hostile; it is data, and passes the constructors.
"""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path

from refute import errors
from refute.claim import Claim
from refute.closure import closure_of, module_names
from refute.errors import RefuteError, UnreadableInput, Unsupported
from refute.frozen import frozen
from refute.plain import MAX_DEPTH, Opaque, Plain
from refute.sandbox import Limits, Outcome, Worker, open_worker
from refute.site import Site
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.statement import claims_of

LIMITS = Limits(cpu_s=20.0, wall_s=30.0)
_ENDED = {
    "timeout": "loading it did not end",
    "died": "loading it ended the process",
    "raised": "loading it raised",
}
_ERRORS = ("UsageError", "Unsupported", "UnreadableInput", "IllegalClaim")


@frozen
class Found:
    """The machines of a file: their claims, and the site that their references are read in."""

    claims: tuple[Claim, ...]
    site: Site


@frozen
class Opened:
    """A worker in which a file can be read: as the module `name`, `file` relative to its tree."""

    worker: Worker
    name: str
    file: str
    site: Site


def find_machines(
    file: Path,
    tree: Path,
    roots: Sequence[str] = (".", "src"),
    settings: Mapping[str, Sequence[int | str]] | None = None,
    only: str = "",
) -> Found:
    """The claims of the machines in a file, and where to judge them.

    tree: the directory that `roots` are relative to; a file outside it, or with a path that is no
    module's, has its own directory as tree. settings: from `parse_settings`, ranges swept. only:
    one machine by name. Raises UsageError, Unsupported and UnreadableInput.
    """
    with opened(file, tree, roots) as module:
        return machines_of(module, settings, only)


@contextlib.contextmanager
def opened(file: Path, tree: Path, roots: Sequence[str] = (".", "src")) -> Iterator[Opened]:
    """A worker that holds a file and what it imports. See `find_machines`."""
    path, tree = file.resolve(), tree.resolve()
    if not path.is_file():
        raise UnreadableInput(f"{file} is not a file", thing="file", value=str(file))
    names = module_names(path.relative_to(tree).as_posix(), roots) if tree in path.parents else ()
    if not names:
        tree, roots = path.parent, (".",)
        names = module_names(path.name, roots)
    if not names:
        raise UnreadableInput(
            f"{path.name} cannot be imported under that name",
            thing="file",
            value=str(file),
            next_step="give the file a name that is a Python identifier",
        )
    relative = path.relative_to(tree).as_posix()
    closure = closure_of(tree, roots, (f"{names[0]}:machines",), ())
    with open_worker(tree, sorted({*closure.files, relative}), roots, LIMITS) as worker:
        yield Opened(worker, names[0], relative, Site(tree, tree, tuple(roots)))


def machines_of(
    module: Opened,
    settings: Mapping[str, Sequence[int | str]] | None = None,
    only: str = "",
) -> Found:
    """The claims of the machines in an opened file."""
    sizes = {name: list(values) for name, values in (settings or {}).items()}
    target = "refute.specs.machine.loading:describe_module"
    outcome = module.worker.call(target, module.name, sizes, only)
    claims: list[Claim] = []
    for data in answer(outcome, module.file):
        ir = _machine(data, module.file)
        stated = claims_of(ir, f"{module.name}:{ir.name}", module.file)
        claims += stated
        _keep(_key(stated[0], module.site), ir)
    return Found(tuple(claims), module.site)


def describe(worker: Worker, reference: str, constants: Mapping[str, int | str]) -> MachineIR:
    """The IR of one machine, from a worker that can import it. Raises RefuteError."""
    target = "refute.specs.machine.loading:describe"
    return _machine(answer(worker.call(target, reference, dict(constants)), reference), reference)


def _machine(data: Plain, thing: str) -> MachineIR:
    try:
        ir = MachineIR.from_plain(data)
    except UnreadableInput:
        _refuse_deep(data, thing)
        raise
    if not isinstance(ir, MachineIR):
        raise UnreadableInput(f"{thing} gave no machine", thing=thing)
    return ir


def _refuse_deep(data: Plain, thing: str) -> None:
    """Raises Unsupported for a part that was nested too deep to be told whole."""
    parts = data.get("of") if type(data) is dict else None
    for part in (p for row in parts or () if type(row) is list for p in row if type(p) is dict):
        if _cut(part):
            fields = [f for f in part.get("of") or () if type(f) in (str, int)]
            name, line = ([f for f in fields if type(f) is kind] for kind in (str, int))
            where = f"{thing}:{line[-1]}" if line else thing
            what = str(name[0]) if name else "this"
            raise Unsupported(
                f"{where}: {what} is nested more than some {DEEPEST} levels deep",
                thing=what,
                next_step="look it up in a dict of the module, or write several steps",
            )


def _cut(data: Plain) -> bool:
    rows = data.values() if type(data) is dict else data if type(data) is list else ()
    return isinstance(data, Opaque) or any(map(_cut, rows))


_READ: dict[Hashable, MachineIR] = {}  # what workers said of files with these contents
KEPT = 64
DEEPEST = MAX_DEPTH // 3 // 10 * 10  # an `if`, `elif` or operator takes three levels of plain data


def described(claim: Claim, site: Site, limits: Limits) -> MachineIR:
    """The IR of a claim's machine; a worker reads it once for each content of its files.

    Raises RefuteError.
    """
    key = _key(claim, site)
    ir = _READ.get(key)
    if ir is None:
        with site.subject_worker(claim, limits) as worker:
            ir = describe(worker, claim.subject, claim.statement.params["constants"])
        _keep(key, ir)
    return ir


def _keep(key: Hashable, ir: MachineIR) -> None:
    while len(_READ) >= KEPT:
        _READ.pop(next(iter(_READ)), None)
    _READ[key] = ir


def _key(claim: Claim, site: Site) -> Hashable:
    """All that the IR of a claim's machine depends on."""
    constants = tuple(sorted(claim.statement.params["constants"].items()))
    where = site.subject_tree, site.roots, site.subject_closure(claim).digest
    return where, claim.subject, constants


def answer(outcome: Outcome, thing: str) -> Plain:
    """The value out of a guarded answer. Raises the error that the worker reported as data."""
    value = outcome.value
    if outcome.kind != "returned" or type(value) is not dict:
        why = " ".join(p for p in (outcome.error, outcome.message, outcome.detail) if p)
        what = _ENDED.get(outcome.kind, f"the worker {outcome.kind}")
        raise UnreadableInput(f"{thing} cannot be read: {what}: {why}", thing=thing)
    if "error" in value:
        raise _error(value["error"] if type(value["error"]) is dict else {}, thing)
    return value.get("value")


def _error(data: Mapping[str, Plain], thing: str) -> RefuteError:
    kind = data.get("kind")
    cls: type[RefuteError] = getattr(errors, kind) if kind in _ERRORS else UnreadableInput
    possible = data.get("possible")
    return cls(
        str(data.get("message") or f"{thing} cannot be read"),
        thing=str(data.get("thing") or thing),
        value=data.get("value"),
        possible=[str(p) for p in possible] if type(possible) is list else (),
        next_step=str(data.get("next") or ""),
    )
