"""The contracts of `subjects.py` as the base has them; its bodies are right."""

from __future__ import annotations

from icontract import ensure, require, snapshot

FULL = 3


class NotFound(LookupError):
    """Nothing of that name."""


def grows(xs, OLD):
    return len(xs) == len(OLD.xs) + 1


@require(lambda x: x >= 0)
@ensure(lambda x, result: result == x + x)
def double(x: int) -> int:
    return x + x


@snapshot(lambda xs: xs[:], name="xs")
@snapshot(lambda xs: len(xs), name="size")
@ensure(lambda xs, x, OLD: xs == [*OLD.xs, x] and OLD.size + 1 == len(xs))
def push(xs: list[int], x: int) -> None:
    xs.append(x)


@ensure(lambda xs, result: result in xs)
def some(xs: list[int]) -> int:
    """One of them.

    :raises ValueError: when there are none
    """
    return max(xs)


@ensure(lambda name, names, result: names[result] == name)
def find(names: list[str], name: str) -> int:
    if name not in names:
        raise NotFound(name)
    return names.index(name)


@require(lambda xs: xs[0] > 0)
@ensure(lambda result: result)
def first_is_positive(xs: list[int]) -> bool:
    return xs[0] > 0


@require(lambda xs: xs[0] > 0)
@require(lambda xs: len(xs) > 0)
@ensure(lambda result: result)
def guarded(xs: list[int]) -> bool:
    return xs[0] > 0


@ensure(lambda result: result == undefined)  # noqa: F821
def unknown_name(x: int) -> int:
    return x


@ensure(lambda xs, result: result[0] == len(xs))
def counted(xs: list[int]) -> list[int]:
    return [len(xs)]


@require(lambda n: n >= 0)
@ensure(lambda n, result: result == n)
def count(n: int) -> int:
    done = 0
    while done < n:
        done += 1
    return done


@ensure(lambda n, result: len(result) == max(n, 0))
def zeros(n: int) -> list[int]:
    return [0] * n


@require(lambda n: n >= 0)
@ensure(lambda n, result: result == n)
def deep(n: int) -> int:
    return 0 if n == 0 else 1 + deep(n - 1)


@ensure(lambda a, b, result: result == a - b)
def minus(a: int, b: int) -> int:
    return a - b


@ensure(lambda x, flag, result: result == (x if flag else -x))
def signed(x: int, *, flag: bool) -> int:
    return x if flag else -x


@ensure(lambda x: x is x)
def identical(x: int) -> int:
    return x
