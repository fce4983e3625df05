"""`:=` in what a statement evaluates in any case: an assignment before the statement.

`if (m := self.inbox[p]) is not None:` becomes `m = self.inbox[p]` and the `if`. What is evaluated
on a condition only, or again and again, is left where it is, and refused there; so is a name that
is read before it gets its new value.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

Headed = ast.If | ast.Assert | ast.Expr | ast.Assign | ast.AugAssign | ast.Return | ast.Match


def hoisted(node: ast.stmt) -> list[ast.stmt] | None:
    """The statements that this one stands for; None where no `:=` can be taken out."""
    if isinstance(node, ast.While) and not node.orelse and _first(node.test) is not None:
        leave = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
        made = ast.While(ast.Constant(True), [leave, *node.body], [])
        return [ast.fix_missing_locations(ast.copy_location(made, node))]
    if not isinstance(node, Headed):
        return None
    head = _head(node)
    if head is None or _first(head) is None:
        return None
    own = copy.deepcopy(node)  # a body may be translated again
    head = _head(own)
    found = None if head is None else _first(head)
    assert found is not None
    name = ast.copy_location(ast.Assign([found.target], found.value), found)
    return [name, _Without(found).visit(own)]


def _head(node: Headed) -> ast.expr | None:
    match node:
        case ast.If(test=head) | ast.Assert(test=head):
            return head
        case ast.Match(subject=head):
            return head
    return getattr(node, "value", None)


def _first(head: ast.expr) -> ast.NamedExpr | None:
    seen: set[str] = set()
    for part in _evaluated(head):
        if isinstance(part, ast.NamedExpr):
            return None if part.target.id in seen else part
        if isinstance(part, ast.Name):
            seen.add(part.id)
    return None


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """What is evaluated once and in any case, in order; a `:=` after its value's own parts."""
    match node:
        case ast.BoolOp():
            yield from _evaluated(node.values[0])
        case ast.IfExp():
            yield from _evaluated(node.test)
        case ast.Compare():
            yield from _evaluated(node.left)
            yield from _evaluated(node.comparators[0])
        case ast.NamedExpr():
            yield from _evaluated(node.value)
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            yield from _evaluated(node.generators[0].iter)
        case ast.Lambda():
            return
        case _:
            for part in ast.iter_child_nodes(node):
                yield from _evaluated(part)
    yield node


class _Without(ast.NodeTransformer):
    """The statement with a name in the place of one `:=`; its blocks are left as they are."""

    def __init__(self, found: ast.NamedExpr) -> None:
        self.found = found

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        """The name, or the expression as it was."""
        if node is self.found:
            return ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        self.generic_visit(node)
        return node
