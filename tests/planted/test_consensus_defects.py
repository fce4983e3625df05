"""Paxos refines Voting, which refines Consensus; with a mistake in either it does not."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from refute.machine import Model
from refute.specs.library.paxos import Paxos
from refute.specs.library.voting import Consensus, Voting
from refute.specs.machine.play import Play
from refute.verifiers.model.liveness import Liveness
from refute.verifiers.model.native.compiler import QUICK
from refute.verifiers.model.native.here import native_orbits, native_search
from refute.verifiers.model.reduced import ReducedSearch
from refute.verifiers.model.search import Search

CASES = Path(__file__).parents[1] / "cases" / "machines"


def defects() -> ModuleType:
    """The module of machines with mistakes."""
    spec = importlib.util.spec_from_file_location(
        "consensus_defects", CASES / "consensus_defects.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def judged(model: Model) -> Liveness:
    """The refinements of a machine, decided."""
    found = Liveness(model.ir)
    while not found.advance(20.0)["finished"]:
        pass
    return found


@pytest.mark.parametrize("model", [Paxos.build(), Voting.build(MaxBallot=1)], ids=repr)
def test_the_refinements_hold(model: Model) -> None:
    found = judged(model)
    assert not found.hits and not found.reasons


@pytest.mark.parametrize(
    ("name", "refinement"),
    [("Forgetful", "voting"), ("Hasty", "voting"), ("Unsafe", "consensus")],
)
def test_a_mistake_breaks_the_refinement(name: str, refinement: str) -> None:
    machine = getattr(defects(), name)
    constants = {"Acceptor": 2, "MaxBallot": 1, "Value": 2}
    found = judged(machine.build(**constants))
    assert set(found.hits) == {refinement}
    trace: Any = found.report()["hits"][refinement]
    assert Play(machine, constants, trace["case"]).judge()["broke"] is True


def test_counts_are_those_of_tlc(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with TLC's symmetry set, of acceptors and values: 77 distinct, 451 generated."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    small, large = Voting.build(MaxBallot=1).ir, Voting.build(MaxBallot=2).ir
    every: Any = (
        native_orbits(small, flags=QUICK),
        ReducedSearch(small),
        native_search(large, flags=QUICK),
    )
    every += (Search(Consensus.build(Value=3).ir),)
    counts = [search.advance(60.0) for search in every]
    found = [tuple(c[n] for n in ("distinct", "generated", "depth")) for c in counts]
    assert found == [(77, 451, 11), (77, 451, 11), (6752, 41017, 16), (4, 4, 2)]
    assert all(c["finished"] and not c["raised"] for c in counts)
