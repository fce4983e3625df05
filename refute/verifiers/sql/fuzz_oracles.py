"""The oracles by name: the one place that makes them. Each is loaded when it is made."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from refute.errors import UsageError
from refute.oracles.sql.partial.question import Oracle

_PARTIAL = "refute.oracles.sql.partial"
ORACLES: dict[str, str] = {
    "sqlite": f"{_PARTIAL}.reference:Reference",
    "tlp": f"{_PARTIAL}.tlp:TLP",
    "norec": f"{_PARTIAL}.norec:NoREC",
    "pqs": f"{_PARTIAL}.pqs:PQS",
    "eet": f"{_PARTIAL}.eet:EET",
    "plans": f"{_PARTIAL}.plans:Plans",
    "state": f"{_PARTIAL}.state:State",
    "crash": f"{_PARTIAL}.crash:Crash",
}


def chosen(names: Iterable[str]) -> tuple[str, ...]:
    """The names in the registry's order, each once. Raises UsageError for what is none."""
    wanted = list(names)
    for name in wanted:
        if name not in ORACLES:
            raise UsageError(
                f"there is no oracle {name!r}",
                thing="--oracle",
                value=name,
                possible=tuple(ORACLES),
                next_step="name some of these, with commas between; docs/fuzz.md describes them",
            )
    if not wanted:
        raise UsageError("no oracle is chosen", thing="--oracle", possible=tuple(ORACLES))
    return tuple(name for name in ORACLES if name in wanted)


def opened(names: Iterable[str]) -> list[Oracle]:
    """The oracles. Raises UsageError."""
    return [made(name) for name in chosen(names)]


def made(name: str) -> Oracle:
    """One oracle by its name."""
    module, _, kind = ORACLES[name].partition(":")
    oracle: Oracle = getattr(importlib.import_module(module), kind)()
    return oracle
