"""Sorts of any size: what becomes quantifiers in the IR, and what is refused, with its place."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
import textwrap
from pathlib import Path

import pytest

from refute.claim import Verdict
from refute.errors import IllegalClaim, Unsupported, UsageError
from refute.machine import Machine
from refute.plain import Plain
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.ir import Expr, MachineIR
from refute.specs.machine.listing import require_listed
from refute.specs.machine.meaning import Meaning, World
from refute.specs.machine.model import Model
from refute.specs.machine.settings import parse_settings
from refute.specs.machine.statement import Satisfies
from refute.specs.machine.types import Atoms, MapOf, open_sorts, pack, unpack
from refute.specs.machine.values import Value, domain, pack_value

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


def built(tmp_path: Path, body: str, **constants: int | str) -> Model:
    name = f"open_{next(_NUMBER)}"
    file = tmp_path / f"{name}.py"
    file.write_text(HEAD + textwrap.indent(textwrap.dedent(body), "    "))
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        machine: type[Machine] = module.M
        return machine.build(**{"Node": "any", "Pos": "any", **constants})
    finally:
        del sys.modules[name]


def test_types_and_starts(tmp_path: Path) -> None:
    ir = built(tmp_path, "").ir
    found = {v.name: v for v in ir.variables}
    node, pos = Atoms("Node", (), "open"), Atoms("Pos", (), "open ordered")
    assert found["light"].type == MapOf(node, found["light"].type.value)  # type: ignore[union-attr]
    assert found["at"].type == MapOf(node, pos)
    assert open_sorts(found["at"].type) == ("Node", "Pos")
    assert found["n"].initial == (0,) and found["n"].start is None
    starts = {name: v.start.op for name, v in found.items() if v.start is not None}
    assert starts == {
        "light": "all",
        "near": "all",
        "s": "==",
        "mail": "==",
        "one": "const",
        "no": "==",
        "q": "==",
        "at": "const",
    }
    assert all(v.initial == () for v in found.values() if v.start is not None)
    assert dict(ir.constants) == {"Node": "any", "Pos": "any"}


def test_an_open_machine_survives_plain_data(tmp_path: Path) -> None:
    ir = built(tmp_path, "").ir
    assert MachineIR.from_plain(ir.to_plain()) == ir


def test_a_variable_without_a_predicate_has_the_data_it_always_had() -> None:
    """Digests and checkpoints of before stay what they are."""
    (variable, *_) = TwoPhase.build(RM=2).ir.variables
    data = pack(variable)
    assert len(data["of"]) == 5 and unpack(data) == variable


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


@pytest.mark.parametrize("body", FITS)
def test_what_has_a_meaning_for_every_size(tmp_path: Path, body: str) -> None:
    code = "@action\ndef good(self) -> None:\n" + textwrap.indent(body, "    ")
    ir = built(tmp_path, code).ir
    assert [a.name for a in ir.actions] == ["plain", "mix", "good"]


def numbered(ir: MachineIR, sizes: dict[str, int]) -> MachineIR:
    """The machine of any size, read as it was translated, with so many members after all."""

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
            for value in domain(variable.type):
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


@pytest.mark.parametrize("body", FITS)
def test_what_it_means_for_any_size_is_what_it_means_for_one(tmp_path: Path, body: str) -> None:
    """What is translated differently, quantifiers for walks, is the same machine all the same."""
    code = "@action\ndef good(self) -> None:\n" + textwrap.indent(body, "    ")
    sizes = {"Node": 2, "Pos": 2}
    any_size = numbered(built(tmp_path, code).ir, sizes)
    assert walked(any_size, 150) == walked(built(tmp_path, code, **sizes).ir, 150)


REFUSED = {
    "self.n = len(Node)": "counts members of Node",
    "self.n = len(self.s)": "counts members of Node",
    "when(len(self.s) * 2 > len(Node))": "counts members of Node",
    "when(sum(1 for x in Node if x in self.s) > 1)": "counts members of Node",
    "self.n = sum([1 for x in self.s])": "counts members of Node",
    "x = max(self.at[x] for x in Node)": "greatest of",
    "x = min(Pos)": "least of Pos",
    "x = choose(Node)": "in a row",
    "x = list(Node)[0]": "in a row",
    "x = sorted(Pos)": "in a row",
    "x = next(iter(self.s))": "in a row",
    "x = [y for y in Node]": "a list of members of Node",
    "x = list(enumerate(Node))": "counts members of Node",
    "x = subsets(self.s)": "a list of members of Node",
    "when(any(self.one in x for x in subsets(self.s)))": "goes through all sets, maps or rows",
    "when(all(self.one in x for x in every(Set[Node])))": "goes through all sets, maps or rows",
    "when(self.s in every(Set[Node]))": "goes through all sets, maps or rows",
    "x = Set(x | self.s for x in every(Set[Node]))": "goes through all sets, maps or rows",
    "x = {x | self.s for x in every(Set[Node])}": "a list of members of Node",
    "for x in every(Set[Node]):\n    self.s = x": "rounds depend on each other",
    "x = any_of(permutations(self.s))": "one after the other",
    "x = functools.reduce(lambda a, b: a, Node, self.one)": "one after the other",
    "x = FIRST": "the value Node0",
    "x = Node(1)": "the value Node1",
    "self.light = {self.one: Light.RED}": "lists keys of Node",
    "self.light = {x: Light.RED for x in self.s}": "computes keys of Node",
    "self.n = self.at[self.one].index": ".index of Pos",
    "for x in Node:\n    self.n = 1": "rounds depend on each other",
    "for x in Node:\n    self.s.add(x)": "rounds depend on each other",
    "for x in Node:\n    self.light[x] = Light.RED\n    break": "rounds depend on each other",
    "self.n = self.count()": "one after the other",
}
HELPER = """
def count(self) -> int:
    found = 0
    for x in Node:
        found += 1
    return found

"""


@pytest.mark.parametrize("body", REFUSED)
def test_what_counts_or_lists_members_is_refused(tmp_path: Path, body: str) -> None:
    code = HELPER + "@action\ndef bad(self) -> None:\n" + textwrap.indent(body, "    ")
    with pytest.raises(Unsupported) as caught:
        built(tmp_path, code)
    assert REFUSED[body] in str(caught.value)
    assert caught.value.next_step
    file, _, line = caught.value.thing.partition(":")
    assert file.startswith("open_") and int(line) > HEAD.count("\n")
    assert built(tmp_path, code.replace("Node(1)", "Node(0)"), Node=2, Pos=2)


VARIABLES = {
    "x: Var[Annotated[int, Range(0, 'Node')]] = var(0)": "depends on Node",
    "x: Var[int] = var('Node')": "depends on Node",
    "x: Var[Map[Node, int]] = var(each=lambda k: 0)": "a function of Node",
    "x: Var[Node] = var(Node(0))": "holds no member of Node",
    "x: Var[Set[Node]] = var(frozenset((Node(0),)))": "holds no member of Node",
    "x: Var[Node] = var(one_of=lambda: list(Node))": "any number of members",
    "x: Var[tuple[Map[Node, bool], int]] = var(({}, 0))": "a Map from Node",
    "x: Var[Map[Set[Node], bool]] = var(each=False)": "any number of members",
    "Node: Const[int] = const()": "the constant Node is 'any'",
}


@pytest.mark.parametrize("line", VARIABLES)
def test_variables_that_name_the_size_or_members(tmp_path: Path, line: str) -> None:
    with pytest.raises((Unsupported, UsageError)) as caught:
        built(tmp_path, line)
    assert VARIABLES[line] in str(caught.value)
    assert caught.value.next_step


@pytest.mark.parametrize("prop", ["@invariant", "@transition", "@reachable", "@temporal"])
def test_properties_are_refused_at_their_lines(tmp_path: Path, prop: str) -> None:
    state = "self, after: Self" if prop == "@transition" else "self"
    made = "always(lambda: len(self.s) > 1)" if prop == "@temporal" else "len(self.s) > 1"
    kind = "Formula" if prop == "@temporal" else "bool"
    with pytest.raises(Unsupported, match="counts members of Node"):
        built(tmp_path, f"{prop}\ndef p({state}) -> {kind}:\n    return {made}")


def test_a_process_of_an_open_sort_stays_in_the_ir(tmp_path: Path) -> None:
    code = (
        "@process\ndef run(self, me: Node) -> Steps[Self]:\n    self.s.add(me)\n    self = yield\n"
    )
    ir = built(tmp_path, code + "    self.s.discard(me)").ir
    assert open_sorts(ir.processes[0].params[0].type) == ("Node",)
    ends = "    for x in Node:\n        self.s.add(x)\n        self = yield"
    with pytest.raises(Unsupported, match="a loop with a yield through Node"):
        built(tmp_path, code + ends)


def test_parts_of_an_open_sort_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="a part for each of Node"):
        built(tmp_path, "inner: Part[Map[Node, Inner]] = part(Inner)")


def test_explicit_engines_say_that_they_need_a_number() -> None:
    ir = TwoPhase.build(RM="any").ir
    with pytest.raises(UsageError, match="RM has any number of members") as caught:
        require_listed(ir)
    assert "--set RM=3" in str(caught.value.next_step)
    with pytest.raises(UsageError, match="RM has any number of members"):
        next(Meaning(ir).starts())
    with pytest.raises(UsageError, match="RM has any number of members"):
        TwoPhase.build(RM="any").space()


def test_anything_of_all_numbers_is_a_predicate(tmp_path: Path) -> None:
    code = (
        "many: Var[int] = var(one_of=anything)\nwide: Var[Map[Node, int]] = var(each_of=anything)"
    )
    ir = built(tmp_path, code, Node=2, Pos=1).ir
    assert [v.name for v in ir.variables if v.start is not None] == ["many", "wide"]
    with pytest.raises(UsageError, match="many may start with any of unboundedly many"):
        require_listed(ir)


def test_sets_are_parameters_of_actions_and_of_nothing_else(tmp_path: Path) -> None:
    ir = built(tmp_path, "@action\ndef good(self, x: Set[Node]) -> None:\n    self.s = x").ir
    assert open_sorts(ir.actions[-1].params[0].type) == ("Node",)
    with pytest.raises(UsageError, match=r"the values of Set\[Node\] are not listed") as caught:
        built(tmp_path, "@invariant\ndef p(self, x: Set[Node]) -> bool:\n    return self.s != x")
    assert "open_" in caught.value.message and "single members" in str(caught.value.next_step)


CHOICES = {
    "def bad(self) -> None:\n    x = any_of(every(int))\n    when(x == self.n)": "int has more",
    "def bad(self, x: int) -> None:\n    when(x == self.n)": "int has more",
}


@pytest.mark.parametrize("code", CHOICES)
def test_choices_of_all_numbers_are_for_the_symbolic_engine(tmp_path: Path, code: str) -> None:
    ir = built(tmp_path, "@action\n" + code, Node=2, Pos=1).ir
    with pytest.raises(UsageError, match=CHOICES[code]) as caught:
        require_listed(ir)
    assert caught.value.thing.startswith("open_")


def test_settings_and_claims() -> None:
    assert parse_settings(["RM=any", "N=2"]) == {"RM": ("any",), "N": (2,)}
    assert parse_settings(["RM=2,any"]) == {"RM": (2, "any")}
    claims = TwoPhase.build(RM="any").claims()
    grades = {c.statement.params["prop"]: c.need.grade for c in claims}
    assert set(grades.values()) == {Verdict.PROVED, Verdict.EXHAUSTED}
    assert claims[0].statement.params["constants"] == {"RM": "any"}
    assert claims[0].statement.text.startswith("TwoPhase(RM=any)")
    with pytest.raises(IllegalClaim):
        Satisfies("m:M", constants={"RM": "some"})


def test_starts_read_only_their_own_variable() -> None:
    def reads(expr: Expr) -> set[str]:
        own = {str(expr.data)} if expr.op == "read" else set()
        return own.union(*map(reads, expr.args))

    for variable in TwoPhase.build(RM="any").ir.variables:
        assert variable.start is None or reads(variable.start) <= {variable.name}
