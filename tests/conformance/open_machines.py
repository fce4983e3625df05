"""Machines with Sorts of any size: their code, and what they are with Sorts of a number."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from refute.machine import Machine
from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.meaning import Meaning, World
from refute.specs.machine.model import Model
from refute.specs.machine.values import Value, cardinality, domain, pack_value, unpack_value

HEAD = """
from __future__ import annotations
import enum
import functools
from dataclasses import dataclass
from typing import Annotated, Self
from refute.machine import *
from refute.machine import Range, Upto

class Node(Sort):
    pass

class Pos(OrderedSort):
    pass

class Light(enum.Enum):
    RED = 1
    GREEN = 2

@dataclass(frozen=True)
class Note:
    to: Node
    light: Light

FIRST = Node(0)

class Inner(Machine):
    n: Var[bool] = var(False)

    @action
    def step(self) -> None:
        self.n = True

class M(Machine):
    n: Var[Annotated[int, Range(0, 3)]] = var(0)
    light: Var[Map[Node, Light]] = var(each=Light.RED)
    near: Var[Map[Node, Set[Node]]] = var(each=empty_set)
    s: Var[Set[Node]] = var(empty_set)
    mail: Var[Set[Note]] = var(empty_set)
    one: Var[Node] = var(one_of=anything)
    no: Var[Node | None] = var(None)
    q: Var[Annotated[Seq[Node], Upto(3)]] = var(())
    at: Var[Map[Node, Pos]] = var(one_of=anything)

    @action
    def plain(self) -> None:
        self.n = 1

    @action
    def mix(self, x: Node, y: Node) -> None:
        self.s.add(x)
        self.near[y].add(x)
        self.light[y] = Light.GREEN
        self.mail.add(Note(x, self.light[x]))
        self.no = y

"""
_NUMBER = iter(range(10**6))

# Bodies of actions that have a meaning for every size.
FITS = [
    "x = any_of(Node)\nself.light[x] = Light.GREEN",
    "x = any_of([x for x in Node if self.light[x] == Light.RED])\nself.s.add(x)",
    "x = any_of(self.s)\nself.s.discard(x)",
    "self.light = {x: Light.GREEN if x in self.s else self.light[x] for x in Node}",
    "self.light = {**self.light, self.one: Light.GREEN}",
    "x = any_of(Node)\nself.light.update({self.one: Light.GREEN, x: Light.RED})",
    "for x in Node:\n    self.light[x] = Light.GREEN",
    "for x in self.s:\n    if self.light[x] == Light.RED:\n        self.light[x] = Light.GREEN",
    "when(all(x in self.s for x in Node) and any(self.near[x] for x in Node))",
    "when(self.s == Set(Node) and not self.near[self.one])",
    "when(self.s <= {x for x in Node if self.light[x] == Light.RED})",
    "when(all(x == y or not (self.near[x] & self.near[y]) for x in Node for y in Node))",
    "self.s = self.s | {self.one}",
    "self.mail.add(Note(self.one, Light.RED))",
    "when(any(m.to == self.one for m in self.mail))",
    "when(self.no is not None and self.no in self.s)",
    "when(all(self.at[x] < self.at[y] for x in Node for y in Node if x != y))",
    "x = self.at[self.one].next\nwhen(x is None)",
    "x = any_of(Node)\nwhen(max(self.at[y] for y in (self.one, x)) < self.at[x])",
    "when(Light.RED in self.light.values())",
    "when({self.light[x] for x in Node} == {Light.RED})",
    "self.n = len({self.light[x] for x in Node})",
    "self.q.append(self.one)\nself.n = len(self.q)",
    "when(any(p == Light.GREEN for p in self.light.values()))",
    "when(all(p == Light.RED or k in self.s for k, p in self.light.items()))",
    "when(all(k in self.s for k in self.light))",
    "when(any(k in self.s for k in self.light.keys()))",
    "when(any([self.light[x] == Light.GREEN for x in Node]))",
    "when(Light.GREEN in [self.light[x] for x in self.s])",
    "self.s = Set([x for x in Node if self.light[x] == Light.GREEN])",
    "self.s = Set(x for x, p in self.light.items() if p == Light.GREEN)",
    "x = any_of([k for k, p in self.light.items() if p == Light.RED])\nself.s.add(x)",
    "when(all(y not in self.s for y in [x for x in Node if self.light[x] == Light.RED]))",
    "self.s = {m.to for m in self.mail if m.light == Light.RED}",
    "x = any_of(subsets(self.s))\nself.s = x",
    "self.s = any_of(x | self.s for x in every(Set[Node]) if self.one in x)",
    "self.near = {k: self.s for k in Node}\nself.light = any_of(every(Map[Node, Light]))",
    "self.light = {k: Light.RED if v == Light.GREEN else v for k, v in self.light.items()}",
]


def built(tmp_path: Path, body: str, **constants: int | str) -> Model:
    """The machine with some more code, its Sorts of any size unless given."""
    text = HEAD + textwrap.indent(textwrap.dedent(body), "    ")
    machine = loaded(tmp_path, f"open_{next(_NUMBER)}", text)
    return machine.build(**{"Node": "any", "Pos": "any", **constants})


def loaded(directory: Path, name: str, text: str) -> type[Machine]:
    """The machine M of a module with this source."""
    file = directory / f"{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    machine: type[Machine] = module.M
    return machine


def numbered(
    ir: MachineIR, sizes: dict[str, int], tried: Mapping[str, Sequence[Plain]] | None = None
) -> MachineIR:
    """The machine of any size, read as it was translated, with so many members after all.

    tried: what variables of too many values may start with.
    """

    def closed(data: Plain) -> Plain:
        if isinstance(data, list):
            return [closed(part) for part in data]
        if not isinstance(data, dict):
            return data
        if data["is"] == "Atoms" and data["of"][0] in sizes:
            name, _, kind = data["of"]
            every = [f"{name}{at}" for at in range(sizes[name])]
            kind = "ordered" if kind == "open ordered" else "sort"
            return {"is": "Atoms", "of": [name, every, kind]}
        return {"is": data["is"], "of": closed(data["of"])}

    made = MachineIR.from_plain(closed(ir.to_plain()))
    meaning = Meaning(dataclasses.replace(made, constants=()))
    variables = []
    for at, variable in enumerate(made.variables):
        if variable.start is not None:
            row: list[Value] = [None] * len(made.variables)
            found = []
            few = tried is None or cardinality(variable.type) <= 3_000
            known = () if tried is None else map(unpack_value, tried[variable.name])
            for value in domain(variable.type) if few else known:
                row[at] = value
                if meaning.valued(variable.start, World(tuple(row), ())):
                    found.append(pack_value(value))
            variable = dataclasses.replace(variable, initial=tuple(found), start=None)
        variables.append(variable)
    return dataclasses.replace(made, variables=tuple(variables), constants=())


def walked(ir: MachineIR, most: int) -> tuple[set[World], set[tuple[str, World]]]:
    """The states that the machine starts in, and some of the steps from there."""
    meaning = Meaning(ir)
    starts = list(meaning.starts())
    found: set[tuple[str, World]] = set()
    queue = starts[::5]
    for world in queue:
        if len(found) > most:
            break
        for taken in meaning.steps(world):
            if (taken.name, taken.after) not in found:
                found.add((taken.name, taken.after))
                queue.append(taken.after)
    return set(starts), found
