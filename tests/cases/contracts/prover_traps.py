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


def push(zs: list[int], v: int) -> int:
    zs.append(v)
    return len(zs)


@require(lambda ys: len(ys) == 0)
@ensure(lambda ys: len(ys) == 0)
def effect_in_all(xs: list[int], ys: list[int]) -> None:
    all(push(ys, x) > 0 for x in xs)


@require(lambda ys: len(ys) == 0)
@ensure(lambda ys: len(ys) == 0)
def effect_in_sum(xs: list[int], ys: list[int]) -> int:
    return sum(push(ys, x) for x in xs)


@ensure(lambda xs, result: result == 0)
def assigned_in_any(xs: list[int]) -> int:
    last = 0
    any((last := x) > 3 for x in xs)
    return last


@ensure(lambda result: result == 2)
def pops_what_it_reads() -> int:
    ys = [1, 2]
    return len([ys.pop() for _ in ys])


@ensure(lambda xs, result: result)
def ends_before_it_raises(xs: list[int]) -> bool:
    """Whether all are positive.

    :raises IndexError: if it comes to the end
    """
    return all(xs[i] > 0 for i in range(len(xs) + 1))


@ensure(lambda xs, result: result == 7)
def raises_one_of_two(xs: list[int]) -> int:
    """Seven.

    :raises IndexError: nearly always
    """
    try:
        sum(1 // xs[i] for i in range(len(xs) + 1))
    except ZeroDivisionError:
        return 8
    return 7


@ensure(lambda xs, result: result == sum(xs))
def binds_late(xs: list[int]) -> int:
    k = 0
    made = (x + k for x in xs)
    k = 5
    return sum(made)


@ensure(lambda xs, result: result == 2 * sum(xs))
def used_up(xs: list[int]) -> int:
    made = (x for x in xs)
    return sum(made) + sum(made)


def twice(numbers: list[int]) -> int:
    return sum(numbers) + sum(numbers)


@ensure(lambda xs, result: result == 2 * sum(x for x in xs))
def used_up_elsewhere(xs: list[int]) -> int:
    return twice(x for x in xs)


@require(lambda xs: all(x >= 0 for x in xs))
@ensure(lambda result: result >= 0)
def zip_looks_late(xs: list[int]) -> int:
    total = 0
    for a, b in zip(xs, xs, strict=False):
        if a == 3:
            xs[-1] = -100
        total += b
    return total


@ensure(lambda xs, result: result == xs)
def generator_looks_late(xs: list[int]) -> list[int]:
    out: list[int] = []
    for y in (x for x in xs):
        if y == 3:
            xs[-1] = 7
        out.append(y)
    return out


@ensure(lambda xs, result: result == sum(xs))
def generator_reads_a_variable(xs: list[int]) -> int:
    k = total = 0
    for y in (x + k for x in xs):
        total += y
        k = 5
    return total


@ensure(lambda flag, result: result == 2)
def grows_under_the_loop(flag: bool) -> int:
    ys = [1, 2]
    rounds = 0
    for _ in ys:
        if flag and len(ys) < 5:
            ys.append(3)
        rounds += 1
    return rounds
