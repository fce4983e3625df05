"""One-line bugs in the machines of every size have a counterexample at small sizes that replays."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from refute.specs.machine.play import Play
from refute.verifiers.model.search import Search


def defects() -> Any:
    """The table of bugs."""
    file = Path(__file__).parents[1] / "cases" / "machines" / "open_defects.py"
    spec = importlib.util.spec_from_file_location("open_defects", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


DEFECTS = defects().DEFECTS


def searched(machine: Any, sizes: dict[str, int], prop: str) -> Search:
    search = Search(machine.build(**sizes).ir)
    while not search.advance(0.1)["finished"] and prop not in search.hits:
        pass
    return search


@pytest.mark.parametrize("defect", DEFECTS, ids=str)
def test_a_bug_breaks_a_property_at_the_smallest_sizes(tmp_path: Path, defect: Any) -> None:
    machine, sizes = defect.loaded(tmp_path), dict(defect.sizes)
    search = searched(machine, sizes, defect.prop)
    assert defect.prop in search.hits
    trace: Any = search.report()["hits"][defect.prop]
    assert Play(machine, sizes, trace["case"]).judge()["broke"] is True
    for name in (n for n, size in defect.sizes if size > 1):
        fewer = {**sizes, name: sizes[name] - 1}
        assert defect.prop not in searched(machine, fewer, defect.prop).hits


def test_there_are_three_for_each_machine_and_all_are_of_any_size(tmp_path: Path) -> None:
    counted: dict[str, int] = {}
    for defect in DEFECTS:
        counted[defect.machine] = counted.get(defect.machine, 0) + 1
        ir = defect.loaded(tmp_path).build(**{name: "any" for name, _ in defect.sizes}).ir
        assert set(dict(ir.constants).values()) == {"any"}
    assert len(counted) == 7 and min(counted.values()) >= 3
