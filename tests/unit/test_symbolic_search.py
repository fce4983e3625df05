"""What the solver's worker finds of small machines, with Z3 in this process."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from refute.specs.machine.frontend import FrontEnd
from refute.specs.machine.ir import Expr, MachineIR, Property
from refute.specs.machine.meaning import Meaning, World
from refute.specs.machine.types import Bool
from refute.specs.machine.values import members, pack_value
from refute.verifiers.symbolic.canonical import alike
from refute.verifiers.symbolic.findings import parts_of
from refute.verifiers.symbolic.moving import can_move
from refute.verifiers.symbolic.rechecking import Recheck
from refute.verifiers.symbolic.searching import Search
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.world import Judged, Step

FILE = Path(__file__).parents[1] / "cases" / "machines" / "formula_machines.py"


@pytest.fixture(scope="module")
def cases() -> ModuleType:
    """The module of the machines."""
    spec = importlib.util.spec_from_file_location("formula_machines", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def machine(cases: ModuleType, name: str, **constants: int) -> MachineIR:
    """One machine, translated."""
    return FrontEnd(getattr(cases, name), constants).ir()


def searched(ir: MachineIR, depth: int, induct: int = 2) -> dict[str, Any]:
    """The report of a search of everything that a machine states."""
    order = {"props": parts_of("", ir), "depth": depth, "induct": induct, "seed": 0}
    job = Search(ir, {**order, "query_s": 20.0, "wall_s": 20.0})
    job.run()
    return job.report()


def steps(report: dict[str, Any]) -> dict[str, int]:
    """How many steps the trace of each property has."""
    return {name: len(trace["case"]["steps"]) for name, trace in report["hits"].items()}


def test_unbounded_ints_have_shortest_traces_and_proofs(cases: ModuleType) -> None:
    found = searched(machine(cases, "Turnstile"), 4)
    assert steps(found) == {"few": 3, "passed": 2}
    assert set(found["proved"]) == {"natural", "grows", "well_defined", "deadlock-free"}
    assert found["depth"] == 4 or not found["stopped"]


def test_a_proof_names_the_lemma_it_needs(cases: ModuleType) -> None:
    found = searched(machine(cases, "Lights"), 3)
    assert found["proved"]["apart"] == {"k": 1, "needed": ["opposite"]}
    assert found["proved"]["opposite"] == {"k": 1, "needed": []}
    assert not found["hits"] and not found["inductions"].keys() & found["proved"].keys()


def test_a_counterexample_to_induction_is_no_trace(cases: ModuleType) -> None:
    found = searched(machine(cases, "Lonely"), 3, induct=1)
    told = found["inductions"]["apart"]
    assert "apart" not in found["hits"] and "apart" not in found["proved"]
    assert told["states"] == [{"first": "0", "second": "0"}, {"first": "1", "second": "1"}]
    assert (
        told["steps"] == ["turn()"]
        and told["k"] == 1
        and told["assumed"]
        == [
            "apart",
            "opposite",
        ]
    )


def test_a_deadlock_and_a_step_that_raises(cases: ModuleType) -> None:
    found = searched(machine(cases, "Stuck"), 6)
    assert steps(found) == {"deadlock-free": 2, "well_defined": 2}
    assert found["hits"]["well_defined"]["why"].startswith("raises")


def test_behaviours_that_end_are_searched_whole(cases: ModuleType) -> None:
    found = searched(machine(cases, "Stuck"), 6, induct=0)
    assert found["ended"] and found["depth"] == 2
    assert found["proved"]["fine"] == {"ended": 2, "needed": []}


def test_members_are_renamed_and_the_depth_is_right(cases: ModuleType) -> None:
    found = searched(machine(cases, "Ends", Who=5), 6)
    assert steps(found) == {"gone": 5, "someone": 5}
    assert not found["silent"]


def test_refinement(cases: ModuleType) -> None:
    broken = searched(machine(cases, "Twice"), 6)
    assert steps(broken)["once"] == 4
    kept = searched(machine(cases, "Climbs"), 4)
    assert "once" in kept["proved"] and "once" not in kept["hits"]


def test_a_constraint_is_where_explicit_search_has_it(cases: ModuleType) -> None:
    found = searched(machine(cases, "Fenced"), 6)
    assert "below" in found["proved"] and not found["hits"]


def recheck(ir: MachineIR, report: dict[str, Any], job: type[Recheck] = Recheck) -> str:
    """What a fresh solver says of the proofs of a report, empty if it agrees."""
    proofs = report["proved"]
    order = {
        "props": list(proofs),
        "lemmas": [],
        "k": max((p.get("k", 1) for p in proofs.values()), default=1),
        "ended": next((p["ended"] for p in proofs.values() if "ended" in p), None),
    }
    made = job(ir, {**order, "query_s": 20.0, "wall_s": 20.0, "seed": 0})
    made.run()
    return str(made.report()["said"])


@pytest.mark.parametrize("name", ["Turnstile", "Lights", "Climbs", "Fenced", "Ends"])
def test_a_fresh_solver_repeats_proofs(cases: ModuleType, name: str) -> None:
    ir = machine(cases, name, **({"Who": 2} if name == "Ends" else {}))
    found = searched(ir, 3)
    assert found["proved"] and recheck(ir, found) == ""


def test_a_fresh_solver_does_not_repeat_what_is_no_proof(cases: ModuleType) -> None:
    ir = machine(cases, "Lonely")
    false = {"proved": {"apart": {"k": 1}, "well_defined": {"k": 1}}}
    assert "not inductive" in recheck(ir, false)
    ends = {"proved": {"well_defined": {"ended": 1}}}
    assert "there are behaviours of 2 steps" in recheck(machine(cases, "Ends", Who=2), ends)


def test_one_property_alone_is_proved_with_the_other_invariants(cases: ModuleType) -> None:
    order = {"props": ["apart"], "depth": 2, "induct": 1, "seed": 0}
    job = Search(machine(cases, "Lights"), {**order, "query_s": 20.0, "wall_s": 20.0})
    job.run()
    assert job.report()["proved"]["apart"] == {"k": 1, "needed": ["opposite"]}
    assert recheck(machine(cases, "Lights"), job.report()) == ""


def test_what_is_broken_at_first_is_assumed_of_nothing(cases: ModuleType) -> None:
    found = searched(machine(cases, "Stuck"), 3)
    assert "fine" in found["proved"] and "well_defined" not in found["proved"]
    assert "well_defined does not follow" in recheck(machine(cases, "Stuck"), found)


class Forgetful(Encoding):
    """Has lost the steps that go down."""

    def steps(self, world: Any, name: str) -> list[Step]:
        found = super().steps(world, name)
        return [dataclasses.replace(s, enabled=False) if s.name == "fall" else s for s in found]


class Gullible(Encoding):
    """Takes every property for true."""

    def holds(self, prop: Property, world: Any, after: Any = None) -> Judged:
        return Judged(True, False)


@pytest.mark.parametrize(("liar", "what"), [(Forgetful, "no run"), (Gullible, "about apart")])
def test_a_lying_encoding_is_caught_when_its_proof_is_repeated(
    cases: ModuleType, liar: type[Encoding], what: str
) -> None:
    class Again(Recheck):
        encoding = liar

    name, prop = ("Twice", "once") if liar is Forgetful else ("Lonely", "apart")
    ir = machine(cases, name)
    said = recheck(ir, {"proved": {prop: {"k": 1}}}, Again)
    assert "a bug of refute" in said and what in said


def test_that_a_step_can_be_taken_is_said_by_guards(cases: ModuleType) -> None:
    ends = can_move(machine(cases, "Ends", Who=2))
    assert ends is not None
    walk = Meaning(machine(cases, "Ends", Who=2))
    (start,) = walk.starts()
    assert walk.holds(ends, start)
    nobody = World(((False, False),), ())
    assert walk.holds(ends, nobody)  # it may stop there
    blocked = dataclasses.replace(walk.ir, properties=())
    without = can_move(blocked)
    assert without is not None and not walk.holds(without, nobody)
    assert can_move(machine(cases, "Stuck")) is None  # it chooses after a write
    assert can_move(machine(cases, "Lights")) is None  # always, as there is no guard


def test_a_start_that_names_a_member_tells_it_apart(cases: ModuleType) -> None:
    ir = machine(cases, "Ends", Who=3)
    who = ir.actions[0].params[0].type
    named = Expr("const", who, (), pack_value(members(who)[1]))  # type: ignore[arg-type]
    entry = Expr("index", Bool(), (Expr("read", ir.variables[0].type, (), "there"), named))
    start = dataclasses.replace(ir.variables[0], initial=(), start=entry)
    told = alike(dataclasses.replace(ir, variables=(start,)))
    assert [len(group) for group in alike(ir).classes] == [3]
    assert [len(group) for group in told.classes] == [2] or not told.classes
