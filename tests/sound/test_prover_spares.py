"""The prover proves the right functions of the corpus, and proposes nothing against them.

Nothing it proves may break on a small input, which tests/sound/test_contract_bruteforce.py shows
for the same table.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from refute.budget import Budget
from refute.claim import Claim, Verdict, Where
from refute.site import Site
from refute.specs.contract import MeetsContract
from refute.verifiers.contracts import engine
from refute.verifiers.contracts.engine import Prover
from refute.verifiers.contracts.inside import prove

CASES = Path(__file__).parents[1] / "cases" / "contracts"


def expected(path: Path) -> dict[str, str]:
    """The verdicts that the file expects, without importing it."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EXPECTED":
            return dict(ast.literal_eval(node.value))
    raise AssertionError(path)


# Whether Z3 finds these proofs depends on what it did before in the process.
HARD = ("kadane",)
RIGHT = [
    (path, name)
    for path in (CASES / "right_scalars.py", CASES / "right_loops.py", CASES / "prover_right.py")
    for name, verdict in expected(path).items()
    if verdict == "PROVED" and name not in HARD
]


def answer(path: Path, name: str) -> dict[str, Any]:
    """What the prover says of a function, in this process."""
    sources = {path.stem: [path.name, path.read_text()]}
    order = {"subject": f"{path.stem}:{name}", "raises": [], "wall_s": 600.0}
    return prove({**order, "subject_sources": sources, "spec_sources": sources})


@pytest.mark.parametrize(("path", "name"), RIGHT, ids=[name for _, name in RIGHT])
def test_a_right_function_is_proved(path: Path, name: str) -> None:
    said = answer(path, name)
    assert (said["status"], said["reason"], said["cases"]) == ("proved", "", [])
    assert said["obligations"]
    assert not said["assumptions"] or path.stem == "prover_right"
    assert all(status == "proved" for _, _, _, status, _ in said["obligations"])


def test_the_number_of_obligations_is_pinned() -> None:
    """A prover that quietly looks at less would still prove."""
    path = CASES / "right_loops.py"
    counts = {name: len(answer(path, name)["obligations"]) for name in ("total", "index_of")}
    assert counts == {"total": 4, "index_of": 12}


@pytest.mark.parametrize("name", HARD)
def test_a_hard_function_is_proved_in_a_fresh_worker(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "MOST_WALL_S", 600.0)  # what ends a proof is Z3's count of its work
    claim = Claim("it", MeetsContract(f"prover_right:{name}"), Where("prover_right.py", 1))
    site = Site(CASES, CASES, (".",))
    (found,) = Prover().run([claim], Budget(cpu_s=60, wall_s=1200), site, lambda _: None)
    assert (found.verdict, found.reason) == (Verdict.PROVED, "")
