"""Methods of values that other operations make up: of maps, sequences and sets."""

from __future__ import annotations

import ast
from collections.abc import Callable

from refute.specs.machine import sugar
from refute.specs.machine import types as t
from refute.specs.machine.comprehensions import Comprehensions
from refute.specs.machine.expressions import BOOL, constant, number
from refute.specs.machine.ir import Expr

Method = Callable[[Comprehensions, Expr, list[Expr], ast.Call], "Expr | None"]


def called(calls: Comprehensions, base: Expr, name: str, node: ast.Call) -> Expr | None:
    """A call of a method of this module's table; None for any other."""
    for kind, methods in _KNOWN.items():
        if type(base.type) is kind and name in methods and not node.keywords:
            return methods[name](calls, base, [calls.expr(a) for a in node.args], node)
    return None


def _get(calls: Comprehensions, base: Expr, args: list[Expr], node: ast.Call) -> Expr | None:
    """`m.get(k)`, `m.get(k, other)`."""
    if not 1 <= len(args) <= 2:
        return None
    name = calls.build.fresh("key")
    key = Expr("local", args[0].type, (), name)
    other = args[1] if len(args) == 2 else constant(None, t.Nothing())
    found = calls.index(base, key, node)
    inside = Expr("in", BOOL, (key, base))
    made = sugar.or_default(calls, inside, found, other)
    return Expr("let", made.type, (args[0], made), name)


def _places(calls: Comprehensions, base: Expr, wanted: Expr) -> Expr:
    """The places of a sequence where an element is, as a list."""
    upto = base.type.upto if isinstance(base.type, t.SeqOf) else None
    kind = t.Int(0, None if upto is None else max(upto - 1, 0))
    length = Expr("len", t.Int(0, upto), (base,))
    places = Expr("range", t.SeqOf(kind, upto), (number(0), length, number(1)))
    name = calls.build.fresh("place")
    at = Expr("local", kind, (), name)
    elem = base.type.elem if isinstance(base.type, t.SeqOf) else t.NEVER
    same = Expr("==", BOOL, (Expr("index", elem, (base, at)), wanted))
    item = Expr("if", kind, (same, Expr("item", kind, (at,))))
    return Expr("list", t.SeqOf(kind, upto), (Expr("for", kind, (places, item), name),))


def _of_places(op: str) -> Method:
    """`q.count(x)` is how many places there are, `q.index(x)` the first: an error of nothing."""

    def method(calls: Comprehensions, base: Expr, args: list[Expr], node: ast.Call) -> Expr | None:
        if len(args) != 1:
            return None
        given = (base, args[0])
        names = calls.build.fresh("row"), calls.build.fresh("wanted")
        row, wanted = (Expr("local", x.type, (), n) for x, n in zip(given, names, strict=True))
        places = _places(calls, row, wanted)
        assert isinstance(places.type, t.SeqOf)
        kind = t.Int(0, places.type.upto) if op == "len" else places.type.elem
        inner = Expr(op, kind, (places,))
        inner = Expr("let", inner.type, (args[0], inner), names[1])
        return Expr("let", inner.type, (base, inner), names[0])

    return method


def _of_sets(op: str) -> Method:
    """`s.union(a, b)` and the like, with any collections."""

    def method(calls: Comprehensions, base: Expr, args: list[Expr], node: ast.Call) -> Expr | None:
        made = base
        for other in args:
            if not isinstance(other.type, t.SetOf):
                other = Expr("toset", t.SetOf(calls.element(other, node)), (other,))
            kind = t.join((made.type, other.type)) if op in ("|", "^") else made.type
            made = Expr(op, kind, (made, other))
        return made

    return method


_KNOWN: dict[type, dict[str, Method]] = {
    t.MapOf: {"get": _get},
    t.SeqOf: {"count": _of_places("len"), "index": _of_places("min")},
    t.SetOf: {
        "union": _of_sets("|"),
        "intersection": _of_sets("&"),
        "difference": _of_sets("diff"),
        "symmetric_difference": _of_sets("^"),
    },
}
