"""Refinement mappings: the body of a `@refines` method as one expression for each variable.

It is code as in a helper, locals and branches included, of which every way ends in a dict.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from refute.specs.machine.calls import Calls
from refute.specs.machine.ir import Expr, Variable
from refute.specs.machine.pure import returned
from refute.specs.machine.scope import Scope


def mapping_of(scope: Scope, variables: Sequence[Variable]) -> tuple[Expr, ...]:
    """The expressions for the other machine's variables, in its order. Raises Unsupported."""
    tree, names = scope.tree, [v.name for v in variables]
    every = [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
    for node in every:
        if set(_entries(scope, node)) != set(names):
            what = f"a mapping that does not give exactly {', '.join(names)}"
            raise scope.refuse(node, what, "one entry for each variable of the other machine")
    if not every:
        raise scope.refuse(tree, "a mapping without return", 'return {"variable": …, …}')
    body = [s for s in tree.body if not _docstring(s)]
    if body == every:
        entries = _entries(scope, every[0])
        return tuple(Calls(scope).expr(entries[v.name], v.type) for v in variables)
    before, found = dict(scope.env), []
    for name in names:
        scope.env = dict(before)
        only = [_Only(scope, name).visit(copy.deepcopy(s)) for s in body]
        found.append(returned(Calls(scope), only, tree))
    return tuple(found)


class _Only(ast.NodeTransformer):
    """Returns of a mapping with one entry left: one variable after the other is translated."""

    def __init__(self, scope: Scope, name: str) -> None:
        self.scope = scope
        self.name = name

    def visit_Return(self, node: ast.Return) -> ast.Return:
        """That entry returned."""
        return ast.copy_location(ast.Return(_entries(self.scope, node)[self.name]), node)


def _entries(scope: Scope, node: ast.Return) -> dict[str, ast.expr]:
    if not isinstance(node.value, ast.Dict):
        raise scope.refuse(node, "this mapping", 'return {"variable": …, …}')
    return dict(zip(map(_name, node.value.keys), node.value.values, strict=True))


def _docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _name(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
