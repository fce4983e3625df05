"""One IR, several meanings: random small machines mean the same to every engine.

Source text of a machine is drawn from a seed, built, and searched by the compiled engine; at every
state the tree walk must offer exactly the same steps, and traces must play alike on the real class.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import textwrap
import time
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refute.machine import Model
from refute.specs.machine.ir import STEP_KINDS
from refute.specs.machine.meaning import Meaning, World
from refute.specs.machine.play import Play
from refute.specs.machine.statement import ALL_FIRE
from refute.verifiers.model.compiled import Instance, State, StepRaised, expand
from refute.verifiers.model.search import AT_ONCE, Search
from refute.verifiers.model.walking import walked

HEAD = """
from __future__ import annotations
import enum
from functools import reduce
from dataclasses import dataclass, replace
from typing import Annotated, Self
from refute.machine import *

class A(Sort, size=2):
    pass

class N(OrderedSort, size=3):
    pass

class C(enum.Enum):
    X = 1
    Y = 2

@dataclass(frozen=True)
class R:
    a: A
    c: C

FIRST = A(0)
LINES = [0, 2, 1, 2]
GRADES = {C.X: 1, C.Y: 2}

class M(Machine):
    i: Var[Annotated[int, Range(0, 3)]] = var(one_of=range(2))
    b: Var[bool] = var(False)
    n: Var[N | None] = var(one_of=N)
    s: Var[Set[A | R]] = var(empty_set)
    m: Var[Map[A, Annotated[int, Range(0, 2)]]] = var(each=1)
    q: Var[Annotated[Seq[C], Upto(2)]] = var(())
    d: Var[Map[C, Set[A]]] = var(each=empty_set)
"""

INTS = ["self.i", "self.m[a]", "len(self.s)", "len(self.q)", "1", "2"]
INTS += ["sum(x for x in self.m.values())"]
INTS += ["max(self.i, 1)", "sum(1 for x in A if self.m[x] > 0)", "self.i // self.m[a]", "k"]
BOOLS = ["self.b", "self.n is None", "self.i < self.m[a]", "a in self.s", "R(a, c) in self.s"]
BOOLS += ["all(x == 1 for x in self.m.values())", "self.q[0] == c", "any(c == y for y in self.q)"]
BOOLS += ["self.d[c] <= self.d[C.X]", "(a, c) in {(x, C.X) for x in A}", "0 <= self.i < 2"]
BOOLS += ["self.n is not None and self.n.index > 0", "isinstance(next_of(self.s, a), R)"]
BOOLS += ["{x: self.m[x] > 0 for x in A} == {x: True for x in A}", "self.q[1:] == self.q[:1]"]
BOOLS += ["[c] != self.q", "[x for x in self.s | {a, R(a, c)}][0] == a"]
BOOLS += ["any(x == a and v > 1 for x, v in self.m.items())"]
BOOLS += ["any(len(x) == 1 and x <= self.d[c] for x in subsets(self.d[c]))"]
BOOLS += ["Set([a]) in every(Set[A])", "len(permutations(self.d[c])) == 2"]
BOOLS += ["sole(self.q) == c", "len(self.q) != 1 or sole(self.q) == c"]
BOOLS += ["self.q == (c, C.X)", "() != self.q[1:]", "self.q + (c,) == (c,)"]
BOOLS += ["self.q in permutations(self.q)", "len(permutations([self.i, k, 1])) == 3"]
BOOLS += ["any(n != self.n for n in every(N | None))"]
BOOLS += ["all(y == c for x, y in enumerate(self.q) if x > 0)", "choose(A) in self.d[c]"]
BOOLS += ["list(reversed(self.q)) == self.q", "sorted([self.i, k, 1])[0] == k"]
BOOLS += ["any(x == y for x, y in zip(self.q, self.q[1:]))", "LINES[self.i] == GRADES[c]"]
BOOLS += ["choose(x for x in A if x in self.s) == a"]
BOOLS += [
    "FIRST in self.d[c] or a == A(1)",
    "max((x for x in self.m.values() if x > 1), default=k) == k",
]
BOOLS += ["min(self.m.values(), default=3) < k"]
INTS += ["(self.i or k)", "self.q.count(c)", "self.m.get(a, 7)", "(k + 1) ** 2", "2 ** self.i"]
INTS += ["sum(self.m.values(), k)"]
INTS += ["self.m[max(A, key=lambda x: self.m[x])]", "divmod(self.i, 2)[1]", "(1, 2, 3)[self.i % 3]"]
INTS += ["reduce(lambda x, y: x + 2 * y, self.m.values(), k)", "int(self.b)", "self.q.index(c)"]
BOOLS += ["(self.m[a], k) < (self.i, 1)", "min((self.m[x], k) for x in A) >= (1, self.i)"]
BOOLS += ["sorted(A, key=lambda x: -self.m[x])[0] == a", "[*self.q, c][0] == c", "bool(self.n)"]
BOOLS += ["sorted(self.m.values(), reverse=True)[0] == k", "self.q[::-1] == self.q + (c,)"]
BOOLS += ["next((x for x in A if self.m[x] > k), a) == a", "{**self.m, a: k} == self.m"]
BOOLS += ["any(map(lambda x: self.m[x] == k, A))"]
BOOLS += ["self.m.keys() - self.d[c] <= self.d[C.X]", "(self.b ^ (k == 1)) | (a in self.s)"]
BOOLS += ["{*self.d[c], a} == set(self.d[C.Y])", "all(self.m.values())"]
LOOPS = ["counted(self.m, self.i) > 2", "a in reached(self.d, self.m)"]
LOOPS += ["first(self.m, k) == a", "halves(self.i + k) > 1", "summed(self.d[c], self.m) == k"]
LOOPS += ["longest(self.d, Set(), 2) < 2", "first(self.m, self.i) is None or sure(self.q, k)"]
HELPER = """
def counted(m: Map[A, int], start: int) -> int:
    n, most = start, 0
    for x, v in m.items():
        if v > 0:
            n += v
        else:
            for k in range(v + 2):
                n = n + k
        most = max(most, v)
    return n + most

def reached(d: Map[C, Set[A]], m: Map[A, int]) -> Set[A]:
    found = d[C.X]
    for c in C:
        more = d[c] - found
        found = found | Set(x for x in more if m[x] > 0)
    return found

def first(m: Map[A, int], k: int) -> A | None:
    for x in A:
        if m[x] < k:
            continue
        if m[x] > k + 1:
            break
        for y in range(m[x]):
            if y + 1 == k:
                return x
    else:
        return A(0)
    return None

def halves(n: int) -> int:
    times = 0
    while n > 0:
        if times > 3:
            return 9
        n, times = n // 2, times + 1
        if n == 1:
            break
    return times

def summed(s: Set[A], m: Map[A, int]) -> int:
    if not s:
        return 0
    x = choose(s)
    return m[x] + summed(s - {x}, m)

def longest(d: Map[C, Set[A]], seen: Set[A], n: int) -> int:
    if n == 0:
        return len(seen)
    return max(longest(d, seen | d[c], n - 1) for c in C)

def sure(q: Seq[C], k: int) -> bool:
    def same(x: C) -> bool:
        return x == q[0]
    n = 0
    if len(q) > 1:
        n += 1
    if k > 1:
        n += 2
    if k > 2:
        n = n * 2
    return n > 1 and all(same(x) for x in q)

def sole(q: Seq[C]) -> C:
    assert len(q) == 1
    return q[0]

def next_of(s: Set[A | R], a: A) -> A | R:
    t = R(a, C.X)
    if t in s:
        return t
    return a
"""


class Draw:
    """Random source text in the machine language."""

    def __init__(self, seed: int, loops: bool = False) -> None:
        self.random = random.Random(seed)
        self.bools = BOOLS + 3 * LOOPS if loops else BOOLS

    def pick(self, options: list[str]) -> str:
        return self.random.choice(options)

    def boolean(self) -> str:
        form = self.random.randrange(4)
        if form == 0:
            return f"not ({self.pick(self.bools)})"
        if form == 1:
            word = self.pick(["and", "or"])
            return f"({self.pick(self.bools)} {word} {self.pick(self.bools)})"
        return self.pick(self.bools)

    def integer(self) -> str:
        if self.random.random() < 0.4:
            return f"({self.pick(INTS)} {self.pick(['+', '-', '*', '%'])} {self.pick(INTS)})"
        return self.pick(INTS)

    def simple(self) -> str:
        return self.pick(
            [
                f"self.i = {self.integer()} % 4",
                f"self.i = {self.integer()}",
                f"self.m[a] = {self.integer()} % 3",
                f"self.m[a] = {self.integer()}",
                f"self.b = {self.boolean()}",
                "self.s.add(a)",
                "self.s.discard(R(a, c))",
                "self.s.remove(a)",
                "self.s = self.s | {R(a, c)}",
                "self.q.append(c)",
                "self.q.pop(0)",
                "self.q = [c, C.X]",
                "self.d[c].add(a)",
                "self.d[c] = {x for x in A if x != a}",
                "self.n = None if self.n is None else self.n.next",
                "self.n = any_of(N)",
                "self.q = self.q[1:] if self.q == [c] else [c]",
                "self.n = max(x for x in N if x.index <= self.i)",
                "self.s = (self.s | {R(a, C.Y)}) - {a}",
                f"k = {self.integer()} % 5",
                f"k, self.i = self.i, {self.integer()} % 4",
                "self.m = {x: 1 if x == a else 0 for x in A}",
                "self.d[c] = any_of(subsets(A))",
                "self.q = any_of(permutations([c, C.X]))",
                "self.i = self.i + any_of([1, -1])",
                "self.q.append(any_of(C))",
                "self.d[any_of(C)] = {any_of(A)}",
                "when(any_of([k, 1]) < any_of(range(self.i)) or self.b)",
                "k = self.i = self.m[a]",
                "c = self.q.pop(0)",
                "del self.q[-1]",
                "c, *_ = self.q",
                "self.m[a] //= k",
            ]
        )

    def body(self, depth: int, in_for: bool = False) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randrange(1, 4)):
            form = self.random.randrange(9)
            if form == 0:
                lines.append(f"when({self.boolean()})")
            elif form == 1 and depth:
                lines += [f"if {self.boolean()}:", *indented(self.body(depth - 1, in_for))]
                lines += ["else:", *indented(self.body(depth - 1, in_for))]
            elif form == 2 and depth:
                lines += ["for a in A:", *indented(self.body(0, True))]
            elif form == 4 and depth:
                lines += [f"while {self.boolean()}:", *indented(self.body(0, True)), "    k += 1"]
                lines += ["    if k > 3:", "        break", "else:", "    self.b = True"]
            elif form == 3 and in_for:
                lines += [f"if {self.boolean()}:", f"    {self.pick(['break', 'continue'])}"]
            else:
                line = self.simple()
                lines.append(line)
        return lines

    def machine(self) -> str:
        lines = ["@action", "def act(self, a: A, c: C) -> None:", "    k = 1"]
        lines += indented(self.body(2))
        lines += ["@action", "def other(self) -> None:", "    a, c, k = any_of(A), any_of(C), 0"]
        lines += indented(self.body(1))
        lines += ["@process", "def run(self, a: A) -> Steps[Self]:", "    c, k = C.Y, 2"]
        bodies = [indented(indented(self.body(1))) for _ in range(2)]
        first, second = [[line.replace("for a in", "for z in") for line in b] for b in bodies]
        lines += ["    while True:", *first, "        self = yield", *second]
        lines += [f"        if {self.boolean()}:", f"            {self.pick(['return', 'break'])}"]
        lines += ["        self = yield"]
        lines += [f"        for y in {self.pick(['A', 'self.d[c]', 'list(self.m.items())'])}:"]
        lines += [f"            if {self.boolean()}:"]
        lines += [f"                {self.pick(['break', 'continue', 'self = yield'])}"]
        lines += ["            self.i = (self.i + 1) % 4", "            self = yield"]
        lines += ["@invariant", "def holds(self, a: A, c: C) -> bool:", "    k = 1"]
        lines += [f"    return {self.boolean()}"]
        return textwrap.indent("\n".join(lines), "    ")


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def loaded(directory: Path, seed: int, loops: bool = False) -> ModuleType:
    draw = Draw(seed, loops)
    text = HEAD.replace("class M(", HELPER + "\nclass M(")
    text += draw.machine()
    name = f"random_machine_{seed}"
    (directory / f"{name}.py").write_text(text)
    spec = importlib.util.spec_from_file_location(name, directory / f"{name}.py")
    assert spec is not None
    return executed(name, spec)


def executed(name: str, spec: ModuleSpec) -> ModuleType:
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def world_of(search: Search, state: State) -> World:
    count = len(search.ir.variables)
    places = [(p[0], tuple(p[1:])) for family in state[count:] for p in family]
    return World(state[:count], tuple(places))


def outcomes(steps: Iterator[Any]) -> list[Any]:
    """What the iterator gives, and the type of the exception that ended it."""
    found: list[Any] = []
    try:
        for step in steps:
            found.append(step)
    except StepRaised as raised:
        found.append(type(raised.error).__name__)
    except Exception as error:
        found.append(type(error).__name__)
    return found


def compiled_steps(search: Search, instance: Instance, state: State) -> Iterator[Any]:
    for after, choices in expand(instance, state):
        yield world_of(search, after), choices


def meant_steps(meaning: Meaning, instance: Instance, world: World) -> Iterator[Any]:
    for taken in meaning.step(instance.name, instance.params, world):
        yield taken.after, taken.choices


def outside(meaning: Meaning, world: World) -> bool | None:
    """Whether a constraint is false; None when one raises."""
    found = outcomes(meaning.holds(p, world) for p in meaning.ir.of_kind("constraint"))
    return None if any(type(v) is str for v in found) else not all(found)


CPU_S = 2.0  # for the steps of one machine; some have thousands of ways to take one


def compare(model: Model) -> int:
    begun = time.process_time()
    search, meaning = Search(model.ir), Meaning(model.ir)
    while not search.started:  # some have more than what is looked at before the first slice
        search._start(AT_ONCE)
    met = {world_of(search, s) for s in search.states}
    assert all(meaning.start(w.variables) == w for w in met)
    starts = outcomes(meaning.starts())
    if starts and type(starts[-1]) is str:  # an `@initial` predicate raises
        assert "well_defined" in search.hits
        starts.pop()
    assert all(w in met for w in starts if outside(meaning, w) is False)
    while search.at < min(len(search.states), 40) and time.process_time() - begun < CPU_S:
        state = search.states[search.at]
        world = world_of(search, state)
        for instance in search.machine.instances:
            ours = outcomes(compiled_steps(search, instance, state))
            theirs = outcomes(meant_steps(meaning, instance, world))
            assert ours == theirs, (instance.name, instance.params)
        for predicate in search.machine.predicates:
            pairs: list[list[State]] = [[state]]
            if predicate.property.kind in STEP_KINDS:
                afters = (o for i in search.machine.instances for o in outcomes(expand(i, state)))
                pairs = [[state, o[0]] for o in afters if type(o) is tuple][:9]
            for row in pairs:
                worlds = [world_of(search, s) for s in row]
                ours = outcomes(predicate.test(*row) for _ in range(1))
                theirs = outcomes(meaning.holds(predicate.property, *worlds) for _ in range(1))
                assert ours == theirs, predicate.property.name
        search.expand(search.at)
        search.at += 1
    for at in range(0, min(len(search.states), 60), 7):
        hit = search._hit(search.links[at], "", search.states[at])
        case = search.trace(ALL_FIRE, hit)["case"]
        played = Play(model.cls, {}, case).judge()
        assert played["states"] == walked(model.ir.to_plain(), [case])[0]["states"]
        assert len(played["states"]) == len(case["steps"]) + 1
    return len(search.states)


@settings(max_examples=12, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 10**6))
def test_random_machines_mean_the_same(tmp_path_factory: Any, seed: int) -> None:
    module = loaded(tmp_path_factory.mktemp("machines"), seed, loops=True)
    try:
        assert compare(module.M.build()) >= 1
    finally:
        del sys.modules[module.__name__]


EAGER = """
from typing import Annotated
from refute.machine import *

Small = Annotated[int, Range(0, 3)]

class M(Machine):
    i: Var[Small] = var(0)
    s: Var[Set[Small]] = var(Set([1]))
    q: Var[Annotated[Seq[Small], Upto(2)]] = var(())
    m: Var[Map[Small, Small]] = var(each=1)
    bag: Var[Annotated[Bag[Small], Upto(2)]] = var(Bag())

    @action
    def act(self) -> None:
        self.i = EXPRESSION
"""


@pytest.mark.parametrize(
    "expression",
    [
        "max(self.s, default=self.q[0])",
        "min((x for x in self.s), default=self.q[0])",
        "max(self.s, key=lambda x: -x, default=self.q[0])",
        "next((x for x in self.s), self.q[0])",
        "self.m.get(1, self.q[0])",
        "self.bag.count(self.q[0])",
        "(1 if self.q[0] in self.bag else 2)",
        "self.q.count(self.q[0])",
        "len({k: self.q[0] for k in self.m})",
        "max({k: self.q[0] for k in self.m})",
        "sum(1 for _ in {k: self.q[0] for k in self.m})",
        "(1 if 2 in {k: self.q[0] for k in self.m} else 2)",
        "(1 if {k: self.q[0] for k in self.m} else 2)",
        "(1 if all(k >= 0 for k in {k: self.q[0] for k in self.m}) else 2)",
        "list({k: self.q[0] for k in self.m}.keys())[0]",
        "any_of({k: self.q[0] for k in self.m}.keys())",
        "len(sorted(self.s, key=lambda x: self.q[0]))",
        "self.q[0] ** 0",
        "2 ** (self.q[0] * 0)",
        "any_of([self.q[0] if x > 0 else x for x in range(2)])",
    ],
)
def test_what_python_evaluates_in_any_case_is(expression: str, tmp_path: Path) -> None:
    """A default that is not needed may raise, an element looked for in nothing, the key of the only
    one to be sorted, and a map whose keys alone are asked for, which its type tells."""
    file = tmp_path / "eager.py"
    file.write_text(EAGER.replace("EXPRESSION", expression))
    spec = importlib.util.spec_from_file_location("eager", file)
    assert spec is not None
    model = executed("eager", spec).M.build()
    try:
        assert compare(model) == 1
        search = Search(model.ir)
        search.advance(5.0)
        assert "IndexError" in search.report()["hits"]["well_defined"]["why"]
    finally:
        del sys.modules["eager"]


@pytest.mark.parametrize(
    ("name", "machine"),
    [
        ("matches", "Matches"),
        ("bags", "Network"),
        ("own_values", "Tags"),
        ("own_values", "Records"),
        ("own_values", "Tables"),
        ("long_steps", "Loops"),
        ("covering", "Covering"),
        ("natural", "Bits"),
        ("natural", "Rows"),
        ("writing", "Writing"),
        ("writing", "Derived"),
        ("telling_calls", "TellingCalls"),
        ("optional_numbers", "OptionalNumbers"),
        ("narrowed", "Narrowed"),
        ("rowwise", "Rows"),
    ],
)
def test_written_machines_mean_the_same(name: str, machine: str) -> None:
    file = Path(__file__).parents[1] / "cases" / "machines" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    module = executed(name, spec)
    try:
        assert compare(getattr(module, machine).build()) > 40
    finally:
        del sys.modules[name]


def test_folds_over_sets_follow_the_canonical_order() -> None:
    file = Path(__file__).parents[1] / "cases" / "machines" / "folds.py"
    spec = importlib.util.spec_from_file_location("folds", file)
    assert spec is not None
    module = executed("folds", spec)
    try:
        assert compare(module.Folds.build()) > 60
    finally:
        del sys.modules["folds"]


DEEP = """
from __future__ import annotations
from refute.machine import *

class M(Machine):
    b: Var[bool] = var(False)

    @action
    def step(self) -> None:
        self.b = True

    def down(self, n: int) -> int:
        return 0 if n == 0 else 1 + sum(self.down(n - 1) for x in [self.b])

    @invariant
    def holds(self) -> bool:
        return self.down(150) == 150

    @invariant
    def fails(self) -> bool:
        return not self.b or self.down(250) == 250
"""


def test_helpers_may_call_themselves_so_deep_and_no_deeper(tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text(DEEP)
    spec = importlib.util.spec_from_file_location("deep", tmp_path / "deep.py")
    assert spec is not None
    limit = sys.getrecursionlimit()
    try:
        model = executed("deep", spec).M.build()
        assert compare(model) == 2
        search = Search(model.ir)
        search.advance(1.0)
        hits = search.report()["hits"]
        assert "holds" not in hits
        assert "fails raises RecursionError" in hits["well_defined"]["why"]
    finally:
        sys.setrecursionlimit(limit)
        del sys.modules["deep"]
