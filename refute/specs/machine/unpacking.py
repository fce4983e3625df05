"""Statements that take values apart or take elements out: unpacking, `pop` and `del`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from refute.specs.machine import sugar
from refute.specs.machine import types as t
from refute.specs.machine.expressions import BOOL, number
from refute.specs.machine.ir import Assign, Check, Expr, Stmt, Write
from refute.specs.machine.rounds import most_of, row_of

if TYPE_CHECKING:
    from refute.specs.machine.statements import Statements


def unpacked(
    made: Statements, target: ast.Tuple | ast.List, value: Expr, node: ast.stmt
) -> list[Stmt]:
    """`a, b = value`, `first, *rest = value`: an error of the step where the lengths differ."""
    parts, line = target.elts, node.lineno
    stars = [at for at, part in enumerate(parts) if isinstance(part, ast.Starred)]
    fixed = value.type.items if isinstance(value.type, t.Tuple) else None
    name = made.scope.build.fresh("parts")
    if fixed is not None and not stars:
        if len(fixed) != len(parts):
            what = f"an unpacking of {t.show(value.type)}"
            raise made.scope.refuse(node, what, "as many names as items")
        whole = Expr("local", value.type, (), name)
        found: list[Stmt] = [Assign(name, value, line)]
        for at, part in enumerate(parts):
            found += made.store(part, made.calls.index(whole, number(at), node), node)
        return found
    elem = made.calls.element(value, node)
    made.scope.fixed_order(node, value)
    row = value if isinstance(value.type, t.SeqOf) else row_of(value, elem, most_of(value))
    whole = Expr("local", row.type, (), name)
    length = Expr("len", t.Int(0, None), (whole,))
    least = number(len(parts) - len(stars))
    fits = Expr(">=" if stars else "==", BOOL, (length, least))
    found = [Assign(name, row, line), Check(fits, line)]
    for at, part in enumerate(parts):
        after = len(parts) - at - 1
        if isinstance(part, ast.Starred):
            end = Expr("-", t.Int(), (length, number(after)))
            middle = Expr("slice", row.type, (whole, number(at), end))
            found += made.store(part.value, middle, node)
            continue
        place = number(at if not stars or at < stars[0] else -after - 1)
        found += made.store(part, Expr("index", elem, (whole, place)), node)
    return found


def popped(
    made: Statements, target: ast.expr, value: ast.expr, node: ast.stmt
) -> list[Stmt] | None:
    """`x = self.q.pop(at)`: the element is read before it goes; None for anything else."""
    match value:
        case ast.Call(func=ast.Attribute(attr="pop") as func, args=args, keywords=[]):
            place = made.place(func.value)
        case _:
            return None
    if place is None or len(args) > 1 or not isinstance(place[2], t.SeqOf):
        return None
    var, path, kind = place[0], place[1], place[2]
    at = sugar.solid(made.calls.expr(args[0])) if args else number(-1)
    now = made.calls.expr(func.value)
    fresh = made.scope.build.fresh("taken")
    taken = Expr("local", kind.elem, (), fresh)
    read = Assign(fresh, Expr("index", kind.elem, (now, at)), node.lineno)
    write = Write(var, path, Expr("popped", kind, (now, at)), kind, node.lineno)
    return [read, write, *made.store(target, taken, node)]


def deleted(made: Statements, target: ast.expr, node: ast.stmt) -> Stmt:
    """`del self.q[at]`. Raises Unsupported."""
    if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
        place = made.place(target.value)
        if place is not None and isinstance(place[2], t.SeqOf):
            parts = made.calls.expr(target.value), made.calls.expr(target.slice)
            gone = Expr("popped", place[2], parts)
            return Write(place[0], place[1], gone, place[2], node.lineno)
        if place is not None and isinstance(place[2], t.MapOf):
            what = "del of an entry: a Map has one for every key,"
            raise made.scope.refuse(node, what, "self.m[k] = None, in a Map[K, V | None]")
    instead = "del self.seq[i], or a new value"
    raise made.scope.refuse(node, f"del {ast.unparse(target)}", instead)
