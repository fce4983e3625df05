"""Builtins that walk through a collection or take numbers: any, all, sum, min, max, len, range."""

from __future__ import annotations

import ast

from refute.specs.machine import functions, sugar
from refute.specs.machine import types as t
from refute.specs.machine.comprehensions import Comprehensions
from refute.specs.machine.expressions import BOOL, number, orderable
from refute.specs.machine.ir import Expr
from refute.specs.machine.opening import walk
from refute.specs.machine.scope import union_parts


class Builtins(Comprehensions):
    """Expressions with these builtins; `_call_NAME` is found by the builtin's name."""

    def _call_len(self, node: ast.Call, want: t.Type | None) -> Expr:
        found = self._only(node)
        self.element(found, node)
        upto = found.type.upto if isinstance(found.type, t.SeqOf) else None
        return Expr("len", t.Int(0, upto), (found,))

    def _only(self, node: ast.Call) -> Expr:
        if len(node.args) != 1 or node.keywords:
            raise self.scope.refuse(node, "this call", f"{ast.unparse(node.func)}(one argument)")
        return sugar.solid(self.expr(node.args[0]))

    def _quantifier(self, op: str, node: ast.Call) -> Expr:
        if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            found = node.args[0]
            return Expr(op, BOOL, (self.chain(found.generators, lambda: self.truth(found.elt)),))
        source = self._only(node)
        elem = self.element(source, node)
        name = self.build.fresh("each")
        truth = self.truth_of(Expr("local", elem, (), name), node)
        return Expr(op, BOOL, (walk(source, Expr("item", BOOL, (truth,)), name),))

    def _call_any(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self._quantifier("any", node)

    def _call_all(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self._quantifier("all", node)

    def _call_sum(self, node: ast.Call, want: t.Type | None) -> Expr:
        start = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "start")]
        if len(start) == 1 and len(node.args) + len(node.keywords) == 2:
            only = ast.copy_location(ast.Call(node.func, node.args[:1], []), node)
            return self.expr(ast.copy_location(ast.BinOp(only, ast.Add(), start[0]), node))
        if node.keywords or len(node.args) != 1:
            raise self.scope.refuse(node, "this sum", "sum(collection), sum(collection, first)")
        if isinstance(node.args[0], ast.GeneratorExp):
            found = node.args[0]
            chain = self.chain(found.generators, lambda: sugar.solid(self.expr(found.elt)))
            low = 0 if isinstance(chain.type, t.Int) and (chain.type.lo or -1) >= 0 else None
            return Expr("total", t.Int(low, None), (chain,))
        source = self._only(node)
        if not isinstance(self.element(source, node), t.Int | t.Bool):
            raise self.scope.refuse(node, f"sum of {t.show(source.type)}", "sum of int")
        return Expr("sum", t.Int(), (source,))

    def _extreme(self, op: str, node: ast.Call) -> Expr:
        if "key" in [k.arg for k in node.keywords]:
            return functions.extreme(self, op, node)
        if [k.arg for k in node.keywords] == ["default"] and len(node.args) == 1:
            return self._extreme_or(op, node)
        if node.keywords:
            raise self.scope.refuse(node, f"{op} with {node.keywords[0].arg}=", "plain arguments")
        if len(node.args) > 1:
            args = tuple(sugar.solid(self.expr(a)) for a in node.args)
            kind = self._orderable(t.join(a.type for a in args), op, node)
            return Expr({"min": "least", "max": "most"}[op], kind, args)
        only = node.args[0]
        if isinstance(only, ast.GeneratorExp):
            source = self._listed("list", only, only.elt, folds=False)
        else:
            source = self._only(node)
        return Expr(op, self._orderable(self.element(source, node), op, node), (source,))

    def _extreme_or(self, op: str, node: ast.Call) -> Expr:
        """`max(values, default=x)`."""
        source = self._extreme(op, ast.copy_location(ast.Call(node.func, node.args, []), node))
        (values,), name = source.args, self.build.fresh("values")
        held = Expr("local", values.type, (), name)
        other = self.expr(node.keywords[0].value)
        some = Expr(">", BOOL, (Expr("len", t.Int(0, None), (held,)), number(0)))
        self._orderable(t.join((source.type, other.type)), op, node)
        made = sugar.or_default(self, some, Expr(op, source.type, (held,)), other)
        return Expr("let", made.type, (values, made), name)

    def _orderable(self, kind: t.Type, op: str, node: ast.AST) -> t.Type:
        if not orderable(kind):
            raise self.scope.refuse(
                node, f"{op} of {t.show(kind)}", "numbers, or members of one OrderedSort"
            )
        return kind

    def _call_min(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self._extreme("min", node)

    def _call_max(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self._extreme("max", node)

    def _call_sorted(self, node: ast.Call, want: t.Type | None) -> Expr:
        """The canonical order of a set, Sort or map is the order of its elements already."""
        if node.keywords:
            return functions.in_order(self, node)
        only = self._only(node)
        elem = self._orderable(self.element(only, node), "sorted", node)
        walked = isinstance(only.type, t.SetOf | t.MapOf) or only.op in ("domain", "keys")
        upto = only.type.upto if isinstance(only.type, t.SeqOf) else None
        return Expr("toseq" if walked else "sorted", t.SeqOf(elem, upto), (only,))

    def _call_abs(self, node: ast.Call, want: t.Type | None) -> Expr:
        found, _ = sugar.numbers(self._only(node), number(0))
        return Expr("abs", t.Int(0, None), (found,))

    def _call_bool(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self.truth(node.args[0])

    def _call_range(self, node: ast.Call, want: t.Type | None) -> Expr:
        args = [sugar.numbers(self.expr(a), number(0))[0] for a in node.args]
        if not 1 <= len(args) <= 3 or not all(isinstance(a.type, t.Int | t.Bool) for a in args):
            raise self.scope.refuse(node, "this range", "range(lo, hi) of int")
        low = number(0) if len(args) == 1 else args[0]
        high = args[0] if len(args) == 1 else args[1]
        step = args[2] if len(args) == 3 else number(1)
        elem = t.Int()
        if step.data == 1 and isinstance(low.type, t.Int) and isinstance(high.type, t.Int):
            top = None if high.type.hi is None else high.type.hi - 1
            elem = t.Int(low.type.lo, top)
        return Expr("range", t.SeqOf(elem), (low, high, step))

    def _call_isinstance(self, node: ast.Call, want: t.Type | None) -> Expr:
        classes = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
        kinds: list[t.Type] = []
        subject = self.expr(node.args[0])
        for part in union_parts(classes):
            found = self.scope.static(part)
            if found is str:
                kinds += [o for o in t.options(subject.type) if isinstance(o, t.Text)]
                continue
            if found in (bool, int):
                kinds.append(BOOL if found is bool else t.Int())
            elif isinstance(found, type):
                kinds.append(self.build.resolver.class_type(found, self.scope.refuser(part)))
            else:
                raise self.scope.refuse(part, "this class in isinstance", "a dataclass or Enum")
        return Expr("isa", BOOL, (subject,), tuple(kinds))
