"""Integers: bit operations and powers on ints of unbounded size, as arithmetic.

Against a constant every bit operation is exact: the mask's runs of ones become div and mod, and
`x | c == x + c - (x & c)`, `x ^ c == x + c - 2 * (x & c)`, `x & ~m == x - (x & m)` hold for all
ints. Between two unknowns, `&` is a symbol with true facts about it and, where both fit into a
byte, its exact bits. `2 ** k` is a symbol as well, with its recurrence and a table of small ones.
"""

from __future__ import annotations

from typing import cast

import z3

from refute.verifiers.contracts.context import Context
from refute.verifiers.contracts.terms import (
    Term,
    floor_div,
    floor_mod,
    implies,
    known,
    lift,
    same,
)

BYTE_BITS = 8
TABLE = 64
MOST_BITS = 4096

AND = z3.Function("and", z3.IntSort(), z3.IntSort(), z3.IntSort())
POW2 = z3.Function("pow2", z3.IntSort(), z3.IntSort())
SHR = z3.Function("shr", z3.IntSort(), z3.IntSort(), z3.IntSort())
BITS = z3.Function("bit_length", z3.IntSort(), z3.IntSort())


def bit_and(context: Context, left: Term, right: Term) -> Term:
    """`left & right`."""
    if known(left) and known(right):
        return left & right
    if known(left):
        left, right = right, left
    if known(right):
        return _masked(left, right)
    if same(left, right):
        return left
    for value, mask in ((left, right), (right, left)):
        ones = _ones(mask)
        if ones is not None:
            return modulo(context, value, power_of_two(context, ones))
        exponent = _exponent(mask)
        if exponent is not None:
            bit = floor_mod(shift_right(context, value, exponent), 2)
            return z3.If(bit == 1, mask, 0)
        if z3.is_app_of(mask, z3.Z3_OP_SUB) and same(mask.arg(0), lift(-1)):
            return value - bit_and(context, value, mask.arg(1))
    for value, mask in ((left, right), (right, left)):
        factor, shift = _shifted(mask)
        if shift:
            return bit_and(context, floor_div(value, 1 << shift), factor) * (1 << shift)
    if left.get_id() > right.get_id():
        left, right = right, left
    term = AND(left, right)
    _once(context, term, lambda: _and_facts(context, term, left, right))
    return term


def _shifted(term: Term) -> tuple[Term, int]:
    """(x, k) where the term was written as `x << k`; k is 0 for any other."""
    if z3.is_mul(term) and term.num_args() == 2 and z3.is_int_value(term.arg(1)):
        power = term.arg(1).as_long()
        if power > 1 and power & (power - 1) == 0:
            return term.arg(0), power.bit_length() - 1
    return term, 0


def _masked(value: Term, mask: int) -> Term:
    """`value & mask` for a constant mask."""
    if mask < 0:
        return value - _masked(value, ~mask)
    parts = []
    low = 0
    while mask >> low:
        if not mask >> low & 1:
            low += 1
            continue
        high = low
        while mask >> high & 1:
            high += 1
        bits = floor_mod(floor_div(value, 1 << low), 1 << (high - low))
        parts.append(bits * (1 << low))
        low = high
    return z3.Sum(parts) if parts else 0


def _and_facts(context: Context, term: Term, left: Term, right: Term) -> None:
    bits = [
        z3.If(z3.And(_bit(left, i) == 1, _bit(right, i) == 1), 1 << i, 0) for i in range(BYTE_BITS)
    ]
    small = z3.And(left >= 0, left < 256, right >= 0, right < 256)
    facts = [
        implies(left >= 0, z3.And(term >= 0, term <= left)),
        implies(right >= 0, z3.And(term >= 0, term <= right)),
        implies(z3.And(left < 0, right < 0), z3.And(term <= left, term <= right)),
        implies(left == right, term == left),
        implies(left == -1, term == right),
        implies(right == -1, term == left),
        floor_mod(term, 2) == z3.If(z3.And(_bit(left, 0) == 1, _bit(right, 0) == 1), 1, 0),
        implies(small, term == z3.Sum(bits)),
    ]
    context.define(z3.And(facts), term)


def _bit(value: Term, place: int) -> Term:
    return floor_mod(floor_div(value, 1 << place), 2)


def bit_or(context: Context, left: Term, right: Term) -> Term:
    """`left | right`."""
    if known(left) and known(right):
        return left | right
    return left + right - bit_and(context, left, right)


def bit_xor(context: Context, left: Term, right: Term) -> Term:
    """`left ^ right`."""
    if known(left) and known(right):
        return left ^ right
    return left + right - 2 * bit_and(context, left, right)


def shift_left(context: Context, value: Term, by: Term) -> Term:
    """`value << by` for `by` at least 0."""
    if known(value) and known(by) and by <= MOST_BITS:
        return value << max(by, 0)
    if same(value, 0):
        return 0
    power = power_of_two(context, by)
    return power if same(value, 1) else value * power


def shift_right(context: Context, value: Term, by: Term) -> Term:
    """`value >> by` for `by` at least 0."""
    if known(by):
        if known(value):
            return value >> max(by, 0)
        return floor_div(value, 1 << by) if 0 <= by <= MOST_BITS else _wide(context, value)
    value, by = lift(value), lift(by)
    if z3.is_mul(value) and value.num_args() == 2:
        for factor, other in (value.children(), value.children()[::-1]):
            exponent = _exponent(other)
            if exponent is not None and same(exponent, by):
                return factor
    term = SHR(value, by)
    _once(context, term, lambda: _shift_facts(context, term, value, by))
    return term


def _wide(context: Context, value: Term) -> Term:
    return context.integer("wide")


def _shift_facts(context: Context, term: Term, value: Term, by: Term) -> None:
    power = power_of_two(context, by)
    rest = value - term * power
    facts = [implies(by >= 0, z3.And(rest >= 0, rest < power))]
    facts += [implies(by == k, term == floor_div(value, 1 << k)) for k in range(2 * BYTE_BITS)]
    facts += [implies(value >= 0, term >= 0), implies(value < 0, term < 0)]
    facts += [implies(z3.And(value >= 0, by >= 0), term <= value)]
    context.define(z3.And(facts), term)
    if context.bound:
        return
    shifts = cast(list[tuple[Term, Term, Term]], context.memory.setdefault("shifts", []))
    for other, second, distance in shifts[:BYTE_BITS]:
        alike = z3.And(by == distance, by >= 0)
        context.define(implies(alike, implies(value == second + power, term == other + 1)))
        context.define(implies(alike, implies(second == value + power, other == term + 1)))
        context.define(implies(alike, implies(value <= second, term <= other)))
        context.define(implies(alike, implies(second <= value, other <= term)))
    shifts.append((term, value, by))


def power_of_two(context: Context, exponent: Term) -> Term:
    """`2 ** exponent` for an exponent of at least 0."""
    if known(exponent):
        return 1 << exponent if 0 <= exponent <= MOST_BITS else context.integer("wide")
    term = POW2(exponent)
    _once(context, term, lambda: _power_facts(context, term, exponent))
    return term


def _power_facts(context: Context, term: Term, exponent: Term) -> None:
    before = POW2(exponent - 1)
    facts = [term >= 1, implies(exponent >= 1, z3.And(term == 2 * before, before >= 1))]
    facts += [implies(exponent == k, term == (1 << k)) for k in range(2 * BYTE_BITS)]
    facts += [implies(exponent >= k, term >= (1 << k)) for k in (16, 32, 64)]
    facts += [term > exponent]
    context.define(z3.And(facts), term)
    if not context.bound:
        powers = cast(list[Term], context.memory.setdefault("powers", []))
        for other in powers[:BYTE_BITS]:
            a, b = other.arg(0), exponent
            context.define(implies(z3.And(a < b, a >= 0), 2 * other <= term))
            context.define(implies(z3.And(b < a, b >= 0), 2 * term <= other))
        powers.append(term)


def _exponent(term: Term) -> Term | None:
    """k where the term was written as `1 << k`."""
    return term.arg(0) if z3.is_app(term) and term.decl().eq(POW2) else None


def _ones(mask: Term) -> Term | None:
    """k where the term was written as `(1 << k) - 1`."""
    if not z3.is_app(mask) or mask.num_args() != 2:
        return None
    one = {z3.Z3_OP_SUB: 1, z3.Z3_OP_ADD: -1}.get(mask.decl().kind())
    found = one is not None and same(mask.arg(1), lift(one))
    return _exponent(mask.arg(0)) if found else None


def divide(context: Context, value: Term, by: Term) -> Term:
    """`value // by` for a divisor that is not 0."""
    exponent = None if known(by) else _exponent(by)
    return floor_div(value, by) if exponent is None else shift_right(context, value, exponent)


def modulo(context: Context, value: Term, by: Term) -> Term:
    """`value % by` for a divisor that is not 0."""
    exponent = None if known(by) else _exponent(by)
    if exponent is None:
        return floor_mod(value, by)
    return value - shift_right(context, value, exponent) * by


def bit_length(context: Context, value: Term) -> Term:
    """`value.bit_length()`."""
    if known(value):
        return value.bit_length()
    term = BITS(value)
    size = z3.If(value >= 0, value, -value)

    def state() -> None:
        low, high = power_of_two(context, term - 1), power_of_two(context, term)
        facts = [term >= 0, (term == 0) == (value == 0), size < high]
        facts += [implies(value != 0, low <= size)]
        facts += [implies(size < (1 << k), term <= k) for k in range(2 * BYTE_BITS)]
        facts += [implies(size >= (1 << k), term > k) for k in range(2 * BYTE_BITS)]
        context.define(z3.And(facts), term)

    _once(context, term, state)
    return term


def _once(context: Context, term: Term, state: object) -> None:
    """State the facts about a term the first time it is met."""
    key = f"met{term.get_id()}"
    if key not in context.memory:
        context.memory[key] = term
        assert callable(state)
        state()


def power(context: Context, base: Term, exponent: int) -> Term:
    """`base ** exponent` for a constant exponent of at least 0."""
    if known(base):
        return base**exponent
    result: Term = 1
    for _ in range(exponent):
        result = result * base
    return result
