"""Operators: arithmetic, sets, comparisons, `and`, `or`, `not`, `in`, and values as conditions."""

from __future__ import annotations

import ast
from collections.abc import Callable

from refute.specs.machine import bits, opening, overlaying, sugar
from refute.specs.machine import types as t
from refute.specs.machine.expressions import (
    BOOL,
    Expressions,
    comparable,
    constant,
    is_enum,
    number,
)
from refute.specs.machine.intervals import interval
from refute.specs.machine.ir import Expr

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_SETS: dict[type[ast.operator], str] = {
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.BitXor: "^",
    ast.Sub: "diff",
}
_ORDER: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class Operators(Expressions):
    """Expressions with operators."""

    def truth(self, node: ast.expr) -> Expr:
        """The node as a condition."""
        if isinstance(node, ast.BoolOp):
            op = "and" if isinstance(node.op, ast.And) else "or"
            return Expr(op, BOOL, self._in_turn(node, self.truth))
        return self.truth_of(self.expr(node), node)

    def truth_of(self, found: Expr, node: ast.AST) -> Expr:
        """A value as a condition. Raises Unsupported."""
        made = sugar.truth_of(found)
        if made is None:
            what = f"{t.show(found.type)} as a condition"
            raise self.scope.refuse(node, what, "an explicit comparison: x is not None, x == …")
        return made

    def _BinOp(self, node: ast.BinOp, want: t.Type | None) -> Expr:
        first = self.expr(node.left, want)
        if isinstance(node.op, ast.BitOr) and isinstance(first.type, t.MapOf):
            over = overlaying.overlaid(self, first, [node.right])
            if over is not None:
                return over
        left, right = sugar.numbers(first, self.expr(node.right))
        kinds = (left.type, right.type)
        op = type(node.op)
        sets = all(isinstance(k, t.SetOf) and not isinstance(k, t.BagOf) for k in kinds)
        if sets and op in _SETS:
            smaller = op in (ast.BitAnd, ast.Sub)
            return Expr(_SETS[op], left.type if smaller else t.join(kinds), (left, right))
        if op in _BINARY and all(isinstance(k, t.Int | t.Bool) for k in kinds):
            return Expr(_BINARY[op], interval(_BINARY[op], left.type, right.type), (left, right))
        made = sugar.binary(self, op, left, right) or bits.of_numbers(op, left, right)
        if made is not None:
            return made
        raise self.scope.refuse(
            node,
            f"{op.__name__} on {t.show(left.type)} and {t.show(right.type)}",
            "+ - * // % ** & | ^ on int, | & - ^ on Set, + and * on Seq, | on Map",
        )

    def _UnaryOp(self, node: ast.UnaryOp, want: t.Type | None) -> Expr:
        if isinstance(node.op, ast.Not):
            return Expr("not", BOOL, (self.truth(node.operand),))
        found, _ = sugar.numbers(self.expr(node.operand), number(0))
        if isinstance(node.op, ast.UAdd) and isinstance(found.type, t.Int):
            return found
        if isinstance(node.op, ast.USub) and isinstance(found.type, t.Int):
            kind = interval("-", t.Int(0, 0), found.type)
            return Expr("neg", kind, (found,))
        made = bits.inverted(found) if isinstance(node.op, ast.Invert) else None
        if made is not None:
            return made
        raise self.scope.refuse(node, f"{type(node.op).__name__}", "not, or - and ~ on int")

    def _BoolOp(self, node: ast.BoolOp, want: t.Type | None) -> Expr:
        found = self._in_turn(node, self.expr)
        if any(value.type != BOOL for value in found):
            return sugar.chosen(self, node, found)
        return Expr("and" if isinstance(node.op, ast.And) else "or", BOOL, found)

    def _in_turn(self, node: ast.BoolOp, translate: Callable[[ast.expr], Expr]) -> tuple[Expr, ...]:
        """The parts of an `and` or `or`, each where the ones before did not decide."""
        facts, found = self.scope.facts, []
        for part in node.values:
            found.append(translate(part))
            if found[-1].type == BOOL:
                fact = found[-1], isinstance(node.op, ast.And)
                self.scope.facts = (*self.scope.facts, fact)
        self.scope.facts = facts
        return tuple(found)

    def _Compare(self, node: ast.Compare, want: t.Type | None) -> Expr:
        terms = [self.expr(n) for n in (node.left, *node.comparators)]
        pairs = zip(terms, terms[1:], node.ops, strict=False)
        nodes = (node.left, *node.comparators)
        for at in range(len(node.ops)):
            sugar.refuse_list(self, nodes[at : at + 2], terms[at : at + 2])
        found = [self._comparison(a, b, op, node) for a, b, op in pairs]
        return found[0] if len(found) == 1 else Expr("and", BOOL, tuple(found))

    def _depends_on_call(self, node: ast.AST) -> bool:
        """Whether a helper's own names are in it: what they may be differs from call to call."""
        own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - set(self.scope.states)
        return bool(self.build.inlining and own & set(self.scope.env))

    def _known(self, value: bool, sides: tuple[Expr, ...]) -> Expr:
        """A known truth, of expressions that are evaluated all the same: they may raise."""
        made = constant(value, BOOL)
        for side in reversed([s for s in sides if s.op not in ("local", "const", "read", "next")]):
            made = Expr("let", BOOL, (side, made), self.build.fresh("unequal"))
        return made

    def _comparison(self, left: Expr, right: Expr, op: ast.cmpop, node: ast.AST) -> Expr:
        if isinstance(op, ast.In | ast.NotIn):
            inside = self.contains(sugar.solid(right), left, node)
            return inside if isinstance(op, ast.In) else Expr("not", BOOL, (inside,))
        identity = t.Nothing() in (left.type, right.type) or all(
            is_enum(sugar.solid(side).type) for side in (left, right)
        )
        if isinstance(op, ast.Is | ast.IsNot) and not identity:
            raise self.scope.refuse(node, "`is`, except with None and Enum members,", "==")
        if isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            left, right = sugar.alike(left, right)
            equal = isinstance(op, ast.Eq | ast.Is)
            if not comparable(left.type, right.type):
                if self._depends_on_call(node):
                    return self._known(not equal, (left, right))
                kinds = f"{t.show(left.type)} with {t.show(right.type)}"
                raise self.scope.refuse(
                    node, f"a comparison of {kinds}, never equal,", "values of one type"
                )
            return Expr("==" if equal else "!=", BOOL, (left, right))
        name = _ORDER[type(op)]
        both = (left.type, right.type)
        if all(isinstance(k, t.SetOf) and not isinstance(k, t.BagOf) for k in both):
            sides = (left, right) if name in ("<", "<=") else (right, left)
            subset = Expr("subset", BOOL, sides)
            differ = Expr("!=", BOOL, (left, right))
            return subset if name in ("<=", ">=") else Expr("and", BOOL, (subset, differ))
        made = sugar.before(self, name, *sugar.numbers(left, right))
        if made is not None:
            return made
        raise self.scope.refuse(
            node,
            f"{name} on {t.show(left.type)} and {t.show(right.type)}",
            "numbers, members of one OrderedSort, tuples and sequences of them, or sets",
        )

    def contains(self, container: Expr, element: Expr, node: ast.AST) -> Expr:
        """Whether an element is in a container."""
        self.element(container, node)
        among = opening.among(element, container, self.build.fresh)
        return Expr("in", BOOL, (element, container)) if among is None else among

    def element(self, container: Expr, node: ast.AST) -> t.Type:
        """The type of what iteration over the container yields."""
        match container.type:
            case t.BagOf():
                raise self.scope.refuse(node, "a walk through a Bag, or its len,", ".distinct()")
            case t.SetOf(elem) | t.SeqOf(elem, _):
                return elem
            case t.MapOf(key, _):
                return key
            case t.Tuple(items):
                return t.join(items)
        union = isinstance(container.type, t.Union)
        instead = "lists, [a, b], in the table" if union else "a Set, Seq, Map, Sort, Enum or range"
        raise self.scope.refuse(node, f"iteration over {t.show(container.type)}", instead)
