"""Predicates of formulas, fairness and mappings that raise refute `well_defined`."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from refute.specs.machine.play import Play
from refute.verifiers.model.guarded import guarded
from refute.verifiers.model.search import Search

FILE = Path(__file__).parents[1] / "cases" / "machines" / "raising.py"


@pytest.fixture(scope="module")
def machines() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("raising", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["raising"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["raising"]


@pytest.mark.parametrize(
    ("name", "predicate", "steps"),
    [("Formula", "t", 3), ("Fairness", "f", 3), ("Mapped", "low", 3)],
)
def test_it_is_found_and_replayed(
    machines: ModuleType, name: str, predicate: str, steps: int
) -> None:
    cls = getattr(machines, name)
    search = Search(guarded(cls.build().ir))
    search.advance(5.0)
    hits: Any = search.report()["hits"]
    case = hits["well_defined"]["case"]
    assert (case["predicate"], len(case["steps"])) == (predicate, steps)
    assert Play(cls, {}, case).judge()["broke"]
    shorter = {**case, "steps": case["steps"][:-1]}
    assert not Play(cls, {}, shorter).judge()["broke"]


def test_what_cannot_raise_is_not_added(machines: ModuleType) -> None:
    ir = machines.Sound.build().ir
    assert guarded(ir) == ir and ir.temporals and ir.refinements
