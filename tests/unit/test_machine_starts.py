"""What variables start with, and bounds that are arithmetic over constants."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest

from refute.errors import UsageError
from refute.machine import (
    Const,
    Machine,
    Map,
    Range,
    Seq,
    Sort,
    Upto,
    Var,
    action,
    anything,
    const,
    var,
)
from refute.specs.machine.types import Atoms, Int, MapOf, SeqOf


class P(Sort, size=2):
    pass


class Starts(Machine):
    N: Const[int] = const()
    bits: Var[Map[P, bool]] = var(one_of=anything)
    some: Var[Map[P, Annotated[int, Range(0, "2 * N - 1")]]] = var(each_of=(0, 2))
    own: Var[Map[P, Annotated[int, Range(0, 3)]]] = var(each_of=lambda p: [p._index, 3])
    table: Var[Map[P, Map[P, bool]]] = var(each=False)
    line: Var[Annotated[Seq[P], Upto("P + N // 2")]] = var(())
    left: Var[Annotated[int, Range(0, 9)] | None] = var("2 * N - P")
    each: Var[Map[P, Map[P, Annotated[int, Range(0, 9)]]]] = var(each="N + 1")
    any: Var[Annotated[int, Range(0, 9)]] = var(one_of=[0, "N"])
    mode: Var[Literal["N", "idle"] | Annotated[int, Range(0, 9)]] = var("N")

    @action
    def step(self) -> None:
        self.line = ()


def test_each_way_to_start() -> None:
    ir = Starts.build(N=3).ir
    initial = {v.name: v.initial for v in ir.variables}
    assert len(initial["bits"]) == 4
    pairs = {"some": {(0, 0), (0, 2), (2, 0), (2, 2)}, "own": {(0, 1), (0, 3), (3, 1), (3, 3)}}
    for name, values in pairs.items():
        assert {v[1:] for v in initial[name]} == values


def test_each_reaches_into_maps_of_maps() -> None:
    initial = {v.name: v.initial for v in Starts.build(N=3).ir.variables}
    row = ("tuple", False, False)
    assert initial["table"] == (("tuple", row, row),)


def test_bounds_are_arithmetic() -> None:
    kinds = {v.name: v.type for v in Starts.build(N=3).ir.variables}
    atoms = Atoms("P", ("P0", "P1"), "sort")
    assert kinds["some"] == MapOf(atoms, Int(0, 5))
    assert kinds["line"] == SeqOf(atoms, 3)


def test_numbers_that_start_are_arithmetic() -> None:
    initial = {v.name: v.initial for v in Starts.build(N=3).ir.variables}
    assert (initial["left"], initial["any"], initial["mode"]) == ((4,), (0, 3), ("N",))
    assert initial["each"] == (("tuple", ("tuple", 4, 4), ("tuple", 4, 4)),)


class Unnamed(Machine):
    n: Var[Annotated[int, Range(0, 9)]] = var("K + 1")

    @action
    def step(self) -> None:
        self.n = 0


def test_arithmetic_of_nothing_known_is_refused_by_line() -> None:
    with pytest.raises(UsageError, match=r"test_machine_starts.py:\d+: .*K") as caught:
        Unnamed.build()
    assert caught.value.next_step


def test_a_size_read_too_early_is_told_by_line() -> None:
    with pytest.raises(UsageError, match=r"test_machine_starts.py:\d+: the size of P is"):
        dict.fromkeys(P, False)
