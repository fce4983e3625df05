"""Comprehensions: the clauses of a generator as a chain of IR nodes around its element."""

from __future__ import annotations

import ast
from collections.abc import Callable

from refute.specs.machine import types as t
from refute.specs.machine.expressions import Expressions, number
from refute.specs.machine.ir import Expr

Chain = Callable[[], Expr]


class Comprehensions(Expressions):
    """Expressions with comprehensions."""

    def _ListComp(self, node: ast.ListComp, want: t.Type | None) -> Expr:
        return self._listed("list", node, node.elt)

    def _SetComp(self, node: ast.SetComp, want: t.Type | None) -> Expr:
        return self._listed("set", node, node.elt)

    def _listed(
        self,
        op: str,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp,
        elt: ast.expr,
        folds: bool = True,
    ) -> Expr:
        """folds: the result may depend on the order in which the sources are walked through."""
        if op == "set":
            self.scope.hashable(elt)
        chain = self.chain(node.generators, lambda: self.expr(elt), folds and op == "list")
        kind = t.SetOf(chain.type) if op == "set" else t.SeqOf(chain.type)
        return Expr(op, kind, (chain,))

    def _DictComp(self, node: ast.DictComp, want: t.Type | None) -> Expr:
        pair: list[Expr] = []
        wanted = [o for o in t.options(want) if isinstance(o, t.MapOf)] if want else []

        def entry() -> tuple[Expr, Expr]:
            value = self.expr(node.value, wanted[0].value if wanted else None)
            pair[:] = [self.expr(node.key), value]
            return pair[0], value

        chain = self._chained(node.generators, lambda: Expr("item", t.Nothing(), entry()))
        return Expr("mapping", self.map_type(pair[:1], pair[1:], want, node), (chain,))

    def chain(
        self, generators: list[ast.comprehension], element: Chain, folds: bool = False
    ) -> Expr:
        """The clauses of a comprehension around its element; the type is the element's."""

        def item() -> Expr:
            found = element()
            return Expr("item", found.type, (found,))

        return self._chained(generators, item, folds)

    def _chained(
        self, generators: list[ast.comprehension], item: Chain, folds: bool = False
    ) -> Expr:
        if not generators:
            return item()
        first, *rest = generators
        source = self.expr(first.iter)
        elem = self.element(source, first.iter)
        if folds:
            self.scope.fixed_order(first.iter, source)
        name = self.build.fresh("each")
        before = dict(self.scope.env)
        self.bind(first.target, Expr("local", elem, (), name))
        conditions = [self.truth(c) for c in first.ifs]
        inner = self._chained(rest, item, folds)
        self.scope.env = before
        for condition in reversed(conditions):
            inner = Expr("if", inner.type, (condition, inner))
        return Expr("for", inner.type, (source, inner), name)

    def bind(self, target: ast.expr, value: Expr) -> None:
        """Let the names of a target stand for the value or its parts."""
        if isinstance(target, ast.Name):
            self.scope.env[target.id] = value
            return
        if isinstance(target, ast.Tuple):
            fits = isinstance(value.type, t.Tuple) and len(value.type.items) == len(target.elts)
            if fits:
                for at, part in enumerate(target.elts):
                    self.bind(part, self.index(value, number(at), target))
                return
        raise self.scope.refuse(target, "this target", "a name, or as many names as items")
