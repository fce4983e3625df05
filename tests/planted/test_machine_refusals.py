"""What the machine language does not have is refused at build, with file, line and a way out."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import textwrap
from pathlib import Path

import pytest

from refute.errors import RefuteError, Unsupported, UsageError
from refute.machine import Machine
from refute.specs.machine.listing import require_listed

HEAD = """
from __future__ import annotations
import enum
from dataclasses import dataclass
from typing import Annotated, Literal, Self
from refute.machine import *
from refute.machine import Range, Upto

class RM(Sort, size=2):
    pass

class Unsized(Sort):
    pass

class Light(enum.Enum):
    RED = 1
    GREEN = 2

@dataclass
class Loose:
    n: int

@dataclass(frozen=True)
class Holds:
    some: Set[RM]

def helper(m, x):
    return x

class Other(Machine):
    n: Var[bool] = var(False)
    q: Var[bool] = var(False)

    @action
    def step(self) -> None:
        self.n = self.q

class Looping(Machine):
    n: Var[bool] = var(False)

    @process
    def run(self) -> Steps[Self]:
        while True:
            self.n = not self.n
            self = yield

class M(Machine):
    n: Var[Annotated[int, Range(0, 3)]] = var(0)
    s: Var[Set[RM]] = var(empty_set)
    q: Var[Annotated[Seq[RM], Upto(2)]] = var(())
    m: Var[Map[RM, bool]] = var(each=False)
    bag: Var[Bag[RM]] = var(Bag())

    @action
    def step(self) -> None:
        self.n = 0
"""

numbers = itertools.count()


def built(tmp_path: Path, body: str, **constants: int) -> object:
    name = f"refused_{next(numbers)}"
    file = tmp_path / f"{name}.py"
    file.write_text(HEAD + textwrap.indent(textwrap.dedent(body), "    "))
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        machine: type[Machine] = module.M
        return machine.build(**constants)
    finally:
        del sys.modules[name]


def test_the_head_alone_is_built(tmp_path: Path) -> None:
    assert built(tmp_path, "")


STATEMENTS = {
    "x = self.s\nr = any_of(RM)\nx.add(r)": "not a path from self",
    "x = [self.q.pop(0)]": "inside an expression",
    "x = self.s.pop()": "inside an expression",
    "self.bump()": "no helper of this class",
    "self.n = 1.5": "a float value",
    "self.n = int('1')": "int of Literal['1']",
    "print(self.n)": "as a statement",
    "try:\n    self.n = 1\nexcept ValueError:\n    pass": "try",
    "import os": "import in a step",
    "del self.q[0:1]": "del self.q[0:1]",
    "del self.m[RM(0)]": "a Map has one for every key",
    "self.n == 1": "the value self.n == 1 as a statement",
    "async def f() -> None:\n    pass": "async def",
    "yield": "a bare yield",
    "self = yield": "yield in an action",
    "return 1": "return with a value",
    "x = [lambda: 1]": "a lambda",
    "when(Light.RED == self.n)": "never equal",
    "if self.n:\n    x = 1\nself.n = x": "may be read before it is assigned",
    "self.m[Light.RED] = True": "as a key",
    "self.other = 1": "which is no Var",
    "when(min(RM) == max(RM))": "min of RM",
    "x = {frozenset(), {1}}": "where it is hashed",
    "x = {(1, [2]) for r in RM}": "where it is hashed",
    "x = Holds({r for r in RM})": "where it is hashed",
    "x = sorted(self.q)": "sorted of RM",
    "when((self.n, 1) == [1, self.n])": "compared with [1, self.n], which may be a list",
    "x = [r for r in RM]\nwhen((RM(0), RM(1)) != x[:1] + x)": "which may be a list and then never",
    "x = zip(self.q)": "this zip",
    "x = RM(self.n)": "this RM(…)",
    "x = RM(2)": "the value RM2",
    "x = max(self.q, key=len)": "iteration over RM",
    "x = [r for r in self.bag]": "a walk through a Bag",
    "x = len(self.bag)": "a walk through a Bag",
    "x = self.bag | self.s": "BitOr on Bag[RM] and Set[RM]",
    "x = self.bag.most_common()": "of a Bag",
    "self.bag.update(self.s)": ".update(…) on Bag[RM]",
    "x = max(self.q, key=lambda r: r)": "keys RM",
    "x = sorted(self.q, key=lambda r: 1, reverse=self.n > 1)": "this sorted",
    "x = self.n ** self.n": "Pow on",
    "x = self.n & None": "BitAnd on",
    "x = ~True": "Invert",
    "x = self.q * self.q": "Mult on",
    "x = self.m | self.s": "BitOr on",
    "self.m.update({Light.RED: True})": "as a key",
    "x = self.n == 0 or (y := self.n) > 1": ":=",
    "x = [y for r in RM if (y := self.m[r])]": ":=",
    "x = 1\nself.n = x + (x := 2)": ":=",
    "x = f'{self.n}'": "an f-string",
    "x = {**self.s}": "** in a dict",
    "x = next(self.q)": "this next",
    "x = every(Bag[RM])": "too many values",
    "match self.q:\n    case [x, *y]:\n        pass": "the pattern [x, *y]",
    "match self.q:\n    case [x] | [x, _]:\n        pass": "a name inside |",
    "match self.n:\n    case Holds(1, 2):\n        pass": "the pattern Holds(1, 2)",
    "match self.n:\n    case {1: x}:\n        pass": "the pattern {1: x}",
    "x = list(enumerate({r for r in RM}))": "whose order is not fixed",
    "when(self.n is self.n)": "except with None and Enum members",
    "for r in {r for r in RM}:\n    self.m[r] = True": "whose order is not fixed",
    "x = {r for r in RM} | self.s\nfor r in x:\n    self.m[r] = True": "whose order is not fixed",
    "x = [r for r in frozenset(self.q)]": "whose order is not fixed",
    "x = list({r for r in RM})": "whose order is not fixed",
    "x = list(self.s if self.n == 0 else {r for r in RM})": "whose order is not fixed",
    "first, *rest = self.n": "iteration over",
    "first, second = (1, 2, 3)": "an unpacking of other length",
    "x = any_of(every(Set[Set[Set[Set[RM]]]]))": "too many values",
    "x = any_of(every(self.n))": "as a type",
    "x = any_of(every(str))": "the type str",
    "x = any_of(every(Set[int]))": "a walk through Set",
    "x = any_of(subsets(RM, RM))": "this subsets",
    "x = [r for r in RM][0] if any_of(RM) else 1": "RM as a condition",
    "x = 1 if self.n > 0 else any_of([1, 2])": "any_of(…) inside an expression",
    "x = self.q[3:] + [any_of(RM)]": "any_of(…) inside an expression",
    "when(self.n > 0 and any_of([True, False]))": "any_of(…) inside an expression",
    "self.n = len(self.q) + any_of([1, 2])": "any_of(…) inside an expression",
}


@pytest.mark.parametrize("body", STATEMENTS)
def test_statements_outside_the_language(tmp_path: Path, body: str) -> None:
    code = "@action\ndef bad(self) -> None:\n" + textwrap.indent(body, "    ")
    with pytest.raises(Unsupported) as caught:
        built(tmp_path, code)
    assert STATEMENTS[body] in str(caught.value)
    assert caught.value.next_step
    file, _, line = caught.value.thing.partition(":")
    assert file.startswith("refused_") and int(line) > HEAD.count("\n")


MEMBERS = {
    "@invariant\ndef p(self) -> bool:\n    self.n = 1\n    return True": "a write in p",
    "@invariant\ndef p(self) -> bool:\n    when(True)\n    return True": "when(…) as a statement",
    "@invariant\ndef p(self) -> int:\n    return self.n": "a @invariant that gives",
    "@invariant\ndef p(self) -> bool:\n    return self.g(1)\ndef g(self, k: int):\n"
    "    return self.g(k + 1)": "calls itself, without the type",
    "@transition\ndef p(self, after: M) -> bool:\n    return self.g(after)\n"
    "def g(self, m: M) -> bool:\n    return m.g(self)": "calls itself for another state",
    "@invariant\ndef p(self) -> bool:\n    n = 0\n    f = lambda r: n == 1\n    n = 1\n"
    "    return f(1)": "stands for something else now",
    "@invariant\ndef p(self) -> bool:\n    def f(k: int) -> int:\n"
    "        return k if k < 1 else f(k - 1)\n    return f(self.n) < 1": "inside another that",
    "@invariant\ndef p(self) -> bool:\n    return self.g(1)\ndef g(self, k: int) -> bool:\n"
    "    return self.n == 'x'": "never equal",
    "@invariant\ndef p(self) -> bool:\n    x = Set()\n    while len(x) < 1:\n"
    "        x = {1} | x\n    return True": "may become a builtin set in a loop",
    "@invariant\ndef p(self) -> bool:\n    found = Set()\n    for r in self.s:\n"
    "        found = {r} | found\n    return len(found) > 0": "may become a builtin set in a loop",
    "@invariant\ndef p(self, r: RM) -> bool:\n    n = 0\n    for r in self.q:\n        n += 1\n"
    "    return n < 9": "the loop over r, a name in use",
    "@invariant\ndef p(self) -> bool:\n    n = 0\n    for helper in self.q:\n        n += 1\n"
    "    return helper(n, True)": "a call of helper",
    "@invariant\ndef p(self) -> bool:\n    found = (True,)\n    for r in self.q:\n"
    "        found = (found,)\n    return True": "no common type",
    "@invariant\ndef p(self, c: Light) -> bool:\n    match c:\n        case Light.RED:\n"
    "            return True": "without return, where c is Light.GREEN,",
    "@invariant\ndef p(self, c: Light | None) -> bool:\n    if c is Light.RED:\n"
    "        return True\n    elif c is Light.GREEN and self.n == 0:\n        return True\n"
    "    elif c is not None:\n        assert c is not Light.RED": "where c is Light.GREEN,",
    "@temporal\ndef p(self) -> Formula:\n    return self.n > 0": "as a formula",
    "@temporal\ndef p(self) -> Formula:\n    return always(self.n > 0)": "as a formula",
    "@temporal\ndef p(self) -> Formula:\n    return always(lambda x: True)": "with arguments",
    "@temporal\ndef p(self) -> Formula:\n    return all(always(lambda: self.m[r]) for r in RM)": (
        "a call of all in a formula"
    ),
    "@temporal\ndef p(self) -> Formula:\n    x = 1\n    return always(lambda: True)": (
        "1 as a formula"
    ),
    "@temporal\ndef p(self) -> Formula:\n    if self.n:\n        return always(lambda: True)\n"
    "    return always(lambda: False)": "`if self.n:` in a @temporal",
    "@temporal\ndef p(self) -> Formula:\n    def at(k: int) -> bool:\n        return self.n == k\n"
    "    return always(at)": "at, which takes arguments, as a predicate",
    "@temporal\ndef p(self) -> Formula:\n    x = always(lambda: True)": "without return",
    "@temporal\ndef p(self) -> Formula:\n    return for_all(RM, always)": "this for_all",
    "@action\ndef p(self) -> None:\n    self.step()": "which is a @action",
    "@action\ndef p(self) -> None:\n    self.g()\ndef g(self) -> None:\n    self.g()": (
        "which writes and calls itself"
    ),
    "@action\ndef p(self) -> None:\n    self.g()\ndef g(self) -> int:\n    self.n = 1\n"
    "    return 1": "return with a value",
    "@action\ndef p(self) -> None:\n    self.g()\ndef g(self) -> None:\n    for r in RM:\n"
    "        if self.m[r]:\n            return": "return inside a loop of a helper that writes",
    "@process\ndef p(self) -> Steps[Self]:\n    self.g()\n    self = yield\n"
    "def g(self) -> Steps[Self]:\n    self = yield": "which yields",
    '@action(fair="very")\ndef p(self) -> None:\n    pass': "the fairness 'very'",
    "@refines(int)\ndef p(self) -> object:\n    return {}": "as a machine",
    "@refines(Other)\ndef p(self) -> object:\n    return {'n': 0}": "does not give exactly n, q",
    "@refines(Other)\ndef p(self) -> object:\n    return None": "this mapping",
    "@refines(Other)\ndef p(self) -> object:\n    n = self.n": "a mapping without return",
    "@refines(Other)\ndef p(self) -> object:\n    if self.n:\n        return {'n': 0}\n"
    "    return {'n': 0, 'q': ()}": "does not give exactly n, q",
    "@refines(Looping)\ndef p(self) -> object:\n    return {'run': 0}": "does not give exactly n",
    '@fair("")\ndef p(self, after: M) -> bool:\n    return True': "the fairness ''",
    "@process\ndef p(self) -> Steps[Self]:\n    while True:\n        if self.n == 0:\n"
    "            self = yield": "a way round without yield",
    "@process\ndef p(self) -> Steps[Self]:\n    while True:\n        for r in self.q:\n"
    "            self = yield": "a way round without yield",
    "@invariant\ndef p(self) -> bool:\n    return super().p()": "super().p",
    "@action\ndef p(self, x) -> None:\n    pass": "without a type",
    "@action\ndef p(self, x: str) -> None:\n    pass": "the type str",
    "v: Var[Loose] = var(None)": "not frozen",
    "v: Var[Light] = var()": "var(value), var(one_of=…)",
    "@observe\ndef p(self) -> bool:\n    return True": "of a machine that never crashes",
    "@recover\ndef p(self, r: RM) -> None:\n    pass": "a parameter of @recover",
    "v: Var[Literal[1, 3]] = var(1)": "with a gap",
    "v: Var[Literal[Light.RED]] = var(Light.RED)": "Literal[<Light.RED",
    "v: Var[float] = var(1.0)": "the type float",
    "v: Var[list] = var([])": "the type list",
    'v: Var[Literal["a", "b"]] = var("a")\n@invariant\ndef p(self) -> bool:\n'
    '    return self.v == "c"': "never equal",
    "v: Var[int] = var(each_of=(1, 2))": "each_of",
    "@invariant\ndef well_defined(self) -> bool:\n    return True": "a member called well_defined",
}


@pytest.mark.parametrize("member", MEMBERS)
def test_members_outside_the_language(tmp_path: Path, member: str) -> None:
    with pytest.raises(Unsupported) as caught:
        built(tmp_path, member)
    assert MEMBERS[member] in str(caught.value)


def test_constants_are_checked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no constant or Sort called XX"):
        built(tmp_path, "", XX=3)
    with pytest.raises(UsageError, match="needs Unsized"):
        built(tmp_path, "v: Var[Set[Unsized]] = var(empty_set)")
    with pytest.raises(UsageError, match="at least one member"):
        built(tmp_path, "", RM=0)
    with pytest.raises(UsageError, match="needs K"):
        built(tmp_path, "K: Const[int] = const()")
    for bound in ("K - 1", "n + ", "2 ** 3", "1 // 0"):
        with pytest.raises(UsageError, match="the bound"):
            built(tmp_path, f'v: Var[Annotated[int, Range(0, "{bound}")]] = var(0)')
    wide = "v: Var[Map[RM, Set[Annotated[int, Range(0, 14)]]]] = var(each_of=anything)"
    with pytest.raises(UsageError, match="too many to try all"):
        require_listed(built(tmp_path, wide).ir)
    with pytest.raises(RefuteError, match="starts outside its type"):
        built(tmp_path, "v: Var[Annotated[int, Range(0, 3)]] = var(7)")


OWN_EQUALITY = """
@dataclass(frozen=True)
class Odd:
    n: bool
    def __eq__(self, other: object) -> bool:
        return True
v: Var[Set[Odd]] = var(empty_set)
"""


def test_a_dataclass_with_its_own_equality_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefuteError, match="Odd with its own equality"):
        built(tmp_path, OWN_EQUALITY)
