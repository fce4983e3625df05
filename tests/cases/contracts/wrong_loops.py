"""Functions with loops with one mistake each, in the body, in the contract or in an invariant."""

from __future__ import annotations

from icontract import ensure, require, snapshot

from refute.specs.contract import decreases, invariant

EXPECTED = {
    "largest_from_zero": "REFUTED",
    "index_of_last": "REFUTED",
    "search_misses_end": "REFUTED",
    "total_without_first": "REFUTED",
    "reversed_twice": "REFUTED",
    "prefix_without_zero": "REFUTED",
    "count_positive": "REFUTED",
    "pair_with_itself": "REFUTED",
    "sorts_its_argument": "REFUTED",
    "no_digits": "REFUTED",
    "root_too_large": "REFUTED",
    "fills_but_last": "REFUTED",
    "sorted_but_end": "REFUTED",
    "three_in_a_row": "REFUTED",
    "wrong_invariant": "REFUTED",
    "wrong_measure": "REFUTED",
    "table_one_short": "REFUTED",
    "removes_while_walking": "REFUTED",
    "gcd_of_zero": "REFUTED",
    "checksum_overflows": "REFUTED",
    "sum_of_squares": "REFUTED",
    "late_overflow": "REFUTED",
    "deepest_of_nested": "REFUTED",
}

WITNESSES = {
    "checksum_overflows": {"data": b"\xff\x01"},
    "late_overflow": {"xs": [5, 6, 7, 8]},
}


@require(lambda xs: len(xs) > 0)
@ensure(lambda xs, result: any(x == result for x in xs))
def largest_from_zero(xs: list[int]) -> int:
    best = 0
    for i in range(len(xs)):
        invariant(best >= 0)
        if xs[i] > best:
            best = xs[i]
    return best


@ensure(lambda xs, x, result: result == -1 or (0 <= result < len(xs) and xs[result] == x))
@ensure(lambda xs, x, result: all(xs[k] != x for k in range(max(result, 0))))
def index_of_last(xs: list[int], x: int) -> int:
    found = -1
    for i in range(len(xs)):
        invariant(-1 <= found < i)
        if xs[i] == x:
            found = i
    return found


@require(lambda xs: all(xs[i] <= xs[j] for i in range(len(xs)) for j in range(i, len(xs))))
@ensure(lambda xs, x, result: result >= 0 or all(y != x for y in xs))
def search_misses_end(xs: list[int], x: int) -> int:
    low, high = 0, len(xs) - 1
    while low < high:
        invariant(low >= 0)
        invariant(high < len(xs))
        decreases(high - low)
        middle = (low + high) // 2
        if xs[middle] == x:
            return middle
        if xs[middle] < x:
            low = middle + 1
        else:
            high = middle - 1
    return -1


@ensure(lambda xs, result: result == sum(xs))
def total_without_first(xs: list[int]) -> int:
    acc = 0
    for i in range(1, len(xs)):
        invariant(acc == sum(xs[1:i]))
        acc += xs[i]
    return acc


@snapshot(lambda xs: xs[:])
@ensure(lambda xs, OLD: all(xs[k] == OLD.xs[len(xs) - 1 - k] for k in range(len(xs))))
def reversed_twice(xs: list[int]) -> None:
    for i in range(len(xs)):
        j = len(xs) - 1 - i
        xs[i], xs[j] = xs[j], xs[i]


@ensure(lambda xs, result: len(result) == len(xs) + 1)
def prefix_without_zero(xs: list[int]) -> list[int]:
    sums: list[int] = []
    acc = 0
    for x in xs:
        acc += x
        sums.append(acc)
    return sums


@ensure(lambda xs, result: result == len(xs) or any(x <= 0 for x in xs))
@ensure(lambda xs, result: result < len(xs) or all(x > 0 for x in xs))
def count_positive(xs: list[int]) -> int:
    count = 0
    for x in xs:
        if x >= 0:
            count += 1
    return count


@ensure(
    lambda xs, target, result: (
        result == any(xs[i] + xs[j] == target for i in range(len(xs)) for j in range(i))
    )
)
def pair_with_itself(xs: list[int], target: int) -> bool:
    for i in range(len(xs)):
        for j in range(i + 1):
            if xs[i] + xs[j] == target:
                return True
    return False


@snapshot(lambda xs: xs[:])
@ensure(lambda xs, OLD: xs == OLD.xs)
@ensure(lambda result: all(result[i] <= result[i + 1] for i in range(len(result) - 1)))
def sorts_its_argument(xs: list[int]) -> list[int]:
    for i in range(1, len(xs)):
        j = i
        while j > 0 and xs[j - 1] > xs[j]:
            decreases(j)
            xs[j - 1], xs[j] = xs[j], xs[j - 1]
            j -= 1
    return xs


@require(lambda n: n >= 0)
@ensure(lambda n, result: result >= 1)
def no_digits(n: int) -> int:
    count = 0
    while n > 0:
        invariant(count >= 0)
        decreases(n)
        n //= 10
        count += 1
    return count


@require(lambda n: n >= 0)
@ensure(lambda n, result: result * result <= n < (result + 1) * (result + 1))
def root_too_large(n: int) -> int:
    root = 0
    while root * root < n:
        invariant(root >= 0)
        decreases(n - root)
        root += 1
    return root


@ensure(lambda xs, value: all(x == value for x in xs))
def fills_but_last(xs: list[int], value: int) -> None:
    i = 0
    while i < len(xs) - 1:
        invariant(i >= 0)
        invariant(all(xs[k] == value for k in range(i)))
        decreases(len(xs) - i)
        xs[i] = value
        i += 1


@ensure(lambda xs, result: result == all(xs[i] <= xs[i + 1] for i in range(len(xs) - 1)))
def sorted_but_end(xs: list[int]) -> bool:
    for i in range(len(xs) - 2):
        invariant(all(xs[k] <= xs[k + 1] for k in range(i)))
        if xs[i] > xs[i + 1]:
            return False
    return True


@ensure(lambda result: result < 3)
def three_in_a_row(xs: list[int]) -> int:
    """The longest run of ones."""
    best = run = 0
    for x in xs:
        invariant(best >= 0 and run >= 0)
        run = run + 1 if x == 1 else 0
        best = max(best, run)
    return best


@require(lambda n: n >= 0)
@ensure(lambda n, result: result == n)
def wrong_invariant(n: int) -> int:
    i = 0
    while i < n:
        invariant(i < 3)
        decreases(n - i)
        i += 1
    return i


@require(lambda n: n >= 0)
@ensure(lambda n, result: result >= n)
def wrong_measure(n: int) -> int:
    i = 0
    while i < n:
        invariant(i >= 0)
        decreases(i)
        i += 1
    return i


@require(lambda n: n >= 1)
@ensure(lambda n, result: n < result <= 2 * n)
def table_one_short(n: int) -> int:
    size = 1
    while size < n:
        invariant(1 <= size < 2 * n)
        decreases(n - size)
        size *= 2
    return size


@ensure(lambda xs: all(x != 0 for x in xs))
def removes_while_walking(xs: list[int]) -> None:
    i = 0
    while i < len(xs):
        invariant(i >= 0)
        decreases(len(xs) - i)
        if xs[i] == 0:
            xs.pop(i)
        i += 1


@require(lambda a, b: a >= 0 and b >= 0)
@ensure(lambda result: result > 0)
def gcd_of_zero(a: int, b: int) -> int:
    while b:
        invariant(a >= 0 and b >= 0)
        decreases(b)
        a, b = b, a % b
    return a


@ensure(lambda result: result < 256)
def checksum_overflows(data: bytes) -> int:
    value = 0
    for byte in data:
        invariant(value >= 0)
        value = value + byte
        if value > 256:
            value -= 256
    return value


@require(lambda n: n >= 0)
@ensure(lambda n, result: 6 * result == n * (n + 1) * (2 * n + 1))
def sum_of_squares(n: int) -> int:
    acc = 0
    for i in range(n):
        acc += i * i
    return acc


@ensure(lambda result: result is None or result >= 0)
def late_overflow(xs: list[int]) -> int | None:
    if len(xs) != 4:
        return None
    for i in range(3):
        if xs[i + 1] != xs[i] + 1:
            return None
    return -1 if xs[0] == 5 else 0


@require(lambda n: n >= 0)
@ensure(lambda n, result: result < 6)
def deepest_of_nested(n: int) -> int:
    count = 0
    for i in range(n):
        for _j in range(i):
            count += 1
    return count
