"""The model checker end to end: through workers, replay and `check`; and engines that lie."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Claim, Verdict, Where
from refute.errors import UsageError
from refute.evidence import Evidence
from refute.plain import Plain
from refute.sandbox import Worker
from refute.site import Site
from refute.specs.machine import Reaches, Satisfies
from refute.specs.machine.asking import Found, find_machines
from refute.specs.machine.settings import parse_settings
from refute.verifiers import Verifier
from refute.verifiers.model.engine import ModelChecker
from refute.verifiers.model.exploring import Exploration

FILE = Path(__file__).parents[1] / "cases" / "machines" / "planted_machines.py"
BUDGET = Budget(cpu_s=30.0, wall_s=60.0)


def found(name: str) -> Found:
    return find_machines(FILE, FILE.parent, (".",), {}, name)


def judged(
    name: str, props: tuple[str, ...], engine: Verifier | None = None
) -> dict[str, Evidence]:
    machines = found(name)
    claims = [c for c in machines.claims if c.statement.params["prop"] in props]
    engines = {"engines": lambda _: (engine,)} if engine else {}
    results = check(claims, BUDGET, machines.site, **engines)  # type: ignore[arg-type]
    return dict(zip((str(c.statement.params["prop"]) for c in claims), results, strict=True))


def test_a_universal_property_is_refuted_by_a_replayed_trace() -> None:
    evidence = judged("Shrinks", ("grows", "well_defined"))
    assert evidence["grows"].verdict is Verdict.REFUTED
    witness = evidence["grows"].witness
    assert witness is not None and not witness.flaky
    steps = witness.counterexample.steps
    assert [s.text for s in steps] == ["start", "add(Light.RED)", "add(Light.GREEN)", "forget()"]
    assert steps[-1].changes == {"log": "{}"}
    assert evidence["well_defined"].verdict is Verdict.EXHAUSTED
    assert evidence["well_defined"].statistics["distinct"] == 4


class Counting(Site):
    """Counts the workers that load the machine's module."""

    opened: ClassVar[list[int]] = []

    def subject_worker(self, *args: Any, **kwargs: Any) -> Worker:
        self.opened.append(args[2] if len(args) > 2 else kwargs.get("hash_seed", 0))
        return super().subject_worker(*args, **kwargs)


def test_cases_of_one_machine_are_played_in_one_fresh_worker_per_hash_seed() -> None:
    machines = found("Ring")
    site = Counting(machines.site.subject_tree, machines.site.spec_tree, machines.site.roots)
    Counting.opened.clear()
    results = check(machines.claims, BUDGET, site)
    shown = [e.witness for e in results if e.existential]
    assert len(shown) == 2 and all(w is not None and w.runs == w.broke == 2 for w in shown)
    assert sorted(Counting.opened) == [0, 1]  # plays alone: what the file says is known


def test_a_machine_is_read_again_when_its_file_has_changed(tmp_path: Path) -> None:
    spec = tmp_path / "changing.py"
    text = FILE.read_text("utf-8")
    spec.write_text(text, encoding="utf-8")
    before = find_machines(spec, tmp_path, (".",), {}, "Shrinks")
    grows = [c for c in before.claims if c.statement.params["prop"] == "grows"]
    spec.write_text(text.replace("self.log.clear()", "pass"), encoding="utf-8")
    site = Counting(before.site.subject_tree, before.site.spec_tree, before.site.roots)
    Counting.opened.clear()
    (evidence,) = check(grows, BUDGET, site)
    assert Counting.opened == [0] and evidence.verdict is Verdict.EXHAUSTED


def test_never_reached_is_refuted_by_exhaustion_that_a_second_engine_confirms() -> None:
    evidence = judged("Unreachable", ("odd", "every-step-fires"))
    for prop, why in (("odd", "odd holds in no state"), ("every-step-fires", "never taken: never")):
        assert evidence[prop].verdict is Verdict.REFUTED
        assert why in evidence[prop].reason
        assert evidence[prop].exhaustion is not None


def test_what_lies_behind_a_step_that_raises_is_unknown() -> None:
    evidence = judged("IllDefined", ("well_defined", "deadlock-free"))
    assert evidence["well_defined"].verdict is Verdict.REFUTED
    assert evidence["deadlock-free"].verdict is Verdict.UNKNOWN
    assert "raise" in evidence["deadlock-free"].reason


def test_a_search_cut_by_a_constraint_says_so() -> None:
    evidence = judged("Counter", ("natural", "ten"))
    assert evidence["natural"].verdict is Verdict.EXHAUSTED
    assert "few" in evidence["natural"].assumptions[0]
    assert evidence["ten"].verdict is Verdict.UNKNOWN
    assert "constraint" in evidence["ten"].reason


class Inventing(ModelChecker):
    """Claims that a property broke at the start."""

    name = "inventing"

    def _explore(self, exploration: Exploration) -> tuple[Mapping[str, Plain], str]:
        report, stopped = super()._explore(exploration)
        trace = dict(report["fired"][0])
        trace["case"] = {**trace["case"], "property": "exclusive"}
        return {**report, "hits": {"exclusive": trace}}, stopped


class Forgetful(ModelChecker):
    """Reports a complete search that saw less."""

    name = "forgetful"

    def _explore(self, exploration: Exploration) -> tuple[Mapping[str, Plain], str]:
        report, stopped = super()._explore(exploration)
        return {**report, "distinct": report["distinct"] - 1, "hits": {}}, stopped


def test_an_invented_counterexample_is_not_believed() -> None:
    evidence = judged("Mutex", ("exclusive",), Inventing())["exclusive"]
    assert evidence.verdict is Verdict.UNKNOWN
    assert evidence.disputes == ("inventing",)


@pytest.mark.parametrize(("name", "prop"), [("MissingGuard", "exclusive"), ("Ring", "all_seen")])
def test_a_search_that_skipped_states_does_not_establish(name: str, prop: str) -> None:
    evidence = judged(name, (prop,), Forgetful())[prop]
    assert evidence.verdict is Verdict.UNKNOWN
    assert "engines disagree" in evidence.reason


def test_a_budget_that_ends_gives_unknown_with_what_was_covered() -> None:
    statement = Satisfies("refute.specs.library.two_phase_commit:TwoPhase", "agreement", {"RM": 9})
    claim = Claim("big", statement, Where("claims.py", 1))
    small = Budget(cpu_s=2.0, wall_s=4.0)
    engines = (ModelChecker(),)  # formulas would go on
    (evidence,) = check([claim], small, found("Mutex").site, engines=lambda _: engines)
    assert evidence.verdict is Verdict.UNKNOWN
    assert "distinct states" in evidence.reason


def test_misstated_properties_are_unknown_with_the_right_word() -> None:
    subject = "planted_machines:Unreachable"
    claims = [
        Claim("a", Satisfies(subject, "odd"), Where("claims.py", 1)),
        Claim("b", Satisfies(subject, "nothing"), Where("claims.py", 2)),
        Claim("c", Reaches(subject, "deadlock-free"), Where("claims.py", 3)),
    ]
    engines = (ModelChecker(),)  # others would look for what the deadlock is not
    site = found("Unreachable").site
    reasons = [e.reason for e in check(claims, BUDGET, site, engines=lambda _: engines)]
    assert "state it with Reaches" in reasons[0]
    assert "no property 'nothing'" in reasons[1]
    assert "deadlock-free" in reasons[2]


def test_sweeps_and_names_of_settings() -> None:
    assert parse_settings(["RM=2..4", "N=1"]) == {"RM": (2, 3, 4), "N": (1,)}
    for wrong in (["RM"], ["RM=x"], ["RM=3..2"], ["RM=1", "RM=2"]):
        with pytest.raises(UsageError):
            parse_settings(wrong)
    claims = find_machines(FILE, FILE.parent, (".",), {"P": (1, 2)}, "Mutex").claims
    names = {c.name for c in claims if c.statement.params["prop"] == "exclusive"}
    assert names == {"Mutex(P=1).exclusive", "Mutex(P=2).exclusive"}
    with pytest.raises(UsageError, match="no machine here"):
        find_machines(FILE, FILE.parent, (".",), {"Nope": (1,)})
    with pytest.raises(UsageError, match="no machine called Nope"):
        find_machines(FILE, FILE.parent, (".",), {}, "Nope")


def test_a_whole_machine_as_one_claim() -> None:
    subject: Any = "planted_machines:"
    claims = [
        Claim(name, Satisfies(subject + name), Where("claims.py", 1))
        for name in ("Mutex", "Shrinks", "Unreachable")
    ]
    verdicts = [e.verdict for e in check(claims, BUDGET, found("Mutex").site)]
    assert verdicts == [Verdict.EXHAUSTED, Verdict.REFUTED, Verdict.UNKNOWN]
