"""Bootstrap: the first program of a worker, run by path as a script of a bare interpreter.

It becomes the supervisor: it makes the namespaces, forks their init (which only reaps orphans),
then forks the process that will run the tree's code, and waits. The subject is a fork rather than
a second interpreter because starting one costs more than everything else here together. Supervisor
and init run no code of the tree; the supervisor is outside the pid namespace, so the subject can
neither see nor signal it.

Arguments: the control socket, the wire's socket, refute's directory. The rest of the configuration
comes as one line of JSON on the control socket; `ready` and `exit` go back the same way.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from typing import Any


class JudgeFinder:
    """Finds `refute`, wherever it is installed, before and instead of any in the tree."""

    def __init__(self, package: str) -> None:
        self._parent = [os.path.dirname(package)]

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The spec of the package `refute`; other names are for other finders."""
        return PathFinder.find_spec(name, self._parent) if name == "refute" else None


class Deferred(types.ModuleType):
    """A package whose own code runs when one of its names is first asked for.

    `refute.sandbox` imports what a parent needs, which a worker seldom does.
    """

    def __getattr__(self, name: str) -> Any:
        spec = self.__spec__
        if name.startswith("__") or spec is None or spec.loader is None:
            raise AttributeError(name)
        object.__setattr__(self, "__class__", types.ModuleType)
        spec.loader.exec_module(self)
        return getattr(self, name)


def prepare_imports(package: str) -> None:
    """Make `refute` importable, and its sandbox package without loading the parent's side."""
    sys.meta_path.insert(0, JudgeFinder(package))  # type: ignore[arg-type]
    spec = PathFinder.find_spec("refute.sandbox", [package])
    if spec is None:
        raise ImportError(f"no refute.sandbox in {package}")
    module = module_from_spec(spec)
    module.__class__ = Deferred
    sys.modules["refute.sandbox"] = module


def main() -> None:
    """Read the configuration and supervise one worker."""
    control, wire, package = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    prepare_imports(package)
    # By name, since refute is findable only from here on.
    supervisor = importlib.import_module("refute.sandbox.supervisor")

    config = json.loads(_read_line(control))
    supervisor.supervise(config, control, wire)


def _read_line(fd: int) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        data = os.read(fd, 2**20)
        if not data:
            sys.exit("the parent went away before it sent the configuration")
        line += data
    return line


if __name__ == "__main__":
    main()
