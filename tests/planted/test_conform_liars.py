"""Wrong expectations and wrong engines: each has one defect, and none may pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict, claim
from refute.evidence import Evidence
from refute.site import Site
from refute.specs.conformance import Conforms
from refute.verifiers.sql.conform_file import Embedded, FileResult, Run, run_file

TREE = Path(__file__).parents[1] / "cases" / "sqllogictest"
SITE = Site(TREE, TREE, (".",))
BASICS = (TREE / "basics.test").read_text(encoding="utf-8")


def judged(engine: str, **options: float) -> Evidence:
    statement = Conforms(f"engines:{engine}", ["basics.test"], name="sqlite", **options)
    [evidence] = check(claim("it", statement, covers=["*"]), Budget(wall_s=60.0), SITE)
    return evidence


@pytest.mark.parametrize(
    ("engine", "line", "observed"),
    [
        ("dropping", 19, "and no more"),
        ("one_wrong", 93, "10"),
        ("swapping", 19, "1 | 2 | 3"),
        ("forgiving", 13, "no error"),
        ("refusing", 19, "not today"),
        ("crashing", 13, "AttributeError"),
        ("exiting", 93, "ended its process"),
        ("leaving", 93, "SystemExit"),
        ("wide", 19, "a row of 2 values for 1 columns"),
        ("letters", 19, "a row that is a str"),
        ("objects", 19, "a value of type builtins.object"),
        ("silent", 19, "no result set"),
        ("patching", 19, "and no more"),
        ("forging", 4, "malformed"),
    ],
)
def test_a_wrong_engine_is_refuted_at_its_record(engine: str, line: int, observed: str) -> None:
    evidence = judged(engine)
    assert evidence.verdict is Verdict.REFUTED, evidence.reason
    assert evidence.witness is not None
    case = evidence.witness.counterexample
    assert case.point == f"basics.test:{line}"
    assert observed in case.observed


def test_an_engine_that_hangs_is_refuted_in_time() -> None:
    evidence = judged("hanging", timeout_s=0.2)
    assert evidence.verdict is Verdict.REFUTED
    assert evidence.witness is not None
    assert "did not answer in time" in evidence.witness.counterexample.observed


def test_an_engine_without_a_connection_is_unknown() -> None:
    assert judged("broken").verdict is Verdict.UNKNOWN
    assert "ZeroDivisionError" in judged("broken").reason
    assert judged("no_such_thing").verdict is Verdict.UNKNOWN


def test_what_is_left_out_of_a_witness_does_not_matter_to_the_expectation() -> None:
    evidence = judged("one_wrong")
    assert evidence.witness is not None
    inputs = evidence.witness.counterexample.inputs
    assert isinstance(inputs, dict)
    assert inputs["before"] == [4, 7, 90]  # CREATE, INSERT, UPDATE; not the statements that fail


def run(text: str) -> FileResult:
    return run_file(Run(Embedded(5.0), "sqlite"), "f.test", text.encode(), confirm=1000)


def wrong_expectations() -> Iterator[tuple[int, str]]:
    """The suite with one expected line changed, removed or added, and the record's line."""
    lines = BASICS.split("\n")
    end = lines.index("halt")
    record, expecting = 0, False
    for number, line in enumerate(lines[:end]):
        if line.startswith(("query", "statement")):
            record, expecting = number + 1, False
            if line.startswith("statement") and "THIS IS NOT SQL" not in lines[number + 1]:
                other = "statement error" if line.endswith("ok") else "statement ok"
                yield record, "\n".join([*lines[:number], other, *lines[number + 1 :]])
        elif line == "----":
            expecting = True
            yield record, "\n".join([*lines[: number + 1], "5", *lines[number + 1 :]])
        elif expecting and line:
            yield record, "\n".join([*lines[:number], f"{line}1", *lines[number + 1 :]])
            yield record, "\n".join([*lines[:number], *lines[number + 1 :]])
        elif not line:
            expecting = False


def test_every_wrong_expectation_is_noticed() -> None:
    assert run(BASICS).failures == []
    noticed = 0
    for line, text in wrong_expectations():
        result = run(text)
        failed = {failure.line for failure in result.failures if failure.confirmed}
        assert line in failed or result.error, (line, text)
        noticed += 1
    assert noticed > 60
