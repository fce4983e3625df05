"""What variables start with, and bounds that are arithmetic over constants."""

from __future__ import annotations

from typing import Annotated

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
