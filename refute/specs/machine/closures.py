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
