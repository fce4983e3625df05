"""Bit vectors prove of an expression what enumerating it with Python shows, and nothing more."""

from __future__ import annotations

import random
from typing import Any

import pytest
import z3

from refute.verifiers.contracts import integers
from refute.verifiers.contracts.bits import proved_by_bits
from refute.verifiers.contracts.context import Context
from refute.verifiers.contracts.terms import floor_div, floor_mod, lift

X, Y = z3.Ints("x y")


def plain_if(condition: Any, then: Any, other: Any) -> Any:
    """`then if condition else other`, of terms or of ints."""
    return (
        then
        if condition is True
        else other
        if condition is False
        else z3.If(condition, then, other)
    )


class Drawn:
    """A random expression over x and y, as a Python function and as a term."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.context = Context()

    def expression(self, depth: int) -> Any:
        """A function of x and y, which are ints or terms."""
        rng = self.rng
        if depth == 0:
            constant = rng.choice((1, 2, 3, 5, 12, -3))
            return rng.choice((lambda x, y: x, lambda x, y: y, lambda x, y: constant))
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        context, size = self.context, rng.choice((1, 3, 4, 7))
        return rng.choice(
            (
                lambda x, y: integers.bit_and(context, a(x, y), b(x, y)),
                lambda x, y: integers.bit_and(context, a(x, y), b(x, y)),
                lambda x, y: integers.bit_or(context, a(x, y), b(x, y)),
                lambda x, y: integers.bit_xor(context, a(x, y), b(x, y)),
                lambda x, y: a(x, y) + b(x, y),
                lambda x, y: a(x, y) - b(x, y),
                lambda x, y: a(x, y) * b(x, y),
                lambda x, y: floor_div(a(x, y), size),
                lambda x, y: floor_mod(a(x, y), size),
                lambda x, y: integers.shift_right(context, a(x, y), floor_mod(b(x, y), 4)),
                lambda x, y: integers.shift_left(context, a(x, y), floor_mod(b(x, y), 4)),
                lambda x, y: integers.bit_length(context, a(x, y)),
                lambda x, y: plain_if(a(x, y) < b(x, y), b(x, y), a(x, y)),
            )
        )


@pytest.mark.parametrize("seed", range(24))
def test_bounds_of_random_expressions_are_proved_exactly(seed: int) -> None:
    drawn = Drawn(seed)
    expression = drawn.expression(3)
    low, high = sorted(drawn.rng.sample(range(-9, 10), 2))
    values = [expression(x, y) for x in range(low, high + 1) for y in range(6)]
    term = lift(expression(X, Y))
    facts = [low <= X, high >= X, z3.Not(Y < 0), Y < 6]
    bits = z3.And(
        integers.bit_and(drawn.context, X, Y) <= 9, term == term
    )  # there is a bit operation
    for goal, holds in (
        (term <= max(values), True),
        (term >= min(values), True),
        (term <= max(values) - 1, False),
        (term > min(values), False),
    ):
        assert proved_by_bits([], facts, z3.And(goal, bits), 20) is holds


def test_what_is_not_bounded_is_not_proved() -> None:
    both = integers.bit_and(Context(), X, Y)
    assert not proved_by_bits([], [X >= 0, Y >= 0, Y < 9], both <= X, 5)
    assert not proved_by_bits([], [X >= 0, X < 9], X <= 9, 5)  # nothing about bits


def test_facts_beyond_arithmetic_are_left_out() -> None:
    both = integers.bit_and(Context(), X, Y)
    items = z3.Array("items", z3.IntSort(), z3.IntSort())
    given = [X >= 0, X < 300, Y >= 0, Y < X, z3.ForAll([X], items[X] > 0), items[Y] > 70]
    assert proved_by_bits([], given, z3.And(both >= 0, both <= Y), 5)
    assert not proved_by_bits([], given, both < Y, 5)
    assert proved_by_bits(
        [items[Y] < 100], given, integers.bit_and(Context(), items[Y], X) < 100, 5
    )
