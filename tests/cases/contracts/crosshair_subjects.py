"""Subjects for CrossHair: defects that chance does not find, sound ones, and hostile ones."""

from __future__ import annotations

import itertools
import os
import sys

import icontract
from icontract import ensure, require


@require(lambda x: x >= 0)
@ensure(lambda x, result: result == x)
def one_in_a_quintillion(x: int) -> int:
    return x if x != 1_152_921_504_606_846_975 else 0


@ensure(lambda result: result)
def sum_and_product(a: int, b: int) -> bool:
    return not (a + b == 1009 and a - b == 337)


@ensure(lambda result: result)
def password(word: str) -> bool:
    return not (len(word) == 6 and word[:3] == "ref" and word[3:] == "ute")


@ensure(lambda result: result is None or result < 100)
def third_is_the_sum(xs: list[int]) -> int | None:
    if len(xs) == 3 and xs[2] == xs[0] + xs[1] and xs[0] > 700:
        return xs[0]
    return None


@ensure(lambda result: 0 <= result <= 10)
def deep_branch(level: int, mode: bool, name: str) -> int:
    if mode and name.endswith("!"):
        if level * 7 == 777_777:
            return 11
        return 10
    return 0


def ascending(xs: list[int]) -> bool:
    return all(a <= b for a, b in itertools.pairwise(xs))


@require(lambda xs: ascending(xs) and len(xs) > 2)
@ensure(lambda xs, result: xs[0] <= result <= xs[-1])
def median_off_the_end(xs: list[int]) -> int:
    middle = xs[len(xs) // 2]
    return middle + 1 if middle == 4321 else middle


@icontract.require(lambda low, high: low <= high)
@icontract.ensure(lambda low, high, result: low <= result <= high)
def sound_clamp(x: int, low: int, high: int) -> int:
    return min(max(x, low), high)


@ensure(lambda text, result: len(result) <= len(text))
def sound_prefix(text: str) -> str:
    return text[:3] if text.startswith("ab") else text


@ensure(lambda x, result: result >= x)
def no_types(x, y: int) -> int:
    return x


@require(lambda x: x > 3 and x < 2)
@ensure(lambda result: result > 0)
def of_nothing(x: int) -> int:
    return x


@ensure(lambda x, result: result == x)
def right_unless_watched(x: int) -> int:
    return x + 1 if "crosshair" in sys.modules else x


@ensure(lambda x, result: result == x)
def wrong_unless_watched(x: int) -> int:
    return x if "crosshair" in sys.modules else x + 1


@ensure(lambda x, result: result == x)
def ends_the_process(x: int) -> int:
    if x > 100:
        os._exit(0)
    return x


@ensure(lambda x, result: result == x)
def hangs(x: int) -> int:
    while x > 0:
        pass
    return x


@ensure(lambda x, result: result == x)
def eats_memory(x: int) -> int:
    held = [bytes(1 << 20)]
    while x > 100 and len(held) < 1 << 40:
        held += [bytes(1 << 20) for _ in range(64)]
    return x


@ensure(lambda x, result: result == x)
def breaks_its_tools(x: int) -> int:
    import crosshair.core
    import z3

    z3.Solver.check = None
    crosshair.core.deep_realize = lambda *_: "anything"
    return x


@ensure(lambda x, result: result == x)
def prints(x: int) -> int:
    print("CONFIRMED", {"verdict": "PROVED"}, flush=True)
    return x
