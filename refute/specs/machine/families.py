"""`every`, `subsets` and `permutations`: families of values to quantify over and choose from.

None of them is a new operation for engines: all are walks through the values of a finite type.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

from refute.errors import UsageError
from refute.specs.machine import language
from refute.specs.machine import types as t
from refute.specs.machine.comprehensions import Comprehensions
from refute.specs.machine.expressions import BOOL
from refute.specs.machine.ir import Expr
from refute.specs.machine.scope import MISSING, Scope
from refute.specs.machine.values import domain

Family = Callable[[Comprehensions, ast.Call], Expr]


def _every(calls: Comprehensions, node: ast.Call) -> Expr:
    """`every(T)`: all values of a type."""
    annotation = annotation_of(calls.scope, _only(calls, node))
    kind = calls.build.resolver.type_of(annotation, calls.scope.refuser(node))
    return _domain(calls, kind, node)


def _subsets(calls: Comprehensions, node: ast.Call) -> Expr:
    """`subsets(x)`: all subsets of a collection, the empty one and the whole included."""
    whole, elem = _collection(calls, node)
    kind = t.SetOf(elem)
    name = calls.build.fresh("subset")
    member = Expr("local", kind, (), name)
    return _those(calls, node, kind, name, Expr("subset", BOOL, (member, whole)))


def _permutations(calls: Comprehensions, node: ast.Call) -> Expr:
    """`permutations(x)`: the elements of a Set in every order."""
    whole, elem = _collection(calls, node)
    _domain(calls, elem, node)
    longest = len(domain(elem))
    kind = t.SeqOf(elem, longest)
    name = calls.build.fresh("order")
    member = Expr("local", kind, (), name)
    lengths = [Expr("len", t.Int(0, longest), (x,)) for x in (member, whole)]
    whole_set = Expr("==", BOOL, (Expr("toset", t.SetOf(elem), (member,), "Set"), whole))
    test = Expr("and", BOOL, (Expr("==", BOOL, tuple(lengths)), whole_set))
    return _those(calls, node, kind, name, test)


FAMILIES: dict[types.FunctionType, Family] = {
    language.every: _every,  # type: ignore[dict-item]
    language.subsets: _subsets,  # type: ignore[dict-item]
    language.permutations: _permutations,  # type: ignore[dict-item]
}


def _only(calls: Comprehensions, node: ast.Call) -> ast.expr:
    if len(node.args) != 1 or node.keywords:
        name = ast.unparse(node.func)
        raise calls.scope.refuse(node, f"this {name}", f"{name}(one argument)")
    return node.args[0]


def _collection(calls: Comprehensions, node: ast.Call) -> tuple[Expr, t.Type]:
    found = calls.expr(_only(calls, node))
    elem = calls.element(found, node)
    if not isinstance(found.type, t.SetOf):
        found = Expr("toset", t.SetOf(elem), (found,), "Set")
    return found, elem


def _domain(calls: Comprehensions, kind: t.Type, node: ast.AST) -> Expr:
    try:
        domain(kind)
    except UsageError as error:
        what = f"a walk through {t.show(kind)}, which has too many values,"
        raise calls.scope.refuse(node, what, "a smaller type, or a walk of its parts") from error
    return Expr("domain", t.SeqOf(kind))


def _those(calls: Comprehensions, node: ast.AST, kind: t.Type, name: str, test: Expr) -> Expr:
    """The values of a type that pass a test of the local `name`."""
    item = Expr("item", kind, (Expr("local", kind, (), name),))
    chain = Expr("for", kind, (_domain(calls, kind, node), Expr("if", kind, (test, item))), name)
    return Expr("list", t.SeqOf(kind), (chain,))


def annotation_of(scope: Scope, node: ast.expr) -> Any:
    """The type that an expression like `Set[RM]` or `Node | None` stands for in Python."""
    match node:
        case ast.Constant(value=None):
            return None
        case ast.Subscript(value=base, slice=ast.Tuple(elts=parts)):
            return annotation_of(scope, base)[tuple(annotation_of(scope, p) for p in parts)]
        case ast.Subscript(value=base, slice=part):
            return annotation_of(scope, base)[annotation_of(scope, part)]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return annotation_of(scope, left) | annotation_of(scope, right)
    found = scope.static(node)
    if found is MISSING:
        raise scope.refuse(node, f"{ast.unparse(node)} as a type", "the name of a type")
    return found
