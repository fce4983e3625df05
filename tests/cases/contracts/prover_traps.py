"""Wrong functions of the kinds that a careless prover proves: aliases, callees, hidden state."""

from __future__ import annotations

from icontract import ensure, require, snapshot

from refute.specs.contract import decreases, invariant

count = 0


@ensure(lambda xs, result: len(result) == 1)
def new_row(xs: list[int]) -> list[int]:
    return [0]


@ensure(lambda xs, result: result == xs)
def itself(xs: list[int]) -> list[int]:
    return xs


@ensure(lambda xs, result: len(result) == len(xs) - 1)
def through_a_result(xs: list[int]) -> list[int]:
    ys = itself(xs)
    xs.append(1)
    return ys


@ensure(lambda xs, result: result == 0)
def through_a_nested_list(xs: list[int]) -> int:
    rows = [xs]
    before = len(rows[0])
    xs.append(1)
    return len(rows[0]) - before


@ensure(lambda n, result: all(len(row) == 1 for row in result))
def one_row_for_all(n: int) -> list[list[int]]:
    row = [0]
    rows: list[list[int]] = []
    for _ in range(n):
        rows.append(row)
        row.append(1)
    return rows


@ensure(lambda n, result: all(len(row) <= 1 for row in result))
def shared_rows(n: int) -> list[list[int]]:
    row = [0]
    rows = [row for _ in range(n)]
    row.append(1)
    return rows


@ensure(lambda xs, result: result == len(xs))
def alias_in_a_loop(xs: list[int]) -> int:
    ys = xs
    size = len(xs)
    for _ in range(len(xs)):
        ys.append(0)
    return size


@ensure(lambda xs, result: len(xs) == 0)
def rebinds_its_argument(xs: list[int]) -> None:
    xs = []  # noqa: F841


@snapshot(lambda xs: xs, name="xs")
@ensure(lambda xs, OLD: len(xs) == len(OLD.xs) + 1)
def no_copy_was_taken(xs: list[int]) -> None:
    xs.append(1)


@ensure(lambda result: result == 0)
def reads_a_counter() -> int:
    return count


def bump() -> None:
    global count
    count += 1


def keeps(x: int, kept: list[int] = []) -> int:  # noqa: B006
    kept.append(x)
    return len(kept)


@ensure(lambda x, result: result == 1)
def default_that_grows(x: int) -> int:
    keeps(x)
    return keeps(x)


@require(lambda n: n >= 0)
@ensure(lambda n, result: result == 2 * n)
def wrong_step(n: int) -> int:
    decreases(n)
    if n == 0:
        return 0
    return wrong_step(n - 1) + 1


@require(lambda n: n >= 0)
@ensure(lambda n, result: result == 17)
def never_smaller(n: int) -> int:
    decreases(n)
    return never_smaller(n)


@ensure(lambda x, result: result > x)
def wrong_promise(x: int) -> int:
    return x


@ensure(lambda x, result: result > x)
def trusts_a_wrong_promise(x: int) -> int:
    return wrong_promise(x)


@ensure(lambda n, result: result == 1)
def invariant_false(n: int) -> int:
    i = 0
    while i < n:
        invariant(i < 0)
        i += 1
    return 1


@ensure(lambda xs, result: result == 0)
def changes_while_iterating(xs: list[int]) -> int:
    seen = 0
    for x in xs:
        if len(xs) < 5:
            xs.append(x)
        seen += 1
    return seen - len(xs) + (1 if seen == 5 else 0)


@ensure(lambda a, b, result: result is None or result * b == a)
def quotient(a: int, b: int) -> int | None:
    try:
        return a // b
    except ZeroDivisionError:
        return None


@ensure(lambda xs, i, result: result == xs[i])
def negative_wraps(xs: list[int], i: int) -> int:
    return xs[i] if i < len(xs) else 0


@ensure(lambda x, result: result == (x == 1))
def bool_is_an_int(x: int) -> bool:
    return x == True or x == 2  # noqa: E712


@ensure(lambda xs, result: result == sum(xs))
def sum_of_a_prefix(xs: list[int]) -> int:
    acc = 0
    for i in range(len(xs) - 1):
        invariant(acc == sum(xs[:i]))
        acc += xs[i]
    return acc


@ensure(lambda x, result: result == x)
def int_of_a_bool(x: int) -> int:
    return x & 255


@ensure(lambda x, k, result: result >= x)
@require(lambda k: k >= 0)
def shifts_negative(x: int, k: int) -> int:
    return x << k


@ensure(lambda xs, result: result == sorted(xs))
def swaps_ends(xs: list[int]) -> list[int]:
    ys = xs[:]
    if len(ys) > 1 and ys[0] > ys[-1]:
        ys[0], ys[-1] = ys[-1], ys[0]
    return ys


@ensure(lambda xs, result: len(result) == len(xs))
def pops_from_an_alias(xs: list[int]) -> list[int]:
    ys = xs if len(xs) > 2 else [1]
    n = len(xs)
    if ys:
        ys.pop()
    return [0] * n


@ensure(lambda n, result: result >= 0)
def unbound_after_loop(n: int) -> int:
    for i in range(n):
        last = i
    return last


@ensure(lambda xs, result: len(result) == len(xs))
def filter_drops(xs: list[int]) -> list[int]:
    return [x for x in xs if x % 2 == 0]


@ensure(lambda xs, result: all(x >= 0 for x in result))
def filter_divides(xs: list[int]) -> list[int]:
    return [100 // x for x in xs if x > -3]


@require(lambda place: 0 <= place < 64)
@ensure(lambda bits, place, result: result - bits == 1 << place)
def sets_a_set_bit(bits: int, place: int) -> int:
    return bits | (1 << place)
