"""The engines on tests/cases/contracts: each file's EXPECTED table says what must come out.

What the tables say is checked against brute force in tests/sound/test_contract_bruteforce.py. The
prover is asked alone, so that a proof is its own and no other engine hides what it misses; wrong
functions go to all engines, as a user's would. To keep the suite short it is every sixth right
function here, as tests/sound/test_prover_spares.py has the prover alone prove them all, and every
fourth wrong one; `python benchmarks/bench_corpus.py` judges all of them.
"""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Claim, Verdict, claim
from refute.evidence import Evidence
from refute.site import Site
from refute.specs.contract import MeetsContract
from refute.verifiers.contracts.engine import Prover

CASES = Path(__file__).parents[1] / "cases" / "contracts"
FILES = [p for p in sorted(CASES.glob("*.py")) if not p.name.startswith(("prover_", "crosshair_"))]
SITE = Site(CASES, CASES, (".",))
BUDGET = Budget(cases=200, cpu_s=3.0, wall_s=60.0, memory=2**30)


def table(path: Path, name: str) -> dict[str, str]:
    """The table of that name in the file, which is not imported; empty when it has none."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return dict(ast.literal_eval(node.value))
    return {}


ALL = [(path, name, want) for path in FILES for name, want in table(path, "EXPECTED").items()]
WRONG = [(path, name) for path, name, want in ALL if want == "REFUTED"][::4]
PROVED = [case for case in ALL if case[2] == "PROVED"]
BY_ITSELF = [case for case in PROVED if case[0].stem.startswith("right_")]  # by the other test too
RIGHT = BY_ITSELF[::6] + [case for case in PROVED if case not in BY_ITSELF]
OTHERS = RIGHT + [case for case in ALL if case[2] not in ("PROVED", "REFUTED")]


def about(path: Path, name: str) -> Claim:
    return claim(name, MeetsContract(f"{path.stem}:{name}"), need=Verdict.PROVED())


def place(path: Path, name: str) -> str:
    """The file:line inside the function that is marked `# here`; empty when none is."""
    lines = path.read_text().splitlines()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                if lines[number - 1].endswith("# here"):
                    return f"{path.name}:{number}"
    return ""


@pytest.mark.parametrize(("path", "name", "want"), OTHERS, ids=[name for _, name, _ in OTHERS])
def test_the_prover_says_what_is_expected(path: Path, name: str, want: str) -> None:
    cpu_s = BUDGET.cpu_s if want == "PROVED" else BUDGET.cpu_s / 2  # some would never end
    budget = dataclasses.replace(BUDGET, cpu_s=cpu_s)
    [found] = Prover().run([about(path, name)], budget, SITE, lambda _: None)
    if found.counterexamples:
        assert "REFUTED" in want.split("|"), found.counterexamples[0]
        return
    assert found.verdict.value in want.split("|"), found.reason
    if found.verdict is Verdict.PROVED:
        assumed = table(path, "ASSUMPTIONS").get(name, "")
        assert assumed in " ".join(found.assumptions)
        assert bool(assumed) == bool(found.assumptions)
    else:
        assert table(path, "REASONS").get(name, "") in found.reason
        assert place(path, name) in found.reason or "in time" in found.reason


@pytest.mark.parametrize(("path", "name"), WRONG, ids=[name for _, name in WRONG])
def test_a_wrong_function_is_refuted(path: Path, name: str) -> None:
    evidence: Evidence
    [evidence] = check(about(path, name), dataclasses.replace(BUDGET, cpu_s=10.0), SITE)
    assert evidence.verdict is Verdict.REFUTED, evidence.reason
    assert evidence.witness is not None and not evidence.witness.flaky
    assert not evidence.disputes
