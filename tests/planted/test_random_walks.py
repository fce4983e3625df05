"""Random walks: both engines take the same ones, find what is planted, and claim no more."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict
from refute.evidence import Evidence
from refute.plain import Plain
from refute.specs.library.chang_roberts import ChangRoberts
from refute.specs.library.ewd840 import EWD840
from refute.specs.library.inner_fifo import InnerFIFO
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.asking import find_machines
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model import exploring
from refute.verifiers.model.choice import Choice
from refute.verifiers.model.engine import ModelChecker
from refute.verifiers.model.native.compiler import QUICK
from refute.verifiers.model.native.here import native_walks
from refute.verifiers.model.walks import Walks

CASES = Path(__file__).parents[1] / "cases" / "machines"
PLANTED = ("Mutex", "Deadlock", "Shrinks", "OutOfRange", "IllDefined", "BadPredicate", "Counter")


def planted() -> list[MachineIR]:
    name = "planted_machines"
    spec = importlib.util.spec_from_file_location(name, CASES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [getattr(module, machine).build().ir for machine in PLANTED]


def walked(walks: Any) -> dict[str, Plain]:
    assert walks.advance(60.0)["finished"]
    report: dict[str, Plain] = walks.report()
    names = ("walks", "steps", "raised", "hits", "silent", "fired")
    found = {name: report[name] for name in names}
    found["fired"] = sorted(map(repr, report["fired"]))
    return found


LIBRARY = [TwoPhase.build(RM=4).ir, ChangRoberts.build(N=3).ir, InnerFIFO.build().ir]


@pytest.mark.parametrize("ir", LIBRARY + planted(), ids=lambda ir: ir.name)
def test_both_engines_take_the_same_walks(ir: MachineIR) -> None:
    plain = walked(Walks(ir, 5, 30, 40))
    native = walked(native_walks(ir, 5, 30, 40, flags=QUICK))
    assert plain == native
    assert plain["walks"] == 30 and plain["steps"] > 30


def test_walks_may_be_cut_anywhere() -> None:
    ir = LIBRARY[0]
    pieces = Walks(ir, 3, 8, 25)
    while not pieces.advance(0.0)["finished"]:
        pass
    assert walked(pieces) == walked(Walks(ir, 3, 8, 25))
    assert walked(pieces)["hits"] != walked(Walks(ir, 4, 8, 25))["hits"]


def judged(
    file: str, name: str, engine: str = "plain", walks: int = 60, depth: int = 60
) -> dict[str, Evidence]:
    found = find_machines(CASES / file, CASES, (".",), {}, name)
    checker = ModelChecker(Choice(engine, walks, depth))
    budget = Budget(cpu_s=30.0, wall_s=60.0)
    results = check(list(found.claims), budget, found.site, engines=lambda _: (checker,))
    names = (str(c.statement.params["prop"]) for c in found.claims)
    return dict(zip(names, results, strict=True))


@pytest.mark.parametrize(
    ("name", "prop", "steps"),
    [("MissingGuard", "exclusive", 5), ("Deadlock", "deadlock-free", 3), ("Shrinks", "grows", 4)],
)
def test_plain_walks_refute_with_a_short_replayed_trace(name: str, prop: str, steps: int) -> None:
    evidence = judged("planted_machines.py", name)[prop]
    assert evidence.verdict is Verdict.REFUTED and evidence.statistics["engine"] == "plain"
    assert evidence.witness is not None and len(evidence.witness.counterexample.steps) == steps


def test_what_an_observer_finds_is_refuted_or_survives() -> None:
    evidence = judged("crash_machines.py", "InPlace")
    observed = [e for e in evidence.values() if e.verdict is Verdict.REFUTED]
    assert len(observed) == 1 and "engine" in observed[0].statistics
    good = judged("crash_machines.py", "Forgets")
    assert all(e.verdict is not Verdict.EXHAUSTED for e in good.values())


def test_walks_say_how_they_are_distributed_and_not_what_happens_for_ever() -> None:
    model = EWD840.build(N=3)
    props = {str(c.statement.params["prop"]): c for c in model.claims()}
    checker = ModelChecker(Choice("plain", 20, 30))
    results = check(list(props.values()), Budget(), model.site(), engines=lambda _: (checker,))
    evidence = dict(zip(props, results, strict=True))
    temporal = [evidence[t.name] for t in model.ir.temporals]
    assert temporal
    for found in temporal:
        assert found.verdict is Verdict.UNKNOWN
        assert "do not judge what happens for ever" in found.reason
    invariants = [evidence[p.name] for p in model.ir.of_kind("invariant")]
    for found in invariants:
        assert found.verdict is Verdict.SURVIVED and found.tried == 20
        assert "at most 30 steps" in found.distribution and "as likely" in found.distribution


def test_without_a_compiler_the_plain_engine_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(exploring, "PLAIN_FIRST_S", 0.0)
    evidence = judged("native_machines.py", "Tokens", "auto", 20)["bounded"]
    assert evidence.verdict is Verdict.SURVIVED and evidence.statistics["engine"] == "plain"
    assert "no C compiler was found" in evidence.scope.text
