"""Numbers in C: sums, quotients and extremes, checked wherever their types do not bound them."""

from __future__ import annotations

import abc

from refute.specs.machine import types as t
from refute.specs.machine.bits import reach
from refute.specs.machine.ir import Expr
from refute.specs.machine.types import show
from refute.verifiers.model.native.convert import Convert
from refute.verifiers.model.native.forms import Unsuited, form
from refute.verifiers.model.native.text import LIMIT, RAISED, Val

SAFE = 2**62  # numbers within it cannot overflow by one addition


class Numbers(Convert, abc.ABC):
    """Text of arithmetic."""

    @abc.abstractmethod
    def term(self, expr: Expr) -> Val:
        """The expression's value."""

    def _narrowed(self, val: Val, wanted: tuple[type, ...]) -> Val:
        """The one option of a union that is of these types; Python raises where it is another."""
        if isinstance(val.type, t.Union):
            found = [o for o in val.type.options if isinstance(o, wanted)]
            if len(found) == 1:
                return Val(found[0], self.converted(val, found[0], RAISED))
        return val

    def _rankable(self, val: Val) -> Val:
        val = self._narrowed(val, (t.Int, t.Bool, t.Atoms))
        if isinstance(val.type, t.Int | t.Bool | t.Atoms):
            return val
        if isinstance(val.type, t.Tuple) and form(val.type).kind == "code":
            return val  # codes are in the canonical order, which is that of tuples
        raise Unsuited(f"the order of {show(val.type)}")

    def _number(self, val: Val) -> Val:
        val = self._narrowed(val, (t.Int, t.Bool))
        if isinstance(val.type, t.Bool):
            return Val(t.Int(0, 1), self.value(val))
        if isinstance(val.type, t.Int):
            return val
        raise Unsuited(f"arithmetic on {show(val.type)}")

    def _arithmetic(self, expr: Expr) -> Val:
        left, right = (self._number(self.term(a)) for a in expr.args)
        return self.added(expr.op, left, right)

    def added(self, op: str, left: Val, right: Val) -> Val:
        """`+`, `-` or `*` of two numbers."""
        kind = interval(op, left.type, right.type)
        texts = self.value(left), self.value(right)
        if kind.lo is not None and kind.hi is not None and -SAFE < kind.lo <= kind.hi < SAFE:
            return Val(kind, f"({texts[0]} {op} {texts[1]})")
        result = self.variable(kind)
        name = {"+": "add", "-": "sub", "*": "mul"}[op]
        self.put(f"if (__builtin_{name}_overflow({texts[0]}, {texts[1]}, &{result})) {LIMIT}")
        return Val(kind, result)

    def _bits(self, expr: Expr) -> Val:
        """`&`, `|` or `^`, which lead to no more bits than there are."""
        left, right = (self._number(self.term(a)) for a in expr.args)
        text = f"({self.value(left)} {expr.op} {self.value(right)})"
        return Val(reach(expr.op, left.type, right.type), text)

    def _divided(self, expr: Expr) -> Val:
        left, right = (self._number(self.term(a)) for a in expr.args)
        a, b = self.value(left), self.simple(right.type, self.value(right))
        assert isinstance(left.type, t.Int) and isinstance(right.type, t.Int)
        kinds = left.type, right.type
        if not (kinds[1].lo is not None and kinds[1].lo > 0):
            self.put(f"if ({b} == 0) {RAISED}")
        if kinds[0].lo is None or kinds[0].lo < -SAFE:
            a = self.simple(kinds[0], a)
            self.put(f"if ({a} < -{SAFE}) {LIMIT}")
        natural = all(k.lo is not None and k.lo >= 0 for k in kinds)
        if natural:
            text = f"({a} {'/' if expr.op == '//' else '%'} {b})"
        else:
            text = f"{'floordiv' if expr.op == '//' else 'floormod'}({a}, {b})"
        return Val(_quotient(expr.op, *kinds), text)

    def _neg(self, expr: Expr) -> Val:
        return self.added("-", Val(t.Int(0, 0), "0"), self._number(self.term(expr.args[0])))

    def _abs(self, expr: Expr) -> Val:
        val = self._number(self.term(expr.args[0]))
        assert isinstance(val.type, t.Int)
        text = self.simple(val.type, self.value(val))
        lo, hi = val.type.lo, val.type.hi
        if lo is None or lo < -SAFE:
            self.put(f"if ({text} < -{SAFE}) {LIMIT}")
        top = None if lo is None or hi is None else max(abs(lo), abs(hi))
        return Val(t.Int(0, top), f"({text} < 0 ? -{text} : {text})")

    def _several(self, expr: Expr) -> Val:
        vals = [self._rankable(self.term(a)) for a in expr.args]
        kind = t.join(v.type for v in vals)
        if isinstance(kind, t.Union):
            raise Unsuited(f"{expr.op} of {show(kind)}")
        result = self.temp("L", self.converted(vals[0], kind, LIMIT))
        for val in vals[1:]:
            other = self.simple(kind, self.converted(val, kind, LIMIT))
            sign = "<" if expr.op == "least" else ">"
            self.put(f"if ({other} {sign} {result}) {result} = {other};")
        return Val(kind, result)


def interval(op: str, left: t.Type, right: t.Type) -> t.Int:
    """The numbers that `+`, `-` or `*` of two intervals may give."""
    assert isinstance(left, t.Int) and isinstance(right, t.Int)
    a, b, c, d = left.lo, left.hi, right.lo, right.hi
    if op == "+":
        return t.Int(
            None if a is None or c is None else a + c, None if b is None or d is None else b + d
        )
    if op == "-":
        return t.Int(
            None if a is None or d is None else a - d, None if b is None or c is None else b - c
        )
    if a is None or b is None or c is None or d is None:
        return t.Int()
    corners = (a * c, a * d, b * c, b * d)
    return t.Int(min(corners), max(corners))


def _quotient(op: str, left: t.Type, right: t.Type) -> t.Int:
    assert isinstance(left, t.Int) and isinstance(right, t.Int)
    if op == "//":
        natural = all(k.lo is not None and k.lo >= 0 for k in (left, right))
        if left.lo is None or left.hi is None:
            return t.Int(0 if natural else None, None)
        most = max(abs(left.lo), abs(left.hi))
        return t.Int(0 if natural else -most, most)
    if right.lo is None or right.hi is None:
        return t.Int()
    return t.Int(min(right.lo + 1, 0), max(right.hi - 1, 0))
