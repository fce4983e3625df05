"""Functions whose defects random inputs do not meet, and some without defects."""

from __future__ import annotations

from typing import Any, Literal

from icontract import ensure, require

LIMIT = 73_128
Row = tuple[int, str | None]


@ensure(lambda x, result: result == x + 1)
def behind_a_constant(x: int) -> int:
    return x if x == LIMIT + 1 else x + 1


@require(lambda xs, i: 0 <= i < len(xs))
@ensure(lambda xs, i, result: result == xs[i])
def behind_a_relation(xs: list[int], i: int) -> int:
    return xs[i] if i < len(xs) - 1 else -1


@require(lambda xs: all(xs[i - 1] <= xs[i] for i in range(1, len(xs))))
@ensure(lambda xs, x, result: result == xs.count(x))
def behind_an_order(xs: list[int], x: int) -> int:
    low, high = 0, len(xs)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if xs[middle] < x else (low, middle)
    return 1 if low < len(xs) and xs[low] == x else 0


@ensure(lambda mode, result: (mode == "append") == result)
def behind_a_literal(mode: Literal["read", "append"], data: bytes) -> bool:
    return False


@ensure(lambda rows, result: result == len(rows))
def of_nested_types(rows: list[Row], seen: frozenset[int]) -> int:
    return len([row for row in rows if row[1] is not None or row[0] in seen])


@require(lambda a, b: a <= b <= a + 100)
@ensure(lambda a, b, result: result == [a, b])
def sorted_pair(a: int, b: int) -> list[int]:
    return sorted([b, a])


@ensure(lambda a, b, c, result: result == (a + b + c >= 2))
def majority(a: bool, b: bool, c: bool) -> bool:
    return (a and b) or (a and c) or (b and c)


@require(lambda x: x > 0)
@require(lambda x: x < 0)
@ensure(lambda result: result == 1)
def never_called(x: int) -> int:
    return 0


@ensure(lambda result: result == 1)
def always_raises(x: int) -> int:
    """Nothing.

    :raises ValueError: always
    """
    raise ValueError(x)


# Types that are not understood.


@ensure(lambda result: result)
def of_any(x: Any) -> bool:
    return True


@ensure(lambda result: result)
def of_nothing_known(x) -> bool:  # type: ignore[no-untyped-def]
    return True
