"""Right functions with loops, invariants and measures."""

from __future__ import annotations

from icontract import ensure, require, snapshot

from refute.specs.contract import decreases, invariant

EXPECTED = {
    "total": "PROVED",
    "largest": "PROVED",
    "index_of": "PROVED",
    "binary_search": "PROVED",
    "count_true": "PROVED",
    "triangular": "PROVED",
    "gcd": "PROVED",
    "reverse": "PROVED",
    "fill": "PROVED",
    "prefix_sums": "PROVED",
    "has_pair": "PROVED",
    "digits": "PROVED",
    "integer_root": "PROVED",
    "is_sorted": "PROVED",
    "without_negatives": "PROVED",
    "checksum": "PROVED",
    "run_length": "PROVED",
    "dutch_split": "PROVED",
    "table_size": "PROVED",
    "all_positive": "PROVED",
    "insert_position": "PROVED",
    "drain": "PROVED",
}


@ensure(lambda xs, result: result == sum(xs))
def total(xs: list[int]) -> int:
    acc = 0
    for i in range(len(xs)):
        invariant(acc == sum(xs[:i]))
        acc += xs[i]
    return acc


@require(lambda xs: len(xs) > 0)
@ensure(lambda xs, result: all(x <= result for x in xs))
@ensure(lambda xs, result: any(x == result for x in xs))
def largest(xs: list[int]) -> int:
    best = xs[0]
    for i in range(1, len(xs)):
        invariant(all(xs[k] <= best for k in range(i)))
        invariant(any(xs[k] == best for k in range(i)))
        if xs[i] > best:
            best = xs[i]
    return best


@ensure(lambda xs, x, result: result == -1 or (0 <= result < len(xs) and xs[result] == x))
@ensure(lambda xs, x, result: result != -1 or all(y != x for y in xs))
@ensure(lambda xs, x, result: all(xs[k] != x for k in range(max(result, 0))))
def index_of(xs: list[int], x: int) -> int:
    for i in range(len(xs)):
        invariant(all(xs[k] != x for k in range(i)))
        if xs[i] == x:
            return i
    return -1


@require(lambda xs: all(xs[i] <= xs[j] for i in range(len(xs)) for j in range(i, len(xs))))
@ensure(lambda xs, x, result: result is None or (0 <= result < len(xs) and xs[result] == x))
@ensure(lambda xs, x, result: result is not None or all(y != x for y in xs))
def binary_search(xs: list[int], x: int) -> int | None:
    low, high = 0, len(xs)
    while low < high:
        invariant(0 <= low <= high <= len(xs))
        invariant(all(xs[k] < x for k in range(low)))
        invariant(all(xs[k] > x for k in range(high, len(xs))))
        decreases(high - low)
        middle = (low + high) // 2
        if xs[middle] == x:
            return middle
        if xs[middle] < x:
            low = middle + 1
        else:
            high = middle
    return None


@ensure(lambda flags, result: 0 <= result <= len(flags))
@ensure(lambda flags, result: (result == 0) == (not any(flags)))
def count_true(flags: list[bool]) -> int:
    count = 0
    for i, flag in enumerate(flags):
        invariant(0 <= count <= i)
        invariant((count == 0) == (not any(flags[:i])))
        if flag:
            count += 1
    return count


@require(lambda n: n >= 0)
@ensure(lambda n, result: 2 * result == n * (n + 1))
def triangular(n: int) -> int:
    acc = 0
    for i in range(n + 1):
        invariant(2 * acc == i * (i - 1))
        acc += i
    return acc


@require(lambda a, b: a > 0 and b >= 0)
@ensure(lambda a, result: result > 0)
def gcd(a: int, b: int) -> int:
    while b != 0:
        invariant(a > 0)
        invariant(b >= 0)
        decreases(b)
        a, b = b, a % b
    return a


@snapshot(lambda xs: xs[:])
@ensure(lambda xs, OLD: len(xs) == len(OLD.xs))
@ensure(lambda xs, OLD: all(xs[k] == OLD.xs[len(xs) - 1 - k] for k in range(len(xs))))
def reverse(xs: list[int]) -> None:
    before = xs[:]
    low, high = 0, len(xs) - 1
    while low < high:
        invariant(len(xs) == len(before))
        invariant(low >= 0 and low + high == len(xs) - 1)
        invariant(all(xs[k] == before[len(xs) - 1 - k] for k in range(low)))
        invariant(all(xs[k] == before[len(xs) - 1 - k] for k in range(high + 1, len(xs))))
        invariant(all(xs[k] == before[k] for k in range(low, high + 1)))
        decreases(high - low)
        xs[low], xs[high] = xs[high], xs[low]
        low += 1
        high -= 1


@snapshot(lambda xs: len(xs), name="size")
@ensure(lambda xs, OLD: len(xs) == OLD.size)
@ensure(lambda xs, value: all(x == value for x in xs))
def fill(xs: list[int], value: int) -> None:
    for i in range(len(xs)):
        invariant(all(xs[k] == value for k in range(i)))
        xs[i] = value


@ensure(lambda xs, result: len(result) == len(xs) + 1)
@ensure(lambda result: result[0] == 0)
@ensure(lambda xs, result: all(result[i + 1] == result[i] + xs[i] for i in range(len(xs))))
def prefix_sums(xs: list[int]) -> list[int]:
    sums = [0]
    for i in range(len(xs)):
        invariant(len(sums) == i + 1)
        invariant(sums[0] == 0)
        invariant(all(sums[k + 1] == sums[k] + xs[k] for k in range(i)))
        sums.append(sums[i] + xs[i])
    return sums


@ensure(
    lambda xs, target, result: (
        result == any(xs[i] + xs[j] == target for i in range(len(xs)) for j in range(i))
    )
)
def has_pair(xs: list[int], target: int) -> bool:
    for i in range(len(xs)):
        invariant(not any(xs[p] + xs[q] == target for p in range(i) for q in range(p)))
        for j in range(i):
            invariant(not any(xs[i] + xs[q] == target for q in range(j)))
            if xs[i] + xs[j] == target:
                return True
    return False


@require(lambda n: n >= 0)
@ensure(lambda n, result: 1 <= result <= n + 1)
def digits(n: int) -> int:
    """How many decimal digits it has."""
    count, rest = 1, n
    while rest >= 10:
        invariant(rest >= 0 and count >= 1)
        invariant(count + rest <= n + 1)
        decreases(rest)
        rest //= 10
        count += 1
    return count


@require(lambda n: n >= 0)
@ensure(lambda n, result: result >= 0 and result * result <= n < (result + 1) * (result + 1))
def integer_root(n: int) -> int:
    root = 0
    while (root + 1) * (root + 1) <= n:
        invariant(root >= 0 and root * root <= n)
        decreases(n - root)
        root += 1
    return root


@ensure(lambda xs, result: result == all(xs[i] <= xs[i + 1] for i in range(len(xs) - 1)))
def is_sorted(xs: list[int]) -> bool:
    i = 1
    while i < len(xs):
        invariant(i >= 1)
        invariant(all(xs[k] <= xs[k + 1] for k in range(i - 1) if k + 1 < len(xs)))
        decreases(len(xs) - i)
        if xs[i - 1] > xs[i]:
            return False
        i += 1
    return True


@ensure(lambda result: all(x >= 0 for x in result))
@ensure(lambda xs, result: len(result) <= len(xs))
def without_negatives(xs: list[int]) -> list[int]:
    kept: list[int] = []
    for i in range(len(xs)):
        invariant(len(kept) <= i)
        invariant(all(x >= 0 for x in kept))
        if xs[i] < 0:
            continue
        kept.append(xs[i])
    return kept


@ensure(lambda result: 0 <= result < 256)
def checksum(data: bytes) -> int:
    value = 0
    for byte in data:
        invariant(0 <= value < 256)
        value = (value + byte) & 0xFF
    return value


@require(lambda xs: len(xs) >= 1)
@ensure(lambda xs, result: 1 <= result <= len(xs))
@ensure(lambda xs, result: all(x == xs[0] for x in xs[:result]))
@ensure(lambda xs, result: result == len(xs) or xs[result] != xs[0])
def run_length(xs: list[int]) -> int:
    """How often the first item is repeated at the start."""
    n = 1
    while n < len(xs) and xs[n] == xs[0]:
        invariant(1 <= n <= len(xs))
        invariant(all(xs[k] == xs[0] for k in range(n)))
        decreases(len(xs) - n)
        n += 1
    return n


@ensure(lambda xs, result: 0 <= result <= len(xs))
@ensure(lambda xs, pivot, result: all(x < pivot for x in xs[:result]))
@ensure(lambda xs, pivot, result: all(x >= pivot for x in xs[result:]))
def dutch_split(xs: list[int], pivot: int) -> int:
    """Bring what is smaller than the pivot to the front; how many these are."""
    border = 0
    for i in range(len(xs)):
        invariant(0 <= border <= i)
        invariant(all(xs[k] < pivot for k in range(border)))
        invariant(all(xs[k] >= pivot for k in range(border, i)))
        if xs[i] < pivot:
            xs[i], xs[border] = xs[border], xs[i]
            border += 1
    return border


@require(lambda n: n >= 1)
@ensure(lambda n, result: n <= result < 2 * n)
def table_size(n: int) -> int:
    """The smallest power of two that is at least n."""
    size = 1
    while size < n:
        invariant(1 <= size < 2 * n)
        decreases(n - size)
        size *= 2
    return size


@ensure(lambda xs, result: result == all(x > 0 for x in xs))
def all_positive(xs: list[int]) -> bool:
    answer = True
    for i, x in enumerate(xs):
        invariant(answer == all(xs[k] > 0 for k in range(i)))
        if x <= 0:
            answer = False
            break
    return answer


@require(lambda xs: all(xs[i] <= xs[j] for i in range(len(xs)) for j in range(i + 1, len(xs))))
@ensure(lambda xs, result: 0 <= result <= len(xs))
@ensure(lambda xs, x, result: all(y < x for y in xs[:result]))
@ensure(lambda xs, x, result: all(y >= x for y in xs[result:]))
def insert_position(xs: list[int], x: int) -> int:
    position = 0
    while position < len(xs) and xs[position] < x:
        invariant(0 <= position <= len(xs))
        invariant(all(xs[k] < x for k in range(position)))
        decreases(len(xs) - position)
        position += 1
    return position


@ensure(lambda queue: len(queue) == 0)
@ensure(lambda result: result >= 0)
def drain(queue: list[int]) -> int:
    """Take out everything; how many of it were not negative."""
    taken = 0
    while queue:
        invariant(taken >= 0)
        decreases(len(queue))
        if queue.pop() >= 0:
            taken += 1
    return taken
