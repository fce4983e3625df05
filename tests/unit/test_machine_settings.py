"""`--set`: numbers, ranges, lists and truth values, and what they mean to a machine."""

from __future__ import annotations

import pytest

from refute.errors import UsageError
from refute.machine import Const, Machine, Map, Sort, Var, action, const, invariant, var, when
from refute.specs.machine.play import Play
from refute.specs.machine.settings import combinations, parse_settings
from refute.verifiers.model.search import Search


class Who(Sort):
    """Some."""


class Switched(Machine):
    LOUD: Const[bool] = const()
    N: Const[int] = const(2)
    on: Var[bool] = var(False)

    @action
    def turn(self) -> None:
        when(self.N > 1)
        self.on = self.LOUD

    @invariant
    def quiet(self) -> bool:
        return not self.on


def test_values_ranges_and_lists() -> None:
    given = parse_settings(["N=1,3", "RM=2..4", "LOUD=true,false"])
    assert given == {"N": (1, 3), "RM": (2, 3, 4), "LOUD": (1, 0)}
    assert len(combinations(given)) == 12


@pytest.mark.parametrize("text", ["N", "N=", "N=x", "N=3..", "N=1,,2", "N=1.5", "=3"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not NAME=NUMBER"):
        parse_settings([text])


@pytest.mark.parametrize("text", ["N=3..2", "N=0..1000"])
def test_ranges_have_an_end(text: str) -> None:
    with pytest.raises(UsageError, match="empty or too long"):
        parse_settings([text])


def test_a_truth_value_is_one_to_the_machine_and_to_its_class() -> None:
    search = Search(Switched.build(LOUD=1).ir)
    search.advance(1.0)
    case = search.report()["hits"]["quiet"]["case"]
    assert Play(Switched, {"LOUD": 1}, case).judge()["broke"]
    quiet = Search(Switched.build(LOUD=0).ir)
    quiet.advance(1.0)
    assert "quiet" not in quiet.report()["hits"]


def test_a_constant_of_another_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="the constant LOUD is 2"):
        Switched.build(LOUD=2)
    with pytest.raises(UsageError, match="needs LOUD"):
        Switched.build()


class Sized(Switched):
    told: Var[Map[Who, bool]] = var(each=False)


@pytest.mark.parametrize(
    ("given", "why"),
    [("N=true", "the constant N is True"), ("Who=false", "at least one member, got False")],
)
def test_a_truth_value_is_no_number(given: str, why: str) -> None:
    (constants,) = combinations(parse_settings(["LOUD=true", given]))
    with pytest.raises(UsageError, match=why):
        Sized.build(**{"Who": 2, **constants})
