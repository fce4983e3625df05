"""Bodies of helpers and predicates: names, `if` and `return`, as one expression."""

from __future__ import annotations

import ast

from refute.specs.machine import types as t
from refute.specs.machine.comprehensions import Comprehensions
from refute.specs.machine.ir import Expr
from refute.specs.machine.matching import as_ifs
from refute.specs.machine.scope import Scope


def returned(calls: Comprehensions, body: list[ast.stmt], after: ast.AST) -> Expr:
    """What the statements return, as an expression. Raises Unsupported."""
    scope = calls.scope
    if not body:
        raise scope.refuse(after, "a way through without return", "a return on every way")
    first, *rest = body
    match first:
        case ast.Return(value=ast.expr() as value):
            return calls.expr(value)
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return returned(calls, rest, first)
        case ast.If():
            test = calls.truth(first.test)
            before = dict(scope.env)
            then = returned(calls, [*first.body, *rest], first)
            scope.env = before
            orelse = returned(calls, [*first.orelse, *rest], first)
            return Expr("if", t.join((then.type, orelse.type)), (test, then, orelse))
        case ast.Match():
            return returned(calls, [*as_ifs(scope, first), *rest], first)
        case ast.Assign(targets=[ast.Name() | ast.Tuple() as target], value=value):
            return _let(calls, target, value, rest, first)
        case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
            return _let(calls, target, value, rest, first)
    raise scope.refuse(first, _statement_name(first, scope), "only names, if and return here")


def _let(
    calls: Comprehensions, target: ast.expr, value: ast.expr, rest: list[ast.stmt], node: ast.AST
) -> Expr:
    found = calls.expr(value)
    name = calls.build.fresh("let")
    calls.build.note(name, found)
    calls.bind(target, Expr("local", found.type, (), name))
    body = returned(calls, rest, node)
    return Expr("let", body.type, (found, body), name)


def _statement_name(node: ast.stmt, scope: Scope) -> str:
    where = f"in {scope.function.__name__}, a helper or predicate,"
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):
        return f"a write {where}"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return f"{ast.unparse(node.value.func)}(…) as a statement {where}"
    if isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Yield):
        return f"yield {where}"
    return f"a {type(node).__name__} statement {where}"
