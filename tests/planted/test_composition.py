"""Machines made of parts: planted defects are found and play on the classes, mistakes refused."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from refute.errors import Unsupported, UsageError
from refute.machine import Model
from refute.specs.machine.loading import describe_module
from refute.specs.machine.play import Play
from refute.verifiers.model.liveness import Liveness
from refute.verifiers.model.search import Search

CASES = Path(__file__).parents[1] / "cases" / "machines"


def loaded(file: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def refuted(model: Model) -> dict[str, Any]:
    """The properties that are false, with their traces."""
    search, liveness = Search(model.ir), Liveness(model.ir)
    search.advance(20.0)
    while not liveness.advance(20.0)["finished"]:
        pass
    hits: Any = {**search.report()["hits"], **liveness.hits}
    shown = {p.name for p in model.ir.of_kind("reachable")}
    assert shown <= set(search.hits)
    return {name: trace for name, trace in hits.items() if name not in shown}


STEPS_OF_OTHERS = "bars.guests.any_change"
EXPECTED = {
    "Town": ({"Room": 2}, {STEPS_OF_OTHERS}),
    "DeafTown": ({"Room": 2}, {STEPS_OF_OTHERS, "deadlock-free"}),
    "MiscountingTown": ({"Room": 1}, {STEPS_OF_OTHERS, "bars.counted", "well_defined"}),
    "Service": ({}, set()),
    "LossyService": ({}, {"is_served", "deadlock-free"}),
    "Lookers": ({}, set()),
    "House": ({}, set()),
    "ShyHouse": ({}, {"comes_in"}),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_false_is_found_and_plays(name: str) -> None:
    module = loaded(CASES / "composed.py", "composed")
    constants, expected = EXPECTED[name]
    model: Model = getattr(module, name).build(**constants)
    found = refuted(model)
    assert set(found) == expected
    for trace in found.values():
        assert Play(model.cls, model.constants, trace["case"]).judge()["broke"] is True


def test_a_step_of_two_parts_names_both() -> None:
    module = loaded(CASES / "composed.py", "composed")
    trace = refuted(module.Town.build())[STEPS_OF_OTHERS]
    start, line = trace["steps"][:2]
    assert start["changes"]["bars[Room1].guests[Seat0].here"] == "False"
    assert line["text"] == "bars[Room0].guests[Seat0].live() → bars[Room0].open()"
    assert set(line["changes"]) == {"bars[Room0].count", "bars[Room0].guests[Seat0].here"}


def test_the_steps_of_a_space_name_their_parts() -> None:
    space = loaded(CASES / "composed.py", "composed").Service.build().space()
    (start,) = space.initial()
    assert str(start) == "requests = [], replies = [], client.served = False"
    (step,) = space.enabled(start)
    assert str(step) == "client.run()" and list(step.after["requests"]) == [True]
    with pytest.raises(KeyError):
        start["client.run@place"]


def test_a_file_is_read_without_its_mere_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(CASES))
    sys.modules.pop("composed", None)
    found: Any = describe_module("composed", {"ROOM": [1, 2], "MOST": [2]}, "")
    names = [machine["of"][0] for machine in found["value"]]
    assert names.count("Service") == 2 and "Client" not in names and "Toggle" in names


HEAD = """
from __future__ import annotations
from typing import Annotated, Self
from refute.machine import *

V = Annotated[int, Range(0, 2)]

class K(Sort, size=2):
    pass

class One(Machine):
    N: Const[int] = const(2)
    c: Port[Channel[V]] = port()
    look: Port[V] = port()
    x: Var[V] = var(0)

    @action
    def go(self) -> None:
        self.c.send(self.x)

class Two(Machine):
    me: Port[K] = port()
    other: Port[K] = port()
    x: Var[V] = var(0)

    @action
    def go(self) -> None:
        self.x = 1

class Whole(Machine):
    N: Const[int] = const(2)
    c: Var[Channel[V]] = channel(capacity=1)
    r: Var[Channel[V]] = channel(capacity=0)
    bag: Var[Channel[V]] = channel(capacity=2, reordering=True)
    many: Var[Map[K, Channel[V]]] = channel(capacity=1)
    bits: Var[Channel[bool]] = channel(capacity=1)
    y: Var[V] = var(0)
    look: Var[V] = var(0)
    one: Part[One] = part(One)
    ones: Part[Map[K, One]] = part(One)
"""
numbers = itertools.count()


def built(folder: Path, body: str) -> Model:
    name = f"composition_refused_{next(numbers)}"
    file = folder / f"{name}.py"
    file.write_text(HEAD + textwrap.indent(textwrap.dedent(body), "    "))
    model: Model = loaded(file, name).Whole.build()
    return model


STATEMENTS = {
    "self.one.x = 1": "a write to self.one.x, the state of a part,",
    "self.ones[K(0)].x += 1": "a write to self.ones[K(0)].x, the state of a part,",
    "self.one = 1": "self.one, which is a part",
    "z = self.one": "the part one as a value",
    "self.y = len(self.ones)": "ones, several parts, as a value",
    "for p in self.ones.values():\n    self.y = p.x": "ones, several parts, as a value",
    "self.one.go()": "no helper of this class",
    "self.y = self.c.receive() + 1": "receive() inside an expression",
    "when(self.c.receive() == 1)": "receive() inside an expression",
    "self.c.send(1, 2)": "this send",
    "self.many.send(1)": "send of several channels",
    "self.many[self.y].send(1)": "as a key of Map",
    "when(len(self.r) == 0)": "a look into r, which never holds a message,",
    "for k in K:\n    self.r.send(1)": "send in a for loop",
    "for k in K:\n    self.y = self.bag.receive()": "receive in a for loop",
    "self.y = sum(m for m in self.bag)": "a walk through a Bag",
    "self.c.append(1)": "a write to the channel self.c",
    "self.c = 1": "a write to the channel self.c",
    "c = self.c\nc.send(1)": "not about a channel of self",
}
MEMBERS = {
    "p: Part[One] = part(One, d=c)": "One has no port or constant for",
    "p: Part[Two] = part(Two)": "the port me of p, connected to nothing,",
    "p: Part[Map[K, Two]] = part(Two)": "the port me of p, connected to nothing,",
    "p = part(One)": "p without a type",
    "p: Part[Two] = part(One)": "declared as another class than One",
    "p: Part[K] = part(K)": "as a part",
    "p: Part[One] = part(One, c=y)": "the port c of p, connected to no channel,",
    "p: Part[One] = part(One, c=bits)": "a channel of bool, not 0..2",
    "p: Part[One] = part(One, c=lambda self: self.many)": "connected to several channels",
    "p: Part[One] = part(One, c=lambda self, k: self.c)": "with other arguments",
    "z: Var[tuple[Channel[V], V]] = var((1, 1))": "a Channel in another type",
    "z: Var[Channel[V]] = var(())": "without channel(…)",
    "z: Var[V] = channel(capacity=1)": "a channel(…) that is no Channel",
    "z: Var[Channel[V]] = channel(capacity=0, lossy=True)": "a channel without room that is lossy",
    "z: Var[Channel[V]] = channel(capacity=-1)": "a channel for -1 messages",
}


@pytest.mark.parametrize("code", STATEMENTS)
def test_statements_that_are_refused(code: str, tmp_path: Path) -> None:
    step = f"@action\ndef own(self) -> None:\n{textwrap.indent(code, '    ')}"
    with pytest.raises(Unsupported) as error:
        built(tmp_path, step)
    assert STATEMENTS[code] in str(error.value) and ".py:" in str(error.value)
    assert error.value.next_step.startswith("write instead: ")


@pytest.mark.parametrize("code", MEMBERS)
def test_members_that_are_refused(code: str, tmp_path: Path) -> None:
    with pytest.raises(Unsupported) as error:
        built(tmp_path, code)
    assert MEMBERS[code] in str(error.value) and ".py:" in str(error.value)
    assert error.value.next_step.startswith("write instead: ")


def test_constants_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="names no constant"):
        built(tmp_path, "p: Part[One] = part(One, N='M + 1')")
    seen = "    @observe\n    def seen(self) -> bool:\n        return True\n"
    with pytest.raises(Unsupported, match="the @observe seen of a machine that never crashes"):
        built(tmp_path, f"class Falls(One):\n{seen}\np: Part[Falls] = part(Falls)")
    assert built(tmp_path, "p: Part[One] = part(One, N='N + 1')").constants["N"] == 2
