"""Right functions without loops, with contracts as people write them."""

from __future__ import annotations

import icontract
from icontract import ensure, require

EXPECTED = {
    "maximum": "PROVED",
    "clamp": "PROVED",
    "absolute": "PROVED",
    "sign": "PROVED",
    "is_leap": "PROVED",
    "days_in_month": "PROVED",
    "day_of_year": "PROVED",
    "blocks_for": "PROVED",
    "overlap": "PROVED",
    "intersection": "PROVED",
    "split_money": "PROVED",
    "to_clock": "PROVED",
    "median3": "PROVED",
    "sort3": "PROVED",
    "align_down": "PROVED",
    "low_byte": "PROVED",
    "pack_nibbles": "PROVED",
    "first_or": "PROVED",
    "divide": "PROVED",
    "slot_after": "PROVED",
    "saturating_add": "PROVED",
    "exactly_one": "PROVED",
    "swap": "PROVED",
    "push": "PROVED",
    "last_two": "PROVED",
    "parse_digit": "PROVED",
    "discount": "PROVED",
    "ticket_price": "PROVED",
}

DAYS_BEFORE = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)


@ensure(lambda a, b, result: result >= a and result >= b)
@ensure(lambda a, b, result: result in (a, b))
def maximum(a: int, b: int) -> int:
    return a if a > b else b


@require(lambda low, high: low <= high)
@ensure(lambda low, high, result: low <= result <= high)
@ensure(lambda x, low, high, result: result == x or not low <= x <= high)
def clamp(x: int, low: int, high: int) -> int:
    """The value in low..high that is nearest to x."""
    return max(low, min(x, high))


@ensure(lambda result: result >= 0)
@ensure(lambda x, result: result == x or result == -x)
def absolute(x: int) -> int:
    if x < 0:
        return -x
    return x


@icontract.ensure(lambda result: result in (-1, 0, 1), "only three signs")
@icontract.ensure(lambda x, result: result * x == abs(x))
def sign(x: int) -> int:
    return (x > 0) - (x < 0)


@ensure(lambda year, result: result == (year % 400 == 0 or (year % 4 == 0 and year % 100 != 0)))
def is_leap(year: int) -> bool:
    if year % 100 == 0:
        return year % 400 == 0
    return year % 4 == 0


@require(lambda month: 1 <= month <= 12)
@ensure(lambda result: 28 <= result <= 31)
@ensure(lambda month, result: (month == 2) == (result < 30))
def days_in_month(year: int, month: int) -> int:
    if month == 2:
        return 29 if is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


@require(lambda month: 1 <= month <= 12)
@require(lambda day: 1 <= day <= 31)
@ensure(lambda result: 1 <= result <= 366)
@ensure(lambda month, day, result: month > 1 or result == day)
def day_of_year(month: int, day: int, leap: bool) -> int:
    extra = 1 if leap and month > 2 else 0
    return DAYS_BEFORE[month - 1] + day + extra


@require(lambda size: size >= 0)
@ensure(lambda size, result: (result - 1) * 512 < size <= result * 512)
def blocks_for(size: int) -> int:
    return -(-size // 512)


@require(lambda a, b: a <= b)
@require(lambda c, d: c <= d)
@ensure(lambda a, b, c, d, result: result == (max(a, c) <= min(b, d)))
def overlap(a: int, b: int, c: int, d: int) -> bool:
    return not (b < c or d < a)


@require(lambda a, b: a < b)
@require(lambda c, d: c < d)
@ensure(lambda result: result is None or result[0] < result[1])
@ensure(lambda a, b, c, d, result: (result is None) == (b <= c or d <= a))
def intersection(a: int, b: int, c: int, d: int) -> tuple[int, int] | None:
    low, high = max(a, c), min(b, d)
    if low >= high:
        return None
    return low, high


@require(lambda cents, people: cents >= 0 and people > 0)
@ensure(lambda people, result: 0 <= result[1] < people)
@ensure(lambda cents, people, result: result[0] * people + result[1] == cents)
def split_money(cents: int, people: int) -> tuple[int, int]:
    """The share of each, and what is left over."""
    return divmod(cents, people)


@require(lambda minutes: 0 <= minutes < 24 * 60)
@ensure(lambda result: 0 <= result[0] < 24 and 0 <= result[1] < 60)
@ensure(lambda minutes, result: 60 * result[0] + result[1] == minutes)
def to_clock(minutes: int) -> tuple[int, int]:
    hours = minutes // 60
    return hours, minutes - 60 * hours


@ensure(lambda a, b, c, result: result in (a, b, c))
@ensure(lambda a, b, c, result: min(a, b, c) <= result <= max(a, b, c))
@ensure(lambda a, b, c, result: result == a + b + c - min(a, b, c) - max(a, b, c))
def median3(a: int, b: int, c: int) -> int:
    if a > b:
        a, b = b, a
    if c <= a:
        return a
    return min(b, c)


@ensure(lambda result: result[0] <= result[1] <= result[2])
@ensure(lambda a, b, c, result: result[0] == min(a, b, c) and result[2] == max(a, b, c))
@ensure(lambda a, b, c, result: sum(result) == a + b + c)
def sort3(a: int, b: int, c: int) -> tuple[int, int, int]:
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return a, b, c


@ensure(lambda x, result: x - 8 < result <= x)
@ensure(lambda result: result % 8 == 0)
def align_down(x: int) -> int:
    return x & ~7


@ensure(lambda result: 0 <= result <= 255)
@ensure(lambda x, result: (x - result) % 256 == 0)
def low_byte(x: int) -> int:
    return x & 0xFF


@require(lambda high: 0 <= high < 16)
@require(lambda low: 0 <= low < 16)
@ensure(lambda high, low, result: result // 16 == high and result % 16 == low)
def pack_nibbles(high: int, low: int) -> int:
    return high << 4 | low


@ensure(lambda xs, default, result: result == (xs[0] if len(xs) > 0 else default))
def first_or(xs: list[int], default: int | None) -> int | None:
    if not xs:
        return default
    return xs[0]


@ensure(lambda b, result: (result is None) == (b == 0))
@ensure(lambda a, b, result: result is None or (a - result * b) * (1 if b > 0 else -1) >= 0)
def divide(a: int, b: int) -> int | None:
    if b == 0:
        return None
    return a // b


@require(lambda slot, capacity: 0 <= slot < capacity)
@ensure(lambda capacity, result: 0 <= result < capacity)
@ensure(lambda slot, capacity, result: result == slot + 1 or (result == 0 and slot == capacity - 1))
def slot_after(slot: int, capacity: int) -> int:
    return (slot + 1) % capacity


@require(lambda a, b: 0 <= a <= 255 and 0 <= b <= 255)
@ensure(lambda a, b, result: result == 255 or result == a + b)
@ensure(lambda a, b, result: (result == 255) == (a + b >= 255))
def saturating_add(a: int, b: int) -> int:
    total = a + b
    if total > 255:
        total = 255
    return total


@ensure(lambda a, b, c, result: result == (int(a) + int(b) + int(c) == 1))
def exactly_one(a: bool, b: bool, c: bool) -> bool:
    if a:
        return not b and not c
    return b != c


@require(lambda xs, i, j: 0 <= i < len(xs) and 0 <= j < len(xs))
@icontract.snapshot(lambda xs: xs[:], name="xs")
@ensure(lambda xs, i, j, OLD: xs[i] == OLD.xs[j] and xs[j] == OLD.xs[i])
@ensure(lambda xs, OLD: len(xs) == len(OLD.xs))
@ensure(lambda xs, i, j, OLD: all(xs[k] == OLD.xs[k] or k in (i, j) for k in range(len(xs))))
def swap(xs: list[int], i: int, j: int) -> None:
    xs[i], xs[j] = xs[j], xs[i]


@icontract.snapshot(lambda stack: len(stack), name="depth")
@ensure(lambda stack, item: stack[-1] == item)
@ensure(lambda stack, OLD: len(stack) == OLD.depth + 1)
def push(stack: list[int], item: int) -> None:
    stack.append(item)


@require(lambda xs: len(xs) >= 2)
@ensure(lambda xs, result: result[0] == xs[len(xs) - 2] and result[1] == xs[len(xs) - 1])
def last_two(xs: list[int]) -> tuple[int, int]:
    return xs[-2], xs[-1]


@ensure(lambda code, result: result == code - 48)
def parse_digit(code: int) -> int:
    """The value of an ASCII digit.

    :raises ValueError: when it is none.
    """
    if not 48 <= code <= 57:
        raise ValueError(code)
    return code - 48


@require(lambda price: price >= 0)
@require(lambda percent: 0 <= percent <= 100)
@ensure(lambda price, result: 0 <= result <= price)
def discount(price: int, percent: int) -> int:
    return price - price * percent // 100


@require(lambda age: 0 <= age <= 150)
@ensure(lambda result: result in (0, 500, 900))
@ensure(lambda age, member, result: not (member and age < 6) or result == 0)
@ensure(lambda age, result: result != 900 or 16 <= age < 65)
def ticket_price(age: int, member: bool) -> int:
    if age < 6:
        return 0
    if age < 16 or age >= 65 or member:
        return 500
    return 900
