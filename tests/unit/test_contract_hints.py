"""Loop hints as plain Python: they fail where they are wrong and only there."""

from __future__ import annotations

import pytest

from refute.errors import IllegalClaim
from refute.specs.contract import HintBroken, MeetsContract, decreases, invariant


def count_down(n: int, step: int) -> int:
    turns = 0
    while n > 0:
        decreases(n)
        n -= step
        turns += 1
    return turns


def test_a_falling_measure_is_silent() -> None:
    assert count_down(5, 2) == 3
    assert count_down(5, 1) == 5  # begins anew at 5, which is more than where the last one ended


@pytest.mark.parametrize(("n", "step"), [(5, 0), (5, -1)])
def test_a_measure_that_does_not_fall(n: int, step: int) -> None:
    with pytest.raises(HintBroken, match=rf"test_contract_hints.py:\d+: .*{n - step} after 5"):
        count_down(n, step)


def test_a_measure_below_zero() -> None:
    with pytest.raises(HintBroken, match="less than 0"):
        for i in range(3):
            decreases(1 - i)


def test_an_invariant_names_its_place() -> None:
    with pytest.raises(AssertionError, match=r"test_contract_hints.py:\d+: the loop invariant"):
        for i in range(3):
            invariant(i < 2)


def test_an_inner_loop_begins_again_where_the_outer_has_a_hint() -> None:
    def nested(broken: bool) -> None:
        for i in range(3):
            invariant(i >= 0)
            j = 3
            while j > 0:
                decreases(j)
                j -= 0 if broken and i else 1

    nested(False)
    with pytest.raises(HintBroken, match="3 after 3"):
        nested(True)


def test_an_inner_loop_under_an_outer_one_without_hints_is_spared() -> None:
    for _ in range(3):
        j = 3
        while j > 0:
            decreases(j)
            j -= 1
    assert j == 0


def test_recursion_between_two_iterations() -> None:
    def walk(n: int) -> int:
        done = 0
        left = n
        while left > 0:
            decreases(left)
            left -= 1
            done += 1 + walk(n - 1)
        return done

    assert walk(3) == 15


def test_only_an_int_is_a_measure() -> None:
    with pytest.raises(TypeError, match="a measure is an int, not str"):
        decreases("1")  # type: ignore[arg-type]


def test_the_statement_is_its_own_spec() -> None:
    statement = MeetsContract("m:f", raises=["ValueError", "m.Odd"])
    assert (statement.kind, statement.spec) == ("contract", ("m:f",))
    assert statement.params["raises"] == ["ValueError", "m.Odd"]
    assert "ValueError or m.Odd" in statement.text


@pytest.mark.parametrize("raises", [["no such"], [3], ["a."]])
def test_names_of_exceptions_are_checked(raises: list[str]) -> None:
    with pytest.raises(IllegalClaim, match="does not name an exception"):
        MeetsContract("m:f", raises=raises)


def test_a_command_has_no_contract() -> None:
    with pytest.raises(IllegalClaim, match="is a command"):
        MeetsContract("cmd:python3 f.py")
