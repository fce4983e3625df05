"""Parts that crash: their `@observe` and recovery in steps, in every engine."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from refute.machine import Model
from refute.specs.machine.play import Play
from refute.specs.machine.symmetry import symmetry_of
from refute.verifiers.model.confirm import Confirm
from refute.verifiers.model.native.compiler import QUICK
from refute.verifiers.model.native.here import native_search
from refute.verifiers.model.search import Search
from refute.verifiers.model.walking import walked
from refute.verifiers.model.walks import Walks

FILE = Path(__file__).parents[1] / "cases" / "machines" / "crash_parts.py"

# machine → for each observed property that breaks, who moves last
DEFECTS = {
    "Pair": {},
    "HastyPair": {f"disks[Host{n}].agree": "disks[].redo" for n in range(2)},
    "NaivePair": {f"disks[Host{n}].agree": "disks[].crash" for n in range(2)},
    "Mixed": {"left.agree": "left.crash"},
    "Waiting": {},
}


@pytest.fixture(scope="module")
def machines() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("crash_parts", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["crash_parts"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["crash_parts"]


def searched(model: Model) -> Any:
    search, second = Search(model.ir), Confirm(model.ir)
    first, other = search.advance(20.0), second.advance(20.0)
    assert search.finished
    assert (first["distinct"], first["generated"]) == (other["distinct"], other["generated"])
    return search.report()


@pytest.mark.parametrize("name", DEFECTS)
def test_what_is_observed_of_parts(machines: ModuleType, name: str) -> None:
    model = getattr(machines, name).build()
    report = searched(model)
    hits = report["hits"]
    assert {n: hit["case"]["steps"][-1]["do"] for n, hit in hits.items()} == DEFECTS[name]
    assert report["silent"] == []
    for hit in hits.values():
        case = hit["case"]
        made = Play(model.cls, {}, case).judge()
        assert made["broke"] is True
        assert made["states"] == walked(model.ir.to_plain(), [case])[0]["states"]
        for fewer in range(len(case["steps"])):
            cut = {**case, "steps": case["steps"][:fewer]}
            assert Play(model.cls, {}, cut).judge()["broke"] is False
    native = native_search(model.ir, flags=QUICK)
    native.advance(20.0)
    found: Any = native.report()
    names = ("distinct", "generated", "hits", "silent", "unran")
    assert [found[n] for n in names] == [report[n] for n in names]


def test_another_part_may_be_in_the_middle_of_it(machines: ModuleType) -> None:
    """A crash of one is no reason to look at the other."""
    (hit,) = searched(machines.Mixed.build())["hits"].values()
    steps = [{"do": "left.write", "params": [], "choices": []}]
    steps.append({"do": "right.crash", "params": [], "choices": []})
    case = {**hit["case"], "steps": steps}
    assert Play(machines.Mixed, {}, case).judge()["why"] == "the last step is no crash"


def test_random_walks_observe_parts(machines: ModuleType) -> None:
    walks = Walks(machines.NaivePair.build().ir, seed=1, walks=50, depth=20)
    walks.advance(10.0)
    assert set(walks.hits) == set(DEFECTS["NaivePair"])


def test_the_part_that_is_observed_is_told_from_others(machines: ModuleType) -> None:
    assert not symmetry_of(machines.NaivePair.build().ir).classes
