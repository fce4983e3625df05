"""Searches up to permutations in the checker: what they find, refuse and leave open."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict
from refute.cli.check import run
from refute.errors import UsageError
from refute.evidence import Evidence
from refute.plain import Plain
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.asking import find_machines
from refute.specs.machine.symmetry import symmetry_of
from refute.verifiers.model.choice import Choice
from refute.verifiers.model.engine import ModelChecker
from refute.verifiers.model.exploring import NATIVE, Exploration
from refute.verifiers.model.symmetric import left_open

CASES = Path(__file__).parents[1] / "cases" / "machines"
BUDGET = Budget(cpu_s=30.0, wall_s=60.0)


@functools.cache
def of_all(name: str) -> dict[str, Evidence]:
    """Evidence on all properties of a machine, by the plain engine."""
    return judged(name)


def judged(
    name: str, engine: ModelChecker | None = None, props: tuple[str, ...] = (), size: int = 3
) -> dict[str, Evidence]:
    """Evidence by property, up to permutations. size: of P."""
    sizes = {"P": (size,)} if size != 3 else {}
    machines = find_machines(CASES / "symmetric.py", CASES, (".",), sizes, name)
    claims = [c for c in machines.claims if not props or c.statement.params["prop"] in props]
    checker = engine or ModelChecker(Choice("plain", symmetry=True))
    results = check(claims, BUDGET, machines.site, engines=lambda _: (checker,))
    names = (str(c.statement.params["prop"]) for c in claims)
    return dict(zip(names, results, strict=True))


def line_of(text: str) -> int:
    """The number of the line in the cases that holds the text."""
    lines = (CASES / "symmetric.py").read_text().splitlines()
    return next(at for at, line in enumerate(lines, 1) if text in line)


def test_a_broken_property_comes_with_a_shortest_replayed_trace() -> None:
    evidence = of_all("Lock")
    broken = evidence["exclusive"]
    assert broken.verdict is Verdict.REFUTED
    assert broken.witness is not None and not broken.witness.flaky
    assert len(broken.witness.counterexample.steps) == 5
    assert evidence["outside"].verdict is Verdict.EXHAUSTED
    assert evidence["crowded"].verdict is Verdict.PROVED


def test_what_is_established_is_so_for_all_states() -> None:
    evidence = of_all("Lock")["deadlock-free"]
    assert evidence.verdict is Verdict.EXHAUSTED
    assert "all 45 reachable states, up to permutations of P: 15 orbits" in evidence.scope.text
    assert (evidence.statistics["whole"], evidence.statistics["distinct"]) == (45, 15)


def test_never_reached_rests_on_a_second_search_of_all_states() -> None:
    evidence = judged("Lock", props=("too_many",))["too_many"]
    assert evidence.verdict is Verdict.REFUTED
    assert "in all 45 reachable states" in evidence.reason


def test_behaviours_are_not_decided() -> None:
    evidence = of_all("Lock")["gets_in"]
    assert evidence.verdict is Verdict.UNKNOWN
    assert "a temporal property is not decided up to permutations" in evidence.reason
    assert evidence.reason.endswith("check gets_in by itself, without --symmetry")


class Stopped(ModelChecker):
    """Its budget always ends."""

    def _explore(self, exploration: Exploration) -> tuple[Mapping[str, Plain], str]:
        found, _ = super()._explore(exploration)
        return found, "the budget ended"


def test_no_larger_budget_is_asked_for_what_stays_undecided() -> None:
    evidence = judged("Lock", Stopped(Choice("plain", symmetry=True)))
    assert "is not decided up to permutations" in evidence["gets_in"].reason
    assert evidence["outside"].reason == "the budget ended"


def test_refinements_are_not_decided() -> None:
    ir = TwoPhase.build(RM=3).ir
    why = left_open(ir, symmetry_of(ir))
    (name,) = (r.name for r in ir.refinements)
    assert why[name].startswith("a refinement is not decided up to permutations")
    assert why[name].endswith(f"check {name} by itself, without --symmetry")
    assert not left_open(ir, None)


def test_members_that_the_machine_names_stay() -> None:
    evidence = of_all("Led")
    assert evidence["follows"].verdict is Verdict.REFUTED
    scope = evidence["deadlock-free"].scope.text
    said = f"of P, except P1 (symmetric.py, line {line_of('LEADER in self.ready')} names some"
    assert said in scope


@pytest.mark.parametrize(
    ("name", "code", "reason"),
    [
        ("Chooses", "self.last = choose(", "choose or the place of an element"),
        ("Lists", "self.queue = Seq(P)", "what is written to queue"),
        ("LastWins", "self.last = p", "last is written in an order"),
        ("Enumerates", "in enumerate(list(P))", "choose or the place of an element"),
    ],
)
def test_machines_that_order_a_sort_are_refused(name: str, code: str, reason: str) -> None:
    for evidence in of_all(name).values():
        assert evidence.verdict is Verdict.UNKNOWN
        assert f"no permutation leaves {name} as it is" in evidence.reason
        assert f"symmetric.py, line {line_of(code)}: {reason}" in evidence.reason


def test_machines_without_a_sort_are_refused() -> None:
    for evidence in of_all("Ordered").values():
        assert evidence.verdict is Verdict.UNKNOWN
        assert "its state has no Sort with two members or more" in evidence.reason


def test_a_start_that_names_a_member_keeps_it() -> None:
    evidence = of_all("Starts")["deadlock-free"]
    assert evidence.verdict is Verdict.EXHAUSTED
    assert "of P, except P1 (symmetric.py, token starts with some" in evidence.scope.text
    assert evidence.statistics["distinct"] == 2


def test_whether_something_raises_can_stay_open() -> None:
    """The one state that is kept does not raise, and another one of its orbit does."""
    evidence = of_all("MayRaise")["well_defined"]
    assert evidence.verdict is Verdict.UNKNOWN
    assert "whether something raises: an any or all ends early" in evidence.reason
    assert f"symmetric.py, line {line_of('def some') - 1}" in evidence.reason
    assert of_all("MayRaise")["some"].verdict is Verdict.UNKNOWN
    assert of_all("MayRaise")["deadlock-free"].verdict is Verdict.EXHAUSTED
    whole = judged("MayRaise", ModelChecker(Choice("plain")), ("well_defined",))
    assert whole["well_defined"].verdict is Verdict.REFUTED


def test_rounds_that_commute_are_no_order() -> None:
    evidence = of_all("Loops")
    assert evidence["one"].verdict is Verdict.EXHAUSTED
    assert evidence["well_defined"].verdict is Verdict.EXHAUSTED
    statistics = evidence["one"].statistics
    assert statistics["distinct"] < statistics["whole"]


class Forgets(ModelChecker):
    """Counts an orbit's states wrongly."""

    def _explore(self, exploration: Exploration) -> tuple[Mapping[str, Plain], str]:
        found, stopped = super()._explore(exploration)
        report: dict[str, Any] = {**found, "whole": found["whole"] - 1}
        return report, stopped


def test_a_search_that_misses_states_is_noticed() -> None:
    evidence = judged("Lock", Forgets(Choice("plain", symmetry=True)), ("deadlock-free",))
    assert evidence["deadlock-free"].verdict is Verdict.UNKNOWN
    assert "a bug of refute: the engines disagree" in evidence["deadlock-free"].reason


@pytest.mark.parametrize("hashed", [False, True])
def test_the_native_engine_finds_the_same(
    hashed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    evidence = judged("Lock", ModelChecker(Choice("native", hashed=hashed, symmetry=True)))
    assert evidence["exclusive"].verdict is Verdict.REFUTED
    witness = evidence["exclusive"].witness
    assert witness is not None and not witness.flaky
    assert len(witness.counterexample.steps) == 5
    assert evidence["crowded"].verdict is Verdict.PROVED
    statistics = evidence["outside"].statistics
    assert (statistics["engine"], statistics["whole"]) == (NATIVE, 45)


def test_never_reached_natively_rests_on_all_states_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More states than the second engine repeats in any case."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    checker = ModelChecker(Choice("native", symmetry=True))
    evidence = judged("Lock", checker, ("too_many",), 6)["too_many"]
    assert evidence.verdict is Verdict.REFUTED, evidence.reason
    assert "in all 1393 reachable states" in evidence.reason


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(UsageError, match="--symmetry: --simulate keeps no states"):
        run([str(CASES / "symmetric.py"), "--symmetry", "--simulate=10"])
