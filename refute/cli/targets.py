"""What `refute check FILE[:NAME]` is about: the file's claims and its machines' properties.

NAME is a machine, a property, MACHINE.PROPERTY, or a claim. Both kinds of claims are read in a
worker; only the names of the file's classes are read here, from its syntax tree, so that a machine
can be asked for alone while another one in the file lacks a size.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from refute.claim import Claim
from refute.cli.place import Place
from refute.closure import parse
from refute.describe import load_in, stated_in
from refute.errors import UsageError
from refute.specs.machine.asking import machines_of, opened


def claims_of(
    place: Place,
    roots: Sequence[str],
    name: str,
    settings: Mapping[str, Sequence[int | str]],
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Claim]:
    """The claims to judge. Raises UsageError when NAME or a constant fits nothing in the file.

    meanwhile: begins what can be done while the worker reads the file.
    """
    classes = _classes(place)
    machine, _, prop = name.partition(".")
    if (machine := machine.partition("(")[0]) not in classes:
        machine = ""
    file = place.tree / place.file
    with opened(file, place.tree, roots) as module:
        meanwhile()
        # The claims first: what that has loaded is then the module that the machines are in.
        loaded = None if machine else load_in(module.worker, roots, [place.file])
        made = machines_of(module, settings, machine).claims if classes else ()
        stated = () if loaded is None else stated_in(loaded, [place.file])
    if name == machine:
        chosen = [*made, *stated]
    else:
        chosen = [c for c in (*made, *stated) if _named(c, name, machine and prop)]
    if not chosen:
        raise _nothing(place, name, made, stated)
    if settings and not any(c in made for c in chosen):
        raise UsageError(
            "--set gives constants to machines, and none is checked here",
            thing="--set",
            value=", ".join(settings),
            next_step="drop --set, or name a machine",
        )
    return chosen


def _named(claim: Claim, name: str, prop: str) -> bool:
    """Whether it is called so, with the machine's constants or without. prop: of its machine."""
    own = claim.statement.params.get("prop")
    return name in (claim.name, own) or (prop != "" and prop == own and "(" not in name)


def _classes(place: Place) -> list[str]:
    """Names of the classes at the file's top; none when it cannot be parsed (a worker says why)."""
    module = parse((place.tree / place.file).read_bytes())
    return [n.name for n in module.body if isinstance(n, ast.ClassDef)] if module else []


def _nothing(place: Place, name: str, made: Sequence[Claim], stated: Sequence[Claim]) -> UsageError:
    if not made and not stated:
        return UsageError(
            f"{place.file} holds no machine that takes steps, and no claim",
            thing="FILE",
            value=place.file,
            next_step="derive a class from refute.machine.Machine, with an @action or a @process "
            "(one that does nothing will do), or state a claim(…)",
        )
    machines = [claim.subject.rpartition(":")[2] for claim in made]
    properties = [str(claim.statement.params["prop"]) for claim in made]
    names = [*machines, *properties, *(claim.name for claim in stated)]
    return UsageError(
        f"{place.file} has nothing called {name!r}",
        thing="FILE:NAME",
        value=name,
        possible=tuple(dict.fromkeys(names)),
        next_step="name a machine, a property or a claim of the file",
    )
