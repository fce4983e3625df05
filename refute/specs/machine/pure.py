"""Bodies of helpers and predicates: names, `if`, `for` and `return`, as one expression."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from refute.specs.machine import types as t
from refute.specs.machine.comprehensions import Comprehensions
from refute.specs.machine.expressions import number
from refute.specs.machine.ir import Expr
from refute.specs.machine.matching import as_ifs
from refute.specs.machine.scope import Scope

End = Callable[[], Expr]


def returned(
    calls: Comprehensions, body: list[ast.stmt], after: ast.AST, end: End | None = None
) -> Expr:
    """What the statements return, as an expression; `end` is what comes after the last of them.

    Raises Unsupported.
    """
    scope = calls.scope
    if not body:
        if end is not None:
            return end()
        raise scope.refuse(after, "a way through without return", "a return on every way")
    first, *rest = body
    match first:
        case ast.Return(value=ast.expr() as value) if end is None:
            return calls.expr(value)
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return returned(calls, rest, first, end)
        case ast.If():
            test = calls.truth(first.test)
            before = dict(scope.env)
            then = returned(calls, [*first.body, *rest], first, end)
            scope.env = before
            orelse = returned(calls, [*first.orelse, *rest], first, end)
            return Expr("if", t.join((then.type, orelse.type)), (test, then, orelse))
        case ast.Match():
            return returned(calls, [*as_ifs(scope, first), *rest], first, end)
        case ast.For(orelse=[]):
            return _fold(calls, first, rest, end)
        case ast.AugAssign(target=ast.Name() as name):
            value = ast.BinOp(ast.Name(name.id, ast.Load()), first.op, first.value)
            ast.fix_missing_locations(ast.copy_location(value, first))
            return _let(calls, name, value, rest, first, end)
        case ast.Assign(targets=[ast.Name() | ast.Tuple() as target], value=value):
            return _let(calls, target, value, rest, first, end)
        case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
            return _let(calls, target, value, rest, first, end)
    raise scope.refuse(first, _statement_name(first, scope), "only names, if, for and return here")


def _fold(calls: Comprehensions, node: ast.For, rest: list[ast.stmt], end: End | None) -> Expr:
    """A loop that builds up locals which had a value before it."""
    scope, build = calls.scope, calls.build
    source = calls.expr(node.iter)
    elem = calls.element(source, node.iter)
    scope.fixed_order(node.iter, source)
    loops = (n.target for n in ast.walk(node) if isinstance(n, ast.For))
    leaks = {n.id for target in loops for n in ast.walk(target) if isinstance(n, ast.Name)} & set(
        scope.env
    )
    if leaks:
        raise scope.refuse(node, f"the loop over {min(leaks)}, a name in use,", "another name")
    names = [name for name in _assigned(node.body) if name in scope.env]
    first = {name: scope.env[name] for name in names}
    kinds = {name: value.type for name, value in first.items()}
    for _ in range(4):
        made, body = _round(calls, node, kinds, first, elem)
        found = dict(zip(names, _items(body.type), strict=True))
        if all(t.included(found[n], kinds[n]) for n in names):
            break
        kinds = {n: t.widened(t.join((kinds[n], found[n]))) for n in names}
    else:
        raise scope.refuse(node, "a loop whose locals have no common type", "one type for each")
    start = Expr("tuple", t.Tuple(tuple(v.type for v in first.values())), tuple(first.values()))
    whole = t.Tuple(tuple(kinds.values()))
    fold = Expr("fold", whole, (source, start, body), tuple(made))
    result = build.fresh("folded")
    scope.env = {**scope.env, **_parts(names, whole, result)}
    inner = returned(calls, rest, node, end)
    return Expr("let", inner.type, (fold, inner), result)


def _round(
    calls: Comprehensions,
    node: ast.For,
    kinds: Mapping[str, t.Type],
    first: Mapping[str, Expr],
    elem: t.Type,
) -> tuple[list[str], Expr]:
    """One round of a loop: the names of its element and locals, and their values after it."""
    scope, build = calls.scope, calls.build
    before = dict(scope.env)
    item = build.fresh("each")
    made = {name: build.fresh(name) for name in kinds}
    for name, kind in kinds.items():
        build.note(made[name], first[name])
        scope.env[name] = Expr("local", kind, (), made[name])
    calls.bind(node.target, Expr("local", elem, (), item))

    def end() -> Expr:
        values = tuple(scope.env[name] for name in kinds)
        for name, value in zip(kinds, values, strict=True):
            if build.is_loose(value):
                what = f"{name}, which may become a builtin set in a loop,"
                raise scope.refuse(node, what, "Set(…) around it")
        return Expr("tuple", t.Tuple(tuple(v.type for v in values)), values)

    body = returned(calls, list(node.body), node, end)
    scope.env = before
    return [item, *made.values()], body


def _assigned(body: list[ast.stmt]) -> list[str]:
    """The names that statements assign, in the order of the source."""
    found = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name)]
    return list(dict.fromkeys(n.id for n in found if isinstance(n.ctx, ast.Store)))


def _items(kind: t.Type) -> tuple[t.Type, ...]:
    return kind.items if isinstance(kind, t.Tuple) else ()


def _parts(names: list[str], whole: t.Tuple, local: str) -> dict[str, Expr]:
    value = Expr("local", whole, (), local)
    return {
        name: Expr("index", kind, (value, number(at)))
        for at, (name, kind) in enumerate(zip(names, whole.items, strict=True))
    }


def _let(
    calls: Comprehensions,
    target: ast.expr,
    value: ast.expr,
    rest: list[ast.stmt],
    node: ast.AST,
    end: End | None,
) -> Expr:
    found = calls.expr(value)
    name = calls.build.fresh("let")
    calls.build.note(name, found)
    calls.bind(target, Expr("local", found.type, (), name))
    body = returned(calls, rest, node, end)
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
