"""Random predicates over Sorts that may have any size, as source text in the machine language.

One text is built twice, with Sorts of a few members and with open ones, so that what a predicate
means for every size can be compared with what it means in small instances.
"""

from __future__ import annotations

import random
import textwrap

from typed_machines import Kind  # type: ignore[import-not-found]

HEAD = """
from __future__ import annotations
import enum
from dataclasses import dataclass, replace
from refute.machine import *

class A(Sort):
    pass

class B(Sort):
    pass

class N(OrderedSort):
    pass

class C(enum.Enum):
    X = 1
    Y = 2
    Z = 3

@dataclass(frozen=True)
class R:
    a: A
    c: C

@dataclass(frozen=True)
class P:
    a: A
    b: B
    n: N

"""
BOOL, C = Kind("bool", "bool"), Kind("C", "enum")
A, B, N = Kind("A", "sort"), Kind("B", "sort"), Kind("N", "sort")
R, P = Kind("R", "record", (A, C)), Kind("P", "record", (A, B, N))
MESSAGE = Kind("R | P | C", "union", (R, P, C))
MAYBE, OPTION = Kind("N | None", "option", (N,)), Kind("A | None", "option", (A,))
PAIR = Kind("tuple[A, B]", "tuple", (A, B))
FIELDS = {"R": ("a", "c"), "P": ("a", "b", "n")}


def set_of(elem: Kind) -> Kind:
    return Kind(f"Set[{elem.name}]", "set", (elem,))


def map_of(key: Kind, value: Kind) -> Kind:
    return Kind(f"Map[{key.name}, {value.name}]", "map", (key, value))


KINDS = [BOOL, C, A, B, N, R, P, MESSAGE, MAYBE, OPTION, PAIR]
KINDS += [set_of(k) for k in (A, A, B, N, R, P, MESSAGE, PAIR, OPTION)]
KINDS += [map_of(A, k) for k in (BOOL, C, A, B, N, R, OPTION, MAYBE, MESSAGE, set_of(A), set_of(B))]
KINDS += [map_of(PAIR, BOOL), map_of(PAIR, C), map_of(N, A), map_of(B, map_of(A, BOOL))]
KINDS += [map_of(C, A), map_of(C, set_of(A)), map_of(N, set_of(P))]


class Predicates:
    """Source text from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.variables = {f"v{n}": self.random.choice(KINDS) for n in range(4)}
        self.locals: dict[str, Kind] = {}
        self.numbers = 0

    def pick(self, options: list[str]) -> str:
        return self.random.choice(options)

    def fresh(self) -> str:
        self.numbers += 1
        return f"x{self.numbers}"

    def sources(self, kind: Kind) -> list[str]:
        """Names and entries of this kind."""
        held = {f"self.{n}": k for n, k in self.variables.items()} | self.locals
        found = [n for n, k in held.items() if k == kind]
        for name, k in held.items():
            if k.form == "map" and k.parts[1] == kind:
                keys = [n for n, other in self.locals.items() if other == k.parts[0]]
                found += [f"{name}[{key}]" for key in keys]
            if k.form == "record":
                pairs = zip(FIELDS[k.name], k.parts, strict=True)
                found += [f"{name}.{field}" for field, part in pairs if part == kind]
            if k.form == "tuple":
                found += [f"{name}[{at}]" for at, part in enumerate(k.parts) if part == kind]
        return found

    def expr(self, kind: Kind, depth: int) -> str:
        known = self.sources(kind)
        if known and (depth <= 0 or self.random.random() < 0.5):
            return self.pick(known)
        if depth > 0 and self.random.random() < 0.1:
            then, orelse = self.expr(kind, depth - 1), self.expr(kind, depth - 1)
            return f"({then} if {self.expr(BOOL, depth - 1)} else {orelse})"
        made: str = getattr(self, f"_{kind.form}")(kind, depth - 1)
        return made

    def _enum(self, kind: Kind, depth: int) -> str:
        return self.pick(["C.X", "C.Y", "C.Z"])

    def _sort(self, kind: Kind, depth: int) -> str:
        return self.pick([n for n, k in self.locals.items() if k == kind])

    def _record(self, kind: Kind, depth: int) -> str:
        return f"{kind.name}({', '.join(self.expr(p, depth) for p in kind.parts)})"

    def _tuple(self, kind: Kind, depth: int) -> str:
        return f"({', '.join(self.expr(p, depth) for p in kind.parts)})"

    def _union(self, kind: Kind, depth: int) -> str:
        return self.expr(self.random.choice(kind.parts), depth)

    def _option(self, kind: Kind, depth: int) -> str:
        (inner,) = kind.parts
        after = [f"{self.expr(inner, depth)}.next"] if inner == N else []
        return self.pick(["None", self.expr(inner, depth), *after])

    def _map(self, kind: Kind, depth: int) -> str:
        key, value = kind.parts
        if key == PAIR:
            names = [self.fresh(), self.fresh()]
            with_names = dict(zip(names, key.parts, strict=True))
            body = self.within(with_names, value, depth)
            return (
                f"Map({{({names[0]}, {names[1]}): {body} for {names[0]} in A for {names[1]} in B}})"
            )
        name = self.fresh()
        return f"Map({{{name}: {self.within({name: key}, value, depth)} for {name} in {key.name}}})"

    def within(self, names: dict[str, Kind], kind: Kind, depth: int) -> str:
        """An expression in which there are more names."""
        before = dict(self.locals)
        self.locals.update(names)
        found = self.expr(kind, depth)
        self.locals = before
        return found

    def _set(self, kind: Kind, depth: int) -> str:
        (elem,) = kind.parts
        form = self.random.randrange(5)
        if form == 0:
            sides = self.expr(kind, depth), self.expr(kind, depth)
            return f"({sides[0]} {self.pick(['|', '&', '-', '^'])} {sides[1]})"
        if form == 1:
            return f"Set([{self.expr(elem, depth)}])"
        if form == 2:
            name, source = self.fresh(), self.random.choice([A, B, N])
            body = self.within({name: source}, elem, depth)
            test = self.within({name: source}, BOOL, depth)
            return f"Set({body} for {name} in {source.name} if {test})"
        if form == 3:
            name = self.fresh()
            test = self.within({name: elem}, BOOL, depth)
            return f"Set({name} for {name} in {self.expr(kind, depth)} if {test})"
        return f"({self.expr(kind, depth)} {self.pick(['|', '-'])} Set([{self.expr(elem, depth)}]))"

    def _bool(self, kind: Kind, depth: int) -> str:
        if depth <= 0:
            held = self.random.choice([A, B, N, C])
            return f"({self.expr(held, 0)} {self.pick(['==', '!='])} {self.expr(held, 0)})"
        held = self.random.choice(list(self.variables.values()))
        form = self.random.randrange(9)
        if form == 0:
            return f"(not {self.expr(BOOL, depth)})"
        if form in (1, 2):
            return f"({self.expr(BOOL, depth)} {self.pick(['and', 'or'])} {self.expr(BOOL, depth)})"
        if form in (3, 4):
            name, source = self.fresh(), self.random.choice([A, B, N])
            body = self.within({name: source}, BOOL, depth)
            return f"{self.pick(['any', 'all'])}({body} for {name} in {source.name})"
        if form == 5:
            sides = self.expr(N, depth), self.expr(N, depth)
            return f"({sides[0]} {self.pick(['<', '<=', '>'])} {sides[1]})"
        if held.form == "set":
            return self._of_set(held, depth)
        if held.form == "union":
            part = self.random.choice(held.parts)
            return f"isinstance({self.expr(held, depth)}, {part.name})"
        return f"({self.expr(held, depth)} {self.pick(['==', '!='])} {self.expr(held, depth)})"

    def _of_set(self, held: Kind, depth: int) -> str:
        (elem,) = held.parts
        form = self.random.randrange(4)
        if form == 0:
            return f"({self.expr(elem, depth)} in {self.expr(held, depth)})"
        if form == 1:
            name = self.fresh()
            body = self.within({name: elem}, BOOL, depth)
            source = self.expr(held, depth)
            return f"{self.pick(['any', 'all'])}({body} for {name} in {source})"
        return (
            f"({self.expr(held, depth)} {self.pick(['<=', '==', '!='])} {self.expr(held, depth)})"
        )

    def machine(self) -> str:
        lines = [f"{n}: Var[{k.name}] = var(one_of=anything)" for n, k in self.variables.items()]
        for at in range(3):
            self.locals = {"a": A, "b": B, "n": N}
            lines += ["@invariant", f"def p{at}(self, a: A, b: B, n: N) -> bool:"]
            lines.append(f"    return {self.expr(BOOL, 4)}")
        lines += ["@action", "def act(self) -> None:", "    when(False)"]
        return "class M(Machine):\n" + textwrap.indent("\n".join(lines), "    ")


def source(seed: int) -> str:
    """The module of one machine, called M."""
    return HEAD + Predicates(seed).machine() + "\n"
