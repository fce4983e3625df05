"""Random machines over the whole language: every type, expression, statement and kind of property.

Expressions are drawn by the type that they must have, as in `typed_machines`; types are wider, and
nothing is spared that a machine may say: Bags, helpers, `match`, loops, choices in branches,
processes with places and locals, crashes, constraints, starts and steps that are judged. Machines
that break, raise or never end are as welcome as others: engines must say the same of them.
"""

from __future__ import annotations

import textwrap

from typed_machines import (  # type: ignore[import-not-found]
    BOOL,
    DIGITS,
    DOMAINS,
    FIELDS,
    HUGE,
    LARGE,
    MESSAGE,
    OPTION,
    PAIR,
    SMALL,
    TYPES,
    WIDE,
    A,
    B,
    C,
    Draw,
    Kind,
    N,
    R,
    map_of,
    seq,
    set_of,
)
from typed_machines import HEAD as _HEAD

HEAD = (
    _HEAD
    + """
@dataclass(frozen=True)
class Q:
    who: A
    items: Annotated[Seq[C], Upto(2)]

TABLE = {C.X: 2, C.Y: 0, C.Z: 1}
FIRST = A(0)

"""
)
INT = Kind("int", "int")
Q = Kind("Q", "record", (A, seq(C, 2)))
LOG = Kind("Q | B | None", "union", (Q, B))
PLACE = Kind("tuple[A, N]", "tuple", (A, N))
FIELDS["Q"] = ("who", "items")
DOMAINS["tuple[A, N]"] = "every(tuple[A, N])"


def bag(elem: Kind, most: int = 0) -> Kind:
    """At most so many of each; 0: any number."""
    name = f"Bag[{elem.name}]"
    return Kind(f"Annotated[{name}, Upto({most})]" if most else name, "bag", (elem,))


def sequence(elem: Kind) -> Kind:
    return Kind(f"Seq[{elem.name}]", "seq", (elem,))


KINDS = [k for k in TYPES if k != BOOL] + [BOOL, SMALL, INT]
KINDS += [bag(A), bag(R, 2), bag(LARGE), bag(PAIR), map_of(A, bag(C))]
KINDS += [set_of(B), set_of(WIDE), set_of(LARGE), set_of(Q), set_of(seq(C, 2)), set_of(set_of(A))]
KINDS += [sequence(R), sequence(SMALL), sequence(PAIR), map_of(A, sequence(C)), seq(Q, 2)]
KINDS += [Q, LOG, map_of(A, LOG), map_of(PLACE, BOOL), seq(seq(C, 1), 2)]
COLLECTIONS = ("set", "seq")


class Wide(Draw):  # type: ignore[misc]
    """Source text from a seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        many = self.random.randrange(2, 5)
        self.variables = {f"v{n}": self.one(KINDS) for n in range(many)}
        self.crashes = self.random.random() < 0.2
        self.helpers: dict[str, tuple[Kind, Kind]] = {}
        self.other = False  # whether `after` may be read

    def rare(self, chance: float) -> bool:
        return bool(self.random.random() < chance)

    def literal(self, kind: Kind) -> str:
        if kind.form == "bag":
            few = self.literal(kind.parts[0]) if self.rare(0.5) else ""
            return f"Bag({f'[{few}]' if few else ''})"
        return str(super().literal(kind))

    def sources(self, kind: Kind) -> list[str]:
        found = super().sources(kind)
        for name, held in self.variables.items():
            if held.form == "bag" and set_of(held.parts[0]) == kind:
                found.append(f"self.{name}.distinct()")
        if self.other:
            found = [s.replace("self.", "after.") if self.rare(0.5) else s for s in found]
        return found

    def expr(self, kind: Kind, depth: int) -> str:
        fitting = [n for n, (_, result) in self.helpers.items() if result == kind]
        if fitting and depth > 0 and self.rare(0.3):
            name = self.pick(fitting)
            return f"self.{name}({self.expr(self.helpers[name][0], depth - 1)})"
        return str(super().expr(kind, depth))

    def written(self, kind: Kind, depth: int) -> str:
        """An expression that rarely leaves the type."""
        found = self.expr(kind, depth)
        if kind.form == "int" and self.rare(0.9):
            return f"{found} % 4"
        if kind.form == "tuple" and self.rare(0.8):
            return self.literal(kind)
        return found

    def collection(self) -> Kind:
        """A kind of some variable to walk through, if there is one."""
        held = [k for k in self.variables.values() if k.form in COLLECTIONS]
        return self.one(held) if held else set_of(A)

    def _bag(self, kind: Kind, depth: int) -> str:
        known = self.sources(kind)
        return self.pick(known) if known else self.literal(kind)

    def _ordered(self, kind: Kind, depth: int) -> str:
        return self.literal(kind) if self.rare(0.7) else str(super()._ordered(kind, depth))

    def _bool(self, kind: Kind, depth: int) -> str:
        held = self.one(list(self.variables.values()))
        form = self.random.randrange(12)
        name = self.fresh()
        if form == 0 and held.form == "bag":
            return f"({self.expr(held.parts[0], depth)} in {self.expr(held, depth)})"
        if form == 1:
            some = self.one([A, N, C, SMALL, OPTION, MESSAGE])
            self.locals[name] = some
            body = self.expr(BOOL, depth)
            del self.locals[name]
            return f"{self.pick(['any', 'all'])}({body} for {name} in every({some.name}))"
        if form == 2:
            source = self.expr(set_of(A), depth)
            return f"any({name} == {self.expr(set_of(A), depth)} for {name} in subsets({source}))"
        if form == 3:
            source = self.expr(set_of(A), depth)
            return f"(len(permutations({source})) {self.pick(['==', '>', '<'])} 2)"
        if form == 4 and held.form == "seq":
            at = self.fresh()
            test = f"{name} == {self.expr(held.parts[0], depth)} and {at} > 0"
            return f"any({test} for {at}, {name} in enumerate({self.expr(held, depth)}))"
        if form == 5 and held.form == "seq":
            sides = self.expr(held, depth), self.expr(held, depth)
            other = self.fresh()
            return f"all({name} == {other} for {name}, {other} in zip({sides[0]}, {sides[1]}))"
        if form == 6 and held.form == "seq":
            return f"(list(reversed({self.expr(held, depth)})) == {self.expr(held, depth)})"
        if form == 7 and held.form in ("option", "union"):
            return f"({self.expr(held, depth)} is {self.pick(['', 'not '])}None)"
        return str(super()._bool(kind, depth))

    def _int(self, kind: Kind, depth: int) -> str:
        held = self.one(list(self.variables.values()))
        form = self.random.randrange(10)
        if form == 0 and held.form == "bag":
            elem = self.expr(held.parts[0], depth)
            return f"{self.expr(held, depth)}.{self.pick([f'count({elem})', 'total()'])}"
        if form == 1:
            return f"TABLE[{self.expr(C, depth)}]"
        if form == 2:
            word = self.pick(["min", "max"])
            source = self.walk("Set", self.collection(), SMALL, depth)
            return f"{word}({source}, default={self.expr(SMALL, depth)})"
        if form == 3:
            return f"sorted([{self.expr(SMALL, depth)}, {self.expr(HUGE, depth)}, 1])[1]"
        if form == 4:
            return f"abs({self.expr(SMALL, depth)})"
        return str(super()._int(kind, depth))

    def chosen(self, kind: Kind, depth: int) -> str:
        """One element of a set; of none, Python raises."""
        name = self.fresh()
        self.locals[name] = kind
        test = self.expr(BOOL, depth)
        del self.locals[name]
        return f"choose({name} for {name} in {self.expr(set_of(kind), depth)} if {test})"

    def _record(self, kind: Kind, depth: int) -> str:
        if self.rare(0.05):
            return self.chosen(kind, depth)
        if kind.name == "Q" and self.rare(0.5):
            at = self.random.randrange(2)
            new = self.expr(kind.parts[at], depth)
            return f"replace({self.expr(kind, depth)}, {FIELDS['Q'][at]}={new})"
        if kind.name == "Q":
            return f"Q({', '.join(self.expr(p, depth) for p in kind.parts)})"
        return str(super()._record(kind, depth))

    def _tuple(self, kind: Kind, depth: int) -> str:
        return self.chosen(kind, depth) if self.rare(0.05) else str(super()._tuple(kind, depth))

    def write(self) -> str:
        name = self.pick(list(self.variables))
        kind = self.variables[name]
        if kind.form == "bag" and self.rare(0.95):
            return f"self.{name}.{self.added(kind)}"
        if kind.form == "map" and self.rare(0.4):
            key, value = kind.parts
            place = f"self.{name}[{self.expr(key, 1)}]"
            if value.form == "bag":
                return f"{place}.{self.added(value)}"
            if value.form == "set":
                return f"{place}.{self.pick(['add', 'discard'])}({self.expr(value.parts[0], 1)})"
            if value.form == "seq":
                return f"{place}.append({self.expr(value.parts[0], 1)})"
            if value.form == "map":
                inner = self.expr(value.parts[0], 1)
                return f"{place}[{inner}] = {self.expr(value.parts[1], 1)}"
            if value.form == "int":
                return f"{place} {self.pick(['+=', '-='])} 1"
        if kind.form == "map":
            return f"self.{name}[{self.expr(kind.parts[0], 1)}] = {self.written(kind.parts[1], 2)}"
        if kind.form == "set" and self.rare(0.7):
            word = self.pick(["add"] * 4 + ["discard"] * 3 + ["remove"])
            return f"self.{name}.{word}({self.expr(kind.parts[0], 2)})"
        if kind.form == "seq" and self.rare(0.6):
            full = f"if len(self.{name}) < 2: " if self.rare(0.9) else ""
            push = f"{full}self.{name}.append({self.expr(kind.parts[0], 2)})"
            some = f"if len(self.{name}) > 0: " if self.rare(0.9) else ""
            return self.pick([push, push, f"{some}self.{name}.pop({self.pick(['', '0'])})"])
        if kind.form == "seq":
            return f"self.{name} = ({self.expr(kind, 2)})[:{self.pick(['2', '1', ''])}]"
        return f"self.{name} = {self.written(kind, 2)}"

    def added(self, kind: Kind) -> str:
        word = self.pick(["add"] * 5 + ["discard"] * 3 + ["remove"])
        return f"{word}({self.expr(kind.parts[0], 1)})"

    def block(self, depth: int, choices: bool, stops: list[str]) -> list[str]:
        """Statements. choices: whether `any_of` may stand here; stops: words that may end it."""
        lines: list[str] = []
        known = dict(self.locals)
        for _ in range(self.random.randrange(1, 4)):
            lines += self.statement(depth, choices, stops)
        if stops and self.rare(0.2):
            lines += [f"if {self.expr(BOOL, 1)}:", f"    {self.pick(stops)}"]
        self.locals = known
        return lines

    def statement(self, depth: int, choices: bool, stops: list[str]) -> list[str]:
        form = self.random.randrange(14)
        if form == 0 and self.rare(0.6):
            return [f"when({self.expr(BOOL, 2)})"]
        if form == 1 and self.rare(0.1):
            return [f"assert {self.expr(BOOL, 1)}"]
        if form in (2, 3) and depth:
            lines = [f"if {self.expr(BOOL, 2)}:", *_in(self.block(depth - 1, choices, stops))]
            return [*lines, "else:", *_in(self.block(depth - 1, choices, stops))]
        if form == 4 and depth:
            held = self.collection()
            name, known = self.fresh(), dict(self.locals)
            head = f"for {name} in {self.expr(held, 1)}:"
            self.locals[name] = held.parts[0]
            inside = [s for s in stops if s == "return"] + ["break", "continue"]
            body = self.block(0, False, inside)
            self.locals = known
            return [head, *_in(body)]
        if form == 5 and choices:
            return self.choice()
        if form == 6 and depth:
            return self.matched(depth, choices, stops)
        if form == 7:
            kind = self.one([k for k in KINDS if k.form not in ("map", "bag", "set", "seq")])
            name = self.fresh()
            line = f"{name} = {self.expr(kind, 2)}"
            self.locals[name] = kind
            return [line]
        if form == 8:
            names = [self.fresh(), self.fresh()]
            line = f"{', '.join(names)} = {self.expr(DIGITS, 1)}"
            self.locals.update(dict.fromkeys(names, DIGITS.parts[0]))
            return [line]
        return [self.write()]

    def choice(self) -> list[str]:
        name = self.fresh()
        held = self.one([self.collection(), set_of(A), set_of(C)])
        kind, source = held.parts[0], self.expr(held, 1)
        if self.rare(0.15):
            kind, source = set_of(A), f"subsets({self.expr(set_of(A), 1)})"
        self.locals[name] = kind
        return [f"{name} = any_of({source})"]

    def matched(self, depth: int, choices: bool, stops: list[str]) -> list[str]:
        held = [n for n, k in self.variables.items() if k.form in ("union", "record", "option")]
        if not held:
            return [self.write()]
        name = self.pick(held)
        kind = self.variables[name]
        lines = [f"match self.{name}:"]
        options = [kind] if kind.form != "union" else list(kind.parts)
        for option in options:
            known = dict(self.locals)
            if option.form == "record":
                names = [self.fresh() for _ in option.parts]
                self.locals.update(zip(names, option.parts, strict=True))
                guard = f" if {self.expr(BOOL, 0)}" if self.rare(0.3) else ""
                lines.append(f"    case {option.name}({', '.join(names)}){guard}:")
            elif option.form == "enum":
                lines.append("    case C.X | C.Z:")
            else:
                lines.append("    case None:")
            lines += _in(_in(self.block(depth - 1, choices, stops)))
            self.locals = known
        return [*lines, "    case _:", *_in(_in(self.block(depth - 1, choices, stops)))]

    def helper(self, number: int) -> list[str]:
        """A pure method with a loop or branches."""
        plain = [A, C, SMALL, BOOL, N]
        given, result = self.one([*plain, R, MESSAGE, set_of(A), seq(C, 2)]), self.one(plain)
        name = f"h{number}"
        self.locals = {"x": given}
        lines = [f"def {name}(self, x: {given.name}) -> {result.name}:"]
        held = self.collection()
        if self.rare(0.5):
            lines += [f"    y = {self.expr(result, 1)}", f"    for z in {self.expr(held, 1)}:"]
            self.locals |= {"y": result, "z": held.parts[0]}
            lines.append(f"        if {self.expr(BOOL, 1)}:")
            lines.append(f"            y = {self.expr(result, 1)}")
            if self.rare(0.4):
                lines += ["        else:", f"            y = {self.expr(result, 0)}"]
            lines.append("    return y")
        else:
            lines += [f"    if {self.expr(BOOL, 1)}:", f"        return {self.expr(result, 1)}"]
            lines.append(f"    return {self.expr(result, 1)}")
        self.helpers[name] = (given, result)
        self.locals = {}
        return lines

    def action(self, number: int) -> list[str]:
        given = {f"p{n}": self.one([A, C, N, set_of(A)]) for n in range(self.random.randrange(3))}
        self.locals = dict(given)
        head = ", ".join(["self", *(f"{n}: {k.name}" for n, k in given.items())])
        return [
            "@action",
            f"def act{number}({head}) -> None:",
            *_in(self.block(2, True, ["return"])),
        ]

    def process(self) -> list[str]:
        self.locals = {"a": A}
        kept = self.one([SMALL, C, R, LARGE, set_of(A)])
        lines = [f"k = {self.expr(kept, 1)}"]
        self.locals["k"] = kept
        lines += ["while True:", *_in(self.block(1, True, ["return"]))]
        if self.rare(0.5):
            lines += [f"    if {self.expr(BOOL, 1)}:", *_in(_in(self.block(0, True, [])))]
            lines += ["        self = yield", *_in(_in(self.block(0, True, ["break", "continue"])))]
        if self.rare(0.5):
            lines.append(f"    k = {self.expr(kept, 1)}")
        lines += ["    self = yield", *_in(self.block(1, True, ["break", "return"]))]
        lines += ["    self = yield"]
        if self.rare(0.4):
            lines += self.block(1, True, [])
        several = ", n: N" if self.rare(0.2) else ""
        return ["@process", f"def run(self, a: A{several}) -> Steps[Self]:", *_in(lines)]

    def predicate(self, word: str, name: str, head: str, depth: int = 3) -> list[str]:
        text = self.expr(BOOL, depth)
        return [f"@{word}", f"def {name}(self{head}) -> bool:", f"    return {text}"]

    def properties(self) -> list[str]:
        self.locals = {"a": A}
        lines = self.predicate("invariant", "holds", ", a: A")
        self.locals = {}
        lines += self.predicate("invariant", "stays", "")
        lines += self.predicate("reachable", "shown", "")
        if self.rare(0.5):
            self.other, self.locals = True, {"a": A}
            lines += self.predicate("transition", "grows", ", after: M, a: A")
            self.other, self.locals = False, {}
        if self.rare(0.4):
            lines += self.predicate("terminal", "ends", "", 1)
        if self.rare(0.05):
            lines += self.predicate("initial", "begins", "", 1)
        if self.crashes:
            lines += self.predicate("observe", "seen", "", 2)
        tests = [f"len({n}) < 3" for n in self.sized()] + [f"{n}.total() < 3" for n in self.bags()]
        tests += [f"abs(self.{n}) < 9" for n, k in self.variables.items() if k == INT]
        tests = tests or [self.expr(BOOL, 1)]
        return [
            *lines,
            "@constraint",
            "def near(self) -> bool:",
            f"    return {' and '.join(tests)}",
        ]

    def sized(self) -> list[str]:
        return [f"self.{n}" for n, k in self.variables.items() if k.form in COLLECTIONS]

    def bags(self) -> list[str]:
        return [f"self.{n}" for n, k in self.variables.items() if k.form == "bag"]

    def start(self, kind: Kind) -> str:
        if kind in (SMALL, BOOL, C, R, OPTION, PAIR) and self.rare(0.6):
            return "one_of=anything"
        if kind.form == "map" and kind.parts[1] in (BOOL, SMALL) and self.rare(0.6):
            return "each_of=[True, False]" if kind.parts[1] == BOOL else "each_of=[0, 1]"
        return str(self.starting(kind))

    def machine(self) -> str:
        lines = []
        for name, kind in self.variables.items():
            lost = ", volatile=True" if self.crashes and self.rare(0.5) else ""
            lines.append(f"{name}: Var[{kind.name}] = var({self.start(kind)}{lost})")
        for number in range(self.random.randrange(3)):
            lines += self.helper(number)
        for number in range(self.random.randrange(1, 4)):
            lines += self.action(number)
        if self.rare(0.6):
            lines += self.process()
        if self.crashes and self.rare(0.6):
            self.locals = {}
            lines += ["@recover", "def again(self) -> None:", *_in(self.block(1, False, []))]
        lines += self.properties()
        head = "class M(Machine, crashes=True):\n" if self.crashes else "class M(Machine):\n"
        return head + textwrap.indent("\n".join(lines), "    ")


def _in(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def source(seed: int) -> str:
    """The module of one machine, called M."""
    return HEAD + Wide(seed).machine() + "\n"
