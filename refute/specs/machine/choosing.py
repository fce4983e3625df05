"""`any_of` inside the expression of a statement: chosen first, if nothing can go wrong before it.

A step chooses in statements of the IR, so `if any_of([True, False]):` becomes the choice and then
an `if` of what was chosen. Python evaluates what stands to the left first, and may raise there;
then the choice has not been made, and traces would tell another story. So only names, constants and
variables of the machine may come before. What is evaluated on a condition, or again and again, is
left where it is, and refused there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

Test = Callable[[ast.AST], bool]


def first_choice(node: ast.stmt, is_choice: Test, is_plain: Test) -> ast.Call | None:
    """The `any_of(…)` that the statement evaluates before all that may raise, if there is one.

    is_plain: of an attribute, whether it is a variable of the machine.
    """
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and is_choice(node.value):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if not any(is_choice(part) for target in targets for part in ast.walk(target)):
            return None  # x = any_of(…) is a statement of its own already
    return _Search(is_choice, is_plain).first(node)


class _Search:
    """Goes through a statement in the order in which Python evaluates it."""

    def __init__(self, is_choice: Test, is_plain: Test) -> None:
        self.is_choice = is_choice
        self.is_plain = is_plain
        self.may_raise = False

    def first(self, node: ast.AST) -> ast.Call | None:
        if isinstance(node, ast.Call) and self.is_choice(node):
            inside = _Search(self.is_choice, self.is_plain)
            return next((c for c in map(inside.first, node.args) if c is not None), node)
        for part in _parts(node):
            found = self.first(part)
            if found is not None or self.may_raise:
                return found
        harmless = ast.Name | ast.Constant | ast.Tuple | ast.List | ast.Set | ast.keyword
        self.may_raise = not isinstance(node, harmless | ast.stmt) and not self.is_plain(node)
        return None


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """What is evaluated for a node, once and in any case, in order."""
    match node:
        case ast.Assign():
            yield from (node.value, *node.targets)
        case ast.AnnAssign(value=ast.expr() as value):
            yield value
        case ast.AugAssign():
            yield from (node.target, node.value)
        case ast.Expr():
            yield node.value
        case ast.If() | ast.Assert() | ast.IfExp():
            yield node.test
        case ast.For():
            yield node.iter
        case ast.Match():
            yield node.subject
        case ast.BoolOp():
            yield node.values[0]
        case ast.Compare():
            yield from (node.left, node.comparators[0])
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            yield node.generators[0].iter
        case ast.Dict():
            for key, value in zip(node.keys, node.values, strict=True):
                yield from (part for part in (key, value) if part is not None)
        case ast.Call(func=ast.Attribute(value=base)):
            yield from (base, *node.args, *node.keywords)
        case ast.stmt() | ast.Lambda():
            return
        case _:
            yield from (n for n in ast.iter_child_nodes(node) if isinstance(n, _EVALUATED))


_EVALUATED = (ast.expr, ast.keyword)


class Replaced(ast.NodeTransformer):
    """A copy of a statement with a name in the place of one call."""

    def __init__(self, call: ast.Call, name: str) -> None:
        self.call = call
        self.name = name

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """The name, or the call as it was."""
        if node is self.call:
            return ast.copy_location(ast.Name(self.name, ast.Load()), node)
        self.generic_visit(node)
        return node
