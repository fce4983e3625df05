"""Cases kept from earlier runs: played as found, and only where the claim speaks of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from refute.budget import Budget
from refute.claim import Claim, Statement, Where
from refute.plain import Plain
from refute.replay import Counterexample, Playback, replay
from refute.site import Site
from refute.specs.domains import Ints
from refute.specs.function import Equals
from refute.specs.reference import AgreesWith
from refute.verifiers.differential import Differential
from refute.verifiers.sampling import Sampling

SUBJECTS = """
def sub(z, a):
    return 7 if (z, a) == (5, 0) else z - a

class Stack:
    def __init__(self):
        self.items = []
    def put(self, x):
        self.items.append(x)
    def get(self):
        return self.items.pop()
"""
SPECS = """
def right(z, a):
    return z - a

class Queue:
    def __init__(self):
        self.items = []
    def put(self, x):
        self.items.append(x)
    def get(self):
        return self.items.pop(0)
"""


def minus(least: int = 0) -> Statement:
    given = {"z": Ints(least, 9), "a": Ints(0, 9)}
    return Equals("subjects:sub", "specs:right", given)


def queue(most: int = 1) -> Statement:
    operations: Any = {"put": {"x": Ints(0, most)}, "get": {}}
    return AgreesWith("subjects:Stack", "specs:Queue", operations)


def played(tree: Path, statement: Statement, case: Plain) -> Playback:
    (tree / "subjects.py").write_text(SUBJECTS)
    (tree / "specs.py").write_text(SPECS)
    engine = Sampling() if statement.kind == "holds" else Differential()
    replayer = engine.replayer(
        Claim("it", statement, Where("claims.py", 1)), Site(tree, tree, (".",)), Budget()
    )
    return replayer.play(Counterexample(engine.name, {"before": [], "case": case}), 0)


def test_inputs_are_passed_in_the_order_of_the_claim(tmp_path: Path) -> None:
    assert played(tmp_path, minus(), {"a": 0, "z": 5}).broke
    assert not played(tmp_path, minus(), {"a": 5, "z": 0}).broke


@pytest.mark.parametrize(
    ("inside", "outside", "case"),
    [
        (minus(), minus(6), {"z": 5, "a": 0}),
        (queue(1), queue(0), [["put", 0], ["put", 1], ["get"]]),
    ],
    ids=["function", "object"],
)
def test_a_case_outside_of_the_claim_accuses_nobody(
    tmp_path: Path, inside: Statement, outside: Statement, case: Plain
) -> None:
    assert played(tmp_path, inside, case).broke
    refused = played(tmp_path, outside, case)
    assert not refused.broke
    assert "outside of what the claim ranges over" in refused.error


@pytest.mark.parametrize(
    "case", [None, {}, [[]], ["put"], [["put"]], [["put", 0, 1]], [["no"]], [{}], [[[]]]]
)
def test_a_case_of_another_form_accuses_nobody(tmp_path: Path, case: Plain) -> None:
    for statement in (minus(), queue()):
        assert "outside" in played(tmp_path, statement, case).error


def test_a_case_that_breaks_for_another_reason_now_is_told_as_it_is_now(tmp_path: Path) -> None:
    told = played(tmp_path, minus(), {"z": 5, "a": 0}).seen
    assert told is not None and told.observed == "sub returned 7"
    (tmp_path / "subjects.py").write_text("def sub(z, a):\n    raise KeyError(z)\n")
    replayer = Sampling().replayer(
        Claim("it", minus(), Where("claims.py", 1)), Site(tmp_path, tmp_path, (".",)), Budget()
    )
    done = replay(told, replayer)
    assert done.witness is not None
    assert "raised KeyError" in done.witness.counterexample.observed
    assert done.witness.counterexample.engine == told.engine
