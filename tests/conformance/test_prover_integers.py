"""Integer operations as terms agree with Python's own, on both sides of zero."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import z3

from refute.verifiers.contracts import integers, terms
from refute.verifiers.contracts.context import Context

VALUES = (-9, -8, -1, 0, 1, 2, 5, 8, 255, 256)
SHIFTS = (0, 1, 3, 9)
Encoded = Callable[[Context, Any, Any], Any]
CASES: dict[str, tuple[Encoded, Callable[[int, int], int], tuple[int, ...]]] = {
    "//": (lambda _, a, b: terms.floor_div(a, b), operator.floordiv, (-7, -2, -1, 1, 2, 7)),
    "%": (lambda _, a, b: terms.floor_mod(a, b), operator.mod, (-7, -2, -1, 1, 2, 7)),
    "&": (integers.bit_and, operator.and_, (-1, 0, 1, 6, 255)),
    "|": (integers.bit_or, operator.or_, (0, 1, 6, 255)),
    "^": (integers.bit_xor, operator.xor, (0, 1, 6, 255)),
    "<<": (integers.shift_left, operator.lshift, SHIFTS),
    ">>": (integers.shift_right, operator.rshift, SHIFTS),
}


def agrees(context: Context, term: Any, pins: list[Any], expected: int) -> bool:
    """Whether the term has the expected value where the symbols are pinned, and can have one."""
    solver = z3.Solver()
    solver.add(*context.axioms, *pins)
    if solver.check() != z3.sat:
        return False
    solver.add(terms.lift(term) != expected)
    return bool(solver.check() == z3.unsat)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("form", ["both unknown", "the second known"])
def test_an_operation_is_pythons(name: str, form: str) -> None:
    encode, plain, seconds = CASES[name]
    x, y = z3.Ints("x y")
    shared = Context()
    both = encode(shared, x, y)
    for b in seconds:
        context, term = shared, both
        if form == "the second known":
            context = Context()
            term = encode(context, x, b)
        for a in VALUES:
            beyond = name in "&|^" and form == "both unknown" and not (0 <= a < 256 and b >= 0)
            if not beyond:  # of these only true facts are known, as the next test says
                assert agrees(context, term, [x == a, y == b], plain(a, b)), (a, b)


@pytest.mark.parametrize("a", VALUES)
def test_what_is_known_of_and_is_true(a: int) -> None:
    x, y = z3.Ints("x y")
    context = Context()
    term = integers.bit_and(context, x, y)
    for b in VALUES:
        solver = z3.Solver()
        solver.add(*context.axioms, x == a, y == b, term == (a & b))
        assert solver.check() == z3.sat, b


@pytest.mark.parametrize("value", [-300, -256, -1, 0, 1, 2, 3, 4, 255, 256])
def test_bit_length_is_pythons(value: int) -> None:
    x = z3.Int("x")
    context = Context()
    term = integers.bit_length(context, x)
    assert agrees(context, term, [x == value], value.bit_length())


def test_a_wrong_operation_would_be_noticed() -> None:
    x, y = z3.Ints("x y")
    assert not agrees(Context(), x / y, [x == 7, y == -2], 7 // -2)
