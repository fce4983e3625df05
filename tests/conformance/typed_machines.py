"""Random machines over all types: expressions are drawn by the type that they must have.

The machines of `test_machine_meanings` vary statements over a fixed state; here the state varies:
records and unions too large for a code, sets of more than 64 elements, maps of maps, sequences of
records, numbers without bounds. All of it is source text in the machine language.
"""

from __future__ import annotations

import dataclasses
import random
import textwrap
from collections.abc import Callable

HEAD = """
from __future__ import annotations
import enum
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
    Z = 3

Small = Annotated[int, Range(-1, 3)]
Digit = Annotated[int, Range(0, 9)]
Huge = Annotated[int, Range(-5, 5_000)]

@dataclass(frozen=True)
class R:
    a: A
    c: C

@dataclass(frozen=True)
class B:
    n: Huge
    on: bool
    c: C

"""


@dataclasses.dataclass(frozen=True)
class Kind:
    """A type: its annotation, what it is made of, and how a literal of it is drawn."""

    name: str
    form: str
    parts: tuple[Kind, ...] = ()


def seq(elem: Kind, most: int) -> Kind:
    return Kind(f"Annotated[Seq[{elem.name}], Upto({most})]", "seq", (elem,))


BOOL, A, N, C = Kind("bool", "bool"), Kind("A", "sort"), Kind("N", "ordered"), Kind("C", "enum")
SMALL, DIGIT, HUGE = Kind("Small", "int"), Kind("Digit", "int"), Kind("Huge", "int")
R, B = Kind("R", "record", (A, C)), Kind("B", "record", (HUGE, BOOL, C))
PAIR = Kind("tuple[A, Small]", "tuple", (A, SMALL))
DIGITS = Kind("tuple[Digit, Digit]", "tuple", (DIGIT, DIGIT))
OPTION = Kind("N | None", "option", (N,))
MESSAGE = Kind("R | C", "union", (R, C))
LARGE = Kind("B | R | None", "union", (B, R))
WIDE = Kind("tuple[Huge, C]", "tuple", (HUGE, C))


def set_of(elem: Kind) -> Kind:
    return Kind(f"Set[{elem.name}]", "set", (elem,))


def map_of(key: Kind, value: Kind) -> Kind:
    return Kind(f"Map[{key.name}, {value.name}]", "map", (key, value))


TYPES = [BOOL, A, N, C, SMALL, HUGE, R, B, PAIR, OPTION, MESSAGE, LARGE, WIDE]
TYPES += [set_of(A), set_of(MESSAGE), set_of(DIGITS), set_of(PAIR), map_of(A, B), map_of(C, SMALL)]
TYPES += [map_of(A, map_of(N, BOOL)), map_of(A, set_of(C)), map_of(SMALL, OPTION)]
TYPES += [seq(R, 2), seq(LARGE, 2), seq(SMALL, 3), map_of(A, seq(C, 2)), seq(set_of(A), 2)]
FIELDS = {"R": ("a", "c"), "B": ("n", "on", "c")}
DOMAINS = {"A": "A", "N": "N", "C": "C", "Small": "range(-1, 4)", "Digit": "range(10)"}


class Draw:
    """Source text from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.variables = {f"v{n}": self.one(TYPES) for n in range(4)}
        self.locals: dict[str, Kind] = {}
        self.numbers = 0

    def one(self, options: list[Kind]) -> Kind:
        return self.random.choice(options)

    def pick(self, options: list[str]) -> str:
        return self.random.choice(options)

    def fresh(self) -> str:
        self.numbers += 1
        return f"x{self.numbers}"

    def literal(self, kind: Kind) -> str:
        match kind.form:
            case "bool":
                return self.pick(["True", "False"])
            case "sort" | "ordered":
                bound = [n for n, k in self.locals.items() if k == kind]
                return self.pick(bound) if bound else f"list({kind.name})[0]"
            case "enum":
                return self.pick(["C.X", "C.Y", "C.Z"])
            case "int":
                return self.pick(["0", "1", "2", "3"])
            case "record":
                return f"{kind.name}({', '.join(map(self.literal, kind.parts))})"
            case "tuple":
                return f"({', '.join(map(self.literal, kind.parts))})"
            case "option":
                return "None"
            case "union":
                return self.literal(self.one(list(kind.parts)))
            case "map":
                key, value = kind.parts
                name = self.fresh()
                return f"{{{name}: {self.literal(value)} for {name} in {self.domain(key)}}}"
        few = self.literal(kind.parts[0]) if self.random.random() < 0.6 else ""
        return f"{'Set' if kind.form == 'set' else 'Seq'}({f'[{few}]' if few else ''})"

    def domain(self, kind: Kind) -> str:
        return DOMAINS[kind.name]

    def sources(self, kind: Kind) -> list[str]:
        found = [f"self.{n}" for n, k in self.variables.items() if k == kind]
        found += [n for n, k in self.locals.items() if k == kind]
        for name, held in self.variables.items():
            base = f"self.{name}"
            if held.form == "map" and held.parts[1] == kind:
                found.append(f"{base}[{self.literal(held.parts[0])}]")
            if held.form == "seq" and held.parts[0] == kind:
                at = self.pick(["0", "-1", "1"])
                safe = f"({base}[{at}] if len({base}) > 1 else {self.literal(kind)})"
                found.append(safe if self.random.random() < 0.9 else f"{base}[{at}]")
            if held.form == "record":
                pairs = zip(FIELDS[held.name], held.parts, strict=True)
                found += [f"{base}.{field}" for field, part in pairs if part == kind]
            if held.form == "tuple":
                found += [f"{base}[{at}]" for at, p in enumerate(held.parts) if p == kind]
        return found

    def expr(self, kind: Kind, depth: int) -> str:
        known = self.sources(kind)
        if known and (depth <= 0 or self.random.random() < 0.45):
            return self.pick(known)
        if depth <= 0:
            return self.literal(kind)
        if self.random.random() < 0.12:
            then, orelse = (self.expr(kind, depth - 1) for _ in range(2))
            return f"({then} if {self.expr(BOOL, depth - 1)} else {orelse})"
        made: Callable[[Kind, int], str] = getattr(self, f"_{kind.form}")
        return made(kind, depth - 1)

    def _bool(self, kind: Kind, depth: int) -> str:
        held = self.one(list(self.variables.values()))
        form = self.random.randrange(7)
        if form == 0:
            return f"(not {self.expr(BOOL, depth)})"
        if form == 1:
            return f"({self.expr(BOOL, depth)} {self.pick(['and', 'or'])} {self.expr(BOOL, depth)})"
        if form == 2:
            numbers = self.expr(SMALL, depth), self.expr(HUGE, depth)
            return f"({numbers[0]} {self.pick(['<', '<=', '==', '!='])} {numbers[1]})"
        if form == 3 and held.form in ("set", "seq"):
            return f"({self.expr(held.parts[0], depth)} in {self.expr(held, depth)})"
        if form == 4 and held.form in ("set", "seq"):
            return self.walk(self.pick(["any", "all"]), held, BOOL, depth)
        if form == 5 and held.form == "union":
            return f"isinstance({self.expr(held, depth)}, {self.one(list(held.parts)).name})"
        if form == 5 and held.form == "set":
            sides = self.expr(held, depth), self.expr(held, depth)
            return f"({sides[0]} {self.pick(['<=', '<', '=='])} {sides[1]})"
        return f"({self.expr(held, depth)} {self.pick(['==', '!='])} {self.expr(held, depth)})"

    def walk(self, fold: str, held: Kind, result: Kind, depth: int) -> str:
        source = self.expr(held, depth)
        name = self.fresh()
        self.locals[name] = held.parts[0]
        body = self.expr(result, depth)
        test = f" if {self.expr(BOOL, 0)}" if self.random.random() < 0.4 else ""
        del self.locals[name]
        return f"{fold}({body} for {name} in {source}{test})"

    def _int(self, kind: Kind, depth: int) -> str:
        held = self.one(list(self.variables.values()))
        form = self.random.randrange(5)
        if form == 0 and held.form in ("set", "seq", "map"):
            return f"len({self.expr(held, depth)})"
        if form == 1 and held.form in ("set", "seq"):
            return self.walk("sum", held, SMALL, depth)
        if form == 2:
            return (
                f"{self.pick(['max', 'min'])}({self.expr(SMALL, depth)}, {self.expr(HUGE, depth)})"
            )
        sides = self.expr(self.one([SMALL, HUGE]), depth), self.expr(SMALL, depth)
        found = f"({sides[0]} {self.pick(['+', '-', '*', '// 2 +', '%'])} {sides[1]})"
        return found if form == 3 else f"{found} % 4"

    def _sort(self, kind: Kind, depth: int) -> str:
        return self.literal(kind)

    _enum = _sort

    def _ordered(self, kind: Kind, depth: int) -> str:
        name = self.fresh()
        return f"max({name} for {name} in N if {name}.index <= {self.expr(SMALL, depth)})"

    def _option(self, kind: Kind, depth: int) -> str:
        return self.pick(["None", self.expr(N, depth), f"{self.expr(N, depth)}.next"])

    def _record(self, kind: Kind, depth: int) -> str:
        if self.random.random() < 0.3:
            at = self.random.randrange(len(kind.parts))
            new = self.expr(kind.parts[at], depth)
            return f"replace({self.expr(kind, depth)}, {FIELDS[kind.name][at]}={new})"
        return f"{kind.name}({', '.join(self.expr(p, depth) for p in kind.parts)})"

    def _tuple(self, kind: Kind, depth: int) -> str:
        return f"({', '.join(self.expr(p, depth) for p in kind.parts)})"

    def _union(self, kind: Kind, depth: int) -> str:
        return self.expr(self.one(list(kind.parts)), depth)

    def _set(self, kind: Kind, depth: int) -> str:
        (elem,) = kind.parts
        form = self.random.randrange(4)
        if form == 0:
            sides = self.expr(kind, depth), self.expr(kind, depth)
            return f"({sides[0]} {self.pick(['|', '&', '-', '^'])} {sides[1]})"
        if form == 1:
            return self.walk("Set", kind, elem, depth)
        return f"({self.expr(kind, depth)} {self.pick(['|', '-'])} Set([{self.expr(elem, depth)}]))"

    def _seq(self, kind: Kind, depth: int) -> str:
        (elem,) = kind.parts
        form = self.random.randrange(4)
        if form == 0:
            return f"{self.expr(kind, depth)}[{self.pick(['1:', ':1', '-1:', ':-1'])}]"
        if form == 1:
            return self.walk("Seq", kind, elem, depth)
        if form == 2:
            return f"({self.expr(kind, depth)} + Seq([{self.expr(elem, depth)}]))"
        return f"Seq([{self.expr(elem, depth)}])"

    def _map(self, kind: Kind, depth: int) -> str:
        key, value = kind.parts
        name = self.fresh()
        self.locals[name] = key
        body = self.expr(value, depth)
        del self.locals[name]
        return f"Map({{{name}: {body} for {name} in {self.domain(key)}}})"

    def write(self) -> str:
        name = self.pick(list(self.variables))
        kind = self.variables[name]
        if kind.form == "map" and self.random.random() < 0.7:
            key, value = kind.parts
            return f"self.{name}[{self.expr(key, 1)}] = {self.expr(value, 2)}"
        if kind.form == "set" and self.random.random() < 0.6:
            word = self.pick(["add", "discard", "remove"])
            return f"self.{name}.{word}({self.expr(kind.parts[0], 2)})"
        if kind.form == "seq" and self.random.random() < 0.5:
            return self.pick(
                [f"self.{name}.append({self.expr(kind.parts[0], 2)})"] * 2
                + [f"self.{name}.pop({self.pick(['', '0'])})"]
            )
        return f"self.{name} = {self.expr(kind, 2)}"

    def body(self) -> list[str]:
        lines = []
        for _ in range(self.random.randrange(1, 4)):
            form = self.random.randrange(6)
            if form == 0:
                lines.append(f"when({self.expr(BOOL, 2)})")
            elif form == 1:
                lines += [f"if {self.expr(BOOL, 2)}:", f"    {self.write()}"]
                lines += ["else:", f"    {self.write()}"]
            elif form == 2:
                kind = self.one([k for k in TYPES if k.form != "map"])
                name = self.fresh()
                lines.append(f"{name} = {self.expr(kind, 2)}")
                self.locals[name] = kind
            else:
                lines.append(self.write())
        return lines

    def starting(self, kind: Kind) -> str:
        if kind.form in ("sort", "ordered"):
            return f"one_of={kind.name}"
        if kind.form != "map":
            return self.outside(self.literal(kind))
        value = kind.parts[1]
        if value.form == "map":  # plain dicts by a function of the key
            key, inner = self.domain(value.parts[0]), self.literal(value.parts[1])
            return f"each=lambda _: {{k: {inner} for k in {key}}}"
        return f"each={self.outside(self.literal(value))}"

    def outside(self, text: str) -> str:
        """A literal where no machine runs: Sorts have no members to list there."""
        return text.replace("list(A)[0]", "A(0)").replace("list(N)[0]", "N(0)")

    def machine(self) -> str:
        lines = []
        for name, kind in self.variables.items():
            lines.append(f"{name}: Var[{kind.name}] = var({self.starting(kind)})")
        for number in range(2):
            self.locals = {"a": A, "c": C, "n": N}
            lines += ["@action", f"def act{number}(self, a: A, c: C) -> None:"]
            lines += textwrap.indent("\n".join(["n = any_of(N)", *self.body()]), "    ").split("\n")
        self.locals = {"a": A}
        lines += ["@process", "def run(self, a: A) -> Steps[Self]:"]
        first, second = self.body(), self.body()
        inner = ["while True:", *("    " + x for x in [*first, "self = yield", *second])]
        lines += ["    " + x for x in [*inner, "    self = yield"]]
        self.locals = {"a": A}
        lines += [
            "@invariant",
            "def holds(self, a: A) -> bool:",
            f"    return {self.expr(BOOL, 3)}",
        ]
        self.locals = {}
        sized = [n for n, k in self.variables.items() if k.form in ("set", "seq")]
        source = f"self.{self.pick(sized)}" if sized else "A"
        lines += ["@reachable", "def shown(self) -> bool:", f"    return {self.expr(BOOL, 3)}"]
        lines += [
            "@constraint",
            "def near(self) -> bool:",
            f"    return {self.literal(BOOL)} or len({source}) < 3",
        ]
        return "class M(Machine):\n" + textwrap.indent("\n".join(lines), "    ")


def source(seed: int) -> str:
    """The module of one machine, called M."""
    return HEAD + Draw(seed).machine() + "\n"
