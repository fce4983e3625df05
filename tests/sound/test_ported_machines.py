"""Specifications of tlaplus/Examples, written from their text alone, have the counts of TLC.

Each stands for forms of writing that ports need: see its own file under `cases/machines`.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.confirm import Confirm
from refute.verifiers.model.liveness import Liveness
from refute.verifiers.model.search import Search

CASES = Path(__file__).parents[1] / "cases" / "machines"
PUBLISHED = [
    ("locks", "Lock", {}, (12, 21)),
    ("locks", "Peterson", {}, (42, 77)),
    ("light_switch", "Switch", {"unknown": 0}, (16, 49)),
    ("light_switch", "Switch", {"unknown": 1}, (62, 188)),
    ("orders", "Shuffled", {}, (3, 10)),
    ("orders", "Post", {}, (13, 27)),
    ("mixed", "Lift", {}, (10, 22)),
    ("asserting", "Linked", {}, (5, 7)),
    ("cat", "Cat", {"N": 6}, (48, 128)),
    ("cat", "Cat", {"N": 5}, (30, 78)),
    ("memory", "InternalMemory", {"Adr": 1, "Val": 2}, (288, 962)),
    ("coffee_can", "CoffeeCan", {"MaxBeanCount": 20}, (230, 802)),
]


LARGER = [  # the compiled search alone
    ("memory", "InternalMemory", {"Adr": 3}, (4408, 21400)),
    ("memory", "WriteThroughCache", {"Adr": 1, "QLen": 1}, (5196, 28170)),
]


def machine(file: str, name: str) -> Any:
    """A class of a file of cases, loaded once."""
    if file not in sys.modules:
        spec = importlib.util.spec_from_file_location(file, CASES / f"{file}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[file] = module
        spec.loader.exec_module(module)
    return getattr(sys.modules[file], name)


def built(file: str, name: str, constants: dict[str, int]) -> MachineIR:
    ir: MachineIR = machine(file, name).build(**constants).ir
    return ir


@pytest.mark.parametrize(("file", "name", "constants", "expected"), PUBLISHED)
def test_ports_have_the_published_counts(
    file: str, name: str, constants: dict[str, int], expected: tuple[int, int]
) -> None:
    ir = built(file, name, constants)
    search = Search(ir)
    for found in (search.advance(60.0), Confirm(ir).advance(60.0)):
        assert (found["distinct"], found["generated"]) == expected
    assert not search.hits


@pytest.mark.parametrize(("file", "name", "constants", "expected"), LARGER)
def test_larger_ports_have_the_published_counts(
    file: str, name: str, constants: dict[str, int], expected: tuple[int, int]
) -> None:
    search = Search(built(file, name, constants))
    found = search.advance(60.0)
    assert (found["distinct"], found["generated"]) == expected
    assert not search.hits


def test_a_cache_implements_its_memory_and_answers() -> None:
    liveness = Liveness(built("memory", "WriteThroughCache", {"Adr": 1, "QLen": 1, "Val": 1}))
    while not liveness.advance(20.0)["finished"]:
        pass
    assert liveness.ir.refinements and liveness.ir.temporals
    assert liveness.hits == {} and liveness.reasons == {}


def test_what_is_no_number_where_one_is_wanted_is_an_error_of_the_step() -> None:
    search = Search(built("mixed", "Careless", {}))
    search.advance(60.0)
    assert "well_defined" in search.hits
    assert search.report()["hits"]["low"]["why"] == "low(2) is False"


def test_a_false_assert_of_a_helper_is_an_error_of_the_step() -> None:
    search = Search(built("asserting", "Eager", {}))
    search.advance(60.0)
    assert "AssertionError" in search.report()["hits"]["well_defined"]["why"]


@pytest.mark.parametrize(("file", "name", "constants", "expected"), PUBLISHED)
def test_what_must_happen_happens(
    file: str, name: str, constants: dict[str, int], expected: tuple[int, int]
) -> None:
    liveness = Liveness(built(file, name, constants))
    while not liveness.advance(20.0)["finished"]:
        pass
    assert liveness.hits == {} and liveness.reasons == {}
