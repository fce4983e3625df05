"""The native engine in the checker: when it runs, what it finds, and how it gives way."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Claim, Verdict
from refute.evidence import Evidence
from refute.specs.library.paxos import Paxos
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.asking import find_machines
from refute.verifiers.model import exploring
from refute.verifiers.model.choice import Choice
from refute.verifiers.model.engine import ModelChecker
from refute.verifiers.model.exploring import NATIVE, PLAIN
from refute.verifiers.model.native import building
from refute.verifiers.model.native.builds import cache_directory
from refute.verifiers.model.native.compiler import FLAGS, QUICK, built
from refute.verifiers.model.native.forms import Unsuited
from refute.verifiers.model.native.here import native_search, native_walks

CASES = Path(__file__).parents[1] / "cases" / "machines"
BUDGET = Budget(cpu_s=30.0, wall_s=60.0)


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)


def judged(
    name: str,
    props: tuple[str, ...] = (),
    engine: str = "native",
    budget: Budget = BUDGET,
    walks: int = 0,
) -> dict[str, Evidence]:
    """Evidence by property, from the file of native machines."""
    file = CASES / "native_machines.py"
    machines = find_machines(file, CASES, (".",), {}, name)
    chosen: list[Claim] = [
        c for c in machines.claims if not props or c.statement.params["prop"] in props
    ]
    checker = ModelChecker(Choice(engine, walks, 90))
    results = check(chosen, budget, machines.site, engines=lambda _: (checker,))
    names = (str(c.statement.params["prop"]) for c in chosen)
    return dict(zip(names, results, strict=True))


def searched_by(evidence: Evidence) -> object:
    return evidence.statistics["engine"]


def test_a_broken_invariant_comes_with_a_shortest_replayed_trace() -> None:
    evidence = judged("Tokens")["few"]
    assert evidence.verdict is Verdict.REFUTED and searched_by(evidence) == NATIVE
    assert evidence.witness is not None and not evidence.witness.flaky
    assert len(evidence.witness.counterexample.steps) == 5
    assert evidence.witness.counterexample.engine == ModelChecker.name == evidence.engine


def test_a_sound_machine_is_exhausted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "FLAGS", FLAGS)  # as users have it
    evidence = judged("Tokens")
    for prop in ("bounded", "deadlock-free", "well_defined"):
        assert evidence[prop].verdict is Verdict.EXHAUSTED and searched_by(evidence[prop]) == NATIVE
        assert evidence[prop].statistics["distinct"] == 4096


def test_a_small_machine_needs_no_compiler(no_compiler: None) -> None:
    evidence = judged("Overflows", ("positive",), "auto")["positive"]
    assert searched_by(evidence) == PLAIN
    assert evidence.verdict is Verdict.EXHAUSTED
    assert "native" not in evidence.scope.text


def test_without_a_compiler_the_evidence_says_so(
    no_compiler: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exploring, "PLAIN_FIRST_S", 0.0)
    evidence = judged("Tokens", ("bounded",), "auto")["bounded"]
    assert searched_by(evidence) == PLAIN and evidence.verdict is Verdict.EXHAUSTED
    assert "no C compiler was found" in evidence.scope.text


def test_what_has_no_packed_form_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploring, "PLAIN_FIRST_S", 0.0)
    evidence = judged("Wide", ("only_early",), "auto")["only_early"]
    assert searched_by(evidence) == PLAIN and evidence.verdict is Verdict.EXHAUSTED
    assert "at: Map[0..9999, bool]" in evidence.scope.text
    assert judged("Wide", ("only_early",))["only_early"].verdict is Verdict.UNKNOWN


def test_a_number_beyond_its_bits_gives_way_to_the_plain_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exploring, "PLAIN_FIRST_S", 0.0)
    evidence = judged("Overflows", ("positive",), "auto")["positive"]
    assert searched_by(evidence) == PLAIN and evidence.verdict is Verdict.EXHAUSTED
    assert "it met what it cannot hold" in evidence.scope.text


def test_what_outgrows_its_room_is_searched_again_with_more() -> None:
    evidence = judged("Grows")
    assert evidence["bounded"].verdict is Verdict.REFUTED
    assert evidence["counted"].verdict is Verdict.EXHAUSTED
    assert searched_by(evidence["counted"]) == NATIVE
    assert evidence["counted"].statistics["distinct"] == 24


def test_a_library_that_crashes_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    program = building.program
    start = "static void start(Thread *t, const U *s)\n{"
    monkeypatch.setattr(
        building,
        "program",
        lambda *given: program(*given).replace(start, start + " __builtin_trap();"),
    )
    evidence = judged("Tokens", ("bounded",))["bounded"]
    assert evidence.verdict is Verdict.UNKNOWN
    assert "SIG" in evidence.reason


def test_a_library_that_lies_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    program = building.program
    head = "static int q0(const U *s, const U *n)\n{"
    monkeypatch.setattr(
        building, "program", lambda *given: program(*given).replace(head, head + " return 0;")
    )
    evidence = judged("Tokens", ("bounded",))["bounded"]
    assert evidence.verdict is Verdict.UNKNOWN
    assert "a bug of refute: the engines disagree" in evidence.reason


def test_memory_that_ends_is_unknown_with_what_was_covered() -> None:
    search = native_search(TwoPhase.build(RM=7).ir, memory=12 * 2**20, flags=QUICK)
    found = search.advance(60.0)
    assert found["full"] and not found["finished"]
    assert 1000 < found["distinct"] < 296_448
    assert found["left"] > 0 and found["bytes"] < 4 * 2**20


def test_states_without_a_number_left_are_no_lack_of_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = building.program
    monkeypatch.setattr(
        building,
        "program",
        lambda *given: program(*given).replace("MOST_STATES 0xf0000000u", "MOST_STATES 3000u"),
    )
    evidence = judged("Tokens", ("bounded",))["bounded"]
    assert evidence.verdict is Verdict.UNKNOWN
    assert "can number 4 billion states, and ended after" in evidence.reason
    assert 1000 < evidence.tried < 4096


def test_a_budget_that_ends_is_unknown_with_what_was_covered() -> None:
    evidence = judged("Endless", ("always",), budget=Budget(cpu_s=1.0, wall_s=60.0))["always"]
    assert evidence.verdict is Verdict.UNKNOWN and searched_by(evidence) == NATIVE
    assert "the budget ended after" in evidence.reason
    assert evidence.tried > 1000


def test_random_walks_refute_with_a_short_trace_and_else_survive() -> None:
    evidence = judged("Tokens", engine="native", walks=40)
    few = evidence["few"]
    assert few.verdict is Verdict.REFUTED and searched_by(few) == NATIVE
    assert few.witness is not None and len(few.witness.counterexample.steps) == 5
    assert evidence["bounded"].verdict is Verdict.SURVIVED
    assert evidence["bounded"].tried == 40 and "at most 90" in evidence["bounded"].distribution
    again = judged("Tokens", engine="native", walks=40)["few"]
    assert again.witness is not None
    assert again.witness.counterexample.inputs == few.witness.counterexample.inputs


def test_random_walks_do_not_show_that_something_is_never_reached() -> None:
    evidence = judged("Wide", ("only_early",), walks=5)["only_early"]
    assert evidence.verdict is Verdict.UNKNOWN  # no packed form, and no other engine walks
    evidence = judged("Endless", walks=5)
    assert evidence["always"].verdict is Verdict.SURVIVED
    assert evidence["full"].verdict is Verdict.UNKNOWN
    assert "no search of all states" in evidence["full"].reason


def test_walks_are_the_same_on_any_number_of_threads() -> None:
    ir = TwoPhase.build(RM=5).ir
    found = []
    for cores in (1, 2):
        search = native_walks(ir, 7, 300, 200, cores=cores, flags=QUICK)
        search.advance(60.0)
        assert search.statistics()["walks"] == 300
        report = search.report()
        found.append((search.statistics()["steps"], report["hits"], sorted(report["hits"])))
    assert found[0] == found[1]
    assert {"can_abort"} <= set(found[0][1])


def test_hashes_are_a_listed_assumption_and_only_where_states_are_wide() -> None:
    assumed = {}
    for model in (Paxos.build(), TwoPhase.build(RM=3)):
        (claim,) = [c for c in model.claims() if c.statement.params["prop"] == "well_defined"]
        checker = ModelChecker(Choice("native", hashed=True))
        (evidence,) = check([claim], BUDGET, model.site(), engines=lambda _, e=checker: (e,))
        assert evidence.verdict is Verdict.EXHAUSTED
        assumed[model.ir.name] = evidence.assumptions
    assert "no two of 3921 states have the same 64-bit hash" in assumed["Paxos"][0]
    assert assumed["TwoPhase"] == ()


def test_builds_are_kept_by_content_and_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text = "int rf_nothing(void) { return 3; }"
    with built(text, QUICK) as first, built(text, QUICK) as again:
        assert first == again and first.parent == cache_directory()
        before = first.stat().st_ino
    with built(text + "\n", QUICK) as other:
        assert other != first and first.stat().st_ino == before
    cache = cache_directory()
    assert cache is not None
    assert stat.S_IMODE(cache.stat().st_mode) & 0o077 == 0
    assert [p for p in cache.iterdir() if p.suffix != ".so"] == []


def test_a_cache_that_others_may_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = cache_directory()
    assert cache is not None
    cache.chmod(0o777)
    assert cache_directory() is None
    with built("int rf_nothing(void) { return 4; }", QUICK) as path:
        assert cache not in path.parents and os.access(path, os.R_OK)
    assert not path.exists()


def test_a_text_that_does_not_compile_is_declined() -> None:
    with pytest.raises(Unsuited, match="status"), built("int f( {", QUICK):
        pass
    with pytest.raises(Unsuited, match="took more"), built("int f;", QUICK, patience_s=1e-6):
        pass
