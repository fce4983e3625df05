"""Random functions of the prover's subset, and whether its semantics agrees with CPython's.

A function is executed symbolically once. For a concrete input, what CPython does must then be
possible in the verification condition: the exit of the same kind, with the same result and the
same contents of the arguments. If it is not, a proof could be wrong. Where loops are unrolled and
nothing is abstracted, no other exit may be possible either.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import z3

from refute.specs.contract_source import contract_in
from refute.verifiers.contracts.comparison import equal
from refute.verifiers.contracts.program import Program
from refute.verifiers.contracts.run import UNSUPPORTED, Exit, Mode
from refute.verifiers.contracts.terms import Term, conj, lift, neg
from refute.verifiers.contracts.values import (
    BoolV,
    IntV,
    NoneV,
    SeqV,
    TupleV,
    UnionV,
    Value,
    literal,
)
from refute.verifiers.contracts.verification import Task, Verified, verify

PARAMETERS = {
    "a": "int",
    "b": "int",
    "xs": "list[int]",
    "o": "int | None",
    "flag": "bool",
    "data": "bytes",
    "pair": "tuple[int, int]",
}
Case = dict[str, Any]


class Writer:
    """Writes one random function; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.ints = ["a", "b"]
        self.lists = ["xs"]
        self.lines: list[str] = []
        self.counter = 0
        self.loops = 0

    def function(self) -> str:
        """The source text."""
        head = ", ".join(f"{n}: {t}" for n, t in PARAMETERS.items())
        self.lines = [f"def f({head}):"]
        for _ in range(self.rng.randint(2, 6)):
            self.statement(1)
        self.line(1, f"return {self.result()}")
        return "\n".join(self.lines) + "\n" + HELPERS

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def pick(self, *choices: Callable[[], str]) -> str:
        return self.rng.choice(choices)()

    def result(self) -> str:
        return self.pick(
            lambda: self.integer(2),
            lambda: self.boolean(2),
            lambda: self.rng.choice(self.lists),
            lambda: f"({self.integer(1)}, {self.rng.choice(self.lists)})",
            lambda: f"[{self.integer(1)}, {self.integer(1)}]",
            lambda: self.listing(),
            lambda: "o",
            lambda: f"{self.integer(1)} if {self.boolean(1)} else None",
        )

    def integer(self, depth: int) -> str:
        """An expression that is mostly an int."""
        if depth <= 0 or self.rng.random() < 0.2:
            return self.pick(
                lambda: str(self.rng.choice((0, 1, 2, 3, 7, 8, -1, -3, 255))),
                lambda: self.rng.choice(self.ints),
                lambda: self.rng.choice(self.ints),
            )
        e, c = (lambda: self.integer(depth - 1)), (lambda: self.rng.choice(self.lists))
        return self.pick(
            lambda: f"({e()} {self.rng.choice('+-*')} {e()})",
            lambda: f"({e()} {self.rng.choice(('+', '-'))} {e()})",
            lambda: f"({e()} {self.rng.choice(('//', '%'))} {self.rng.choice((e(), '3', '-2'))})",
            lambda: f"({e()} {self.rng.choice('&|^')} {self.rng.choice((1, 6, 12, -4, 255))})",
            lambda: f"({e()} {self.rng.choice('&|^')} {e()})",
            lambda: f"({e()} {self.rng.choice(('<<', '>>'))} {self.rng.choice((0, 1, 3))})",
            lambda: f"(1 << ({e()} % 5))",
            lambda: f"({e()} >> ({e()} % 9))",
            lambda: f"{self.rng.choice('-~')}{e()}",
            lambda: f"abs({e()})",
            lambda: f"{self.rng.choice(('min', 'max'))}({e()}, {e()})",
            lambda: f"{self.rng.choice(('min', 'max', 'sum', 'len'))}({c()})",
            lambda: f"{c()}[{e()}]",
            lambda: f"{c()}[{self.rng.choice(('0', '-1', '1'))}]",
            lambda: f"({e()} if {self.boolean(depth - 1)} else {e()})",
            lambda: f"int({self.boolean(depth - 1)})",
            lambda: f"({e()} {self.rng.choice(('or', 'and'))} {e()})",
            lambda: "o",
            lambda: "(o or 0)",
            lambda: f"len(data[{e()}:])",
            lambda: f"data[{e()}]",
            lambda: f"pair[{self.rng.choice((0, 1))}]",
            lambda: f"sum({c()}[:{e()}])",
            lambda: f"{c()}.count({e()})",
            lambda: f"sum(x * 2 for x in {c()} if x > {e()})",
            lambda: f"divmod({e()}, {e()})[{self.rng.choice((0, 1))}]",
            lambda: f"({e()}) ** 2",
            lambda: f"helper({e()}, {e()})",
            lambda: f"touch({c()}, {e()})",
            lambda: f"sorted({c()})[{self.rng.choice((0, -1))}]",
            lambda: f"({e()}).bit_length()",
            lambda: f"int.from_bytes(data[:2] + bytes(2), 'little') + {e()}",
        )

    def boolean(self, depth: int) -> str:
        e = lambda: self.integer(depth - 1)  # noqa: E731
        if depth <= 0:
            return self.pick(lambda: "flag", lambda: f"{e()} < {e()}")
        b, c = (lambda: self.boolean(depth - 1)), (lambda: self.rng.choice(self.lists))
        compare = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
        return self.pick(
            lambda: f"{e()} {compare} {e()}",
            lambda: f"{e()} {compare} {e()} < {e()}",
            lambda: f"({b()} and {b()})",
            lambda: f"({b()} or {b()})",
            lambda: f"(not {b()})",
            lambda: f"{e()} {self.rng.choice(('in', 'not in'))} {c()}",
            lambda: "o is None",
            lambda: f"bool({c()})",
            lambda: f"all(x {compare} {e()} for x in {c()})",
            lambda: f"any(x {compare} y for x in {c()} for y in {c()})",
            lambda: f"all({c()}[i] <= {c()}[i + 1] for i in range(len({c()}) - 1))",
            lambda: f"{c()} == {c()}",
            lambda: f"{c()}[{self.slice()}] == {c()}[{self.slice()}]",
            lambda: "isinstance(o, int)",
            lambda: f"{c()} is {c()}",
        )

    def slice(self) -> str:
        low = self.rng.choice(("", self.integer(1)))
        return f"{low}:{self.rng.choice(('', self.integer(1)))}"

    def listing(self) -> str:
        """An expression that is a new list."""
        c, e = (lambda: self.rng.choice(self.lists)), (lambda: self.integer(1))
        return self.pick(
            lambda: f"{c()}[{self.slice()}]",
            lambda: f"[{e()}, {e()}]",
            lambda: "[]",
            lambda: f"{c()} + {c()}",
            lambda: f"[x + {self.rng.choice(self.ints)} for x in {c()}]",
            lambda: f"[i for i in range(3) if i != {e()}]",
            lambda: f"list({c()})",
            lambda: f"sorted({c()})",
            lambda: f"[{e()}] * 2",
            lambda: f"{c()}[::-1]",
            lambda: "list(data)",
        )

    def name(self, kind: str) -> str:
        self.counter += 1
        return f"{kind}{self.counter}"

    def statement(self, depth: int) -> None:
        simple = [self.assign, self.augment, self.new_list, self.change, self.change]
        nested = [self.branch, self.branch, self.repeat, self.repeat_while, self.guarded]
        if depth < 3 and self.rng.random() < 0.55:
            nested[self.rng.randrange(len(nested))](depth)
        elif self.rng.random() < 0.08:
            self.leave(depth)
        else:
            self.rng.choice(simple)(depth)

    def leave(self, depth: int) -> None:
        self.line(depth, f"if {self.boolean(1)}:")
        kinds = [f"return {self.result()}", f"raise {self.rng.choice(('ValueError', 'KeyError'))}"]
        kinds += ["break", "continue"] * 2 if self.loops else []
        kinds += [f"assert {self.boolean(1)}"]
        self.line(depth + 1, self.rng.choice(kinds))

    def assign(self, depth: int) -> None:
        if self.rng.random() < 0.2:
            first, second = self.name("u"), self.name("v")
            self.line(depth, f"{first}, {second} = {self.integer(1)}, {self.integer(1)}")
            self.ints += [first, second]
            return
        target = self.rng.choice(self.ints) if self.rng.random() < 0.5 else self.name("v")
        self.line(depth, f"{target} = {self.integer(2)}")
        if target not in self.ints:
            self.ints.append(target)

    def augment(self, depth: int) -> None:
        self.line(depth, f"{self.rng.choice(self.ints)} += {self.integer(1)}")

    def new_list(self, depth: int) -> None:
        text = self.rng.choice(self.lists) if self.rng.random() < 0.3 else self.listing()
        target = self.rng.choice(self.lists) if self.rng.random() < 0.3 else self.name("ys")
        self.line(depth, f"{target} = {text}")
        if target not in self.lists:
            self.lists.append(target)

    def change(self, depth: int) -> None:
        c, e = self.rng.choice(self.lists), (lambda: self.integer(1))
        other = self.rng.choice(self.lists)
        text = self.pick(
            lambda: f"{c}.append({e()})",
            lambda: f"{c}[{e()}] = {e()}",
            lambda: f"{c}[{e()}] += {e()}",
            lambda: f"{c}.pop()",
            lambda: f"{c}.pop({e()})",
            lambda: f"{c}.insert({e()}, {e()})",
            lambda: f"{c}.extend({other}[:3])",
            lambda: f"{c} += {other}[:2]",
            lambda: f"{c}.clear()",
            lambda: f"{c}.reverse()",
            lambda: f"{c}[0], {c}[-1] = {c}[-1], {c}[0]",
            lambda: f"{c}[{self.slice()}] = [{e()}]",
            lambda: f"{c}.remove({e()})",
            lambda: f"touch({c}, {e()})",
        )
        self.line(depth, text)

    def block(self, depth: int) -> None:
        ints, lists = list(self.ints), list(self.lists)
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth)
        if self.rng.random() < 0.7:  # else names that may have no value are used later
            self.ints, self.lists = ints, lists

    def branch(self, depth: int) -> None:
        self.line(depth, f"if {self.boolean(2)}:")
        self.block(depth + 1)
        if self.rng.random() < 0.6:
            self.line(depth, "else:")
            self.block(depth + 1)

    def repeat(self, depth: int) -> None:
        item, c = self.name("i"), self.rng.choice(self.lists)
        over = self.pick(
            lambda: f"range({self.rng.choice((2, 3))})",
            lambda: f"range(len({c}))",
            lambda: f"range({self.integer(1)} % 4)",
            lambda: f"range(len({c}) - 1, -1, -1)",
            lambda: f"{c}[:4]",
            lambda: f"list({c})",
            lambda: f"reversed({c}[:])",
            lambda: "data",
            lambda: "pair",
        )
        self.line(depth, f"for {item} in {over}:")
        self._loop(depth, item)

    def repeat_while(self, depth: int) -> None:
        fuel = self.name("fuel")
        self.line(depth, f"{fuel} = {self.rng.choice((2, 3))}")
        self.line(depth, f"while {fuel} > 0 and {self.boolean(1)}:")
        self.line(depth + 1, f"{fuel} -= 1")
        self._loop(depth, fuel)

    def _loop(self, depth: int, item: str) -> None:
        before = list(self.ints)
        self.ints.append(item)
        self.loops += 1
        self.block(depth + 1)
        self.loops -= 1
        if not self.rng.random() < 0.2:
            self.ints = [n for n in self.ints if n != item] or before
        if self.rng.random() < 0.15:
            self.line(depth, "else:")
            self.block(depth + 1)

    def guarded(self, depth: int) -> None:
        self.line(depth, "try:")
        self.block(depth + 1)
        kind = self.rng.choice(
            ("IndexError", "(TypeError, ValueError)", "Exception", "LookupError")
        )
        self.line(depth, f"except {kind}:")
        self.block(depth + 1)


HELPERS = """

def helper(p: int, q: int) -> int:
    if p > q:
        return p - q
    for k in range(3):
        if k == q:
            return k
    return q


def touch(zs: list[int], v: int) -> int:
    if v % 2 == 0 and zs:
        zs[0] = v
        return 1
    zs.append(v)
    return len(zs)
"""


def random_case(rng: random.Random, size: int) -> Case:
    """Small inputs for the parameters of every function, with lists of that size."""
    small = (0, 1, 2, 3, -1, -2, -7, 5, 8, 300)
    return {
        "a": rng.choice(small),
        "b": rng.choice(small),
        "xs": [rng.choice(small) for _ in range(size)],
        "o": rng.choice((None, rng.choice(small))),
        "flag": rng.random() < 0.5,
        "data": bytes(rng.choice((0, 1, 127, 255)) for _ in range(size)),
        "pair": (rng.choice(small), rng.choice(small)),
    }


@dataclasses.dataclass
class Did:
    """What CPython did. kind: return, or the exception's name; after: the list argument."""

    kind: str
    value: Any
    after: list[int]


def run_plainly(source: str, case: Case) -> Did:
    """Call the function on CPython."""
    names: dict[str, Any] = {}
    exec(compile(source, "f.py", "exec"), names)
    given = {k: list(v) if isinstance(v, list) else v for k, v in case.items()}
    try:
        value = names["f"](**given)
    except Exception as error:
        return Did(type(error).__name__, None, given["xs"])
    return Did("return", value, given["xs"])


def execute(source: str, mode: Mode, sizes: dict[str, int] | None = None) -> Verified:
    """Execute the function symbolically. Raises Refused."""
    program = Program({"f": ("f.py", source)})
    module = program.module("f")
    assert module is not None
    contract = contract_in(module.tree, "f.py", "f")
    return verify(program, Task(program.lookup(module, "f"), contract, module, ()), mode, sizes)


def constant(value: Any) -> Value:
    """A plain value as the prover sees it."""
    match value:
        case bool():
            return BoolV(value)
        case int():
            return IntV(value)
        case None:
            return NoneV()
        case tuple():
            return TupleV(tuple(map(constant, value)))
        case list():
            return SeqV("list", literal([constant(v) for v in value]))
        case bytes():
            return SeqV("bytes", literal([IntV(v) for v in value]))
    raise TypeError(value)


def _same_kind(verified: Verified, exit_: Exit, value: Value, plain: Any) -> Term:
    """Whether a value has the type that CPython's has; equality alone takes True for 1."""
    cases = value.options if isinstance(value, UnionV) else ((True, value),)
    names = {"NoneType": "None"}
    wanted = names.get(type(plain).__name__, type(plain).__name__)
    fits = [
        conj([c]) for c, v in cases if exit_.state.kind(v).name.replace("vtuple", "tuple") == wanted
    ]
    return neg(conj([neg(c) for c in fits])) if fits else False


def disagreement(verified: Verified, case: Case, did: Did, exact: bool) -> str:
    """How the verification condition and CPython differ on an input; empty where they agree.

    exact: whether nothing else than what CPython does may be possible.
    """
    run, entry = verified.run, verified.entry
    inputs = [equal(run, entry, v, constant(case[n])) for n, v in verified.arguments.items()]
    agrees, others = False, []
    for exit_ in verified.exits:
        facts = [*exit_.state.path, *exit_.state.facts, *inputs]
        if exit_.kind in (UNSUPPORTED, "cut"):
            if _check(run.context.axioms, facts) != z3.unsat:
                return ""
            continue
        label = "return" if exit_.kind == "return" else exit_.error.rpartition(".")[2]
        right: Term = label == did.kind
        if label == did.kind == "return":
            right = conj(_as_done(verified, exit_, did))
        possible = _check(run.context.axioms, [*facts, right])
        besides = _check(run.context.axioms, [*facts, neg(right)]) if exact else z3.unsat
        if z3.unknown in (possible, besides):
            return ""
        agrees = agrees or possible == z3.sat
        unbound = {label, did.kind} <= {"NameError", "UnboundLocalError"}
        others += [label] if besides == z3.sat and not unbound else []
    if not agrees:
        return f"{did.kind} {did.value!r} {did.after} is not possible; possible: {others}"
    return f"possible besides {did.kind} {did.value!r}: {others}" if others else ""


def _as_done(verified: Verified, exit_: Exit, did: Did) -> list[Term]:
    """The result, its type and the contents of the list are what CPython gave."""
    run, state = verified.run, exit_.state
    return [
        equal(run, state, exit_.value, constant(did.value)),
        _same_kind(verified, exit_, exit_.value, did.value),
        equal(run, state, verified.arguments["xs"], constant(did.after)),
    ]


def _check(axioms: list[Term], facts: list[Term]) -> Any:
    if any(f is False for f in facts):
        return z3.unsat
    solver = z3.Solver()
    solver.set("rlimit", 3_000_000)
    solver.set("timeout", 2000)
    solver.add(*axioms, *(lift(f) for f in facts if f is not True))
    return solver.check()
