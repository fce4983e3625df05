"""Functions without loops with one mistake each, in the body or in the contract.

WITNESSES names inputs that break the contract where no small ones do.
"""

from __future__ import annotations

from icontract import ensure, require, snapshot

EXPECTED = {
    "maximum_of_wrong_test": "REFUTED",
    "clamp_swapped": "REFUTED",
    "absolute_of_one": "REFUTED",
    "leap_without_400": "REFUTED",
    "april_has_31": "REFUTED",
    "blocks_rounded_down": "REFUTED",
    "overlap_touching": "REFUTED",
    "shares_lose_cents": "REFUTED",
    "median_of_tie": "REFUTED",
    "align_up_strictly": "REFUTED",
    "low_byte_seven_bits": "REFUTED",
    "first_of_nothing": "REFUTED",
    "divide_by_anything": "REFUTED",
    "slot_before": "REFUTED",
    "saturates_late": "REFUTED",
    "magic_number": "REFUTED",
    "related_inputs": "REFUTED",
    "secret_word": "REFUTED",
    "grows_always": "REFUTED",
    "found_always": "REFUTED",
    "asserts_too_much": "REFUTED",
    "unpacks_two": "REFUTED",
    "alias_is_no_copy": "REFUTED",
    "negative_index": "REFUTED",
    "assigned_sometimes": "REFUTED",
    "raises_other": "REFUTED",
    "floor_of_negative": "REFUTED",
    "adds_optional": "REFUTED",
    "half": "PROVED",
    "calls_outside_contract": "REFUTED",
}

WITNESSES = {
    "magic_number": {"x": 123456789},
    "related_inputs": {"x": 3020, "y": 1001},
    "secret_word": {"word": "xyzzy"},
    "leap_without_400": {"year": 400},
    "low_byte_seven_bits": {"x": 128},
    "saturates_late": {"a": 255, "b": 1},
    "april_has_31": {"month": 4},
}


@ensure(lambda a, b, result: result >= a and result >= b)
def maximum_of_wrong_test(a: int, b: int) -> int:
    return a if a < b else b


@require(lambda low, high: low <= high)
@ensure(lambda low, high, result: low <= result <= high)
def clamp_swapped(x: int, low: int, high: int) -> int:
    if x < low:
        return high
    if x > high:
        return high + 1 if high == low else low
    return x


@ensure(lambda result: result >= 0)
def absolute_of_one(x: int) -> int:
    if x < -1:
        return -x
    return x


@ensure(lambda year, result: result == (year % 400 == 0 or (year % 4 == 0 and year % 100 != 0)))
def leap_without_400(year: int) -> bool:
    return year % 4 == 0 and year % 100 != 0


@require(lambda month: 1 <= month <= 12)
@ensure(lambda month, result: result == 30 or month not in (4, 6, 9, 11))
def april_has_31(month: int) -> int:
    return 28 if month == 2 else 30 if month in (6, 9, 11) else 31


@require(lambda size: size >= 0)
@ensure(lambda size, result: (result - 1) * 512 < size <= result * 512)
def blocks_rounded_down(size: int) -> int:
    return size // 512


@require(lambda a, b, c, d: a <= b and c <= d)
@ensure(lambda a, b, c, d, result: result == (max(a, c) <= min(b, d)))
def overlap_touching(a: int, b: int, c: int, d: int) -> bool:
    return a < d and c < b


@require(lambda cents, people: cents >= 0 and people > 0)
@ensure(lambda cents, people, result: result[0] * people + result[1] == cents)
def shares_lose_cents(cents: int, people: int) -> tuple[int, int]:
    share = cents // people
    return share, 0


@ensure(lambda a, b, c, result: min(a, b, c) <= result <= max(a, b, c))
@ensure(lambda a, b, c, result: result == a + b + c - min(a, b, c) - max(a, b, c))
def median_of_tie(a: int, b: int, c: int) -> int:
    if a < b < c or c < b < a:
        return b
    if b < a < c or c < a < b:
        return a
    return c


@ensure(lambda x, result: x < result <= x + 7)
def align_up_strictly(x: int) -> int:
    return (x + 7) & ~7


@ensure(lambda x, result: (x - result) % 256 == 0)
def low_byte_seven_bits(x: int) -> int:
    return x & 0x7F


@ensure(lambda xs, result: result == xs[0])
def first_of_nothing(xs: list[int]) -> int:
    return xs[0]


@ensure(lambda a, b, result: abs(result) <= abs(a))
def divide_by_anything(a: int, b: int) -> int:
    return abs(a) // abs(b)


@require(lambda slot, capacity: 0 <= slot < capacity)
@ensure(lambda capacity, result: 0 <= result < capacity)
def slot_before(slot: int, capacity: int) -> int:
    return slot - 1


@require(lambda a, b: 0 <= a <= 255 and 0 <= b <= 255)
@ensure(lambda result: 0 <= result <= 255)
def saturates_late(a: int, b: int) -> int:
    return min(a + b, 256)


@ensure(lambda x, result: result > x)
def magic_number(x: int) -> int:
    if x == 123456789:
        return x
    return x + 1


@ensure(lambda result: result != 0)
def related_inputs(x: int, y: int) -> int:
    if y > 1000 and x == 3 * y + 17:
        return 0
    return 1


@ensure(lambda result: result)
def secret_word(word: str) -> bool:
    return not (len(word) == 5 and word.startswith("xyz") and word[3:] == "zy")


@ensure(lambda x, result: result > x)
def grows_always(x: int, y: int) -> int:
    return x + abs(y)


@ensure(lambda result: result is not None)
def found_always(xs: list[int], x: int) -> int | None:
    return 0 if len(xs) > 0 and xs[0] == x else None


@ensure(lambda x, result: result == 2 * x)
def asserts_too_much(x: int) -> int:
    assert x != 7
    return x + x


@ensure(lambda pair, result: result == pair[0] + pair[1])
def unpacks_two(pair: list[int]) -> int:
    a, b = pair
    return a + b


@snapshot(lambda xs: xs[:])
@ensure(lambda xs, OLD: xs == OLD.xs)
@ensure(lambda xs, result: len(result) == len(xs) + 1)
def alias_is_no_copy(xs: list[int]) -> list[int]:
    longer = xs
    longer.append(0)
    return longer


@require(lambda xs, i: 0 <= i < len(xs))
@ensure(lambda xs, i, result: result is None or any(result == x for x in xs[:i]))
def negative_index(xs: list[int], i: int) -> int | None:
    """The item before the i-th; None when there is none."""
    try_at = i - 1
    return xs[try_at] if len(xs) > 1 else None


@ensure(lambda x, result: result >= x)
def assigned_sometimes(x: int) -> int:
    if x > 0:
        y = x + 1
    elif x < -2:
        y = 0
    return y


@ensure(lambda x, result: result == x)
def raises_other(x: int) -> int:
    """Itself.

    :raises ValueError: when it is negative.
    """
    if x < 0:
        raise ValueError(x)
    if x == 3:
        raise KeyError(x)
    return x


@require(lambda b: b != 0)
@ensure(lambda a, b, result: abs(result * b) <= abs(a))
def floor_of_negative(a: int, b: int) -> int:
    return a // b


@ensure(lambda a, result: result > a)
def adds_optional(a: int, b: int | None) -> int:
    return a + abs(b) + 1 if b != 0 else a + 1


@require(lambda x: x >= 0)
@ensure(lambda x, result: result * 2 <= x + 1)
def half(x: int) -> int:
    return x // 2


@ensure(lambda x, result: result >= 0)
def calls_outside_contract(x: int) -> int:
    if x > -3:
        return half(x + 1)
    return 0
