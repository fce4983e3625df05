"""`@temporal` methods as formulas of the IR.

The body is one `return`, perhaps after locals that stand for formulas and nested `def`s. Lambdas
and nested functions without arguments, and helpers of the machine, are predicates; everything else
is put together by the very functions that the machine calls when it runs.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable

from refute.specs.machine import formulas
from refute.specs.machine import types as t
from refute.specs.machine.calls import Calls
from refute.specs.machine.closures import Closure, Function
from refute.specs.machine.expressions import constant
from refute.specs.machine.families import annotation_of
from refute.specs.machine.formulas import Formula
from refute.specs.machine.ir import LTL, Expr
from refute.specs.machine.scope import Scope
from refute.specs.machine.values import domain

_ONE: dict[object, Callable[[Formula], Formula]] = {
    formulas.always: formulas.always,
    formulas.eventually: formulas.eventually,
    formulas.infinitely_often: formulas.infinitely_often,
    formulas.eventually_always: formulas.eventually_always,
}
_TWO: dict[object, Callable[[Formula, Formula], Formula]] = {
    formulas.leads_to: formulas.leads_to,
    formulas.implies: formulas.implies,
}
_FAMILIES = (formulas.for_all, formulas.exists)
_INSTEAD = (
    "always, eventually, leads_to, infinitely_often, eventually_always, implies, for_all, exists, "
    "& | ~, over lambda: … and helpers"
)
_STATEMENTS = "name = <a formula>, def name() -> bool: …, and return <a formula>"


class _Formulas(Calls):
    """Calls in a method that returns a formula. named: the locals that stand for formulas."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.named: dict[str, Formula] = {}


def formula_of(scope: Scope) -> LTL:
    """The formula that a method returns. Raises Unsupported."""
    calls = _Formulas(scope)
    for node in scope.tree.body:
        match node:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Return(value=ast.expr() as value):
                return _ltl(_formula(calls, value))
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                if isinstance(value, ast.Lambda):
                    scope.functions[name] = Closure.of(calls, value)
                else:
                    calls.named[name] = _formula(calls, value)
            case ast.FunctionDef(name=name):
                scope.functions[name] = Closure.of(calls, node)
            case _:
                what = f"`{ast.unparse(node).splitlines()[0]}` in a @temporal"
                raise scope.refuse(node, what, _STATEMENTS)
    raise scope.refuse(scope.tree, "a @temporal without return", "return <a formula>")


def _formula(calls: _Formulas, node: ast.expr) -> Formula:
    match node:
        case ast.Lambda():
            return _predicate(calls, node)
        case ast.Name() if node.id in calls.named:
            return calls.named[node.id]
        case ast.Name() if node.id in calls.scope.functions:
            return _local(calls, node, calls.scope.functions[node.id])
        case ast.Call():
            return _call(calls, node)
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            return _formula(calls, left) & _formula(calls, right)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _formula(calls, left) | _formula(calls, right)
        case ast.UnaryOp(op=ast.Invert(), operand=inner):
            return ~_formula(calls, inner)
        case ast.Attribute() if inspect.isfunction(_helper(calls.scope, node)):
            call = ast.copy_location(ast.Call(node, [], []), node)
            return Formula("holds", (), calls.truth(call))
    what = f"{ast.unparse(node)} as a formula"
    raise calls.scope.refuse(node, what, f"lambda: {ast.unparse(node)}, or {_INSTEAD}")


def _helper(scope: Scope, node: ast.Attribute) -> object:
    return scope.member(node.attr) if scope.state_of(node.value) else None


def _local(calls: _Formulas, node: ast.Name, function: Function) -> Formula:
    """A nested function or a lambda with a name, as a predicate."""
    written = function.node if isinstance(function, Closure) else None
    if written is not None and (written.args.args or written.args.kwonlyargs):
        what = f"{node.id}, which takes arguments, as a predicate"
        raise calls.scope.refuse(node, what, f"lambda: {node.id}(…)")
    return Formula("holds", (), calls.truth(ast.copy_location(ast.Call(node, [], []), node)))


def _predicate(calls: Calls, node: ast.Lambda) -> Formula:
    if node.args.args or node.args.kwonlyargs or node.args.vararg or node.args.kwarg:
        raise calls.scope.refuse(node, "a lambda with arguments as a predicate", "lambda: …")
    return Formula("holds", (), calls.truth(node.body))


def _call(calls: _Formulas, node: ast.Call) -> Formula:
    target = calls.scope.static(node.func)
    known = isinstance(target, types.FunctionType)
    if known and target in _ONE and len(node.args) == 1 and not node.keywords:
        return _ONE[target](_formula(calls, node.args[0]))
    if known and target in _TWO and len(node.args) == 2 and not node.keywords:
        return _TWO[target](_formula(calls, node.args[0]), _formula(calls, node.args[1]))
    if known and target in _FAMILIES and len(node.args) == 2 and not node.keywords:
        return _family(calls, node, negated=target is formulas.exists)
    raise calls.scope.refuse(node, f"a call of {ast.unparse(node.func)} in a formula", _INSTEAD)


def _family(calls: _Formulas, node: ast.Call, negated: bool) -> Formula:
    """`for_all` and `exists`: one formula for each value of the type."""
    scope, (where, inner) = calls.scope, node.args
    if not isinstance(inner, ast.Lambda) or len(inner.args.args) != 1:
        raise scope.refuse(node, f"this {ast.unparse(node.func)}", "(Type, lambda x: a formula)")
    kind = calls.build.resolver.type_of(annotation_of(scope, where), scope.refuser(where))
    name, before = inner.args.args[0].arg, dict(scope.env)
    parts = []
    for sort in t.open_sorts(kind):
        what = f"a formula for each of {sort}, which has any number of members,"
        raise scope.refuse(node, what, f"a parameter of the @temporal method: (self, x: {sort})")
    for value in domain(kind):
        scope.env[name] = constant(value, kind)
        part = _formula(calls, inner.body) if _is_formula(inner.body) else None
        if part is None:
            raise scope.refuse(inner, "a predicate right inside", "lambda x: (lambda: …)")
        parts.append(~part if negated else part)
    scope.env = before
    made = formulas.conjunction(parts)
    return ~made if negated else made


def _is_formula(node: ast.expr) -> bool:
    kinds = ast.Lambda | ast.Name | ast.Call | ast.BinOp | ast.UnaryOp | ast.Attribute
    return isinstance(node, kinds)


def _ltl(made: Formula) -> LTL:
    predicate: Expr | None = made.predicate
    return LTL(made.op, tuple(map(_ltl, made.args)), predicate)
