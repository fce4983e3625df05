"""Loops of actions and processes.

A `for` or `while` without a yield is part of one step; a `while` is then a `for` over as many
rounds as a step may have, that a false condition leaves. In a process, a loop with a yield is a
`while` between blocks: what a `for` has left to walk through is a local, kept as any other.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from refute.specs.machine import types as t
from refute.specs.machine.errors import MOST_ROUNDS
from refute.specs.machine.expressions import BOOL, constant, number
from refute.specs.machine.ir import Assign, Check, Expr, For, If, Leave, Stmt, While
from refute.specs.machine.opening import unlisted
from refute.specs.machine.values import cardinality

if TYPE_CHECKING:
    from refute.specs.machine.statements import Statements

MOST_KEPT = 4096  # elements that a loop with a yield may have left


def loop(made: Statements, node: ast.For | ast.While) -> list[Stmt]:
    """A loop and its `else`. Raises Unsupported."""
    yields = _yields(node)
    if yields and "for" in made.loops:
        what = "yield inside a loop that another for loop holds"
        raise made.scope.refuse(node, what, "a yield in the outer loop's own body, or while")
    flag = made.scope.build.fresh("whole") if node.orelse else ""
    made.flags.append(flag)
    found = _for(made, node, yields) if isinstance(node, ast.For) else _while(made, node, yields)
    made.flags.pop()
    if not flag:
        return found
    made.temporaries[flag] = BOOL
    orelse = made.block(node.orelse)
    whole = Expr("local", BOOL, (), flag)
    begin = Assign(flag, constant(True, BOOL), node.lineno)
    return [begin, *found, If(whole, orelse, (), node.lineno)]


def left(made: Statements, node: ast.Break) -> list[Stmt]:
    """A `break`; a loop with `else` notes it."""
    leave = Leave("break", node.lineno)
    flag = made.flags[-1] if made.flags else ""
    return [Assign(flag, constant(False, BOOL), node.lineno), leave] if flag else [leave]


def _yields(node: ast.AST) -> bool:
    """Whether a yield is inside, other than in a nested function."""
    own = (n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.FunctionDef | ast.Lambda))
    return any(isinstance(inner, ast.Yield) or _yields(inner) for inner in own)


def _body(made: Statements, body: list[ast.stmt], word: str) -> tuple[Stmt, ...]:
    made.loops.append(word)
    found = made.block(body)
    made.loops.pop()
    return found


def _while(made: Statements, node: ast.While, yields: bool) -> list[Stmt]:
    test = made.calls.truth(node.test)
    if yields:
        return [While(test, _body(made, node.body, "while"), node.lineno)]
    line = node.lineno
    name = made.scope.build.fresh("round")
    rounds = t.Int(0, MOST_ROUNDS)
    every = Expr("range", t.SeqOf(rounds), (number(0), number(MOST_ROUNDS + 1), number(1)))
    more = Expr("<", BOOL, (Expr("local", rounds, (), name), number(MOST_ROUNDS)))
    ends: list[Stmt] = []
    if test.op != "const" or test.data is not True:
        ends = [If(test, (), (Leave("break", line),), line)]
    body = _body(made, node.body, "for")
    return [For(name, every, (*ends, Check(more, line), *body), line)]


def _for(made: Statements, node: ast.For, yields: bool) -> list[Stmt]:
    source = made.calls.collection(node.iter)
    elem = made.calls.element(source, node.iter)
    made.scope.fixed_order(node.iter, source)
    fresh = made.scope.build.fresh("each")
    item = Expr("local", elem, (), fresh)
    if not yields:
        made.loops.append("for")
        head = made.store(node.target, item, node)
        body = (*head, *made.block(node.body))
        made.loops.pop()
        return [For(fresh, source, body, node.lineno)]
    return _kept(made, node, source, item)


def _kept(made: Statements, node: ast.For, source: Expr, item: Expr) -> list[Stmt]:
    """A `for` with a yield. Of a fixed collection, the place in it is kept; else what is left."""
    build, line, elem = made.scope.build, node.lineno, item.type
    if unlisted(source):
        what = f"a loop with a yield through {t.show(elem)}, of which there is any number,"
        raise made.scope.refuse(node, what, "while, with what is done as a Set: any_of(…)")
    name = build.fresh("left")
    if _fixed(source):
        upto = most_of(source)
        kind: t.Type = t.Int(0, upto)
        row = source if isinstance(source.type, t.SeqOf) else row_of(source, elem, upto)
        first, now = number(0), Expr("local", kind, (), name)
        test = Expr("<", BOOL, (now, Expr("len", t.Int(0, upto), (row,))))
        taken = Expr("index", elem, (row, now))
        after = Expr("+", kind, (now, number(1)))
    else:
        kind = t.SeqOf(elem, most_of(source))
        first, now = row_of(source, elem, most_of(source)), Expr("local", kind, (), name)
        test = Expr(">", BOOL, (Expr("len", t.Int(0, None), (now,)), number(0)))
        taken = Expr("index", elem, (now, number(0)))
        after = Expr("slice", kind, (now, number(1), constant(None, t.Nothing())))
    made.temporaries[name] = kind
    made.loops.append("while")
    head = [Assign(item.data, taken, line), Assign(name, after, line)]
    body = (*head, *made.store(node.target, item, node), *made.block(node.body))
    made.loops.pop()
    return [Assign(name, first, line), While(test, body, line, bounded=True)]


def row_of(source: Expr, elem: t.Type, upto: int | None) -> Expr:
    """The elements of a collection as a sequence."""
    return Expr("toseq", t.SeqOf(elem, upto), (source,))


def _fixed(source: Expr) -> bool:
    """Whether the expression has the same value whenever it is evaluated."""
    return source.op in ("domain", "const") or (
        source.op in ("range", "toseq", "tuple", "seq") and all(map(_fixed, source.args))
    )


def most_of(source: Expr) -> int | None:
    """The most elements that the collection may have; None when that is not known, or many."""
    size: float
    match source.type:
        case t.SeqOf(elem, upto) if source.op == "domain":
            size = cardinality(elem)
        case t.SeqOf(_, upto) if upto is not None:
            size = upto
        case t.SeqOf(elem, _) if source.op == "range":
            size = cardinality(elem)
        case t.SetOf(elem):
            size = cardinality(elem)
        case t.MapOf(key, _):
            size = cardinality(key)
        case t.Tuple(items):
            size = len(items)
        case _:
            return None
    return int(size) if size <= MOST_KEPT else None
