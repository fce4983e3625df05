"""The sound key-value store is accused of nothing, and how much was looked at is pinned."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

from refute.budget import Budget
from refute.claim import Verdict

HARNESS = Path(__file__).parents[1] / "cases" / "crash" / "harness.py"
crash_store = SimpleNamespace(**runpy.run_path(str(HARNESS)))


def test_a_sound_store_is_exhausted_in_every_property(tmp_path: Path) -> None:
    where = crash_store.site(tmp_path)
    findings = crash_store.explore(where, crash_store.claims())
    for name, finding in findings.items():
        assert finding.verdict is Verdict.EXHAUSTED, (name, finding.reason)
        assert finding.scope.depths["depth"] == 2
        assert "block" in finding.scope.bounds["persistence"]
        assert not finding.counterexamples
    statistics = next(iter(findings.values())).statistics
    stages = statistics["stages"]
    got = {name: stages[name]["states"] for name in ("prefixes", "single", "pairs", "subsets")}
    assert got == {"prefixes": 97, "single": 290, "pairs": 228, "subsets": 0}
    assert {name: statistics[name] for name in ("sequences", "faults", "nested", "samples")} == {
        "sequences": 17,
        "faults": 238,
        "nested": 135,
        "samples": 4,
    }
    assert statistics["repeated"] >= 10


def test_a_spent_budget_is_unknown(tmp_path: Path) -> None:
    where = crash_store.site(tmp_path)
    budget = Budget(cpu_s=0.01, wall_s=60)
    finding = crash_store.explore(where, crash_store.claims("atomicity"), budget)["atomicity"]
    assert finding.verdict is Verdict.UNKNOWN
    assert "CPU seconds" in finding.reason


def test_a_lying_disk_is_a_model_of_its_own(tmp_path: Path) -> None:
    """The store relies on flushes, so it breaks where they do nothing, and only there."""
    where = crash_store.site(tmp_path)
    asked = crash_store.claims("atomicity", persistence="dropped-flush", depth=1)
    finding = crash_store.explore(where, asked)["atomicity"]
    assert len(finding.counterexamples) == 1
    assert finding.scope.bounds["persistence"] == "dropped-flush"


def test_a_claim_that_could_not_fail_is_not_established(tmp_path: Path) -> None:
    where = crash_store.site(tmp_path)
    asked = crash_store.claims("durability", durability="prefix", depth=1, samples=0)
    finding = crash_store.explore(where, asked)["durability"]
    assert finding.verdict is Verdict.UNKNOWN
    assert "vacuous" in finding.reason
