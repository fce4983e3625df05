"""The C program of a machine's state graph, its temporal predicates and its mappings."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from refute.specs.machine import types as t
from refute.specs.machine.fairness import Fair, fairness
from refute.specs.machine.ir import (
    Expr,
    MachineIR,
    Param,
    Property,
    Refinement,
    Temporal,
    atoms,
    hides,
)
from refute.specs.machine.meaning import bindings
from refute.specs.machine.values import Value, domain
from refute.verifiers.model.native.forms import Unsuited
from refute.verifiers.model.native.layout import Layout
from refute.verifiers.model.native.program import composed, instances_of, layout_of, written
from refute.verifiers.model.native.steps import Steps
from refute.verifiers.model.native.text import Place, Val

WORD = 64
MAX_CONDITIONS = 4096
_OUTSIDE = "return OUTSIDE;"  # the mapped value is of no state of the other machine
_REFINEMENT = {"name", "abstract", "mapping", "line"}  # what is read here


class Behaving(Steps):
    """Text of what temporal properties and refinements ask of a state or a step."""

    def _case(self, params: Sequence[Param]) -> None:
        """The values of the parameters in case number `c`; the last changes fastest."""
        stride = 1
        for param in reversed(params):
            count = len(domain(param.type))
            code = self.temp("L", f"c / {stride} % {count}")
            self.env[param.name] = Val(param.type, self.unrank(code, param.type))
            stride *= count

    def _fresh_scope(self, after: bool = False) -> None:
        self.places, self.next = self.seen("s"), self.seen("n") if after else {}
        self._locals, self.env = {}, {}

    def predicate(self, number: int, params: Sequence[Param], predicate: Expr) -> None:
        """The function `h<number>(s, c)`: 1, 0, RAISED or LIMIT."""

        def work() -> str:
            self._fresh_scope()
            self._case(params)
            self.put(f"return {self.text(predicate)} ? 1 : 0;")
            return ""

        self._function(f"static int h{number}(const U *s, U c", (), self.captured(work)[0])

    def condition(self, number: int, prop: Property, bit: int) -> None:
        """The function `f<number>(s, n, m)`, which puts the bits of the cases that hold into m."""

        def work() -> str:
            self._fresh_scope(after=True)
            self.put(f"U b = {bit};")
            for param in prop.params:
                code = self.fresh("i")
                self.put(f"for (L {code} = 0; {code} < {len(domain(param.type))}; {code}++) {{")
                self.env[param.name] = Val(param.type, self.unrank(code, param.type))
            self.put(f"if ({self.text(prop.predicate)}) m[b / 64] |= 1ull << b % 64;")
            self.put("b++;" + "}" * len(prop.params) + " return 1;")
            return ""

        head = f"static int f{number}(const U *s, const U *n, U *m"
        self._function(head, (), self.captured(work)[0])

    def image(self, number: int, refinement: Refinement) -> Layout:
        """The function `m<number>(s, w)`: the state of the other machine that s is mapped to."""
        for field in dataclasses.fields(refinement):
            if field.name not in _REFINEMENT and getattr(refinement, field.name):
                raise Unsuited(f"a refinement with {field.name}")
        if hides(refinement.abstract):
            raise Unsuited(f"{refinement.abstract.name}, refined, with processes")
        above = layout_of(refinement.abstract)

        def work() -> str:
            self._fresh_scope()
            self.put(f"for (int n = 0; n < {above.words}; n++) w[n] = 0;")
            variables = refinement.abstract.variables
            rows = zip(variables, refinement.mapping, above.offsets, strict=True)
            for variable, expr, offset in rows:
                kind: t.Type = variable.type
                text = self.simple(kind, self.converted(self.term(expr), kind, _OUTSIDE))
                self.store(Place("w", str(offset // WORD), str(offset % WORD)), kind, text)
            self.put("return 1;")
            return ""

        self._function(f"static int m{number}(const U *s, U *w", (), self.captured(work)[0])
        return above

    def dispatched(self, head: str, names: Sequence[str], call: str) -> None:
        """A function that calls the one with the number k."""
        lines = [f"{head}", "{", "switch (k) {"]
        lines += [f"case {at}: return {name}({call});" for at, name in enumerate(names)]
        self.prelude += [*lines, "}", "return LIMIT;", "}"]


def numbered(temporals: Sequence[Temporal]) -> dict[tuple[str, Expr], int]:
    """The number in C of each predicate of each temporal property."""
    every = [(made.name, predicate) for made in temporals for predicate in atoms(made.formula)]
    return {key: at for at, key in enumerate(every)}


def graph_programs(ir: MachineIR) -> list[str]:
    """The C text of the machine, and of each that it refines. Raises Unsuited."""
    every = [r.abstract for r in ir.refinements]
    return [
        graph_program(ir, layout_of(ir)),
        *(graph_program(above, layout_of(above), abstract=True) for above in every),
    ]


def graph_program(ir: MachineIR, layout: Layout, abstract: bool = False) -> str:
    """The C text. abstract: of a machine that another one refines. Raises Unsuited."""
    text = Behaving(layout)
    head = written(text, ir, layout)
    conditions = fairness(ir)
    if len(conditions) > MAX_CONDITIONS:
        raise Unsuited(f"{len(conditions)} fairness conditions")
    rows = _own(ir, conditions)
    words = max(1, -(-len(conditions) // WORD))
    head += [f"#define CONDITIONS {len(conditions)}", f"#define CW {words}"]
    head += [f"#define INSTANCES {len(rows)}ull", f"#define ABSTRACT {int(abstract)}"]
    _tables(text, conditions, rows, words)
    _conditions(text, ir, conditions)
    if not abstract:
        head.append(f"#define ABOVE_WORDS {_asked(text, ir)}")
    return composed("graph.c", head, text)


def _own(ir: MachineIR, conditions: Sequence[Fair]) -> list[int]:
    """For each action and process the bits of the conditions that its steps belong to."""
    bits: dict[tuple[str, tuple[Value, ...]], int] = {}
    for at, fair in enumerate(conditions):
        for move in fair.moves():
            bits[move] = bits.get(move, 0) | 1 << at
    return [bits.get(instance, 0) for instance in instances_of(ir)]


def _tables(text: Steps, conditions: Sequence[Fair], rows: Sequence[int], words: int) -> None:
    strong = sum(1 << at for at, fair in enumerate(conditions) if fair.strong)
    weak = (1 << len(conditions)) - 1 - strong
    inside = ", ".join(_set(row, words) for row in rows) or _set(0, words)
    text.prelude.append(f"static const U own[][CW] = {{{inside}}};")
    text.prelude.append(f"static const U weak_conditions[CW] = {_set(weak, words)};")
    text.prelude.append(f"static const U strong_conditions[CW] = {_set(strong, words)};")


def _set(bits: int, words: int) -> str:
    row = (f"{bits >> WORD * at & (2**WORD - 1)}ull" for at in range(words))
    return "{" + ", ".join(row) + "}"


def _conditions(text: Behaving, ir: MachineIR, conditions: Sequence[Fair]) -> None:
    """The function `tested(s, n, m)`: the conditions that are predicates of a step."""
    bit = sum(1 for fair in conditions if fair.prop is None)
    calls: list[str] = []
    for prop in ir.properties:
        if prop.kind in ("weak", "strong"):
            text.condition(len(calls), prop, bit)
            calls.append(f"r = f{len(calls)}(s, n, m); if (r < 0) return r;")
            bit += len(list(bindings(prop.params)))
    lines = ["static int tested(const U *s, const U *n, U *m)", "{"]
    text.prelude += [*lines, "int r = 1; (void)s; (void)n; (void)m;", *calls, "return r;", "}"]


def _asked(text: Behaving, ir: MachineIR) -> int:
    """The predicates and mappings; gives the words of the widest state mapped to."""
    params = {made.name: made.params for made in ir.temporals}
    for (name, predicate), number in numbered(ir.temporals).items():
        text.predicate(number, params[name], predicate)
    names = [f"h{at}" for at in range(len(numbered(ir.temporals)))]
    text.dispatched("static int atom(int k, const U *s, U c)", names, "s, c")
    above = [text.image(at, made) for at, made in enumerate(ir.refinements)]
    names = [f"m{at}" for at in range(len(above))]
    text.dispatched("static int image(int k, const U *s, U *w)", names, "s, w")
    return max((made.words for made in above), default=1)
