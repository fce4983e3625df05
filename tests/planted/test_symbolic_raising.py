"""Formulas prove nothing of what lies behind what raises, or of machines that start nowhere."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict
from refute.evidence import Evidence
from refute.specs.machine.asking import find_machines
from refute.verifiers.model.choice import SYMBOLIC, Choice
from refute.verifiers.symbolic.engine import Symbolic
from refute.verifiers.symbolic.findings import VACUOUS
from refute.verifiers.symbolic.session import Session
from refute.verifiers.symbolic.solving import Queries

FILE = Path(__file__).parents[1] / "cases" / "machines" / "raising_formulas.py"
BUDGET = Budget(cpu_s=40.0, wall_s=40.0)
UNIVERSAL = ("deadlock-free", "well_defined")


def judged(
    name: str, only: tuple[str, ...], budget: Budget = BUDGET, **settings: Any
) -> dict[str, Evidence]:
    """The evidence on some properties of a machine."""
    machines = find_machines(FILE, FILE.parent, (".",), settings, name)
    claims = [c for c in machines.claims if c.statement.params["prop"] in only]
    engine = Symbolic(Choice(SYMBOLIC, bound=5))
    found = check(claims, budget, machines.site, engines=lambda _: (engine,))
    return dict(zip((str(c.statement.params["prop"]) for c in claims), found, strict=True))


@pytest.mark.parametrize(
    ("name", "props", "what"),
    [
        ("StepRaises", ("low", "deadlock-free"), "boom() raises"),
        ("ConstraintRaises", ("low",), "some raises"),
        ("PredicateRaises", ("low", "asked"), "asked raises"),
        ("EndRaises", ("deadlock-free",), "over raises"),
    ],
)
def test_nothing_is_known_beyond_what_raises(name: str, props: tuple[str, ...], what: str) -> None:
    found = judged(name, (*props, "well_defined"))
    assert found.pop("well_defined").verdict is Verdict.REFUTED
    for evidence in found.values():
        assert evidence.verdict is Verdict.UNKNOWN
        assert evidence.reason.startswith(what) and "see well_defined" in evidence.reason


def test_what_raises_is_looked_for_without_being_asked() -> None:
    found = judged("StepRaises", ("low",))["low"]
    assert found.verdict is Verdict.UNKNOWN and "boom() raises" in found.reason


def test_what_may_raise_somewhere_proves_nothing() -> None:
    found = judged("ElsewhereRaises", ("low", "well_defined"))
    assert found["well_defined"].verdict is Verdict.SURVIVED
    assert found["low"].verdict is Verdict.SURVIVED
    assert "kept where nothing raises" in found["low"].reason
    assert "apart() raises" in found["low"].reason and "see well_defined" in found["low"].reason


@pytest.mark.parametrize("name", ["StartRaises", "OnlyStartRaises"])
def test_a_start_that_raises(name: str) -> None:
    found = judged(name, ("fine", *UNIVERSAL))
    assert {e.verdict for e in found.values()} == {Verdict.UNKNOWN}
    assert all(e.reason.startswith("an @initial predicate raises") for e in found.values())


def test_a_start_that_could_raise_and_does_not() -> None:
    found = judged("StartAsked", ("fine", *UNIVERSAL))
    assert {e.verdict for e in found.values()} == {Verdict.PROVED}


@pytest.mark.parametrize(
    ("name", "prop", "sizes"),
    [
        ("StartsOutside", "low", {}),
        ("JoiningOutside", "even", {"Member": ("any",)}),
        ("NoOrder", "same", {"Rank": ("any",)}),
    ],
)
def test_a_machine_that_starts_nowhere(
    name: str, prop: str, sizes: Mapping[str, tuple[str, ...]]
) -> None:
    budget = Budget(cpu_s=15.0, wall_s=15.0)  # no order is known to be endless
    for evidence in judged(name, (prop, *UNIVERSAL), budget, **sizes).values():
        assert evidence.verdict is Verdict.UNKNOWN and evidence.reason.startswith(VACUOUS)


def test_any_size_is_not_proved_where_something_raises() -> None:
    found = judged("JoiningRaises", ("even",), Member=("any",))["even"]
    assert found.verdict is Verdict.UNKNOWN and "see well_defined" in found.reason


def test_a_question_without_time_is_not_asked() -> None:
    answer = Queries(10.0).ask(at_most_s=-0.03)
    assert (answer.said, answer.why) == ("unknown", "no time was left for it")


class Ending:
    """A job that ends while its report is written."""

    def __init__(self) -> None:
        self.session: Session | None = None

    def report(self) -> dict[str, str]:
        """What is known now, and right after that the job has ended."""
        assert self.session is not None
        found = {"depth": "the last" if self.session._done else "some"}
        self.session._done = True
        return found


def test_what_a_job_says_at_its_end_is_all_that_it_found() -> None:
    session = Session.__new__(Session)
    session._job, session._done, session._failed = Ending(), False, ""
    session._job.session = session
    session._thread = threading.Thread(target=str)
    session._thread.start()
    assert session.advance(1.0) == {"depth": "some", "done": False}
    assert session.advance(1.0) == {"depth": "the last", "done": True}
