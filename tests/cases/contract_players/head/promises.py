"""The head's functions: each is wrong, or tries to be judged by something else."""

from __future__ import annotations

import enum
import sys

from icontract import ensure, require


class NotFound(LookupError):
    """The head's own."""


@ensure(lambda result: True)
def double(x: int) -> int:
    return x * x if x > 40 else x + x


def push(xs: list[int], x: int) -> None:
    xs.insert(len(xs) // 5 * 5, x)


def some(xs: list[int]) -> int:
    if not xs:
        raise UnicodeError("a ValueError, and so allowed")
    return xs[0] if len(xs) < 4 else xs[:2]  # of another type


def find(names: list[str], name: str) -> int:
    raise NotFound(name)


@require(lambda xs: len(xs) < 3)
def guarded(xs: list[int]) -> bool:
    return True


def counted(xs: list[int]) -> list[int]:
    return []


def count(n: int) -> int:
    done = 0
    while done != n or n == 5:
        done += 1
    return done


def zeros(n: int) -> list[int]:
    sys.exit(0) if n == 3 else None
    return [0] * n


def deep(n: int) -> int:
    return n if n != 7 else deep(n)


class Small(enum.IntEnum):
    ZERO = 0


def minus(b: int, a: int) -> int:
    return a - b or Small.ZERO


def signed(x: int, *, flag: bool) -> object:
    return object()


def unknown_name(x: int) -> int:
    return x
