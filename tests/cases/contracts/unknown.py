"""What is not proved: for want of a case, of an invariant, of a construct or of an easier question.

A line marked `# here` is the one that the prover names when it says UNKNOWN. An entry with `|` is
of a function that is right, or wrong beyond what is asked of the prover: it may say either.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from icontract import ensure, require

from refute.specs.contract import decreases, invariant

EXPECTED = {
    "of_nothing": "UNKNOWN",
    "of_no_list": "UNKNOWN",
    "of_a_generator": "UNKNOWN",
    "of_a_dict": "PROVED|UNKNOWN",
    "of_a_float": "UNKNOWN",
    "of_a_closure": "PROVED|UNKNOWN",
    "of_evaluated_text": "UNKNOWN",
    "of_a_try": "PROVED|UNKNOWN",
    "of_a_library": "UNKNOWN",
    "sum_without_invariant": "PROVED|UNKNOWN",
    "search_without_invariant": "PROVED|UNKNOWN",
    "weak_invariant": "PROVED|UNKNOWN",
    "never_ends": "REFUTED|UNKNOWN",
    "ends_except_for_five": "PROVED|REFUTED|UNKNOWN",
    "eats_memory": "PROVED|REFUTED|UNKNOWN",
    "cubes": "UNKNOWN",
    "factors": "REFUTED|UNKNOWN",
    "ceiling": "PROVED|UNKNOWN",
    "collatz": "PROVED|UNKNOWN",
    "without_annotation": "UNKNOWN",
}

# what an UNKNOWN must say, and what a PROVED must rest on
REASONS = {"of_nothing": "vacuous", "of_no_list": "vacuous"}
ASSUMPTIONS = {
    "ends_except_for_five": "terminat",
    "collatz": "terminat",
    "eats_memory": "memory",
}


@require(lambda x: x > 0)
@require(lambda x: x < 0)
@ensure(lambda result: result == 17)
def of_nothing(x: int) -> int:
    return x


@require(lambda xs: len(xs) < 0)
@ensure(lambda result: result == 17)
def of_no_list(xs: list[int]) -> int:
    return len(xs)


@require(lambda n: 0 <= n < 5)
@ensure(lambda result: result >= 0)
def of_a_generator(n: int) -> int:
    def numbers() -> Iterator[int]:  # here
        yield from range(n)

    return sum(numbers())


@ensure(lambda result: result >= 0)
def of_a_dict(xs: list[int]) -> int:
    seen = {}  # here
    for x in xs:
        seen[x] = True
    return len(seen)


@require(lambda x: -1000.0 < x < 1000.0)
@ensure(lambda x, result: result >= x)
def of_a_float(x: float) -> float:  # here
    return x + 1.0


@ensure(lambda x, result: result == x + 1)
def of_a_closure(x: int) -> int:
    def plus(y: int) -> int:  # here
        return x + y

    return plus(1)


@ensure(lambda x, result: result == x)
def of_evaluated_text(x: int) -> int:
    return eval("x")  # here


@ensure(lambda xs, result: result == (xs[0] if xs else 0))
def of_a_try(xs: list[int]) -> int:
    try:  # here
        return xs[0]
    except IndexError:
        return 0


@require(lambda n: 0 <= n <= 20)
@ensure(lambda result: result >= 1)
def of_a_library(n: int) -> int:
    return int(math.gamma(n + 1))  # here


@ensure(lambda xs, result: result == sum(xs))
def sum_without_invariant(xs: list[int]) -> int:
    acc = 0
    i = 0
    while i < len(xs):  # here
        acc += xs[i]
        i += 1
    return acc


@require(lambda xs: all(xs[i] <= xs[j] for i in range(len(xs)) for j in range(i, len(xs))))
@ensure(lambda xs, x, result: result >= 0 or all(y != x for y in xs))
def search_without_invariant(xs: list[int], x: int) -> int:
    low, high = 0, len(xs)
    while low < high:  # here
        middle = (low + high) // 2
        if xs[middle] == x:
            return middle
        if xs[middle] < x:
            low = middle + 1
        else:
            high = middle
    return -1


@require(lambda n: n >= 0)
@ensure(lambda n, result: result == 2 * n)
def weak_invariant(n: int) -> int:
    acc = 0
    i = 0
    while i < n:  # here
        invariant(acc >= 0)
        decreases(n - i)
        acc += 2
        i += 1
    return acc


@ensure(lambda result: result == 1)
def never_ends(x: int) -> int:
    while True:
        x += 1


@ensure(lambda result: result >= 0)
def ends_except_for_five(n: int) -> int:
    i = 0
    while n == 5:
        i += 1
    return i


@ensure(lambda result: result > 0)
def eats_memory(n: int) -> int:
    blocks = [n]
    while len(blocks) < 10**12:
        blocks += blocks
    return len(blocks)


@require(lambda x, y, z: x > 0 and y > 0 and z > 0)
@ensure(lambda x, y, z, result: result)
def cubes(x: int, y: int, z: int) -> bool:
    return x**3 + y**3 != z**3


@require(lambda p, q: 1 < p <= q)
@ensure(lambda result: result)
def factors(p: int, q: int) -> bool:
    return p * q != 1000036000099


@require(lambda b: b > 0)
@ensure(lambda a, b, result: (result - 1) * b < a <= result * b)
def ceiling(a: int, b: int) -> int:
    return -(-a // b)


@require(lambda n: n >= 1)
@ensure(lambda result: result == 1)
def collatz(n: int) -> int:
    while n != 1:
        invariant(n >= 1)
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    return n


@ensure(lambda result: result is not None)
def without_annotation(x):  # here
    return x + x
