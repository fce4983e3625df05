"""The symbolic engine end to end: workers, replay, proofs repeated, and what goes wrong."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict
from refute.cli.main import main
from refute.evidence import Evidence
from refute.plain import Plain
from refute.sandbox import Limits, Worker
from refute.specs.machine.asking import find_machines
from refute.verifiers import Interrupted
from refute.verifiers.model.choice import SYMBOLIC, Choice
from refute.verifiers.model.engine import ModelChecker
from refute.verifiers.model.second import open_blank
from refute.verifiers.symbolic import errands
from refute.verifiers.symbolic.engine import Symbolic
from refute.verifiers.symbolic.errands import Errand, Report
from refute.verifiers.symbolic.findings import REPEATED, TRUSTED

FILE = Path(__file__).parents[1] / "cases" / "machines" / "formula_machines.py"
BUDGET = Budget(cpu_s=60.0, wall_s=60.0)


def judged(
    name: str,
    engine: Symbolic | None = None,
    settings: Mapping[str, Any] | None = None,
    only: tuple[str, ...] = (),
    **choice: Any,
) -> dict[str, Evidence]:
    """The evidence on each property of a machine."""
    machines = find_machines(FILE, FILE.parent, (".",), settings or {}, name)
    claims = [c for c in machines.claims if not only or c.statement.params["prop"] in only]
    used = engine or Symbolic(Choice(SYMBOLIC, **choice))
    found = check(claims, BUDGET, machines.site, engines=lambda _: (used,))
    return dict(zip((str(c.statement.params["prop"]) for c in claims), found, strict=True))


def test_a_shortest_trace_is_replayed_and_the_rest_is_proved() -> None:
    found = judged("Turnstile", bound=4)
    witness = found["few"].witness
    assert found["few"].verdict is Verdict.REFUTED and witness is not None
    assert [s.text for s in witness.counterexample.steps] == ["start", "pay()", "go()", "pay()"]
    assert found["passed"].verdict is Verdict.PROVED and found["passed"].witness is not None
    assert found["natural"].verdict is Verdict.PROVED
    assert "every behaviour, of any length: by 1-induction" in found["natural"].scope.text
    assert found["natural"].assumptions == (REPEATED,)


def test_nothing_found_up_to_a_depth_is_no_more_than_that() -> None:
    found = judged("Lonely", bound=3, induct=1)["apart"]
    assert found.verdict is Verdict.SURVIVED
    assert found.reason.startswith("no violation up to depth 3; a counterexample to 1-induction")
    (note,) = [n for n in found.statistics["notes"] if n.startswith("apart")]
    assert "a counterexample to 1-induction, no bug" in note and "then turn()" in note
    assert found.unmet(find_need("Lonely"))


def find_need(name: str) -> Any:
    """What the claims about a machine need."""
    return find_machines(FILE, FILE.parent, (".",), {}, name).claims[0].need


def test_open_sizes_are_refuted_at_a_small_one_and_that_replays(tmp_path: Path) -> None:
    found = judged("Ends", settings={"Who": ("any",)})
    case = found["someone"].witness
    assert found["someone"].verdict is Verdict.REFUTED and case is not None
    assert case.counterexample.inputs["constants"] == {"Who": 1}
    assert found["gone"].verdict is Verdict.PROVED
    assert found["deadlock-free"].verdict is Verdict.PROVED
    assert "for every size of Who" in found["deadlock-free"].scope.text


def test_the_saved_trace_of_an_open_size_replays(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "leaving.py"
    spec.write_text(FILE.read_text("utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "leaving.py:Ends", "--set", "Who=any"]) == 1
    (saved,) = (tmp_path / ".refute" / "witnesses").glob("*.json")
    assert main(["replay", str(saved)]) == 1
    assert main(["replay", str(saved), "--itf", "-"]) == 0
    assert '"#meta"' in capfd.readouterr().out


def test_any_integer_to_start_with() -> None:
    found = judged("Anywhere", only=("left", "well_defined"), bound=2)
    assert found["left"].verdict is Verdict.REFUTED
    assert found["well_defined"].verdict is Verdict.PROVED


def test_a_refinement_of_a_fair_machine_is_not_proved_step_by_step() -> None:
    found = judged("Lazy", only=("once",), bound=2)["once"]
    assert found.verdict is Verdict.UNKNOWN and "as fair as Fair" in found.reason


def test_marked_as_inductive_needs_a_proof() -> None:
    machines = find_machines(FILE, FILE.parent, (".",), {}, "Marked")
    claims = [c for c in machines.claims if c.statement.params["prop"] == "apart"]
    (found,) = check(claims, BUDGET, machines.site)
    assert claims[0].need.grade is Verdict.PROVED and found.verdict is Verdict.PROVED
    assert [p.verdict for p in found.parts] == [Verdict.EXHAUSTED, Verdict.PROVED]
    assert found.statistics["notes"] == ["apart: 1-induction, with opposite"]
    assert found.assumptions[:1] == (TRUSTED,)


def test_marked_as_inductive_and_not_so_is_not_established() -> None:
    machines = find_machines(FILE, FILE.parent, (".",), {}, "Mistaken")
    claims = [c for c in machines.claims if c.statement.params["prop"] == "apart"]
    engines = (ModelChecker(), Symbolic(Choice(bound=3)))
    (found,) = check(claims, BUDGET, machines.site, engines=lambda _: engines)
    assert found.verdict is Verdict.EXHAUSTED and found.unmet(claims[0].need)
    assert "counterexample to 2-induction" in found.parts[1].statistics["notes"][0]


def test_a_solver_that_dies_is_told_with_its_status_and_the_depth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[Worker] = []

    def kept(limits: Limits) -> Worker:
        opened.append(open_blank(limits))
        return opened[-1]

    def kill(words: str) -> None:
        if words.startswith("symbolic: depth") and int(words.split()[-1]) > 2:
            os.kill(opened[0]._pids[0], signal.SIGKILL)

    monkeypatch.setattr(errands, "open_blank", kept)
    machines = find_machines(FILE, FILE.parent, (".",), {}, "Turnstile")
    claims = [c for c in machines.claims if c.statement.params["prop"] == "deadlock-free"]
    (found,) = Symbolic(Choice(SYMBOLIC, induct=0)).run(claims, BUDGET, machines.site, kill)
    assert found.verdict is Verdict.SURVIVED and found.scope.depths["steps"] > 0
    assert "the solver's worker died" in found.reason and "SIGKILL" in found.reason


class Inventing(Symbolic):
    """Says that what is reached in two steps breaks an invariant."""

    def report(self, errand: Errand, data: Plain, order: Mapping[str, Plain]) -> Report:
        found = super().report(errand, data, order)
        trace = dict(found["hits"]["passed"])
        trace["case"] = {**trace["case"], "property": "natural"}
        return {**found, "hits": {"natural": trace}}


class Proving(Symbolic):
    """Says that everything is proved by 1-induction."""

    def report(self, errand: Errand, data: Plain, order: Mapping[str, Plain]) -> Report:
        found = super().report(errand, data, order)
        lie = {"k": 1, "needed": []}
        return {**found, "hits": {}, "proved": dict.fromkeys(order["props"], lie)}


def test_an_invented_trace_is_not_believed() -> None:
    found = judged("Turnstile", Inventing(Choice(SYMBOLIC, bound=3)), only=("natural", "passed"))
    assert found["natural"].verdict is Verdict.UNKNOWN
    assert found["natural"].disputes == ("symbolic (Z3)",)


def test_an_invented_proof_is_not_repeated() -> None:
    found = judged("Lonely", Proving(Choice(SYMBOLIC, bound=1)), only=("apart",))["apart"]
    assert found.verdict is Verdict.SURVIVED
    assert "a proof was found and not confirmed: a fresh solver does not say so" in found.reason


def test_an_interrupt_says_which_depth_was_reached() -> None:
    machines = find_machines(FILE, FILE.parent, (".",), {}, "Turnstile")
    claims = [c for c in machines.claims if c.statement.params["prop"] == "deadlock-free"]
    engine = Symbolic(Choice(SYMBOLIC, induct=0))

    def stop(words: str) -> None:
        if words.startswith("symbolic: depth") and int(words.split()[-1]) > 1:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted) as stopped:
        engine.run(claims, BUDGET, machines.site, stop)
    (found,) = stopped.value.found
    assert found.verdict is Verdict.SURVIVED and "interrupted at depth" in found.reason
    assert "no violation up to depth" in found.reason


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--engine", "symbolic", "--simulate", "5"), "takes no walks"),
        (("--engine", "plain", "--induct"), "only formulas are proved by induction"),
        (("--depth", "3"), "without --simulate or --engine symbolic"),
        (("--engine", "symbolic", "--induct", "-1"), "less than 0"),
    ],
)
def test_options_that_contradict_each_other(
    options: tuple[str, ...], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", f"{FILE}:Lights", *options]) == 2
    assert said in capfd.readouterr().err


def test_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    options = ("--engine", "symbolic", "--depth", "2", "--induct", "1", "--budget", "60s")
    assert main(["check", f"{FILE}:Lights", *options]) == 0
    shown = capfd.readouterr().out
    assert "ESTABLISHED" in shown and "apart: 1-induction, with opposite" in shown
