"""The prover answers in time, whatever it was doing, and a claim's engines share one clock."""

from __future__ import annotations

import time

import pytest

from refute.verifiers.contracts.context import Context, TooLarge
from refute.verifiers.contracts.inside import prove

SOURCE = """
from icontract import ensure

@ensure(lambda xs, result: all(x in xs for x in result))
def f(xs: list[int]) -> list[int]:
    out = []
    for x in xs:
        for y in xs:
            if x < y and y not in out:
                out.append(y)
    return out
"""


def test_symbolic_execution_ends_with_the_time() -> None:
    with pytest.raises(TooLarge, match="the time ended"):
        Context(time.monotonic() - 1).check_time()
    Context().check_time()


def test_without_time_the_answer_is_unknown_and_says_why() -> None:
    sources = {"f": ["f.py", SOURCE]}
    order = {"subject": "f:f", "raises": [], "wall_s": 0.001}
    said = prove({**order, "subject_sources": sources, "spec_sources": sources})
    assert said["status"] == "unknown"
    assert "the time ended" in said["reason"]
