"""Subjects that are right the first time and under one hash seed only are not believed."""

from __future__ import annotations

from pathlib import Path

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Claim, Verdict, Where
from refute.site import Site
from refute.specs.domains import Ints
from refute.specs.function import Equals

SPEC = "def same(x):\n    return x\n"


def claim_about(tree: Path, body: str) -> tuple[Claim, Site]:
    (tree / "lib.py").write_text(f"COUNT = []\n\n\ndef same(x):\n    {body}\n")
    (tree / "spec.py").write_text(SPEC)
    statement = Equals("lib:same", "spec:same", {"x": Ints(0, 30)})
    return Claim("same", statement, Where("claims.py", 1)), Site(tree, tree)


@pytest.mark.parametrize(
    "body",
    [
        "return x if hash('b') % 2 == 0 else x + 1",  # even under 0, odd under 1
        "COUNT.append(x)\n    return x if COUNT[0] == 0 else x + 1",  # depends on what came first
    ],
)
def test_it_is_refuted(tmp_path: Path, body: str) -> None:
    claim, site = claim_about(tmp_path, body)
    (evidence,) = check([claim], Budget(), site)
    assert evidence.verdict is Verdict.REFUTED and evidence.witness is not None


def test_cases_played_again_are_not_counted_twice(tmp_path: Path) -> None:
    claim, site = claim_about(tmp_path, "return x")
    (evidence,) = check([claim], Budget(), site)
    assert evidence.verdict is Verdict.EXHAUSTED and evidence.tried == 31
    assert evidence.statistics["calls"] == 31
