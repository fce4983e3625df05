"""Sampling of contracts: defects that hide behind requires, constants and relations are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Claim, Verdict, Where
from refute.evidence import Evidence
from refute.plain import Plain
from refute.site import Site
from refute.specs.contract import MeetsContract
from refute.verifiers.conformance import Kit, conform
from refute.verifiers.contracts.sampling import ContractSampling

TREE = Path(__file__).parents[1] / "cases" / "contract_players"
SITE = Site(TREE, TREE, (".",))
BUDGET = Budget(cases=200, wall_s=30.0, cpu_s=30.0)


def claim(name: str, module: str = "sampled") -> Claim:
    return Claim(name, MeetsContract(f"{module}:{name}"), Where(f"{module}.py", 1))


def sampled(name: str, module: str = "sampled") -> Evidence:
    (found,) = check(claim(name, module), BUDGET, SITE, engines=lambda _: (ContractSampling(),))
    return found


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("behind_a_constant", {"x": 73_129}),
        ("behind_a_relation", {"xs": [0], "i": 0}),
        ("behind_an_order", {"xs": [0, 0], "x": 0}),
        ("behind_a_literal", {"mode": "append", "data": b""}),
        ("of_nested_types", {"rows": [(0, None)], "seen": frozenset()}),
    ],
)
def test_hidden_defects_are_found_and_shrunk(name: str, least: Plain) -> None:
    found = sampled(name)
    assert found.verdict is Verdict.REFUTED and found.witness is not None
    assert found.witness.counterexample.inputs["case"] == least


def test_what_it_drew_from_is_told() -> None:
    found = sampled("sorted_pair")
    assert (found.verdict, found.tried) == (Verdict.SURVIVED, 200)
    assert "near the constants of the code" in found.distribution
    assert found.discarded < found.tried


def test_finite_inputs_are_exhausted() -> None:
    found = sampled("majority")
    assert (found.verdict, found.tried) == (Verdict.EXHAUSTED, 8)
    assert dict(found.scope.bounds) == {"a": "bool", "b": "bool", "c": "bool"}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("never_called", "vacuous: all"),
        ("always_raises", "vacuous: the function raised an allowed exception in all"),
        ("of_any", "sampled.py:75: the type Any is not supported"),
        ("of_nothing_known", "sampled.py:80: the parameter 'x' has no type"),
        ("missing", "sampled.py:1: there is no function 'missing'"),
    ],
)
def test_what_cannot_be_judged_is_unknown_with_the_reason(name: str, why: str) -> None:
    found = sampled(name)
    assert found.verdict is Verdict.UNKNOWN and why in found.reason


def test_the_engine_keeps_the_protocols_promises() -> None:
    kit = Kit(
        SITE,
        false=[claim("behind_a_relation"), claim("behind_a_constant")],
        sound=[claim("sorted_pair"), claim("majority"), claim("push", "promises")],
        unfit=[claim("never_called"), claim("first_is_positive", "promises")],
        budget=Budget(cases=80, wall_s=30.0),
    )
    assert conform(ContractSampling(), kit) == []
