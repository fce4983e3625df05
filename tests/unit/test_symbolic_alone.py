"""Goals that are asked for alone, where the question about all of them is not answered."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import z3

from refute.specs.machine.frontend import FrontEnd
from refute.specs.machine.ir import MachineIR
from refute.verifiers.symbolic import induction
from refute.verifiers.symbolic.findings import parts_of
from refute.verifiers.symbolic.folding import Term
from refute.verifiers.symbolic.goals import Goal
from refute.verifiers.symbolic.proving import Proof
from refute.verifiers.symbolic.rechecking import Recheck
from refute.verifiers.symbolic.searching import Search
from refute.verifiers.symbolic.singling import Alone, Hypothesis
from refute.verifiers.symbolic.solving import GENERAL, Answer, Queries
from refute.verifiers.symbolic.unrolling import Path as Steps

CASES = Path(__file__).parents[1] / "cases" / "machines"
FEW_S = 5.0


def module(name: str) -> ModuleType:
    """A module of machines."""
    spec = importlib.util.spec_from_file_location(name, CASES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def cases() -> ModuleType:
    """The machines of which something is not decided."""
    return module("hard_goals")


class Slow(Queries):
    """Answers no question in which what is called so is assumed, asked for, or asserted."""

    slow = ""

    def ask(self, assumptions: Sequence[Term] = (), at_most_s: float | None = None) -> Answer:
        words = " ".join(map(str, (*assumptions, *self.given)))
        if self.slow and self.slow in words:
            return Answer("unknown", "too slow")
        return super().ask(assumptions, at_most_s)


def searched(ir: MachineIR, depth: int = 2) -> dict[str, Any]:
    """The report of a search of everything that a machine states."""
    order = {"props": parts_of("", ir), "depth": depth, "induct": 1, "seed": 0}
    job = Search(ir, {**order, "query_s": FEW_S, "wall_s": FEW_S})
    job.run()
    return job.report()


def rechecked(ir: MachineIR, props: Sequence[str], job: type[Recheck] = Recheck) -> dict[str, Any]:
    """The report of the repetition of proofs."""
    order = {"props": list(props), "lemmas": [], "k": 1, "ended": None, "seed": 0}
    made = job(ir, {**order, "query_s": FEW_S, "wall_s": FEW_S})
    made.run()
    return made.report()


def test_what_is_not_decided_leaves_the_rest_proved(cases: ModuleType) -> None:
    ir = FrontEnd(cases.First, {"Place": "any"}).ir()
    order = {"props": parts_of("", ir), "small": [], "induct": 1, "seed": 0}
    job = Proof(ir, {**order, "query_s": 2.0, "wall_s": 2.0})
    job.run()
    found = job.report()
    assert set(found["proved"]) == {"stays_on", "well_defined"}
    why = found["unanswered"]["deadlock-free"]["why"]  # time ends, or Z3 gives up before
    assert "not answered" in why or "incomplete quantifiers" in why
    assert rechecked(ir, ["stays_on"])["said"] == ""


def test_an_invariant_that_is_outside_is_not_assumed(cases: ModuleType) -> None:
    found = searched(FrontEnd(cases.Bits, {}).ir())
    assert set(found["proved"]) == {"natural", "well_defined", "deadlock-free"}
    assert "& of integers" in found["outside"]["two_bits"]
    assert found["proved"]["natural"]["needed"] == []
    assert rechecked(FrontEnd(cases.Bits, {}).ir(), list(found["proved"]))["said"] == ""


def test_what_is_outside_and_may_raise_leaves_open_whether_anything_does(cases: ModuleType) -> None:
    found = searched(FrontEnd(cases.Remains, {}).ir())
    assert "well_defined" not in found["proved"] and "well_defined" in found["outside"]


def alone(goal: Term, assumed: dict[str, Term], ways: Sequence[Term] = ()) -> Answer:
    """What is said of a goal; hypotheses speak of the variable of their name."""
    hypotheses = [
        Hypothesis(name, z3.Bool(f"h:{name}"), (), (holds,), frozenset({name}))
        for name, holds in assumed.items()
    ]
    asked = Alone(lambda: Slow(FEW_S, 0, GENERAL), tuple([z3.Or(*ways)] if ways else ()), (*ways,))
    return asked.ask(Goal("goal", goal, ""), hypotheses, frozenset({"x"}), FEW_S)


def test_few_hypotheses_are_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = z3.Ints("x y")
    monkeypatch.setattr(Slow, "slow", "slowly")
    assumed = {"x": x > 0, "y": z3.And(y > 0, z3.Bool("slowly"))}
    found = alone(x < 0, assumed)
    assert found.said == "unsat" and [str(n) for n in found.needed] == ["h:x"]
    assert alone(x < 2, assumed).said == "unknown"
    assert alone(z3.And(x < 0, x > 1), assumed).needed == ()


def test_a_model_counts_where_all_hypotheses_hold() -> None:
    x, y = z3.Ints("x y")
    found = alone(x < y, {"x": x > 0, "y": z3.And(y < 0, x > y)})
    assert found.said == "unsat" and [str(n) for n in found.needed] == ["h:y"]
    assert alone(x < y, {"x": x > 0, "y": y > 0}).said == "sat"


class Ways(Slow):
    """Answers only where one way is assumed among what is given."""

    def ask(self, assumptions: Sequence[Term] = (), at_most_s: float | None = None) -> Answer:
        if not {"up", "down"} & set(map(str, self.given)):
            return Answer("unknown", "too slow")
        return super().ask(assumptions, at_most_s)


@pytest.mark.parametrize(("most", "said"), [(2, "unsat"), (1, "sat")])
def test_each_way_is_asked_for(most: int, said: str) -> None:
    x, up, down = z3.Int("x"), z3.Bool("up"), z3.Bool("down")
    given = (z3.Or(up, down), z3.Implies(up, x == 2), z3.Implies(down, x == 0))
    asked = Alone(lambda: Ways(FEW_S, 0, GENERAL), given, (up, down))
    goal = Goal("goal", x > most, "")
    assert asked.ask(goal, [], frozenset(), FEW_S).said == said


class Deaf(Alone):
    """Does not answer whether one goal is met where something is assumed."""

    goal = ""

    def ask(
        self,
        goal: Goal,
        hypotheses: Sequence[Hypothesis],
        variables: frozenset[str],
        seconds: float,
    ) -> Answer:
        if goal.name == self.goal and hypotheses:
            return Answer("unknown", "too slow")
        return super().ask(goal, hypotheses, variables, seconds)


def too_slow(attempt: object, goals: Sequence[Goal], *_: object) -> tuple[Answer, Sequence[Goal]]:
    """Of a question about many goals."""
    return Answer("unknown", "too slow"), goals


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Where no question about many goals is answered."""
    monkeypatch.setattr(induction._Attempt, "_ask", too_slow)
    monkeypatch.setattr(induction, "Alone", Deaf)
    monkeypatch.setattr(Deaf, "goal", "")
    return monkeypatch


def lights() -> MachineIR:
    """Of which one invariant needs the other."""
    return FrontEnd(module("formula_machines").Lights, {}).ir()


def test_each_goal_alone_is_proved_as_all_together(deaf: pytest.MonkeyPatch) -> None:
    found = searched(lights())
    assert found["proved"]["apart"] == {"k": 1, "needed": ["opposite"]}
    assert set(found["proved"]) == {"apart", "opposite", "deadlock-free", "well_defined"}
    assert not found["open"]


def test_what_is_not_decided_is_not_leant_on(deaf: pytest.MonkeyPatch) -> None:
    deaf.setattr(Deaf, "goal", "opposite")
    found = searched(lights())
    assert set(found["proved"]) == {"deadlock-free", "well_defined"}
    assert found["open"] == {"opposite": "too slow"} and "apart" in found["inductions"]


class Singly(Recheck):
    """A repetition of which no question about many goals is answered."""

    def _never(
        self,
        path: Steps,
        asked: Sequence[tuple[Goal, frozenset[str]]],
        assumed: Sequence[Hypothesis],
        otherwise: str,
    ) -> tuple[str, frozenset[str]]:
        alone = Deaf(self._queries, path.queries.given)
        return self._each(alone, asked, assumed, otherwise)


def test_a_repetition_confirms_what_it_is_answered(deaf: pytest.MonkeyPatch) -> None:
    names = ["apart", "opposite", "well_defined"]
    found = rechecked(lights(), names, Singly)
    assert (found["said"], found["unsaid"]) == ("", {})
    deaf.setattr(Deaf, "goal", "opposite")
    found = rechecked(lights(), names, Singly)
    assert found["said"] == "" and set(found["unsaid"]) == {"apart", "opposite"}
    deaf.setattr(Deaf, "goal", "")
    found = rechecked(lights(), ["apart", "well_defined"], Singly)
    assert "not inductive" in found["said"]
