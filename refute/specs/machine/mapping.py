"""Refinement mappings: the body of a `@refines` method as one expression for each variable."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from refute.specs.machine.calls import Calls
from refute.specs.machine.ir import Expr, Variable
from refute.specs.machine.scope import Scope


def mapping_of(scope: Scope, variables: Sequence[Variable]) -> tuple[Expr, ...]:
    """The expressions for the other machine's variables, in its order. Raises Unsupported."""
    body = [s for s in scope.tree.body if not _docstring(s)]
    match body:
        case [ast.Return(value=ast.Dict(keys=keys, values=values) as node)]:
            entries = dict(zip(map(_name, keys), values, strict=True))
        case _:
            at = body[0] if body else scope.tree
            raise scope.refuse(at, "this mapping", 'return {"variable": …, …}')
    names = [v.name for v in variables]
    wrong = set(entries) ^ set(names)
    if wrong:
        what = f"a mapping that does not give exactly {', '.join(names)}"
        raise scope.refuse(node, what, "one entry for each variable of the other machine")
    calls = Calls(scope)
    return tuple(calls.expr(entries[v.name], v.type) for v in variables)


def _docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _name(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
