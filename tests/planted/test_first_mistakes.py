"""What people get wrong in their first machine: the place, what it is, and what to write."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path

import pytest

from refute.errors import RefuteError
from refute.specs.machine.frontend import translate
from refute.specs.machine.listing import require_listed

HEAD = """\
from __future__ import annotations
import random
from dataclasses import replace
from typing import Annotated, NamedTuple, Self
from refute.machine import *
class Place(NamedTuple):
    at: int
TABLE = ((), (True,), (True, False), ())
class P(Sort, size=2):
    pass
class Q(Sort):
    pass
class M(Machine):
    K: Const[int] = const(2)
    n: Var[Annotated[int, Range(0, 3)]] = var(0)
    @action
    def step(self, p: P) -> None:
        self.n = 0
    def helper(self) -> bool:
        return True
"""
LINE = HEAD.count("\n") + 1

# what is written → the line after LINE, what the message names, the next step
MISTAKES = {
    "@action\ndef a(self) -> None:\n    n += 1": (2, "the name n without self", "self.n"),
    "@action\ndef a(self) -> None:\n    when(n < 3)": (2, "the name n without self", "self.n"),
    "@action\ndef a(self) -> None:\n    when(helper())": (
        2,
        "helper without self",
        "self.helper(…)",
    ),
    "@action\ndef a(self) -> None:\n    self.n = nn": (2, "nn, which nothing defines", "a local"),
    "@action\ndef a(self) -> None:\n    self.nn = 1": (2, "self.nn, which is no Var", "nn: Var[T]"),
    "@action\ndef a(self) -> None:\n    when(self.n() > 1)": (2, "self.n, a variable", "self.n"),
    "@action\ndef a(self) -> None:\n    self.n = random.choice([1, 2])": (
        *(2, "a call of random.choice", "any_of(…)"),
    ),
    "@action\ndef a(self) -> None:\n    x = replace(Place(1), at=2)": (
        *(2, "replace of a NamedTuple", "._replace("),
    ),
    "@action\ndef a(self) -> None:\n    when(all(TABLE[self.n]))": (2, "iteration over", "lists"),
    "def __init__(self) -> None:\n    self.n = 1": (0, "__init__ of a machine", "var(value)"),
    "@invariant\ndef a(self) -> bool:\n    return eventually(self.helper)": (
        *(2, "eventually(…) here", "a @temporal"),
    ),
    "@transition\ndef a(self) -> bool:\n    return True": (0, "a(self)", "def a(self, after: Self"),
    "@action\ndef a(self, k: int) -> None:\n    self.n = k": (
        0,
        "the type int has more",
        "bound it",
    ),
    "v: Var[float] = var(1)": (0, "the type float", "whole numbers"),
    "v: Var[bool] = var(3)": (0, "M.v starts outside its type: 3", "start inside bool"),
    "v: Var[Map[P, Set[P]]] = var(each={})": (
        0,
        "M.v starts outside its type: {}",
        "such as empty_set",
    ),
    "v: Var[Map[P, bool]] = var({})": (0, "M.v starts outside its type: {}", "give every key"),
    "v: Var[Annotated[int, Range(0, K)]] = var(0)": (0, "the bound K", 'in a string: "K"'),
    "v: Var[Annotated[int, Range(0, 1.5)]] = var(0)": (0, "the bound 1.5", "in a string"),
    'v: Var[Annotated[int, Range(0, "KK")]] = var(0)': (0, "'KK' names no constant", "declare KK"),
}
numbers = itertools.count()


def refused(directory: Path, member: str) -> RefuteError:
    name = f"first_mistake_{next(numbers)}"
    lines = "".join(f"    {line}\n" for line in member.splitlines())
    file = directory / f"{name}.py"
    file.write_text(HEAD + lines)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(RefuteError) as caught:
        require_listed(translate(module.M, {}))
    return caught.value


@pytest.mark.parametrize("member", MISTAKES)
def test_a_first_mistake_is_told_with_its_line_and_a_remedy(tmp_path: Path, member: str) -> None:
    after, named, remedy = MISTAKES[member]
    error = refused(tmp_path, member)
    assert f".py:{LINE + after}: " in error.message
    assert named in error.message
    assert remedy in error.next_step


def test_a_constant_and_a_sort_without_a_number_are_told_apart(tmp_path: Path) -> None:
    constant = refused(tmp_path, "N: Const[int] = const()")
    assert "no value was given" in constant.message
    assert "N: Const[int] = const(3)" in constant.next_step
    sort = refused(tmp_path, "v: Var[Set[Q]] = var(empty_set)")
    assert "no size was given" in sort.message
    assert "class Q(Sort, size=3)" in sort.next_step
