"""Files of planted machines as modules, and what the plain engine says of their behaviours."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from refute.verifiers.model.liveness import Liveness

CASES = Path(__file__).parents[1] / "cases" / "machines"


@contextlib.contextmanager
def loaded(name: str) -> Iterator[ModuleType]:
    """A file of machines, as the module that its classes can be found in."""
    spec = importlib.util.spec_from_file_location(name, CASES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[name]


def judged(machines: ModuleType, name: str) -> Liveness:
    """All temporal properties and refinements of one of them."""
    liveness = Liveness(getattr(machines, name).build().ir)
    while not liveness.advance(5.0)["finished"]:
        pass
    return liveness
