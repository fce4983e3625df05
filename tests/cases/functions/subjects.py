"""Subjects of claims about functions: sound ones, and each defect in one function."""

from __future__ import annotations

import json
import math
import os
import random
import sys
import time


def encode(x: bytes) -> bytes:
    return bytes(b ^ 0x55 for b in x)


def decode(x: bytes) -> bytes:
    return bytes(b ^ 0x55 for b in x)


def drops_seven(x: bytes) -> bytes:
    return bytes(b ^ 0x55 for b in x if b != 7)


def ordered(v: list[int]) -> list[int]:
    return sorted(v)


def drops_twins(v: list[int]) -> list[int]:
    return sorted(set(v))


def sorts_in_place(v: list[int]) -> list[int]:
    v.sort()
    return v


def double(x: int) -> int:
    return 2 * x


def wrong_above(x: int) -> int:
    return 2 * x + (x > 41)


def raises_above(x: int) -> int:
    if x > 41:
        raise ValueError(f"too large: {x}")
    return 2 * x


def exits_above(x: int) -> int:
    if x > 41:
        os._exit(0)
    return 2 * x


def hangs_above(x: int) -> int:
    while x > 41:
        time.sleep(1)
    return 2 * x


def leaves_above(x: int) -> int:
    if x > 41:
        sys.exit(0)
    return 2 * x


def float_above(x: int) -> float:
    return 2.0 * x if x > 41 else 2 * x


class Equal(int):
    """Equals everything, and is an int for whoever asks."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


def equal_above(x: int) -> int:
    return Equal() if x > 41 else 2 * x


_calls = 0


def wrong_later(x: int) -> int:
    """Wrong in the fourth call of a process, whatever it is asked."""
    global _calls
    _calls += 1
    return 2 * x + (_calls == 4)


def flaky(x: int) -> int:
    return 2 * x + (random.random() < 0.5)


def by_hash(x: int) -> int:
    """Right or wrong by the seed of string hashes."""
    return 2 * x + (hash("refute") % 3 == 0)


_stack: list[int] = []


def push(x: int) -> None:
    _stack.append(x)


def pop() -> int:
    return _stack.pop()


_shared: list[int] = []


def shared(x: int) -> list[int]:
    """The same list each time, with the right contents at the time."""
    _shared[:] = [x]
    return _shared


def nan_at_zero(x: float) -> float:
    return x if x else math.nan


def parse(text: str) -> object:
    return json.loads(text)


class Shapes:
    """Holds a static method."""

    @staticmethod
    def area(w: int, h: int) -> int:
        return w * h


def token(x: int) -> object:
    """Not plain data."""
    return object()
