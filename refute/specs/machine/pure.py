"""Bodies of helpers and predicates as one expression: names, `if`, loops and `return`.

What comes after a statement is a function that gives its expression, so that `return`, `break` and
`continue` are ways on like any other. An `if` that no way leaves early, with more branches after
it, becomes one value of all that it assigns: a copy of what follows in each branch would double
with every `if`.
"""

from __future__ import annotations

import ast
import typing

from refute.specs.machine import loops
from refute.specs.machine import types as t
from refute.specs.machine.closures import Closure
from refute.specs.machine.comprehensions import Comprehensions
from refute.specs.machine.covering import left_over, settled
from refute.specs.machine.ir import Expr
from refute.specs.machine.loops import Ways
from refute.specs.machine.matching import as_ifs
from refute.specs.machine.naming_inside import hoisted
from refute.specs.machine.narrowing import same
from refute.specs.machine.scope import Scope


def returned(
    calls: Comprehensions, body: list[ast.stmt], after: ast.AST, given: Ways | None = None
) -> Expr:
    """What the statements return, as an expression. Raises Unsupported."""
    scope, ways = calls.scope, given or Ways()
    if not body:
        if ways.end is not None:
            return ways.end()
        return _nothing_left(scope, after)
    first, *rest = body
    named = hoisted(first)
    if named is not None:
        return returned(calls, [*named, *rest], first, ways)
    match first:
        case ast.Raise():
            return Expr("fail", t.NEVER)
        case ast.Expr(value=ast.Call(func=called)) if scope.static(called) is typing.assert_never:
            return Expr("fail", t.NEVER)
        case ast.Return(value=ast.expr() as value):
            return ways.value(calls.expr(value))
        case ast.Return() if scope.returns_none:
            return ways.value(calls.expr(ast.copy_location(ast.Constant(None), first)))
        case ast.Break() if ways.leave is not None:
            return ways.leave()
        case ast.Continue() if ways.again is not None:
            return ways.again()
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return returned(calls, rest, first, ways)
        case ast.Assert():
            return _asserted(calls, first, rest, ways)
        case ast.If():
            return _branches(calls, first, rest, ways)
        case ast.Match():
            return returned(calls, [*as_ifs(scope, first), *rest], first, ways)
        case ast.For() | ast.While():
            return loops.loop(calls, first, rest, ways)
        case ast.FunctionDef():
            scope.functions[first.name] = Closure.of(calls, first)
            return returned(calls, rest, first, ways)
        case _:
            return _assignment(calls, first, rest, ways)


def _assignment(calls: Comprehensions, first: ast.stmt, rest: list[ast.stmt], ways: Ways) -> Expr:
    match first:
        case ast.AugAssign(target=ast.Name() as name):
            value = ast.BinOp(ast.Name(name.id, ast.Load()), first.op, first.value)
            ast.fix_missing_locations(ast.copy_location(value, first))
            return _let(calls, [name], value, rest, ways)
        case ast.Assign(targets=[ast.Name() as name], value=ast.Lambda() as value):
            calls.scope.functions[name.id] = Closure.of(calls, value)
            return returned(calls, rest, first, ways)
        case ast.Assign(targets=targets, value=value) if all(map(_names, targets)):
            return _let(calls, targets, value, rest, ways)
        case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
            return _let(calls, [target], value, rest, ways)
        case ast.AnnAssign(target=ast.Name(), value=None):
            return returned(calls, rest, first, ways)
    instead = "names, if, loops and return here"
    match first:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=held)))):
            instead = f"a new value: {held} = [*{held}, new] or {held} | {{new}}"
    raise calls.scope.refuse(first, _statement_name(first, calls.scope), instead)


def _names(target: ast.expr) -> bool:
    return isinstance(target, ast.Name | ast.Tuple | ast.List)


def _let(
    calls: Comprehensions,
    targets: list[ast.expr],
    value: ast.expr,
    rest: list[ast.stmt],
    ways: Ways,
) -> Expr:
    found = calls.expr(value)
    name = calls.build.fresh("let")
    calls.build.note(name, found)
    held, facts = Expr("local", found.type, (), name), calls.scope.facts
    for target in targets:
        calls.bind(target, held)
    if len(t.options(found.type)) > 1:
        calls.scope.facts = (*facts, same(held, found))
    body = returned(calls, rest, value, ways)
    calls.scope.facts = facts
    return Expr("let", body.type, (found, body), name)


def _branches(calls: Comprehensions, node: ast.If, rest: list[ast.stmt], ways: Ways) -> Expr:
    scope = calls.scope
    if any(map(_branching, rest)) and not loops.leaves(node):
        joined = _joined(calls, node, rest, ways)
        if joined is not None:
            return joined
    test = calls.truth(node.test)
    before, facts = scope.names(), scope.facts
    ways_on = []
    for truth, body in ((True, node.body), (False, node.orelse)):
        scope.facts = (*facts, (test, truth))
        ways_on.append(returned(calls, [*body, *rest], node, ways))
        scope.restore(before)
    scope.facts = facts
    kind = t.join(way.type for way in ways_on)
    return Expr("if", kind, (test, *(settled(way, kind) for way in ways_on)))


def _asserted(calls: Comprehensions, node: ast.Assert, rest: list[ast.stmt], ways: Ways) -> Expr:
    scope, test = calls.scope, calls.truth(node.test)
    if test.op == "const" and test.data is False:
        return Expr("fail", t.NEVER)
    facts = scope.facts
    scope.facts = (*facts, (test, True))
    inner = returned(calls, rest, node, ways)
    scope.facts = facts
    return Expr("if", inner.type, (test, inner, Expr("fail", inner.type)))


def _nothing_left(scope: Scope, after: ast.AST) -> Expr:
    """The end of a body where a `return` must come first: no way if the tests leave no value."""
    rest = left_over(scope.facts)
    if rest == "":
        return Expr("fail", t.NEVER)
    where = f", where {rest}," if rest else ""
    raise scope.refuse(after, f"a way through without return{where}", "a return on every way")


def _joined(calls: Comprehensions, node: ast.If, rest: list[ast.stmt], ways: Ways) -> Expr | None:
    """The names that the branches assign as one tuple; None where only one branch gives a name
    that is read later."""
    scope, build = calls.scope, calls.build
    ways_in = [loops.assigned(node.body), loops.assigned(node.orelse)]
    every = list(dict.fromkeys([*ways_in[0], *ways_in[1]]))
    names = [n for n in every if all(n in scope.env or n in w for w in ways_in)]
    read = {n.id for s in rest for n in ast.walk(s) if isinstance(n, ast.Name)}
    if any(n in read for n in every if n not in names) or not names:
        return None
    test, before = calls.truth(node.test), scope.names()
    values: list[Expr] = []
    ends: list[Expr] = []

    def end() -> Expr:
        ends.append(loops.values_of(scope, names))
        return ends[-1]

    facts = scope.facts
    for truth, body in ((True, node.body), (False, node.orelse)):
        scope.facts = (*facts, (test, truth))
        values.append(returned(calls, list(body), node, Ways(end)))
        scope.restore(before)
    scope.facts = facts
    whole = t.join(v.type for v in values)
    if not isinstance(whole, t.Tuple) or any(build.is_loose(x) for e in ends for x in e.args):
        return None
    result = build.fresh("joined")
    scope.env = {**scope.env, **loops.parts(names, whole, result)}
    inner = returned(calls, rest, node, ways)
    made = Expr("if", whole, (test, *values))
    return Expr("let", inner.type, (made, inner), result)


def _branching(node: ast.stmt) -> bool:
    return isinstance(node, ast.If | ast.For | ast.While | ast.Match)


def _statement_name(node: ast.stmt, scope: Scope) -> str:
    where = f"in {scope.function.__name__}, a helper or predicate,"
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):
        return f"a write {where}"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return f"{ast.unparse(node.value.func)}(…) as a statement {where}"
    if isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Yield):
        return f"yield {where}"
    return f"a {type(node).__name__} statement {where}"
