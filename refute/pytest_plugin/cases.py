"""Witnesses as tests: what a file written by `refute replay --to-test` calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from refute.report.trace import trace_lines
from refute.report.witness_file import from_json, play


def assert_not_broken(witness: dict[str, Any], tree: Path) -> None:
    """Play the witness on the code in `tree`; fails while it breaks its claim.

    For a claim that something is reachable it fails when the case no longer shows that. It fails as
    well when the case cannot be played, because a test that judged nothing must not pass.
    """
    __tracebackhide__ = True
    file = from_json(witness, "the witness in this test")
    replayed = play(file, tree)
    wanted = file.claim.statement.existential
    if replayed.errors or not replayed.runs:
        pytest.fail(f"{file.claim.name}: {replayed.reason or replayed.errors[0]}", pytrace=False)
    if (replayed.broke > 0) is not wanted:
        times = f"{replayed.broke} of {replayed.runs} replays"
        words = "is no longer shown" if wanted else f"is broken in {times}"
        lines = [f"{file.claim.name}: the claim {words}", *trace_lines(file.case)]
        pytest.fail("\n".join(lines), pytrace=False)
