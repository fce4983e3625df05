"""Bugs that need more members than are searched first, or different numbers, have a trace too."""

from __future__ import annotations

from pathlib import Path

import pytest

from refute.budget import Budget
from refute.claim import Verdict
from refute.sandbox import Limits
from refute.specs.machine.asking import described, find_machines
from refute.verifiers.model.choice import Choice
from refute.verifiers.symbolic.errands import SESSION, Errand, Report
from refute.verifiers.symbolic.sizes import prove_for_all

CASES = Path(__file__).parents[1] / "cases" / "machines"
BUDGET = Budget(cpu_s=30.0, wall_s=200.0)


class Unproved(Errand):
    """Proves nothing, at once. sizes: at which induction fails, if it says so."""

    sizes: dict[str, int]

    def run(self, data: object, order: object) -> Report:
        told = {"k": 2, "assumed": [], "states": [], "steps": [], "why": "", "sizes": self.sizes}
        return {"inductions": {"fine": told} if self.sizes else {}}


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize(("name", "sizes"), [("Five", {"N": 5}), ("Mixed", {"N": 4, "Q": 1})])
def test_a_bug_of_larger_sizes_is_found_where_a_proof_fails(
    name: str, sizes: dict[str, int], told: bool
) -> None:
    given = dict.fromkeys(sizes, ("any",))
    found = find_machines(CASES / "large_sizes.py", CASES, (".",), given, name)
    (claim,) = [c for c in found.claims if c.statement.params["prop"] == "fine"]
    ir = described(claim, found.site, Limits.from_budget(BUDGET))
    searched: list[str] = []
    clock = BUDGET.clock()
    clock._started -= 30.0  # so long the proof may have taken
    errand = Unproved(BUDGET, clock, searched.append, SESSION)
    errand.sizes = sizes if told else {}
    (judged,) = prove_for_all(ir, (claim,), found.site, errand, Choice())
    assert judged.verdict is Verdict.UNKNOWN and judged.reason == "a trace breaks it"
    assert judged.counterexamples[0].inputs["constants"] == sizes
    tried = {line.partition(":")[0] for line in searched}
    assert ("N=4" in tried or "N=1, Q=2" in tried) is not told
