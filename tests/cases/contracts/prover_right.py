"""Right functions beyond the common corpus: filters, bits of unknown place, callees, recursion."""

from __future__ import annotations

import zlib

from icontract import ensure, require, snapshot

from refute.specs.contract import decreases, invariant

EXPECTED = {
    "evens": "PROVED",
    "inverses": "PROVED",
    "without_bit": "PROVED",
    "with_bit": "PROVED",
    "doubled": "PROVED",
    "push": "PROVED",
    "push_twice": "PROVED",
    "total_of_optional": "PROVED",
    "read_word": "PROVED",
    "same_bytes_same_sum": "PROVED",
    "count_down": "PROVED",
    "first_or": "PROVED",
    "rotate": "PROVED",
    "swap_pairs": "PROVED",
}


@ensure(lambda xs, result: all(x % 2 == 0 for x in result))
@ensure(lambda xs, result: len(result) <= len(xs))
@ensure(lambda xs, result: all(x in xs for x in result))
@ensure(lambda xs, result: all(x in result or x % 2 == 1 for x in xs))
def evens(xs: list[int]) -> list[int]:
    return [x for x in xs if x % 2 == 0]


@ensure(lambda xs, result: all(x != 5 for x in result))
def inverses(xs: list[int]) -> list[int]:
    return [10 // x for x in xs if x not in (0, 1, 2)]


@require(lambda bits, place: bits >= 0 and 0 <= place < 8 * 65536)
@ensure(lambda place, result: result >> place & 1 == 0)
@ensure(lambda bits, place, result: bits - result in (0, 1 << place))
def without_bit(bits: int, place: int) -> int:
    return bits & ~(1 << place)


@require(lambda bits, place: bits >= 0 and 0 <= place < 8 * 65536)
@ensure(lambda place, result: result >> place & 1 == 1)
def with_bit(bits: int, place: int) -> int:
    return bits | (1 << place)


@require(lambda n: n >= 0)
@ensure(lambda n, result: result == 2 * n)
def doubled(n: int) -> int:
    decreases(n)
    if n == 0:
        return 0
    return doubled(n - 1) + 2


@snapshot(lambda xs: xs[:], name="xs")
@ensure(lambda xs, x, OLD: xs == [*OLD.xs, x])
def push(xs: list[int], x: int) -> None:
    xs.append(x)


@snapshot(lambda xs: len(xs), name="size")
@ensure(lambda xs, x, OLD: len(xs) == OLD.size + 2 and xs[-1] == x and xs[-2] == x)
def push_twice(xs: list[int], x: int) -> None:
    push(xs, x)
    push(xs, x)


@ensure(lambda a, b, result: result >= a or (b is not None and b < 0))
def total_of_optional(a: int, b: int | None) -> int:
    return a + (b or 0)


@require(lambda data: len(data) >= 4)
@ensure(lambda result: 0 <= result < 2**32)
@ensure(lambda data, result: result % 256 == data[0])
def read_word(data: bytes) -> int:
    return data[0] | data[1] << 8 | data[2] << 16 | data[3] << 24


@ensure(lambda result: result)
def same_bytes_same_sum(data: bytes) -> bool:
    return zlib.crc32(data) == zlib.crc32(data[:1] + data[1:])


@ensure(lambda n, result: result <= max(n, 0))
def count_down(n: int) -> int:
    steps = 0
    while n > 0:
        invariant(steps >= 0 and n >= 1)
        decreases(n)
        n //= 2
        steps += 1
        if steps + n > 10:
            break
    return min(steps, max(n, 0))


@ensure(lambda xs, default, result: result == default or result in xs)
def first_or(xs: list[int], default: int) -> int:
    try:
        return xs[0]
    except IndexError:
        return default


@require(lambda xs: len(xs) > 0)
@ensure(lambda xs, result: len(result) == len(xs) and result[-1] == xs[0])
def rotate(xs: list[int]) -> list[int]:
    return [*xs[1:], xs[0]] if len(xs) < 3 else xs[1:] + xs[:1]


@require(lambda xs: len(xs) % 2 == 0)
@snapshot(lambda xs: xs[:], name="xs")
@ensure(lambda xs, OLD: len(xs) == len(OLD.xs))
def swap_pairs(xs: list[int]) -> None:
    for i in range(0, len(xs) - 1, 2):
        invariant(i + 1 < len(xs))
        xs[i], xs[i + 1] = xs[i + 1], xs[i]
