"""Right functions beyond the common corpus: filters, bits, callees, recursion, sums of slices."""

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
    "insertion_sort": "PROVED",
    "kadane": "PROVED",
    "low_bits": "PROVED",
    "align_up": "PROVED",
    "lowest_clear": "PROVED",
    "hms": "PROVED",
    "ring_next": "PROVED",
    "saturating_add": "PROVED",
    "chunk_count": "PROVED",
    "round_half_up": "PROVED",
    "ordered": "PROVED",
    "zero_by_index": "PROVED",
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


@ensure(lambda xs: all(xs[i] <= xs[j] for i in range(len(xs)) for j in range(i, len(xs))))
def insertion_sort(xs: list[int]) -> None:
    for i in range(1, len(xs)):
        invariant(all(xs[a] <= xs[b] for a in range(i) for b in range(a, i)))
        j = i
        while j > 0 and xs[j - 1] > xs[j]:
            invariant(0 <= j <= i < len(xs))
            invariant(
                all(
                    xs[a] <= xs[b]
                    for a in range(i + 1)
                    for b in range(a, i + 1)
                    if a != j and b != j
                )
            )
            invariant(all(xs[j] <= xs[b] for b in range(j + 1, i + 1)))
            decreases(j)
            xs[j - 1], xs[j] = xs[j], xs[j - 1]
            j -= 1


@require(lambda xs: len(xs) > 0)
@ensure(
    lambda xs, result: all(
        result >= sum(xs[i:j]) for i in range(len(xs)) for j in range(i + 1, len(xs) + 1)
    )
)
def kadane(xs: list[int]) -> int:
    best = xs[0]
    here = xs[0]
    for n in range(1, len(xs)):
        invariant(all(here >= sum(xs[i:n]) for i in range(n)))
        invariant(all(best >= sum(xs[i:j]) for i in range(n) for j in range(i + 1, n + 1)))
        here = max(xs[n], here + xs[n])
        best = max(best, here)
    return best


@require(lambda k: 0 <= k <= 64)
@ensure(lambda x, k, result: result == x % 2**k)
def low_bits(x: int, k: int) -> int:
    return x & ((1 << k) - 1)


@require(lambda x, k: k >= 0)
@ensure(lambda x, k, result: result % 2**k == 0)
@ensure(lambda x, k, result: x <= result < x + 2**k)
def align_up(x: int, k: int) -> int:
    mask = (1 << k) - 1
    return (x + mask) & ~mask


@ensure(lambda bits, result: (result & bits) == 0)
@ensure(lambda bits, result: result > 0)
@require(lambda bits: 0 <= bits < 2**16)
def lowest_clear(bits: int) -> int:
    return ~bits & (bits + 1)


@require(lambda seconds: seconds >= 0)
@ensure(lambda seconds, result: result[0] * 3600 + result[1] * 60 + result[2] == seconds)
@ensure(lambda result: 0 <= result[1] < 60 and 0 <= result[2] < 60 and result[0] >= 0)
def hms(seconds: int) -> tuple[int, int, int]:
    minutes, s = divmod(seconds, 60)
    h, m = divmod(minutes, 60)
    return h, m, s


@require(lambda head, size: size > 0 and 0 <= head < size)
@require(lambda size, step: 0 <= step <= size)
@ensure(lambda size, result: 0 <= result < size)
@ensure(lambda head, size, step, result: (result - head - step) % size == 0)
def ring_next(head: int, size: int, step: int) -> int:
    new = head + step
    if new >= size:
        new -= size
    return new


@require(lambda a: 0 <= a <= 255)
@require(lambda b: 0 <= b <= 255)
@ensure(lambda a, b, result: result == min(255, a + b))
def saturating_add(a: int, b: int) -> int:
    total = a + b
    return 255 if total & 256 else total


@require(lambda total, size: total >= 0 and size > 0)
@ensure(lambda total, size, result: (result - 1) * size < total <= result * size)
def chunk_count(total: int, size: int) -> int:
    return -(-total // size)


@require(lambda b: b > 0)
@ensure(lambda a, b, result: -b < 2 * (a - result * b) <= b or 2 * (a - result * b) == -b)
@ensure(lambda a, b, result: 2 * result * b <= 2 * a + b < 2 * result * b + 2 * b)
def round_half_up(a: int, b: int) -> int:
    return (2 * a + b) // (2 * b)


@ensure(lambda a, b, result: result[0] <= result[1])
@ensure(lambda a, b, result: result[0] + result[1] == a + b and result[0] in (a, b))
def ordered(a: int, b: int) -> tuple[int, int]:
    return (b, a) if b < a else (a, b)


@ensure(lambda xs: all(x == 0 for x in xs))
def zero_by_index(xs: list[int]) -> None:
    for i, _ in enumerate(xs):
        invariant(all(v == 0 for v in xs[:i]))
        xs[i] = 0
