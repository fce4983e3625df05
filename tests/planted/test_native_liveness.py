"""Temporal properties and refinements on the native engine: what it finds, how it gives way, and
that its lies are not believed."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict
from refute.evidence import Evidence
from refute.machine import Machine
from refute.specs.library.allocator import SchedulingAllocator
from refute.specs.library.ewd840 import EWD840
from refute.specs.machine.asking import find_machines
from refute.verifiers import Interrupted
from refute.verifiers.model import behaviours
from refute.verifiers.model.choice import Choice
from refute.verifiers.model.engine import ModelChecker
from refute.verifiers.model.liveness import Liveness
from refute.verifiers.model.native import graph_building, liveness
from refute.verifiers.model.native.compiler import FLAGS, QUICK
from refute.verifiers.model.native.here import native_liveness
from refute.verifiers.patience import Patience

CASES = Path(__file__).parents[1] / "cases" / "machines"
TEMPORAL = ("Stutters", "FirstState", "Goes", "Avoids", "Starves", "Impolite", "Peterson")
TEMPORAL += ("Fills", "Leaves", "Serves", "Runaway", "Raises", "Asserts")
REFINING = ("Good", "Unfair", "Skips", "Late", "Short")


def machines(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, CASES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("file", "names"), [("temporal_machines", TEMPORAL), ("refinement_machines", REFINING)]
)
def test_planted_defects_are_found_as_by_the_plain_engine(
    file: str, names: tuple[str, ...]
) -> None:
    module = machines(file)
    for name in names:
        cls: type[Machine] = getattr(module, name)
        ir = cls.build().ir
        plain, native = Liveness(ir), native_liveness(ir, flags=QUICK)
        while not plain.advance(5.0)["finished"] or not native.advance(5.0)["finished"]:
            pass
        assert native.hits == plain.hits, name
        assert native.reasons == plain.reasons, name
    del sys.modules[file]


def judged(
    name: str, engine: str = "native", file: str = "temporal_machines", wall_s: float = 60.0
) -> dict[str, Evidence]:
    found = find_machines(CASES / f"{file}.py", CASES, (".",), {}, name)
    checker = ModelChecker(Choice(engine))
    budget = Budget(cpu_s=30.0, wall_s=wall_s)
    results = check(found.claims, budget, found.site, engines=lambda _: (checker,))
    names = (str(c.statement.params["prop"]) for c in found.claims)
    return dict(zip(names, results, strict=True))


def test_through_workers_and_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_building, "FLAGS", FLAGS)  # as users have it
    evidence = judged("Goes")["leaves"]
    assert evidence.verdict is Verdict.REFUTED and evidence.witness is not None
    steps = [s.text for s in evidence.witness.counterexample.steps]
    assert steps == ["start", "switch()", "switch()", "again from 1, for ever"]
    assert "behaviours by the native engine: " in evidence.scope.text
    assert "native" not in judged("Goes", engine="plain")["leaves"].scope.text


def test_where_there_is_no_native_graph_the_plain_engine_judges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(graph_building, "ROOMS", ())
    evidence = judged("Goes")["leaves"]
    assert evidence.verdict is Verdict.REFUTED
    assert "not by the native engine: there is no more room" in evidence.scope.text


def lying(monkeypatch: pytest.MonkeyPatch, truth: str, lie: str) -> None:
    """The C text of graphs has the lie in place of the truth."""
    written = graph_building.graph_programs

    def programs(ir: object) -> list[str]:
        texts = written(ir)  # type: ignore[arg-type]
        assert truth in texts[0]
        return [text.replace(truth, lie) for text in texts]

    monkeypatch.setattr(graph_building, "graph_programs", programs)


def test_an_unfair_end_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    lying(
        monkeypatch, "if (enabled[w] & (weak_conditions[w] | strong_conditions[w])) return 0;", ""
    )
    evidence = judged("Fills")["full"]
    assert evidence.verdict is Verdict.UNKNOWN
    assert "not treated fairly" in evidence.reason


def test_an_unfair_set_is_a_bug_of_refute(monkeypatch: pytest.MonkeyPatch) -> None:
    lying(monkeypatch, "strong_conditions[w] & ever[w] & ~taken[w]", "0")
    evidence = judged("Leaves")["leaves"]
    assert evidence.verdict is Verdict.UNKNOWN
    assert "a bug of refute: the engines disagree" in evidence.reason


def test_a_step_that_is_none_is_a_bug_of_refute(monkeypatch: pytest.MonkeyPatch) -> None:
    lying(monkeypatch, "memcpy(place, w, 8 * W);", "memcpy(place, w, 8 * W); place[0] ^= 3;")
    evidence = judged("FirstState")["settles"]
    assert evidence.verdict is Verdict.UNKNOWN
    assert "a bug of refute: the engines disagree" in evidence.reason


def test_a_library_that_crashes_leaves_it_to_the_plain_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    head = "int rf_grow(double seconds)\n{"
    lying(monkeypatch, head, head + " __builtin_trap();")
    evidence = judged("Goes")["leaves"]
    assert evidence.verdict is Verdict.REFUTED
    assert "not by the native engine: it ended by itself" in evidence.scope.text


@pytest.mark.parametrize("broken", [False, True])
def test_a_graph_that_memory_cuts_is_judged_as_far_as_it_was_built(
    broken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liveness, "GRAPH_SHARE", 0.5)
    ir = dataclasses.replace(EWD840.build(N=6).ir, refinements=())
    if broken:
        ir = dataclasses.replace(ir, properties=())  # without its fairness
    native = native_liveness(ir, memory=16 * 2**20, flags=QUICK)
    while not (counts := native.advance(5.0))["finished"]:
        assert not counts["full"]
    assert counts["distinct"] < 36_990 and counts["left"]
    assert native.report()["ended"] == "memory ended"
    assert set(native.hits) == ({"detects"} if broken else set())


def test_a_graph_that_the_budget_cuts_proves_nothing() -> None:
    native = native_liveness(EWD840.build(N=3).ir, flags=QUICK)
    native.cut("the budget ended")
    assert native.advance(5.0)["finished"]
    assert native.report()["ended"] == "the budget ended" and not native.hits


def test_what_is_decided_stays_so_wherever_the_work_ends() -> None:
    ir = SchedulingAllocator.build().ir
    native = native_liveness(ir, flags=QUICK)
    while not native.grown:
        native.advance(5.0)
    assert native.report()["judged"] == []
    while native.at < 3:  # one for each client
        native.advance(0.001)
    assert "clients_will_return" in native.report()["judged"]
    assert "simply" not in native.report()["judged"] or native.at == len(native.tasks)


def test_an_interrupt_keeps_what_was_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Patience()
    asked.asked = True
    monkeypatch.setattr(behaviours, "patience", lambda: contextlib.nullcontext(asked))
    with pytest.raises(Interrupted) as stopped:
        judged("Goes", engine="plain")
    found = {e.claim: e for e in stopped.value.found}
    assert found["Goes.deadlock-free"].verdict is Verdict.EXHAUSTED
    assert found["Goes.leaves"].verdict is Verdict.UNKNOWN
    assert found["Goes.leaves"].reason.endswith("6 generated: interrupted")
