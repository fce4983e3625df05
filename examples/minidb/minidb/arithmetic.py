"""The operators on numbers: 64-bit integers that become reals where they would overflow.

Text is taken for its numeric prefix, NULL makes NULL, division by zero makes NULL, and the
division of two integers drops the fraction (https://sqlite.org/lang_expr.html#operators).
"""

from __future__ import annotations

from collections.abc import Callable

from minidb.values import SMALLEST, Value, fits, numeric, real, to_integer, to_text

Operator = Callable[[Value, Value], Value]


def _exact_or_real(
    whole: Callable[[int, int], int], inexact: Callable[[float, float], float]
) -> Operator:
    def operator(left: Value, right: Value) -> Value:
        if left is None or right is None:
            return None
        first, second = numeric(left), numeric(right)
        if (
            isinstance(first, int)
            and isinstance(second, int)
            and fits(exact := whole(first, second))
        ):
            return exact
        return real(inexact(float(first), float(second)))

    return operator


def _product(first: float, second: float) -> float:
    return first * second


add = _exact_or_real(lambda first, second: first + second, lambda first, second: first + second)
subtract = _exact_or_real(
    lambda first, second: first - second, lambda first, second: first - second
)
multiply = _exact_or_real(lambda first, second: first * second, _product)


def quotient(dividend: int, divisor: int) -> int:
    """Integer division towards zero; the divisor is not 0."""
    whole = abs(dividend) // abs(divisor)
    return whole if (dividend < 0) == (divisor < 0) else -whole


def remainder(dividend: int, divisor: int) -> int:
    """What `quotient` leaves; it has the sign of the dividend. The divisor is not 0."""
    return dividend - divisor * quotient(dividend, divisor)


def divide(left: Value, right: Value) -> Value:
    """`left / right`."""
    if left is None or right is None:
        return None
    first, second = numeric(left), numeric(right)
    if second == 0:
        return None
    if isinstance(first, int) and isinstance(second, int) and (first, second) != (SMALLEST, -1):
        return quotient(first, second)
    return real(float(first) / float(second))


def modulo(left: Value, right: Value) -> Value:
    """`left % right`: both become integers, and the result is real if either was."""
    if left is None or right is None:
        return None
    divisor = to_integer(right)
    if divisor == 0:
        return None
    rest = remainder(to_integer(left), divisor)
    whole = isinstance(numeric(left), int) and isinstance(numeric(right), int)
    return rest if whole else float(rest)


def _on_bits(combine: Callable[[int, int], int]) -> Operator:
    def operator(left: Value, right: Value) -> Value:
        if left is None or right is None:
            return None
        return combine(to_integer(left), to_integer(right))

    return operator


def shifted(number: int, by: int) -> int:
    """`number << by` in 64 bits; a negative distance shifts right, keeping the sign."""
    if by < 0:
        return number >> min(-by, 64)
    bits = (number << min(by, 64)) & ((1 << 64) - 1)
    return bits - (1 << 64) if bits >> 63 else bits


bit_and = _on_bits(lambda first, second: first & second)
bit_or = _on_bits(lambda first, second: first | second)
shift_left = _on_bits(shifted)
shift_right = _on_bits(lambda number, by: shifted(number, -by))


def concatenate(left: Value, right: Value) -> Value:
    """`left || right`: the texts of both; blobs count as text here."""
    if left is None or right is None:
        return None
    return to_text(left) + to_text(right)


def negate(operand: Value) -> Value:
    """`-operand`."""
    return subtract(0, operand)


def invert(operand: Value) -> Value:
    """`~operand`."""
    return None if operand is None else ~to_integer(operand)
