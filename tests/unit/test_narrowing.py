"""What tests leave of a union, and what makes one forget it."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path
from typing import Any

import pytest

from refute.errors import Unsupported

HEAD = """
from __future__ import annotations
from dataclasses import dataclass, replace
from typing import Self
from refute.machine import *

@dataclass(frozen=True)
class A:
    n: bool

@dataclass(frozen=True)
class B:
    k: bool

class M(Machine):
    x: Var[A | B] = var(A(False))
    y: Var[Map[bool, A | B]] = var(each=A(True))
    z: Var[A] = var(A(True))

"""
NUMBERS = itertools.count()
TAKEN = "self.z = replace({}, n=False)"


def built(folder: Path, step: str) -> Any:
    """The machine with one step, its last line in place of `…`."""
    name = f"narrowing_{next(NUMBERS)}"
    path = folder / f"{name}.py"
    lines = "\n".join(f"        {line}" for line in step.split("\n"))
    head = "    @process\n    def step(self) -> Steps[Self]:\n"
    if "yield" not in step:
        head = "    @action\n    def step(self) -> None:\n"
    path.write_text(f"{HEAD}{head}{lines}\n")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        return module.M.build()
    finally:
        del sys.modules[name]


KNOWN = [
    f"m = self.x\nif isinstance(m, A):\n    {TAKEN.format('m')}",
    f"m = self.x\nif isinstance(m, B):\n    return\n{TAKEN.format('m')}",
    f"when(isinstance(self.x, A))\n{TAKEN.format('self.x')}",
    f"assert isinstance(self.y[True], A)\nself.x = B(True)\n{TAKEN.format('self.y[True]')}",
    f"match self.y[True]:\n    case A():\n        {TAKEN.format('self.y[True]')}",
    f"match self.x:\n    case B():\n        return\n    case m:\n        {TAKEN.format('m')}",
    f"m = self.x\nassert isinstance(m, A)\nself = yield\n{TAKEN.format('m')}",
    f"m = self.x\nwhen(isinstance(m, A))\nfor b in every(bool):\n    {TAKEN.format('m')}",
    f"m = self.x\nn = m\nwhen(isinstance(n, A))\n{TAKEN.format('m')}",
]
FORGOTTEN = [
    TAKEN.format("self.x"),
    f"when(isinstance(self.x, A))\nself.x = self.y[True]\n{TAKEN.format('self.x')}",
    f"when(isinstance(self.x, A))\nself = yield\n{TAKEN.format('self.x')}",
    f"m = self.x\nif isinstance(m, A):\n    m = self.y[True]\n    {TAKEN.format('m')}",
    f"m = self.x\nif isinstance(m, A):\n    pass\n{TAKEN.format('m')}",
    f"m = self.x\nwhen(isinstance(m, A))\nfor b in every(bool):\n    {TAKEN.format('m')}\n"
    "    m = self.y[b]",
    f"m = self.x\nif m == A(True):\n    return\n{TAKEN.format('m')}",
]


@pytest.mark.parametrize("step", KNOWN)
def test_what_is_known(step: str, tmp_path: Path) -> None:
    assert built(tmp_path, step).ir.name == "M"


@pytest.mark.parametrize("step", FORGOTTEN)
def test_what_is_not_known_any_more(step: str, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=r"replace of A \| B"):
        built(tmp_path, step)
