"""Sorts of any size: what becomes quantifiers in the IR, and what is refused, with its place."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from open_machines import (  # type: ignore[import-not-found]
    FITS,
    HEAD,
    built,
    loaded,
    numbered,
    walked,
)
from symmetric_machines import source as symmetric_source  # type: ignore[import-not-found]
from typed_machines import source as typed_source

from refute.claim import Verdict
from refute.errors import IllegalClaim, Unsupported, UsageError
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.ir import Expr, MachineIR
from refute.specs.machine.listing import require_listed
from refute.specs.machine.meaning import Meaning
from refute.specs.machine.settings import parse_settings
from refute.specs.machine.statement import Satisfies
from refute.specs.machine.types import Atoms, MapOf, open_sorts, pack, unpack

SOURCES: dict[str, tuple[Callable[[int], str], dict[str, int]]] = {
    "symmetric": (symmetric_source, {"P": 2, "Q": 2}),
    "typed": (typed_source, {"A": 2, "N": 3}),
}


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


@pytest.mark.parametrize("body", FITS)
def test_what_has_a_meaning_for_every_size(tmp_path: Path, body: str) -> None:
    code = "@action\ndef good(self) -> None:\n" + textwrap.indent(body, "    ")
    ir = built(tmp_path, code).ir
    assert [a.name for a in ir.actions] == ["plain", "mix", "good"]


@pytest.mark.parametrize("body", FITS)
def test_what_it_means_for_any_size_is_what_it_means_for_one(tmp_path: Path, body: str) -> None:
    """What is translated differently, quantifiers for walks, is the same machine all the same."""
    code = "@action\ndef good(self) -> None:\n" + textwrap.indent(body, "    ")
    sizes = {"Node": 2, "Pos": 2}
    any_size = numbered(built(tmp_path, code).ir, sizes)
    assert walked(any_size, 150) == walked(built(tmp_path, code, **sizes).ir, 150)


SEEDS = 12


@pytest.mark.parametrize("which", ["symmetric", "typed"])
def test_random_machines_of_any_size(tmp_path: Path, which: str) -> None:
    """Those that are not refused mean what they mean at a number; the others say where."""
    source, sizes = SOURCES[which]
    compared = 0
    for seed in range(SEEDS):
        machine = loaded(tmp_path, f"{which}_{seed}", source(seed))
        closed = machine.build(**sizes).ir
        starts = {v.name: v.initial for v in closed.variables}
        for name in dict(closed.constants):
            try:
                given: dict[str, int | str] = {**sizes, name: "any"}
                ir = machine.build(**given).ir
            except (Unsupported, UsageError) as error:
                assert f"{which}_{seed}.py:" in error.message and error.next_step
                continue
            same = numbered(ir, {name: sizes[name]}, starts)
            assert tried(same) == tried(closed), (which, seed, name)
            compared += 1
    assert compared > SEEDS // 3


def tried(ir: MachineIR) -> object:
    """What some steps lead to; that one raises is all there is to compare then."""
    try:
        return walked(ir, 40)
    except Exception as error:
        return type(error)


def test_a_variable_may_start_with_any_member(tmp_path: Path) -> None:
    code = "a: Var[Node] = var(one_of=Node)\nb: Var[Node | None] = var(one_of=Node)\n"
    code += "c: Var[Map[Node, Pos]] = var(each_of=Pos)"
    sizes = {"Node": 2, "Pos": 2}
    any_size = numbered(built(tmp_path, code).ir, sizes)
    assert walked(any_size, 0)[0] == walked(built(tmp_path, code, **sizes).ir, 0)[0]


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
