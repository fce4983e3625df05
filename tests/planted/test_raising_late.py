"""A predicate that was decided may raise in a later state, and `well_defined` is about that too."""

from __future__ import annotations

from pathlib import Path

import pytest

from refute.check import check
from refute.claim import Verdict
from refute.specs.machine.asking import find_machines
from refute.verifiers.model.choice import Choice
from refute.verifiers.model.engine import ModelChecker
from refute.verifiers.symbolic.engine import Symbolic

CASES = Path(__file__).parents[1] / "cases" / "machines"
DECIDED = {"StuckBefore": "deadlock-free"}


@pytest.mark.parametrize("engine", ["plain", "native", "symbolic"])
@pytest.mark.parametrize("name", ["FalseBefore", "TrueBefore", "StepBefore", "StuckBefore"])
def test_a_decided_predicate_that_raises_later_is_seen(name: str, engine: str) -> None:
    found = find_machines(CASES / "raising_late.py", CASES, (".",), {}, name)
    wanted = {"well_defined", DECIDED.get(name, "asked")}
    claims = [c for c in found.claims if c.statement.params["prop"] in wanted]
    made = (Symbolic if engine == "symbolic" else ModelChecker)(Choice(engine=engine))
    results = check(claims, site=found.site, engines=lambda _: (made,))
    props = (str(c.statement.params["prop"]) for c in claims)
    evidence = dict(zip(props, results, strict=True))
    assert evidence["well_defined"].verdict is Verdict.REFUTED
    witness = evidence["well_defined"].witness
    assert witness is not None
    assert "asked raises" in witness.counterexample.observed
    if name != "TrueBefore":
        assert evidence[DECIDED.get(name, "asked")].verdict is Verdict.REFUTED
