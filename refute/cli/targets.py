"""What `refute check FILE[:NAME]` is about: the file's claims and its machines' properties.

NAME is a machine, a property of one, or a claim. Both kinds of claims are read in workers; only the
names of the file's classes are read here, from its syntax tree, so that a machine can be asked for
alone while another one in the file lacks a size.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from refute import errors
from refute.claim import Claim
from refute.cli.place import Place
from refute.closure import closure_of, parse
from refute.describe import LIMITS, describe
from refute.errors import RefuteError, UnreadableInput, UsageError
from refute.plain import Plain
from refute.sandbox import Outcome, open_worker
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.statement import claims_of as claims_of_machine

_LOADER = "refute.specs.machine.loading:describe_module"


def claims_of(
    place: Place, roots: Sequence[str], name: str, settings: Mapping[str, Sequence[int]]
) -> list[Claim]:
    """The claims to judge. Raises UsageError when NAME or a constant fits nothing in the file."""
    classes = _classes(place)
    machine = name if name in classes else ""
    made = _machine_claims(place, roots, settings, machine) if classes else []
    stated = [] if machine else list(describe(place.tree, roots, [place.file]))
    chosen = [
        *(c for c in made if machine or _named(c, name)),
        *(c for c in stated if _named(c, name)),
    ]
    if not chosen:
        raise _nothing(place, name, [*made, *stated], classes)
    if settings and not any(c in made for c in chosen):
        raise UsageError(
            "--set gives constants to machines, and none is checked here",
            thing="--set",
            value=", ".join(settings),
            next_step="drop --set, or name a machine",
        )
    return chosen


def _named(claim: Claim, name: str) -> bool:
    return name in ("", claim.name, claim.statement.params.get("prop"))


def _classes(place: Place) -> list[str]:
    """Names of the classes at the file's top; none when it cannot be parsed (a worker says why)."""
    module = parse((place.tree / place.file).read_bytes())
    return [n.name for n in module.body if isinstance(n, ast.ClassDef)] if module else []


def _machine_claims(
    place: Place, roots: Sequence[str], settings: Mapping[str, Sequence[int]], machine: str
) -> list[Claim]:
    closure = closure_of(place.tree, roots, (f"{place.module}:{machine or 'x'}",), ())
    wanted = {name: list(values) for name, values in settings.items()}
    with open_worker(place.tree, sorted({*closure.files, place.file}), roots, LIMITS) as worker:
        outcome = worker.call(_LOADER, place.module, wanted, machine)
    made: list[Claim] = []
    for data in _machines(outcome, place):
        ir = MachineIR.from_plain(data)
        made += claims_of_machine(ir, f"{ir.module}:{ir.name}", place.file)
    return made


def _machines(outcome: Outcome, place: Place) -> list[Plain]:
    """The machines' data out of a worker's answer, every part of which may be malformed."""
    value = outcome.value if outcome.kind == "returned" else None
    if type(value) is dict and type(value.get("value")) is list:
        return list(value["value"])
    if type(value) is dict and type(value.get("error")) is dict:
        raise _error(value["error"])
    why = " ".join(filter(None, [outcome.error, outcome.message or outcome.detail or outcome.kind]))
    raise UnreadableInput(
        f"{place.file} cannot be loaded: {why}",
        thing="file",
        value=place.file,
        next_step="a spec module must load quickly and on its own",
    )


def _error(data: Mapping[str, Plain]) -> RefuteError:
    """The user's error that a worker described, as itself."""
    kind = getattr(errors, str(data.get("kind")), None)
    if not (isinstance(kind, type) and issubclass(kind, RefuteError)):
        kind = UnreadableInput
    possible = data.get("possible")
    return kind(
        str(data.get("message", "the machine cannot be read")),
        thing=str(data.get("thing", "")),
        value=data.get("value"),
        possible=[str(p) for p in possible] if type(possible) is list else (),
        next_step=str(data.get("next") or ""),
    )


def _nothing(
    place: Place, name: str, claims: Sequence[Claim], classes: Sequence[str]
) -> UsageError:
    if not claims:
        return UsageError(
            f"{place.file} holds no machine and no claim",
            thing="FILE",
            value=place.file,
            next_step="derive a class from refute.machine.Machine, or state a claim(…)",
        )
    return UsageError(
        f"{place.file} has nothing called {name!r}",
        thing="FILE:NAME",
        value=name,
        possible=tuple(dict.fromkeys([*classes, *(c.name for c in claims)])),
        next_step="name a machine, a property or a claim of the file",
    )
