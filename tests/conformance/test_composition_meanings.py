"""Machines made of parts mean what their classes do, to every engine.

The plain search and the tree walk, on the IR, find as many states and steps as a search that runs
the classes themselves; the native engine reports what the plain one does; traces play.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import composed_machines as composed
import pytest

from refute.machine import Model
from refute.specs.library import all_reduce
from refute.specs.machine import whole
from refute.specs.machine.ir import Expr, When
from refute.specs.machine.play import Play
from refute.specs.machine.types import Bool
from refute.verifiers.model.confirm import Confirm
from refute.verifiers.model.native.compiler import QUICK
from refute.verifiers.model.native.here import native_search
from refute.verifiers.model.search import Search
from refute.verifiers.model.walking import walked

CASES = Path(__file__).parents[1] / "cases" / "machines"
MOST = 24  # states of a machine that is searched by running it


def built(seed: int, processes: bool, folder: Path) -> Model:
    name = f"composed_{seed}_{processes}"
    made: Model = composed.loaded(composed.source(seed, processes), folder, name).Whole.build()
    return made


def searched(model: Model) -> Search:
    search = Search(model.ir)
    search.advance(20.0)
    return search


def reported(search: Any) -> list[Any]:
    found = search.report()
    found["fired"] = sorted(found["fired"], key=str)
    names = ("distinct", "generated", "depth", "hits", "fired", "silent", "unran")
    return [found[name] for name in names]


def counted(statistics: Any) -> tuple[Any, Any]:
    return statistics["distinct"], statistics["generated"]


@pytest.mark.parametrize("processes", [False, True], ids=["actions", "processes"])
@pytest.mark.parametrize("first", range(0, 20, 10))
def test_states_are_those_of_the_classes(first: int, processes: bool, tmp_path: Path) -> None:
    compared = 0
    for seed in range(first, first + 10):
        model = built(seed, processes, tmp_path)
        counts = counted(searched(model).statistics())
        assert counted(Confirm(model.ir).advance(20.0)) == counts, seed
        if counts[0] <= MOST:
            assert composed.Explored(model.cls, MOST).counts() == counts, seed
            compared += counts[0] > 3
    assert compared >= 2


@pytest.mark.parametrize("processes", [False, True], ids=["actions", "processes"])
def test_recoveries_in_steps_are_those_of_the_classes(processes: bool, tmp_path: Path) -> None:
    model = built(35, processes, tmp_path)
    assert "left.back" in {action.name for action in model.ir.actions if action.place}
    assert "left.seen" in {prop.name for prop in model.ir.properties if prop.crash}
    assert composed.Explored(model.cls, MOST).counts() == counted(searched(model).statistics())


RINGS = [
    ("RingAllReduce", {"N": 3}),
    ("RingAllReduce", {"N": 4, "CAPACITY": 2}),
    ("RendezvousAllReduce", {"N": 3}),
    ("RendezvousAllReduce", {"N": 5, "ODD_FIRST": 1}),
]


@pytest.mark.parametrize(("name", "constants"), RINGS)
def test_a_ring_is_the_one_written_by_hand(name: str, constants: dict[str, int]) -> None:
    spec = importlib.util.spec_from_file_location("ring_by_hand", CASES / "ring_by_hand.py")
    assert spec is not None
    single = composed.executed(spec)
    machines = [getattr(module, name).build(**constants) for module in (all_reduce, single)]
    first, second = [searched(model) for model in machines]
    assert first.statistics() == second.statistics()
    assert set(first.hits) == set(second.hits)


@pytest.mark.parametrize("seed", [3, 10, 17])
def test_the_native_engine_reports_the_same(seed: int, tmp_path: Path) -> None:
    for processes in (False, True):
        model = built(seed, processes, tmp_path)
        native = native_search(model.ir, flags=QUICK)
        native.advance(20.0)
        assert reported(native) == reported(searched(model))


def test_traces_play_on_the_classes(tmp_path: Path) -> None:
    met = 0
    for seed in range(1, 40, 3):
        model = built(seed, seed % 4 == 0, tmp_path)
        report: Any = searched(model).report()
        for trace in (*report["fired"], *report["hits"].values()):
            case = trace["case"]
            made = Play(model.cls, {}, case).judge()
            assert made["broke"] is True
            (walk,) = walked(model.ir.to_plain(), [case])
            assert made["states"] == walk["states"]
            met += " → " in str(trace["steps"])
    assert met >= 3


def test_a_loss_that_is_forgotten_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: lossy channels lose nothing in the IR."""
    never = When(Expr("const", Bool(), (), False))
    monkeypatch.setattr(whole, "lost", lambda build, place, calls, line: (never,))
    wrong = 0
    for seed in range(0, 24, 2):
        model = built(seed, False, tmp_path)
        counts = counted(searched(model).statistics())
        wrong += counts[0] <= 5 and composed.Explored(model.cls, 12).counts() != counts
    assert wrong >= 1
