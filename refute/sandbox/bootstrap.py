"""Bootstrap: the first program of a worker, run by path as a script of a bare interpreter.

It becomes the supervisor: it makes the namespaces, forks their init (which only reaps orphans),
then forks the process that will run the tree's code, and waits. The subject is a fork rather than
a second interpreter because starting one costs more than everything else here together. Supervisor
and init run no code of the tree; the supervisor is outside the pid namespace, so the subject can
neither see nor signal it.

Arguments: the control socket, the wire's socket, refute's directory. The rest of the configuration
comes as one line of JSON on the control socket; `ready` and `exit` go back the same way. With
"zygote" and one socket instead, it forks such programs on request (`refute.sandbox.breeding`).
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from typing import Any


class Deferred(types.ModuleType):
    """A package whose own code has not run yet; it runs when one of its names is asked for."""

    judge: JudgeFinder

    def __getattr__(self, name: str) -> Any:
        if not self.judge.armed:
            raise AttributeError(name)
        self.judge.wake(self.__name__)
        return getattr(self, name)


class JudgeFinder:
    """Finds `refute`, wherever it is installed, before and instead of any in the tree.

    `refute` and `refute.sandbox` import what a parent needs and a worker seldom does, so their own
    code is deferred: the worker's modules load without it, and once armed any other import from
    either package runs it first. From then on, what a module of refute imports while it loads
    never comes from the tree, even if a module of the tree by that name is loaded already: a file
    `z3.py` there is the subject's own business.
    """

    def __init__(self, package: str) -> None:
        self.armed = False
        self._config: dict[str, Any] = {}
        self._parent = [os.path.dirname(package)]
        sys.meta_path.insert(0, self)
        self._defer("refute", self._parent)
        self._defer("refute.sandbox", [package])
        vars(sys.modules["refute"])["sandbox"] = sys.modules["refute.sandbox"]

    def arm(self, config: dict[str, Any]) -> None:
        """From now on others import too. config: its "tree" names the tree, "" where none is."""
        self._config = config
        self.armed = True

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of refute, guarded once armed; others are for other finders."""
        parts = name.split(".")
        if parts[0] != "refute":
            return None
        if self.armed:
            for depth in range(1, len(parts)):
                self.wake(".".join(parts[:depth]))
        spec = PathFinder.find_spec(name, self._parent if name == "refute" else path)
        if self.armed and spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module
            vars(spec.loader)["exec_module"] = lambda module: self._without_tree(execute, module)
        return spec

    def _without_tree(
        self, execute: Callable[[types.ModuleType], None], module: types.ModuleType
    ) -> None:
        """Execute a module of refute as if the tree were not there."""
        if not self._config["tree"]:  # nor is it, in a zygote
            execute(module)
            return
        # Installed distributions and refute itself may lie below a tree that is judged in place.
        trusted = (*self._config["path"], self._config["package"])
        tree = f"{self._config['tree']}/"
        path = list(sys.path)
        hidden = {n: m for n, m in list(sys.modules.items()) if _comes_from(m, tree, trusted)}
        sys.path[:] = [p for p in path if p in trusted or not f"{p}/".startswith(tree)]
        for name in hidden:
            del sys.modules[name]
        try:
            execute(module)
        finally:
            sys.modules.update(hidden)
            sys.path[:] = path

    def wake(self, name: str) -> None:
        """Run the code of a package that was deferred; nothing for other modules."""
        module = sys.modules.get(name)
        if type(module) is Deferred and module.__spec__ and module.__spec__.loader:
            object.__setattr__(module, "__class__", types.ModuleType)
            self._without_tree(module.__spec__.loader.exec_module, module)

    def _defer(self, name: str, path: list[str]) -> None:
        spec = PathFinder.find_spec(name, path)
        if spec is None:
            raise ImportError(f"no {name} in {path[0]}")
        module = module_from_spec(spec)
        object.__setattr__(module, "__class__", Deferred)
        vars(module)["judge"] = self
        sys.modules[name] = module


def _comes_from(module: Any, tree: str, trusted: tuple[str, ...]) -> bool:
    try:
        file = module.__file__ or next(iter(module.__path__))
        return file.startswith(tree) and not file.startswith(trusted)
    except Exception:  # builtin modules have neither; a subject may have put anything here
        return False


def main() -> None:
    """Read the configuration and supervise one worker."""
    first, wire, package = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    judge = JudgeFinder(package)
    # By name, since refute is findable only from here on.
    supervisor = importlib.import_module("refute.sandbox.supervisor")
    if first == "zygote":
        judge.arm({"tree": ""})
        control, wire = importlib.import_module("refute.sandbox.breeding").breed(wire)
    else:
        control = int(first)
    config = json.loads(_read_line(control))
    judge.arm(config)
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
