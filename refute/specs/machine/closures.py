"""Functions that a helper or step makes or is given: lambdas, nested `def`s, arguments.

A call puts their body in its place, as that of any helper. Python looks a free name up when the
function runs; here it must still stand for what it stood for where the function was written.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Protocol

from refute.frozen import frozen
from refute.specs.machine.ir import Expr


class Inlined(Protocol):
    """What a closure needs of the translation it was written in."""

    def closed(
        self, node: ast.Lambda | ast.FunctionDef, env: Mapping[str, Expr], args: Sequence[Expr]
    ) -> Expr:
        """The body with these arguments."""

    def applied(self, function: ast.expr, args: Sequence[Expr], node: ast.AST) -> Expr:
        """A call of what an expression stands for."""

    def names(self) -> dict[str, Expr]:
        """What the names in sight stand for."""


@frozen
class Closure:
    """A lambda or nested `def`, with what its names stood for."""

    calls: Inlined
    node: ast.Lambda | ast.FunctionDef
    env: Mapping[str, Expr]

    @classmethod
    def of(cls, calls: Inlined, node: ast.Lambda | ast.FunctionDef) -> Closure:
        """The function as it is written here."""
        return cls(calls, node, calls.names())

    def call(self, args: Sequence[Expr], node: ast.AST) -> Expr:
        """A call of it. Raises Unsupported."""
        return self.calls.closed(self.node, self.env, args)


@frozen
class Passed:
    """A function that a helper was given: the expression, as its caller understands it."""

    calls: Inlined
    function: ast.expr

    def call(self, args: Sequence[Expr], node: ast.AST) -> Expr:
        """A call of it. Raises Unsupported."""
        return self.calls.applied(self.function, args, node)


Function = Closure | Passed


def free_names(node: ast.AST) -> set[str]:
    """The names that code reads from around it: no parameters, locals of functions, or what
    comprehensions in it bind."""
    children = list(ast.iter_child_nodes(node))
    inside: set[str] = set().union(*map(free_names, children))
    match node:
        case ast.Name(ctx=ast.Load()):
            return {node.id}
        case ast.Lambda():
            return inside - _parameters(node)
        case ast.FunctionDef():
            return inside - _parameters(node) - set().union(*map(_assigned, node.body))
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            own = set().union(*(_assigned(part.target) for part in node.generators))
            return (inside - own) | free_names(node.generators[0].iter)
    return inside


def _parameters(node: ast.Lambda | ast.FunctionDef) -> set[str]:
    return {a.arg for a in node.args.args}


def _assigned(node: ast.AST) -> set[str]:
    """What a statement makes a local of the function that it stands in."""
    match node:
        case ast.Name(ctx=ast.Store()):
            return {node.id}
        case ast.FunctionDef():
            return {node.name}
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            return set()
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return {name}.union(*map(_assigned, ast.iter_child_nodes(node)))
    return set().union(*map(_assigned, ast.iter_child_nodes(node)))
