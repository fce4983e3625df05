"""The registry: one line per engine, loaded by name when a claim of its kind is judged.

Loading here, and only here, is an import inside a function: a tree of tests that never states a
crash claim must not pay for the crash explorer, and an engine whose library is not installed must
decline by name instead of breaking every other engine.
"""

from __future__ import annotations

import importlib
from typing import cast

from refute.errors import UsageError
from refute.verifiers import Verifier

# statement kind → engines that take it, cheapest first
ENGINES: dict[str, tuple[str, ...]] = {
    "holds": ("refute.verifiers.sampling:Sampling",),
    "agrees-with": ("refute.verifiers.differential:Differential",),
    "agrees-with-sqlite": ("refute.verifiers.sql.differential:SQLDifferential",),
    "contract": (
        "refute.verifiers.contracts.engine:Prover",
        "refute.verifiers.contracts.sampling:ContractSampling",
        "refute.verifiers.contracts.crosshair:CrossHair",
    ),
    "conforms": ("refute.verifiers.sql.conform:Conformance",),
    "machine": (
        "refute.verifiers.model.engine:ModelChecker",
        "refute.verifiers.symbolic.engine:Symbolic",
    ),
    "crash-consistent": ("refute.verifiers.crash.engine:CrashExplorer",),
}


def engines_for(kind: str) -> tuple[Verifier, ...]:
    """The engines for a statement kind, cheapest first. Raises UsageError for an unknown kind."""
    names = ENGINES.get(kind)
    if names is None:
        raise UsageError(
            f"no engine takes statements of kind {kind!r}",
            thing="statement kind",
            value=kind,
            possible=sorted(ENGINES),
            next_step="use a statement of one of these kinds",
        )
    return tuple(sorted((load(name) for name in names), key=lambda engine: engine.cost))


def load(name: str) -> Verifier:
    """The engine called `module:Class`."""
    module, _, attribute = name.partition(":")
    return cast(Verifier, getattr(importlib.import_module(module), attribute)())
