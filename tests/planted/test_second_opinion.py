"""A native search is judged by what it found: sets of states that are not closed are noticed."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict
from refute.evidence import Evidence
from refute.plain import Plain
from refute.specs.library.chang_roberts import ChangRoberts
from refute.specs.library.inner_fifo import InnerFIFO
from refute.specs.library.paxos import Paxos
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.asking import find_machines
from refute.verifiers.model import certificate, engine
from refute.verifiers.model.choice import Choice
from refute.verifiers.model.closed import Closed, open_closed
from refute.verifiers.model.engine import ModelChecker
from refute.verifiers.model.native import building
from refute.verifiers.model.native.certifying import certify
from refute.verifiers.model.native.compiler import QUICK
from refute.verifiers.model.native.here import native_search
from refute.verifiers.model.native.program import program

CASES = Path(__file__).parents[1] / "cases" / "machines"
MODELS = [TwoPhase.build(RM=4), InnerFIFO.build(), ChangRoberts.build(N=3)]


def written(model: Any, hashed: bool = False) -> tuple[int, dict[str, Plain], dict[str, Plain]]:
    """The file with the states of a search, what is said of it, and the search's report."""
    search = native_search(model.ir, flags=QUICK, hashed=hashed)
    assert search.advance(60.0)["finished"]
    report = search.report()
    fd = os.memfd_create("states")
    about: dict[str, Plain] = certify(search, fd)
    return fd, about, report


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_what_a_search_found_is_closed(model: Any) -> None:
    fd, about, report = written(model)
    found = open_closed(model.ir.to_plain(), fd, about)
    half = found.count // 2
    parts = [found.check(0, half), found.check(half, found.count)]
    for name in ("distinct", "generated"):
        assert sum(part[name] for part in parts) == report[name]
    reachable = {p.name for p in model.ir.of_kind("reachable")}
    assert set(parts[1]["reached"]) == reachable & set(report["hits"])
    assert set(parts[1]["fired"]) == {i.name for i in found.machine.instances} - set(
        report["silent"]
    )


def harmed(harm: Callable[[list[int]], None]) -> Plain:
    model = MODELS[0]
    fd, about, _ = written(model)
    whole = open_closed(model.ir.to_plain(), fd, about)
    rows = list(whole.columns[0])
    harm(rows)
    columns = [memoryview(array("Q", rows))]
    return Closed(model.ir, whole.codec.layout, columns).check(0, len(rows))


def test_sets_that_are_not_closed_are_noticed() -> None:
    for at in (0, 700, 1567):
        told = harmed(lambda rows, at=at: rows.pop(at))  # type: ignore[misc]
        assert "leads to a state that it did not find" in told["disagrees"]
    told = harmed(lambda rows: rows.insert(5, rows[5]))
    assert "twice" in told["disagrees"]
    told = harmed(lambda rows: rows.insert(3, rows.pop(2)))
    assert told["disagrees"]  # a search in what is not in order may miss a state first
    told = harmed(lambda rows: rows.append(rows[-1] | 1 << 63))
    assert "bits that mean nothing" in told["disagrees"]


def test_a_start_that_is_missing_is_noticed() -> None:
    model = MODELS[0]
    fd, about, _ = written(model)
    whole = open_closed(model.ir.to_plain(), fd, about)
    columns = [memoryview(array("Q", [1]))]
    told = Closed(model.ir, whole.codec.layout, columns).check(0, 0)
    assert told["disagrees"].startswith("a start leads to a state that it did not find")


def test_where_only_hashes_are_kept_there_is_nothing_to_judge() -> None:
    assert written(Paxos.build(), hashed=True)[1] is None


def judged() -> dict[str, Evidence]:
    """What rests on the search of Pairs being complete, 729 states."""
    found = find_machines(CASES / "native_machines.py", CASES, (".",), {}, "Pairs")
    claims = [c for c in found.claims if c.statement.existential]
    checker = ModelChecker(Choice("native"))
    budget = Budget(cpu_s=60.0, wall_s=60.0)
    results = check(claims, budget, found.site, engines=lambda _: (checker,))
    names = (str(c.statement.params["prop"]) for c in claims)
    return dict(zip(names, results, strict=True))


@pytest.fixture
def as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """729 states are more than the tree walk should repeat."""
    monkeypatch.setattr(engine, "TREE_WALK_MOST", 100)


def test_never_reached_is_refuted_by_the_closure_of_large_searches(as_large: None) -> None:
    evidence = judged()
    for prop in ("odd", "every-step-fires"):
        assert evidence[prop].verdict is Verdict.REFUTED
        exhaustion = evidence[prop].exhaustion
        assert exhaustion is not None and exhaustion.confirmed_by == certificate.BY
    assert "never taken: mend" in evidence["every-step-fires"].reason


def test_a_small_search_is_repeated_by_the_tree_walk() -> None:
    exhaustion = judged()["odd"].exhaustion
    assert exhaustion is not None and exhaustion.confirmed_by == engine.SECOND


def test_a_library_that_loses_steps_is_found_out(
    as_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = "static inline void emit(Thread *t, const U *s, const U *w, U instance, int name)\n{"
    monkeypatch.setattr(
        building,
        "program",
        lambda *given: program(*given).replace(head, head + " if (instance == 3) return;"),
    )
    for evidence in judged().values():
        assert evidence.verdict is Verdict.UNKNOWN
        assert "the engines disagree" in evidence.reason
        assert "a step of put leads to a state that it did not find" in evidence.reason


def test_a_judgement_that_is_cut_says_how_far_it_came(
    as_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificate, "SPARE_S", 1e9)
    monkeypatch.setattr(certificate, "TELL_S", 0.0)
    monkeypatch.setattr(certificate, "PART", 1)
    odd = judged()["odd"]
    assert odd.verdict is Verdict.UNKNOWN
    assert "did not confirm this within the budget: it judged" in odd.reason
    assert "of 729 states" in odd.reason
