"""Helpers: undecorated methods, properties and functions of modules, as expressions.

The body of a helper is put in place of its call, with the arguments bound first, so that engines
know no functions. One that calls itself becomes a recursive expression: its parameters are locals
that every call of itself gives anew, and its types are looked for until they fit.
"""

from __future__ import annotations

import abc
import ast
import types
import typing
from collections.abc import Sequence
from typing import Any

from refute.specs.machine import types as t
from refute.specs.machine.builtin_calls import Builtins
from refute.specs.machine.closures import Closure, Passed
from refute.specs.machine.ir import Expr
from refute.specs.machine.loops import Ways
from refute.specs.machine.pure import returned
from refute.specs.machine.scope import Recursion, Scope


class Inlining(Builtins, abc.ABC):
    """Expressions with calls of helpers."""

    def returned(self, body: list[ast.stmt], after: ast.AST, ways: Ways | None) -> Expr:
        """What statements return; see `pure`."""
        return returned(self, body, after, ways)

    def is_function(self, node: ast.expr) -> bool:
        """Whether an argument stands for a function, not a value."""
        if isinstance(node, ast.Lambda):
            return True
        if isinstance(node, ast.Name) and node.id in self.scope.functions:
            return True
        if isinstance(node, ast.Attribute) and self.scope.state_of(node.value):
            return isinstance(self.scope.member(node.attr), types.FunctionType)
        return isinstance(self.scope.static(node), types.FunctionType | types.BuiltinFunctionType)

    def inline(
        self, function: types.FunctionType, args: Sequence[Any], state: Any, node: ast.AST
    ) -> Expr:
        """A call of a helper, as its body. state: which state its `self` is; "" for none."""
        for running in self.build.inlining:
            if isinstance(running, Recursion) and running.function is function:
                return self._again(running, args, state, node)
        made = Recursion(function)
        self.build.inlining.append(made)
        try:
            return self._once(function, args, state)
        except _CallsItself as again:
            if again.function is not function:
                raise
            return self._recursive(made, args, state, node)
        finally:
            self.build.inlining.remove(made)

    @abc.abstractmethod
    def bound(
        self, function: types.FunctionType, args: Sequence[Any], state: Any
    ) -> tuple[Scope, list[tuple[str, Expr]]]:
        """The helper's scope with states and functions bound, and the values left to bind."""

    def _once(self, function: types.FunctionType, args: Sequence[Any], state: Any) -> Expr:
        inner, values = self.bound(function, args, state)
        lets: list[tuple[str, Expr]] = []
        for name, argument in values:
            if argument.op in ("local", "const", "read", "next"):
                inner.env[name] = argument
            else:
                fresh = self.build.fresh(name)
                lets.append((fresh, argument))
                self.build.note(fresh, argument)
                inner.env[name] = Expr("local", argument.type, (), fresh)
        body = type(self)(inner).returned(list(inner.tree.body), inner.tree, None)
        for fresh, value in reversed(lets):
            body = Expr("let", body.type, (value, body), fresh)
        return body

    def _again(self, running: Recursion, args: Sequence[Any], state: Any, node: ast.AST) -> Expr:
        """A call of a helper inside itself."""
        if not running.name:
            raise _CallsItself(running.function)
        states = [state, *(a for a in args if not isinstance(a, Expr | Closure | Passed))]
        if states != running.states or any(isinstance(a, Closure) for a in args):
            what = f"{running.function.__name__}, which calls itself for another state,"
            raise self.scope.refuse(node, what, "the same state")
        values = [a for a in args if isinstance(a, Expr)]
        for value in values:
            if self.build.is_loose(value):
                what = "a builtin set given to a function that calls itself"
                raise self.scope.refuse(node, what, "Set(…) around it")
        running.given.append([v.type for v in values])
        return Expr("again", running.result, tuple(values), running.name)

    def _recursive(
        self, running: Recursion, args: Sequence[Any], state: Any, node: ast.AST
    ) -> Expr:
        """A helper that calls itself, with types that fit all of the calls."""
        function, build = running.function, self.build
        running.name = build.fresh(function.__name__)
        running.states = [
            state,
            *(a for a in args if not isinstance(a, Expr | Closure | Passed)),
        ]
        running.result = self._declared(function, node)
        inner, values = self.bound(function, args, state)
        running.kinds = [v.type for _, v in values]
        for _, value in values:
            if build.is_loose(value):
                what = "a builtin set given to a function that calls itself"
                raise self.scope.refuse(node, what, "Set(…) around it")
        for attempt in range(6):
            running.given = []
            inner, _ = self.bound(function, args, state)
            names = [build.fresh(name) for name, _ in values]
            for (name, _), fresh, kind in zip(values, names, running.kinds, strict=True):
                inner.env[name] = Expr("local", kind, (), fresh)
            body = type(self)(inner).returned(list(inner.tree.body), inner.tree, None)
            if running.fits(body.type):
                made = (*(value for _, value in values), body)
                return Expr("rec", running.result, made, (running.name, *names))
            running.widen(body.type, attempt)
        raise self.scope.refuse(
            node, f"{function.__name__}, which calls itself with ever other types,", "one type"
        )

    def _declared(self, function: types.FunctionType, node: ast.AST) -> t.Type:
        try:
            hint = typing.get_type_hints(function, include_extras=True).get("return")
        except (NameError, TypeError, AttributeError):
            hint = None
        if hint is None:
            what = f"{function.__name__}, which calls itself, without the type that it returns"
            raise self.scope.refuse(node, what, f"def {function.__name__}(…) -> T:")
        return self.build.resolver.type_of(hint, self.scope.refuser(node))


class _CallsItself(Exception):
    """A helper was found to call itself."""

    def __init__(self, function: types.FunctionType) -> None:
        super().__init__()
        self.function = function
