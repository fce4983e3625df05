"""Expressions of the IR as Python syntax; see `unparsing`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr
from refute.specs.machine.lower import used
from refute.specs.machine.values import unpack_value
from refute.verifiers.symbolic.rewriting import nodes, substituted
from refute.verifiers.symbolic.unparsing_values import (
    Syntax,
    Unprintable,
    arguments_of,
    bare,
    bounded,
    call,
    class_name,
    dotted,
    name_of,
)

Names = dict[str, ast.expr]  # what stands for each local


_BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "//": ast.FloorDiv,
    "%": ast.Mod,
    "|": ast.BitOr,
    "&": ast.BitAnd,
    "^": ast.BitXor,
    "diff": ast.Sub,
    "cat": ast.Add,
}
_COMPARE: dict[str, type[ast.cmpop]] = {
    "==": ast.Eq,
    "!=": ast.NotEq,
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
    "in": ast.In,
    "subset": ast.LtE,
}
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_CALLS = {"len": "len", "min": "min", "max": "max", "sum": "sum", "abs": "abs", "least": "min"}
_CALLS |= {"most": "max", "toset": "Set", "toseq": "Seq"}
_METHODS = {"values": "values", "keys": "keys", "items": "items", "disjoint": "isdisjoint"}


class Unparser(Syntax):
    """Expressions of one property. Names of locals are made of what they range over."""

    def expr(self, expr: Expr, names: Names) -> ast.expr:
        """The expression's syntax. Raises Unprintable."""
        op = expr.op
        if op in _BINARY:
            left, right = (self.expr(a, names) for a in expr.args)
            return ast.BinOp(left, _BINARY[op](), right)
        if op in _COMPARE:
            return self._comparison(expr, names)
        if op in _CALLS:
            if op == "toset" and isinstance(expr.args[0].type, t.SetOf):
                return self.expr(expr.args[0], names)
            made = [bare(self.expr(a, names)) for a in expr.args]
            return call(_CALLS[op], *made, needs=self)
        if op in _METHODS:
            base, *given = (self.expr(a, names) for a in expr.args)
            return ast.Call(ast.Attribute(base, _METHODS[op], ast.Load()), given, [])
        method: Callable[[Expr, Names], ast.expr] | None = getattr(self, f"_{op}", None)
        if method is None:
            raise Unprintable(_PLAIN.get(op, f"the operation {op}"))
        return method(expr, names)

    def _const(self, expr: Expr, names: Names) -> ast.expr:
        return self.value(unpack_value(expr.data), expr.type)

    def _read(self, expr: Expr, names: Names) -> ast.expr:
        return _path("self", str(expr.data), None)

    def _next(self, expr: Expr, names: Names) -> ast.expr:
        return _path("after", str(expr.data), None)

    def _local(self, expr: Expr, names: Names) -> ast.expr:
        return names[str(expr.data)]

    def _let(self, expr: Expr, names: Names) -> ast.expr:
        """Its value in the place that reads it; a lambda where several do, or none."""
        value, body = expr.args
        name = str(expr.data)
        readers = sum(1 for n in nodes(body) if n.op == "local" and n.data == name)
        if readers == 1 or (readers and value.op in ("local", "read", "next", "const")):
            return self.expr(substituted(body, {name: value}), names)
        argument = self.expr(value, names)
        own = self.named(value.type)
        inner = self.expr(body, {**names, name: name_of(own)})
        return ast.Call(ast.Lambda(arguments_of([own]), inner), [argument], [])

    def _not(self, expr: Expr, names: Names) -> ast.expr:
        inner = expr.args[0]
        if inner.op == "any":
            opposite = self._all_of_opposite(inner, names)
            if opposite is not None:
                return opposite
        return _opposite(self.expr(inner, names))

    def _all_of_opposite(self, expr: Expr, names: Names) -> ast.expr | None:
        """`not any(not c for …)` as `all(c for …)`; None for anything else."""
        chain = expr.args[0]
        while chain.op in ("for", "if"):
            chain = chain.args[1]
        if chain.op != "item" or chain.args[0].op not in ("not", "!="):
            return None
        return self._generator("all", _with_item(expr.args[0], _positive(chain.args[0])), names)

    def _and(self, expr: Expr, names: Names) -> ast.expr:
        return ast.BoolOp(ast.And(), [self.expr(a, names) for a in expr.args])

    def _or(self, expr: Expr, names: Names) -> ast.expr:
        return ast.BoolOp(ast.Or(), [self.expr(a, names) for a in expr.args])

    def _if(self, expr: Expr, names: Names) -> ast.expr:
        test, then, orelse = (self.expr(a, names) for a in expr.args)
        return ast.IfExp(test, then, orelse)

    def _neg(self, expr: Expr, names: Names) -> ast.expr:
        return ast.UnaryOp(ast.USub(), self.expr(expr.args[0], names))

    def _comparison(self, expr: Expr, names: Names) -> ast.expr:
        left, right = (self.expr(a, names) for a in expr.args)
        op = _COMPARE[expr.op]()
        none = isinstance(right, ast.Constant) and right.value is None
        if none and isinstance(op, ast.Eq | ast.NotEq):
            op = ast.Is() if isinstance(op, ast.Eq) else ast.IsNot()
        return ast.Compare(left, [op], [right])

    def _index(self, expr: Expr, names: Names) -> ast.expr:
        base, key = expr.args
        if base.op in ("read", "next") and "[]" in str(base.data):
            root = "self" if base.op == "read" else "after"
            return _path(root, str(base.data), self.expr(key, names))
        if base.op == "fold" and len(expr.args[0].data) == 2:
            return self.expr(base, names)
        return ast.Subscript(self.expr(base, names), self.expr(key, names), ast.Load())

    def _slice(self, expr: Expr, names: Names) -> ast.expr:
        base, *ends = expr.args
        bounds = [None if _is_none(e) else self.expr(e, names) for e in ends]
        return ast.Subscript(self.expr(base, names), ast.Slice(*bounds), ast.Load())

    def _field(self, expr: Expr, names: Names) -> ast.expr:
        return ast.Attribute(self.expr(expr.args[0], names), str(expr.data), ast.Load())

    def _ordinal(self, expr: Expr, names: Names) -> ast.expr:
        return ast.Attribute(self.expr(expr.args[0], names), "index", ast.Load())

    def _successor(self, expr: Expr, names: Names) -> ast.expr:
        return ast.Attribute(self.expr(expr.args[0], names), "next", ast.Load())

    def _only(self, expr: Expr, names: Names) -> ast.expr:
        return self.expr(expr.args[0], names)

    def _tuple(self, expr: Expr, names: Names) -> ast.expr:
        return ast.Tuple([self.expr(a, names) for a in expr.args], ast.Load())

    def _seq(self, expr: Expr, names: Names) -> ast.expr:
        inside = [self.expr(a, names) for a in expr.args]
        made = [ast.List(inside, ast.Load())] if inside else []
        return call("Seq", *made, needs=self)

    def _setof(self, expr: Expr, names: Names) -> ast.expr:
        inside = [self.expr(a, names) for a in expr.args]
        made = [ast.List(inside, ast.Load())] if inside else []
        return call("Set", *made, needs=self)

    def _dict(self, expr: Expr, names: Names) -> ast.expr:
        made = [self.expr(a, names) for a in expr.args]
        return ast.Dict(list(made[::2]), made[1::2])

    def _make(self, expr: Expr, names: Names) -> ast.expr:
        return call(class_name(expr.type), *(self.expr(a, names) for a in expr.args), needs=self)

    def _range(self, expr: Expr, names: Names) -> ast.expr:
        low, high, step = expr.args
        ends = [high] if (low.op, low.data) == ("const", 0) else [low, high]
        ends = ends if (step.op, step.data) == ("const", 1) else [low, high, step]
        return call("range", *(self.expr(e, names) for e in ends))

    def _sorted(self, expr: Expr, names: Names) -> ast.expr:
        kind = expr.type.elem if isinstance(expr.type, t.SeqOf) else expr.type
        inner = self.expr(expr.args[0], names)
        if isinstance(kind, t.Int | t.Bool | t.Atoms):
            return call("sorted", inner)
        return call("Seq", call("Set", inner, needs=self), needs=self)

    def _domain(self, expr: Expr, names: Names) -> ast.expr:
        kind = expr.type.elem if isinstance(expr.type, t.SeqOf) else expr.type
        if isinstance(kind, t.Atoms):
            return self.class_(kind)
        if isinstance(kind, t.Int) and kind.lo is not None and kind.hi is not None:
            return call("range", ast.Constant(kind.lo), ast.Constant(kind.hi + 1))
        if bounded(kind):
            raise Unprintable(f"all values of {t.show(kind)}, which has bounds")
        return call("every", self.annotation(kind), needs=self)

    def _isa(self, expr: Expr, names: Names) -> ast.expr:
        classes = [self.class_(kind) for kind in tuple(expr.data)]
        wanted = classes[0] if len(classes) == 1 else ast.Tuple(classes, ast.Load())
        return call("isinstance", self.expr(expr.args[0], names), wanted)

    def _any(self, expr: Expr, names: Names) -> ast.expr:
        return self._generator("any", expr.args[0], names)

    def _all(self, expr: Expr, names: Names) -> ast.expr:
        return self._generator("all", expr.args[0], names)

    def _total(self, expr: Expr, names: Names) -> ast.expr:
        bag, wanted, part = _of_bag(expr.args[0])
        if bag is not None and part == 1:
            given = [] if wanted is None else [self.expr(wanted, names)]
            attribute = "total" if wanted is None else "count"
            base = ast.Attribute(self.expr(bag, names), attribute, ast.Load())
            return ast.Call(base, given, [])
        return self._generator("sum", expr.args[0], names)

    def _set(self, expr: Expr, names: Names) -> ast.expr:
        bag, wanted, part = _of_bag(expr.args[0])
        if bag is not None and wanted is None and part == 0:
            return ast.Call(ast.Attribute(self.expr(bag, names), "distinct", ast.Load()), [], [])
        return call("Set", self._listed(expr.args[0], names), needs=self)

    def _list(self, expr: Expr, names: Names) -> ast.expr:
        return call("Seq", self._listed(expr.args[0], names), needs=self)

    def _mapping(self, expr: Expr, names: Names) -> ast.expr:
        clauses, (key, value) = self._comprehension(expr.args[0], names)
        return ast.DictComp(key, value, clauses)

    def _generator(self, name: str, chain: Expr, names: Names) -> ast.expr:
        clauses, (element,) = self._comprehension(chain, names)
        return call(name, ast.GeneratorExp(element, clauses))

    def _listed(self, chain: Expr, names: Names) -> ast.expr:
        clauses, (element,) = self._comprehension(chain, names)
        return ast.ListComp(element, clauses)

    def _comprehension(
        self, chain: Expr, names: Names
    ) -> tuple[list[ast.comprehension], list[ast.expr]]:
        """A chain's clauses and elements. Its names are free again behind it."""
        before = set(self.taken)
        clauses, item, bound = self._clauses(chain, names)
        elements = [self.expr(part, bound) for part in item.args]
        self.taken = before
        return clauses, elements

    def _clauses(self, chain: Expr, names: Names) -> tuple[list[ast.comprehension], Expr, Names]:
        """A chain's clauses, its element, and the names that are known there."""
        clauses: list[ast.comprehension] = []
        while chain.op != "item":
            head, inner = chain.args
            if chain.op == "if" and clauses:
                clauses[-1].ifs.append(self.expr(head, names))
            elif chain.op == "for":
                if isinstance(head.type, t.BagOf):
                    raise Unprintable("a walk through the pairs of a Bag")
                source = bare(self.expr(head, names))
                own = self.named(_element(head.type))
                names = {**names, str(chain.data): name_of(own)}
                clauses.append(ast.comprehension(ast.Name(own, ast.Store()), source, [], 0))
            else:
                raise Unprintable(f"{chain.op} in a comprehension")
            chain = inner
        return clauses, chain, names

    def _fold(self, expr: Expr, names: Names) -> ast.expr:
        """`functools.reduce`, over one value, or over a tuple of several."""
        source, start, body = expr.args
        item, *locals_ = map(str, expr.data)
        kind = expr.type.items if isinstance(expr.type, t.Tuple) else ()
        own, each = self.named(t.Tuple(())), self.named(_element(source.type))
        single = len(locals_) == 1 and start.op == body.op == "tuple"
        if len(locals_) == 1 and not single:
            raise Unprintable("a walk that gives one value in several ways")
        bound: Names = {**names, item: name_of(each)}
        for at, name in enumerate(locals_):
            place = ast.Subscript(name_of(own), ast.Constant(at), ast.Load())
            bound[name] = name_of(own) if single else place
        assert len(kind) == len(locals_)
        first, step = (start.args[0], body.args[0]) if single else (start, body)
        function = ast.Lambda(arguments_of([own, each]), self.expr(step, bound))
        self.needed.add("functools")
        reduce = dotted("functools.reduce")
        given = [function, self.expr(source, names), self.expr(first, names)]
        return ast.Call(reduce, given, [])


_PLAIN = {
    "loop": "a while loop",
    "rec": "a helper that calls itself",
    "again": "a helper that calls itself",
    "fail": "a failed assert",
    "removed": "an element taken out of a Set",
    "popped": "an element taken out of a Seq",
}


def _path(root: str, variable: str, key: ast.expr | None) -> ast.expr:
    """`self.a.b`, and `self.workers[key].b` of a part among several."""
    made = name_of(root)
    for part in variable.split("."):
        made = ast.Attribute(made, part.removesuffix("[]"), ast.Load())
        if part.endswith("[]"):
            if key is None:
                raise Unprintable("a variable of several parts as a whole")
            made, key = ast.Subscript(made, key, ast.Load()), None
    return made


def _is_none(expr: Expr) -> bool:
    return expr.op == "const" and expr.data is None


def _element(kind: t.Type) -> t.Type:
    match kind:
        case t.SetOf(elem) | t.SeqOf(elem):
            return elem
        case t.MapOf(key, _):
            return key
    return t.NEVER


def _positive(expr: Expr) -> Expr:
    """The opposite of a `not` or `!=`."""
    return expr.args[0] if expr.op == "not" else Expr("==", expr.type, expr.args)


def _with_item(chain: Expr, item: Expr) -> Expr:
    """The chain with another element."""
    if chain.op == "item":
        return Expr("item", item.type, (item,))
    return Expr(chain.op, chain.type, (chain.args[0], _with_item(chain.args[1], item)), chain.data)


def _opposite(made: ast.expr) -> ast.expr:
    if isinstance(made, ast.Compare) and len(made.ops) == 1:
        op = _OPPOSITE.get(type(made.ops[0]))
        if op is not None:
            return ast.Compare(made.left, [op()], made.comparators)
    return ast.UnaryOp(ast.Not(), made)


def _of_bag(chain: Expr) -> tuple[Expr | None, Expr | None, int]:
    """The bag that a chain walks through, the element that alone is wanted, and which part of each
    pair the chain gives: what `.count`, `.total` and `.distinct` become."""
    if chain.op != "for" or not isinstance(chain.args[0].type, t.BagOf):
        return None, None, -1
    bag, inner = chain.args
    wanted = None
    if inner.op == "if" and inner.args[0].op == "==":
        first, wanted = inner.args[0].args
        inner = inner.args[1]
        if _place_in(first, str(chain.data)) != 0 or chain.data in used(wanted):
            return None, None, -1
    if inner.op != "item":
        return None, None, -1
    return bag, wanted, _place_in(inner.args[0], str(chain.data))


def _place_in(expr: Expr, name: str) -> int:
    """n of `name[n]`; -1 of anything else."""
    if expr.op == "index" and (expr.args[0].op, expr.args[0].data) == ("local", name):
        at = expr.args[1].data
        return at if type(at) is int else -1
    return -1
