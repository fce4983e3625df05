"""`while` loops and recursive helpers as C: a loop in place, and a function that calls itself.

A recursive helper becomes a C function of the state, its parameters and the locals that its body
reads. A call deeper than the plain engine allows ends the native search, as the C stack is finite.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.errors import MOST_CALLS, MOST_ROUNDS
from refute.specs.machine.ir import Expr
from refute.specs.machine.lower import used
from refute.verifiers.model.native.folds import Folds
from refute.verifiers.model.native.forms import parts_of
from refute.verifiers.model.native.text import LIMIT, RAISED, Place, Val

Places = dict[str, tuple[t.Type, Place]]


@frozen
class Function:
    """A C function: its name, the names and types of its parameters, and what it gives."""

    name: str
    params: Mapping[str, t.Type]
    gives: t.Type


class Recursions(Folds):
    """Text of loops and recursion."""

    def __init__(self) -> None:
        super().__init__()
        self._functions: dict[str, Function] = {}
        self._inside = 0  # how many recursive functions the text in hand is inside of

    def _carried(self, expr: Expr, start: Expr, after: Expr) -> tuple[Val, list[Val]]:
        """The first values of a loop, and a variable for each."""
        first = self.held(self.term(start))
        kinds = [
            t.join((parts_of(expr.type)[at], parts_of(after.type)[at], self.part(first, at).type))
            for at in range(len(parts_of(expr.type)))
        ]
        return first, [Val(kind, self.variable(kind)) for kind in kinds]

    def _replace(self, carried: list[Val], found: Val) -> None:
        """Give all variables their new values at once."""
        held = self.held(found)
        kinds = [val.type for val in carried]
        texts = [self.converted(self.part(held, at), k, LIMIT) for at, k in enumerate(kinds)]
        fresh = [self.temp(self.ctype(k), x) for k, x in zip(kinds, texts, strict=True)]
        for val, text in zip(carried, fresh, strict=True):
            self.put(f"{val.text} = {text};")

    def _loop(self, expr: Expr) -> Val:
        start, after = expr.args
        first, carried = self._carried(expr, start, after)
        self.put("{")
        self._replace(carried, first)
        self.put("}")
        rounds = self.temp("L", "0")
        self.put(f"while ({carried[-1].text}) {{")
        self.put(f"if (++{rounds} > {MOST_ROUNDS}) {RAISED}")
        self.env.update(zip(expr.data, carried, strict=True))
        self._replace(carried, self.term(after))
        self.put("}")
        return Val(t.Tuple(tuple(val.type for val in carried)), parts=tuple(carried))

    def _rec(self, expr: Expr) -> Val:
        *args, body = expr.args
        name, *params = expr.data
        vals = list(map(self.term, args))
        rows = [[a.type for a in again.args] for again in _calls(body, name)]
        columns = zip([v.type for v in vals], *rows, strict=True)
        kinds = dict(zip(params, map(t.join, columns), strict=True))
        free = sorted(n for n in used(body) - set(params) if n in self.env)
        kinds |= {n: self.env[n].type for n in free}
        made = Function(self.fresh("f"), kinds, expr.type)
        self._functions[name] = made
        self._define(made, body)
        return self._call(made, [*vals, *(self.env[n] for n in free)])

    def _define(self, made: Function, body: Expr) -> None:
        """Put the C function at file level."""
        params = "".join(f", {self.ctype(k)} p{at}" for at, k in enumerate(made.params.values()))
        kind = self.ctype(made.gives)
        head = f"static int {made.name}(const U *s, const U *n, L deep, {kind} *out{params})"
        self.prelude.append(f"{head};")
        env, places, following = self.env, self.places, self.next
        self.env = {n: Val(k, f"p{at}") for at, (n, k) in enumerate(made.params.items())}
        self.places, self.next = _moved(places, "s"), _moved(following, "n")
        self._inside += 1

        def work() -> str:
            self.put("(void)s; (void)n;")
            self.put(f"if (deep > {MOST_CALLS}) {LIMIT}")
            self.put(f"*out = {self.converted(self.term(body), made.gives, LIMIT)};")
            self.put("return 0;")
            return ""

        lines, _ = self.captured(work)
        self._inside -= 1
        self.env, self.places, self.next = env, places, following
        self.prelude += [head, "{", *lines, "}"]

    def _call(self, made: Function, vals: list[Val]) -> Val:
        pairs = zip(vals, made.params.values(), strict=True)
        texts = [self.converted(val, kind, LIMIT) for val, kind in pairs]
        result, ended = self.variable(made.gives), self.fresh("r")
        deep = "deep + 1" if self._inside else "1"
        arrays = f"{_array(self.places, 's')}, {_array(self.next, '0')}"
        given = "".join(f", {text}" for text in texts)
        self.put(f"int {ended} = {made.name}({arrays}, {deep}, &{result}{given});")
        self.put(f"if ({ended} < 0) return {ended};")
        return Val(made.gives, result)

    def _again(self, expr: Expr) -> Val:
        made = self._functions[expr.data]
        vals = list(map(self.term, expr.args))
        return self._call(made, [*vals, *(self.env[n] for n in list(made.params)[len(vals) :])])


def _calls(expr: Expr, name: str) -> Iterator[Expr]:
    """The calls of a recursive helper inside an expression."""
    if expr.op == "again" and expr.data == name:
        yield expr
    for arg in expr.args:
        yield from _calls(arg, name)


def _array(places: Places, otherwise: str) -> str:
    return next((place.array for _, place in places.values()), otherwise)


def _moved(places: Places, array: str) -> Places:
    """The same places of a state that is held in an array of another name."""
    return {n: (k, dataclasses.replace(p, array=array)) for n, (k, p) in places.items()}
