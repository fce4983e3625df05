"""The run of a check: decisions from evidence, and what is left of it after an interrupt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import report_samples as samples

from refute.budget import Budget
from refute.claim import Claim, Verdict
from refute.cli.check_run import judge, record
from refute.evidence import Finding
from refute.replay import Counterexample
from refute.report.text import text
from refute.site import Site


class Interrupted:
    """An engine that refutes one claim and is interrupted at any other."""

    name, version, cost = "slow", "1", 1

    def __init__(self, refutes: str) -> None:
        self.refutes = refutes

    def declines(self, claim: Claim) -> str:
        return ""

    def group(self, claim: Claim) -> str:
        return claim.name

    def run(self, claims: Sequence[Claim], *_: object) -> list[Finding]:
        if claims[0].name != self.refutes:
            raise KeyboardInterrupt
        case = Counterexample("slow", {})
        return [Finding("slow", "1", Verdict.UNKNOWN, "found one", counterexamples=(case,))]

    def replayer(self, *_: object) -> samples.Breaks:
        return samples.Breaks()


@pytest.mark.parametrize(("refutes", "code"), [("a", 1), ("nobody", 3)])
def test_an_interrupt_keeps_what_was_known(tmp_path: Path, refutes: str, code: int) -> None:
    run = judge(
        [samples.claim("a"), samples.claim("b")],
        Site(tmp_path, tmp_path),
        Budget(),
        lambda _: None,
        engines=lambda kind: (Interrupted(refutes),),
    )
    assert (run.exit_code, run.interrupted) == (code, True)
    assert run.results[1].evidence.reason == "interrupted before it was judged"
    assert "interrupted: this is what was known by then" in text(run)


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([samples.survived(), samples.exhausted()], 0),
        ([samples.survived(), samples.refuted()], 1),
        ([samples.refuted(), samples.unknown()], 1),
        ([samples.survived(), samples.unknown()], 3),
        ([samples.reached()], 0),
        ([samples.unreachable()], 1),
        ([], 3),
    ],
)
def test_the_decision_is_the_evidence(results: list[samples.ClaimResult], code: int) -> None:
    run = record([r.claim for r in results], [r.evidence for r in results], Budget(), 1.0)
    assert run.exit_code == code
    assert run.decision == {0: "accepted", 1: "refuted", 3: "not established"}[code]
    assert len(run.reasons) == sum(bool(r.unmet) for r in run.results)
