"""Comprehensions: the clauses of a generator as a chain of IR nodes around its element."""

from __future__ import annotations

import abc
import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from refute.specs.machine import sugar, views
from refute.specs.machine import types as t
from refute.specs.machine.closures import free_names
from refute.specs.machine.displays import Displays
from refute.specs.machine.expressions import number
from refute.specs.machine.ir import Expr
from refute.specs.machine.narrowing import narrowed
from refute.specs.machine.opening import walk

Chain = Callable[[], Expr]


class Comprehensions(Displays, abc.ABC):
    """Expressions with comprehensions, and what bodies of functions need of them."""

    @abc.abstractmethod
    def returned(self, body: list[ast.stmt], after: ast.AST, ways: Any) -> Expr:
        """What statements return; see `pure`."""

    def expr(self, node: ast.expr, want: t.Type | None = None) -> Expr:
        """The node's IR; of a union what the tests before leave. want: the type of its place."""
        found = super().expr(node, want)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return narrowed(found, self.scope.facts)
        return found

    def closed(
        self, node: ast.Lambda | ast.FunctionDef, env: Mapping[str, Expr], args: Sequence[Expr]
    ) -> Expr:
        """The body of a lambda or nested `def` with these arguments. env: names where it was
        written."""
        scope = self.scope
        params = [a.arg for a in node.args.args]
        if len(params) != len(args) or node.args.vararg or node.args.kwarg or node.args.kwonlyargs:
            raise scope.refuse(node, "this function, called with other arguments,", "plain ones")
        read = free_names(node)
        changed = sorted(n for n in read & {*env, *scope.env} if _other(env, scope.env, n))
        if changed:
            what = f"a function that reads {changed[0]}, which stands for something else now,"
            raise scope.refuse(node, what, f"{changed[0]} as an argument")
        if node in self.build.inlining:
            what = "a function inside another that calls itself"
            raise scope.refuse(node, what, "a function of the module, or a loop")
        before, lets = scope.names(), []
        for name, argument in zip(params, args, strict=True):
            fresh = self.build.fresh(name)
            self.build.note(fresh, argument)
            lets.append((fresh, argument))
            scope.env[name] = Expr("local", argument.type, (), fresh)
        self.build.inlining.append(node)
        try:
            made = (
                self.expr(node.body)
                if isinstance(node, ast.Lambda)
                else self.returned(list(node.body), node, None)
            )
        finally:
            self.build.inlining.remove(node)
        scope.restore(before)
        for fresh, argument in reversed(lets):
            made = Expr("let", made.type, (argument, made), fresh)
        return made

    def collection(self, node: ast.expr) -> Expr:
        """A collection; also one that is written as a generator."""
        if isinstance(node, ast.GeneratorExp):
            return self._listed("list", node, node.elt)
        return sugar.solid(self.expr(node))

    def applied(self, function: ast.expr, args: Sequence[Expr], node: ast.AST) -> Expr:
        """A call of whatever an expression stands for."""
        before = self.scope.names()
        given: list[ast.expr] = []
        for argument in args:
            name = self.build.fresh(" given")
            self.scope.env[name] = argument
            given.append(ast.Name(name, ast.Load()))
        call = ast.copy_location(ast.Call(function, given, []), node)
        made = self.expr(ast.fix_missing_locations(call))
        self.scope.restore(before)
        return made

    def names(self) -> dict[str, Expr]:
        """What the names in sight stand for."""
        return self.scope.names()

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
        parts = views.walk(self, first)
        source = sugar.solid(self.expr(first.iter)) if parts is None else parts.source
        elem = self.element(source, first.iter)
        if folds:
            self.scope.fixed_order(first.iter, source)
        name = self.build.fresh("each")
        before, states = dict(self.scope.env), dict(self.scope.states)
        if parts is None:
            self.bind(first.target, Expr("local", elem, (), name))
        else:
            parts.bind(self, first.target, Expr("local", elem, (), name))
        conditions, facts = [], self.scope.facts
        for test in first.ifs:
            conditions.append(self.truth(test))
            self.scope.facts = (*self.scope.facts, (conditions[-1], True))
            self._told(test)
        inner = self._chained(rest, item, folds)
        self.scope.env, self.scope.states, self.scope.facts = before, states, facts
        for condition in reversed(conditions):
            inner = Expr("if", inner.type, (condition, inner))
        return walk(source, inner, name)

    def _told(self, test: ast.expr) -> None:
        """Where a name passed the filter `name is not None`, it is not None behind it."""
        match test:
            case ast.BoolOp(ast.And(), parts):
                for part in parts:
                    self._told(part)
            case ast.Compare(ast.Name(name), [ast.IsNot()], [ast.Constant(None)]):
                if name in self.scope.env:
                    self.scope.env[name] = sugar.solid(self.scope.env[name])

    def bind(self, target: ast.expr, value: Expr) -> None:
        """Let the names of a target stand for the value or its parts."""
        if isinstance(target, ast.Name):
            self.scope.env[target.id] = value
            return
        if isinstance(target, ast.Tuple | ast.List):
            fits = isinstance(value.type, t.Tuple) and len(value.type.items) == len(target.elts)
            if fits:
                for at, part in enumerate(target.elts):
                    self.bind(part, self.index(value, number(at), target))
                return
        raise self.scope.refuse(target, "this target", "a name, or as many names as items")


def _other(left: Mapping[str, Expr], right: Mapping[str, Expr], name: str) -> bool:
    """Whether a name stands for different values in the two."""
    a, b = left.get(name), right.get(name)
    if a is None or b is None:
        return True
    return a is not b and not (a.op == b.op == "local" and a.data == b.data)
