"""Helpers that write, called as statements: their body is put in the place of the call.

`self.reply(m)` in a step stands for the statements of `reply`, with `when`, `any_of` and writes;
so does `super().step()` for those of the step that is overridden. A `return` on the way is an `if`
around the rest.
"""

from __future__ import annotations

import ast
import inspect
import types
from typing import TYPE_CHECKING

from refute.specs.machine import inherited, loops
from refute.specs.machine import types as t
from refute.specs.machine.ir import Assign, Expr, Stmt
from refute.specs.machine.marks import mark_of

if TYPE_CHECKING:
    from refute.specs.machine.statements import Statements

PASSES = 3  # of looking for the types of its locals


def called(made: Statements, call: ast.Call, node: ast.stmt) -> list[Stmt] | None:
    """The statements of the helper that is called; None for any other call. Raises Unsupported."""
    found = _helper(made, call)
    if found is None:
        return None
    function, state = found
    refuse, name = made.scope.refuse, function.__name__
    if inspect.isgeneratorfunction(function):
        raise refuse(node, f"{name}(…), which yields,", "its yields in the process itself")
    if function in made.running:
        raise refuse(node, f"{name}, which writes and calls itself,", "a loop")
    args = made.calls.arguments(function, call, bound=True)
    known: dict[str, t.Type] = {}
    for _ in range(PASSES):
        scope, values = made.calls.bound(function, args, state)
        lets: list[Stmt] = []
        for parameter, value in values:
            fresh = scope.build.fresh(parameter)
            scope.build.note(fresh, value)
            scope.env[parameter] = Expr("local", value.type, (), fresh)
            lets.append(Assign(fresh, value, node.lineno))
        inner = made.inside(scope, function, known)
        body = inner.block(_straight(made, list(scope.tree.body)))
        kinds = {n: inner.locals[ir_name] for n, ir_name in inner.names.items()}
        if all(n in known and t.included(k, known[n]) for n, k in kinds.items()):
            break
        known = {n: t.join((k, known[n])) if n in known else k for n, k in kinds.items()}
    made.temporaries.update(inner.every_local())
    return [*lets, *body]


def _helper(made: Statements, call: ast.Call) -> tuple[types.FunctionType, str] | None:
    match call.func:
        case ast.Attribute(value=base, attr=name) as func:
            over = inherited.overridden(made.calls, func)
        case _:
            return None
    if over is not None:
        return over
    state = made.scope.state_of(base)
    found = made.scope.member(name, state) if state else None
    if not isinstance(found, types.FunctionType):
        return None
    mark = mark_of(found)
    if mark is not None:
        what = f"a call of {name}, which is a @{mark.kind},"
        raise made.scope.refuse(call, what, "a helper that both of them use")
    return found, state


def _straight(made: Statements, body: list[ast.stmt]) -> list[ast.stmt]:
    """The body without `return`: what would follow one is left out, or in the other branch."""
    out: list[ast.stmt] = []
    for at, stmt in enumerate(body):
        rest = body[at + 1 :]
        match stmt:
            case ast.Return(value=None) | ast.Return(value=ast.Constant(value=None)):
                return out or [ast.copy_location(ast.Pass(), stmt)]
            case ast.If() if loops.returns(stmt):
                ways = [_straight(made, [*way, *rest]) for way in (stmt.body, stmt.orelse)]
                new = ast.If(stmt.test, ways[0] or [ast.Pass()], ways[1])
                return [*out, ast.fix_missing_locations(ast.copy_location(new, stmt))]
            case ast.Match() if loops.returns(stmt):
                cases = [*stmt.cases, ast.match_case(ast.MatchAs(), None, [])]
                cases = [
                    ast.match_case(c.pattern, c.guard, _straight(made, [*c.body, *rest]))
                    for c in cases
                ]
                new_match = ast.Match(stmt.subject, cases)
                return [*out, ast.fix_missing_locations(ast.copy_location(new_match, stmt))]
            case ast.For() | ast.While() if loops.returns(stmt):
                what = "return inside a loop of a helper that writes"
                raise made.scope.refuse(stmt, what, "break, and a local that says so")
        out.append(stmt)
    return out
