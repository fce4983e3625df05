"""The side of machines that runs in a worker: loading a module, describing, playing.

The parent never imports a spec module. It asks for the IR, which is plain data, and for plays of
traces; errors that the user caused come back as data too, so that they keep their four facts.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from refute.errors import RefuteError, UsageError
from refute.plain import Plain
from refute.specs.machine.frontend import FrontEnd, translate
from refute.specs.machine.marks import mark_of
from refute.specs.machine.model import Machine
from refute.specs.machine.parts import Part, Port
from refute.specs.machine.plainrun import Unplayable
from refute.specs.machine.play import Play
from refute.specs.machine.settings import combinations
from refute.specs.machine.unread import unread


def machine_class(reference: str) -> type[Machine]:
    """The class that `module:qualname` names. Raises UsageError when it is no machine."""
    module, _, name = reference.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if isinstance(found, type) and issubclass(found, Machine):
        return found
    if module in sys.stdlib_module_names:
        raise UsageError(
            f"{module} is a module of Python's own library, which was imported first",
            thing=reference,
            next_step=f"give {module}.py another name",
        )
    raise UsageError(
        f"{reference} is not a machine",
        thing=reference,
        next_step="name a class that derives from refute.machine.Machine",
    )


def _guarded(work: Callable[[], Plain]) -> dict[str, Plain]:
    """What the work gives, or the user's error, as data."""
    try:
        return {"value": work()}
    except RefuteError as error:
        data = error.to_json()
        return {"error": {**data, "kind": type(error).__name__}}
    except Exception as error:
        return {"error": unread(error)}


def describe(reference: str, constants: Mapping[str, int | str]) -> dict[str, Plain]:
    """The IR of one machine as plain data under "value", or "error"."""
    return _guarded(lambda: translate(machine_class(reference), constants).to_plain())


def play(
    reference: str, constants: Mapping[str, int | str], cases: Sequence[Mapping[str, Plain]]
) -> dict[str, Plain]:
    """What each trace shows on the plain machine; see `Play.judge`. "unplayable" says why not."""

    def work() -> Plain:
        cls = machine_class(reference)
        return [_play(cls, constants, case) for case in cases]

    return _guarded(work)


def _play(cls: type, constants: Mapping[str, int | str], case: Mapping[str, Plain]) -> Plain:
    try:
        return Play(cls, constants, case).judge()
    except Unplayable as error:
        return {"unplayable": error.message, "broke": False, "states": []}


def describe_module(
    module: str, settings: Mapping[str, Sequence[int | str]], only: str
) -> dict[str, Plain]:
    """The IRs of all machines that a module defines, under every combination of the settings."""
    return _guarded(lambda: _describe_module(module, settings, only))


def _describe_module(
    module: str, settings: Mapping[str, Sequence[int | str]], only: str
) -> list[Plain]:
    loaded = importlib.import_module(module)
    machines = [
        found
        for found in vars(loaded).values()
        if isinstance(found, type) and issubclass(found, Machine) and _own(found, module)
    ]
    if only:
        machines = [_only(machines, module, only)]
    made = _taken_by_all(machines, settings)
    return _taken_by_some(machines, settings) if made is None else made


def _taken_by_all(
    machines: Sequence[type[Machine]], settings: Mapping[str, Sequence[int | str]]
) -> list[Plain] | None:
    """The IRs if each machine takes all settings, as they mostly do; None if one does not."""
    rows = combinations({name: tuple(values) for name, values in settings.items()})
    try:
        return [translate(cls, row).to_plain() for cls in machines for row in rows]
    except RefuteError:
        return None


def _taken_by_some(
    machines: Sequence[type[Machine]], settings: Mapping[str, Sequence[int | str]]
) -> list[Plain]:
    """The IRs of machines under those settings that each of them has. Raises RefuteError."""
    given = {name: values[0] for name, values in settings.items()}
    names = {cls: FrontEnd(cls, given).names() for cls in machines}
    every = sorted(set().union(*names.values()))
    unknown = set(settings) - set(every)
    if unknown and machines:
        raise UsageError(
            f"no machine here has a constant or Sort called {min(unknown)}",
            thing=min(unknown),
            possible=every,
            next_step=f"drop --set {min(unknown)}=…",
        )
    made: list[Plain] = []
    for cls in machines:
        chosen = {n: tuple(v) for n, v in settings.items() if n in names[cls]}
        made += [translate(cls, row).to_plain() for row in combinations(chosen)]
    return made


def _own(cls: type[Machine], module: str) -> bool:
    """Whether a class is a machine of the module to check: not abstract, and no mere part."""
    found = [inspect.getattr_static(cls, n, None) for n in dir(cls)]
    steps = [f for f in found if isinstance(f, Part) or ((m := mark_of(f)) and m.kind in _STEPS)]
    alone = not any(isinstance(f, Port) for f in found) and not cls.__name__.startswith("_")
    return cls.__module__ == module and bool(steps) and alone


def _only(machines: Sequence[type[Machine]], module: str, name: str) -> type[Machine]:
    for cls in machines:
        if cls.__qualname__ == name:
            return cls
    raise UsageError(
        f"{module} has no machine called {name}",
        thing=name,
        possible=[cls.__qualname__ for cls in machines],
        next_step="name one of its machines, or none for all",
    )


_STEPS = ("action", "process")
