"""Each planted machine is refuted for its one defect, by the search and by the plain class."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from refute.specs.machine.play import Play
from refute.verifiers.model.search import Search

FILE = Path(__file__).parents[1] / "cases" / "machines" / "planted_machines.py"

# machine → property → what the report says, number of steps of the shortest trace
DEFECTS = {
    "MissingGuard": {"exclusive": ("exclusive is False", 4)},
    "WrongInitial": {"below_three": ("below_three is False", 0)},
    "Deadlock": {"deadlock-free": ("no step is enabled", 2)},
    "OutOfRange": {"well_defined": ("raises OutOfRange", 4)},
    "IllDefined": {"well_defined": ("raises IndexError", 1)},
    "BadPredicate": {"well_defined": ("ratio raises ZeroDivisionError", 3)},
    "Shrinks": {"grows": ("grows is False", 3)},
    "RaisesByChoice": {"well_defined": ("raises OutOfRange", 2)},
    "RaisesByLaterChoice": {"well_defined": ("raises AssertionError", 1)},
    "Unreachable": {},
}
SOUND = {"Mutex": 3, "Ring": 5, "Stops": 16, "Counter": 6}
EXAMPLES = {"Ring": {"all_seen"}}


@pytest.fixture(scope="module")
def machines() -> Iterator[ModuleType]:
    """The planted module, imported here because this is a test of the engine alone."""
    spec = importlib.util.spec_from_file_location("planted_machines", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["planted_machines"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["planted_machines"]


def searched(machines: ModuleType, name: str) -> Search:
    search = Search(getattr(machines, name).build().ir)
    search.advance(20.0)
    assert search.finished
    return search


@pytest.mark.parametrize("name", DEFECTS)
def test_the_defect_is_found_and_nothing_else(machines: ModuleType, name: str) -> None:
    search = searched(machines, name)
    hits = search.report()["hits"]
    assert set(hits) == set(DEFECTS[name])
    for prop, (why, steps) in DEFECTS[name].items():
        assert why in hits[prop]["why"]
        assert len(hits[prop]["case"]["steps"]) == steps
        played = Play(getattr(machines, name), {}, hits[prop]["case"]).judge()
        assert played["broke"] is True


@pytest.mark.parametrize("name", SOUND)
def test_sound_machines_are_not_accused(machines: ModuleType, name: str) -> None:
    search = searched(machines, name)
    assert set(search.hits) == EXAMPLES.get(name, set())
    assert len(search.states) == SOUND[name]


def test_a_step_that_never_runs_is_reported(machines: ModuleType) -> None:
    search = searched(machines, "Unreachable")
    assert search.report()["silent"] == ["never"]
    assert "odd" not in search.hits


def test_the_constraint_is_counted_as_tlc_does(machines: ModuleType) -> None:
    found = searched(machines, "Counter").statistics()
    assert (found["distinct"], found["generated"], found["outside"]) == (6, 7, 1)


def test_a_trace_that_does_not_break_the_class_is_not_a_witness(machines: ModuleType) -> None:
    hit = searched(machines, "Shrinks").report()["hits"]["grows"]["case"]
    shorter = {**hit, "steps": hit["steps"][:-1]}
    assert Play(machines.Shrinks, {}, shorter).judge()["broke"] is False


def test_a_search_that_runs_out_of_memory_keeps_what_it_knows(machines: ModuleType) -> None:
    class Full(Search):
        def expand(self, at: int) -> None:
            if at == 3:
                raise MemoryError
            super().expand(at)

    search = Full(machines.Ring.build().ir)
    found = search.advance(5.0)
    assert found["full"] and not found["finished"] and found["left"] > 0
    assert search.report()["distinct"] >= 3
