"""Starting values that `@initial` settles are the ones that trying all combinations gives."""

from __future__ import annotations

from typing import Annotated

import pytest

from refute.errors import UsageError
from refute.machine import (
    Machine,
    Range,
    Seq,
    Set,
    Upto,
    Var,
    action,
    anything,
    initial,
    var,
)
from refute.specs.machine.meaning import Meaning
from refute.verifiers.model.search import Search

Digit = Annotated[int, Range(0, 9)]


class Digits(Machine):
    """Ten thousand combinations; y, z and then w follow from x."""

    w: Var[Digit] = var(one_of=anything)
    z: Var[Digit] = var(one_of=anything)
    y: Var[Digit] = var(one_of=anything)
    x: Var[Digit] = var(one_of=anything)

    @action
    def same(self) -> None:
        pass

    @initial
    def related(self) -> bool:
        return self.y == self.x + 1 and self.w != 3 and self.z * 2 == self.x

    @initial
    def backwards(self) -> bool:
        return self.z + self.y == self.w


class Round(Digits):
    """Each says what another is: none can go first."""

    @initial
    def related(self) -> bool:
        return self.y == self.x and self.x == self.y and self.z == self.w

    @initial
    def backwards(self) -> bool:
        return self.w == self.z and self.x > 7


class Raising(Digits):
    """Without a meaning where x is 0: all are left as they are."""

    @initial
    def related(self) -> bool:
        return self.y == 4 // self.x

    @initial
    def backwards(self) -> bool:
        return self.w == 0


class Wide(Machine):
    """Far more combinations than any engine could try, and one start for each sequence."""

    q: Var[Annotated[Seq[Digit], Upto(3)]] = var(one_of=anything)
    parts: Var[Set[Set[Digit]]] = var(one_of=anything)

    @action
    def same(self) -> None:
        pass

    @initial
    def whole(self) -> bool:
        return Set([Set(self.q)]) == self.parts and len(self.q) > 1


class TooWide(Wide):
    """As many combinations, and nothing that settles them."""

    @initial
    def whole(self) -> bool:
        return len(self.parts) < 2


def starts(machine: type[Machine]) -> set[tuple[object, ...]]:
    """The starts of the compiled search, which are those of the tree walk."""
    ir = machine.build().ir
    found = set(Search(ir).states)
    assert found == {w.variables for w in Meaning(ir).starts()}
    return set(found)


def test_what_is_settled_is_what_all_combinations_give() -> None:
    expected = {
        (z + x + 1, z, x + 1, x)
        for x in range(9)
        for z in range(10)
        if z * 2 == x and z + x + 1 < 10 and z + x + 1 != 3
    }
    assert len(expected) > 2
    assert starts(Digits) == expected
    assert max(len(v.initial) for v in Digits.build().ir.variables) < 5


def test_what_goes_round_is_settled_all_the_same() -> None:
    assert starts(Round) == {(w, w, x, x) for w in range(10) for x in (8, 9)}


def test_what_raises_is_left_to_the_search() -> None:
    assert all(len(v.initial) == 10 for v in Raising.build().ir.variables)
    assert "well_defined" in Search(Raising.build().ir).hits


def test_a_type_too_large_to_try_is_settled_or_named() -> None:
    ir = Wide.build().ir
    assert [len(v.initial) for v in ir.variables] == [1100, 175]
    search = Search(ir)
    search.advance(20.0)
    assert len(search.states) == 1100
    with pytest.raises(UsageError, match="parts may start with any of") as caught:
        Search(TooWide.build().ir)
    assert "var(one_of=f)" in str(caught.value.next_step)
