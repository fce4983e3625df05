"""Functions of Python's library that are put together of other operations.

`key=` of min, max and sorted, `functools.reduce` and `math.prod` are folds; `map`, `filter` and
`next` are comprehensions. Each takes the function it is given apart from how it was written.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable
from typing import Any

from refute.specs.machine import sugar
from refute.specs.machine import types as t
from refute.specs.machine.comprehensions import Comprehensions
from refute.specs.machine.expressions import BOOL, number
from refute.specs.machine.intervals import interval
from refute.specs.machine.ir import Expr

Key = Callable[[Expr], Expr]
_NO_ELEMENT = Expr("seq", t.SeqOf(t.NEVER, 0))


def called(calls: Comprehensions, target: Any, node: ast.Call) -> Expr | None:
    """The call of a function of this module's table; None for any other."""
    made = _KNOWN.get(target) if callable(target) and target.__hash__ is not None else None
    return None if made is None else made(calls, node)


def keyed(calls: Comprehensions, node: ast.Call) -> Key:
    """The function given as `key=`; the element itself where there is none."""
    given = {k.arg: k.value for k in node.keywords}
    if "key" not in given:
        return lambda found: found
    return lambda found: calls.applied(given["key"], [found], node)


def extreme(calls: Comprehensions, op: str, node: ast.Call) -> Expr:
    """`min` or `max` with `key=`: the first of those whose key is the least or greatest."""
    if len(node.args) != 1 or {k.arg for k in node.keywords} - {"key", "default"}:
        raise calls.scope.refuse(node, f"this {op}", f"{op}(collection, key=…, default=…)")
    source = _source(calls, node.args[0], node)
    elem = calls.element(source, node)
    key = keyed(calls, node)
    sign = "<" if op == "min" else ">"

    def better(state: list[Expr], found: Expr) -> list[Expr]:
        best, least = state
        value = key(found)
        none = Expr("==", BOOL, (Expr("len", t.Int(0, 1), (best,)), number(0)))
        known = Expr("index", _elem(least), (least, number(0)))
        less = less_than(calls, sign, value, known, node) if _elem(least) != t.NEVER else none
        test = Expr("or", BOOL, (none, less))
        taken = [Expr("seq", t.SeqOf(v.type, 1), (v,)) for v in (found, value)]
        return [
            Expr("if", t.join((new.type, old.type)), (test, new, old))
            for new, old in zip(taken, state, strict=True)
        ]

    best = folded(calls, source, elem, [_NO_ELEMENT, _NO_ELEMENT], better, node)[0]
    first = Expr("index", elem, (best, number(0)))
    default = [k.value for k in node.keywords if k.arg == "default"]
    if not default:
        return first
    other = calls.expr(default[0])
    some = Expr(">", BOOL, (Expr("len", t.Int(0, 1), (best,)), number(0)))
    return sugar.or_default(calls, some, first, other)


def less_than(calls: Comprehensions, op: str, left: Expr, right: Expr, node: ast.AST) -> Expr:
    """A comparison of two keys: numbers, members of one OrderedSort, or tuples of these."""
    made = sugar.before(calls, op, left, right)
    if made is None:
        kinds = f"keys {t.show(left.type)}"
        raise calls.scope.refuse(node, kinds, "numbers, members of one OrderedSort, or tuples")
    return made


def in_order(calls: Comprehensions, node: ast.Call) -> Expr:
    """`sorted` with `key=` or `reverse=`: an insertion sort, which keeps equal ones in order."""
    given = {k.arg: k.value for k in node.keywords}
    backwards = given.get("reverse", ast.Constant(False))
    plain = isinstance(backwards, ast.Constant) and type(backwards.value) is bool
    if len(node.args) != 1 or set(given) - {"key", "reverse"} or not plain:
        raise calls.scope.refuse(node, "this sorted", "sorted(collection, key=…, reverse=True)")
    source = _source(calls, node.args[0], node)
    elem = calls.element(source, node)
    key = keyed(calls, node)
    keeps = ">=" if isinstance(backwards, ast.Constant) and backwards.value else "<="
    after = {">=": "<", "<=": ">"}[keeps]
    upto = source.type.upto if isinstance(source.type, t.SeqOf) else None

    def inserted(state: list[Expr], found: Expr) -> list[Expr]:
        (row,) = state
        if _elem(row) == t.NEVER:
            return [Expr("seq", t.SeqOf(elem, upto), (found,))]

        def those(sign: str, own: Expr) -> Expr:
            name = calls.build.fresh("other")
            other = Expr("local", elem, (), name)
            test = less_than(calls, sign, key(other), own, node)
            item = Expr("if", elem, (test, Expr("item", elem, (other,))))
            return Expr("list", row.type, (Expr("for", elem, (row, item), name),))

        def put(own: Expr) -> Expr:
            single = Expr("seq", t.SeqOf(elem, 1), (found,))
            whole = sugar.joined([those(keeps, own), single, those(after, own)])
            return Expr(whole.op, t.SeqOf(elem, upto), whole.args)

        # A first element is compared with nothing, and Python asks for its key all the same.
        return [sugar.held(calls, key(found), put)]

    return folded(calls, source, elem, [_NO_ELEMENT], inserted, node)[0]


def folded(
    calls: Comprehensions,
    source: Expr,
    elem: t.Type,
    start: list[Expr],
    step: Callable[[list[Expr], Expr], list[Expr]],
    node: ast.AST,
) -> list[Expr]:
    """The values after a walk that gives new ones for each element, each as an expression."""
    build = calls.build
    kinds = [value.type for value in start]
    for attempt in range(5):
        names = [build.fresh("carried") for _ in kinds]
        item = build.fresh("each")
        state = [Expr("local", k, (), n) for k, n in zip(kinds, names, strict=True)]
        made = step(state, Expr("local", elem, (), item))
        found = [value.type for value in made]
        if all(map(t.included, found, kinds)):
            break
        kinds = [t.join(pair) for pair in zip(kinds, found, strict=True)]
        kinds = kinds if attempt < 1 else list(map(_open, kinds))
    else:
        raise calls.scope.refuse(node, "a walk whose values have no common type", "one type")
    whole = t.Tuple(tuple(kinds))
    first = Expr("tuple", t.Tuple(tuple(v.type for v in start)), tuple(start))
    body = Expr("tuple", t.Tuple(tuple(found)), tuple(made))
    fold = Expr("fold", whole, (source, first, body), (item, *names))
    return [Expr("index", kind, (fold, number(at))) for at, kind in enumerate(kinds)]


def _open(kind: t.Type) -> t.Type:
    """Widened, but for the length of what holds one element at most."""
    if isinstance(kind, t.SeqOf) and kind.upto == 1:
        return t.SeqOf(t.widened(kind.elem), 1)
    return t.widened(kind)


def _elem(row: Expr) -> t.Type:
    return row.type.elem if isinstance(row.type, t.SeqOf) else t.NEVER


def _source(calls: Comprehensions, node: ast.expr, call: ast.Call) -> Expr:
    """A collection that is walked through in an order that matters."""
    found = calls.collection(node)
    calls.scope.fixed_order(call, found)
    return found


def _args(calls: Comprehensions, node: ast.Call, least: int, most: int) -> list[ast.expr]:
    if node.keywords or not least <= len(node.args) <= most:
        name = ast.unparse(node.func)
        raise calls.scope.refuse(node, f"this {name}", f"{name} with other arguments")
    return list(node.args)


def _reduce(calls: Comprehensions, node: ast.Call) -> Expr:
    """`functools.reduce(function, collection, first)`."""
    function, walked, first = _args(calls, node, 3, 3)
    source = _source(calls, walked, node)
    elem = calls.element(source, node)

    def step(state: list[Expr], found: Expr) -> list[Expr]:
        return [calls.applied(function, [state[0], found], node)]

    return folded(calls, source, elem, [calls.expr(first)], step, node)[0]


def _prod(calls: Comprehensions, node: ast.Call) -> Expr:
    """`math.prod(collection)`."""
    (walked,) = _args(calls, node, 1, 1)
    source = calls.collection(walked)
    elem = calls.element(source, node)
    if not isinstance(elem, t.Int | t.Bool):
        raise calls.scope.refuse(node, f"prod of {t.show(elem)}", "prod of int")

    def step(state: list[Expr], found: Expr) -> list[Expr]:
        kind = interval("*", state[0].type, found.type)
        return [Expr("*", kind, (state[0], found))]

    return folded(calls, source, elem, [number(1)], step, node)[0]


def _map(calls: Comprehensions, node: ast.Call) -> Expr:
    function, walked = _args(calls, node, 2, 2)
    return _each(calls, walked, node, lambda x: calls.applied(function, [x], node), None)


def _filter(calls: Comprehensions, node: ast.Call) -> Expr:
    function, walked = _args(calls, node, 2, 2)

    def test(found: Expr) -> Expr:
        made = found if _is_none(function) else calls.applied(function, [found], node)
        return calls.truth_of(made, node)

    return _each(calls, walked, node, lambda x: x, test)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _each(
    calls: Comprehensions, walked: ast.expr, node: ast.Call, made: Key, test: Key | None
) -> Expr:
    source = _source(calls, walked, node)
    elem, name = calls.element(source, node), calls.build.fresh("each")
    item = Expr("local", elem, (), name)
    value = made(item)
    inner = Expr("item", value.type, (value,))
    if test is not None:
        inner = Expr("if", value.type, (test(item), inner))
    return Expr("list", t.SeqOf(value.type), (Expr("for", value.type, (source, inner), name),))


def _next(calls: Comprehensions, node: ast.Call) -> Expr:
    """`next(x for …)`, `next(iter(s))`, with a default or an error of the step."""
    walked, *default = _args(calls, node, 1, 2)
    iterates = isinstance(walked, ast.Call) and calls.scope.static(walked.func) is iter
    if iterates and isinstance(walked, ast.Call) and len(walked.args) == 1:
        walked = walked.args[0]
    elif not isinstance(walked, ast.GeneratorExp):
        raise calls.scope.refuse(node, "this next", "next(x for …), or next(iter(collection))")
    source = _source(calls, walked, node)
    elem = calls.element(source, node)
    name = calls.build.fresh("row")
    row = Expr("toseq", t.SeqOf(elem), (source,))
    held = Expr("local", row.type, (), name)
    first = Expr("index", elem, (held, number(0)))
    if default:
        other = calls.expr(default[0])
        some = Expr(">", BOOL, (Expr("len", t.Int(0, None), (held,)), number(0)))
        first = sugar.or_default(calls, some, first, other)
    return Expr("let", first.type, (row, first), name)


def _fromkeys(calls: Comprehensions, node: ast.Call) -> Expr:
    """`dict.fromkeys(keys, value)`."""
    walked, *given = _args(calls, node, 1, 2)
    source = calls.collection(walked)
    elem, name = calls.element(source, node), calls.build.fresh("each")
    value = calls.expr(given[0] if given else ast.copy_location(ast.Constant(None), node))
    item = Expr("item", t.Nothing(), (Expr("local", elem, (), name), value))
    chain = Expr("for", t.Nothing(), (source, item), name)
    return Expr("mapping", t.MapOf(elem, value.type), (chain,))


def _divmod(calls: Comprehensions, node: ast.Call) -> Expr:
    left, right = _args(calls, node, 2, 2)
    parts = [
        calls.expr(ast.copy_location(ast.BinOp(left, op, right), node))
        for op in (ast.FloorDiv(), ast.Mod())
    ]
    return Expr("tuple", t.Tuple(tuple(p.type for p in parts)), tuple(parts))


def _pow(calls: Comprehensions, node: ast.Call) -> Expr:
    left, right = _args(calls, node, 2, 2)
    return calls.expr(ast.copy_location(ast.BinOp(left, ast.Pow(), right), node))


def _int(calls: Comprehensions, node: ast.Call) -> Expr:
    (found,) = map(calls.expr, _args(calls, node, 1, 1))
    if not isinstance(found.type, t.Int | t.Bool):
        raise calls.scope.refuse(node, f"int of {t.show(found.type)}", "int of a bool")
    return Expr("+", interval("+", found.type, t.Int(0, 0)), (found, number(0)))


_KNOWN: dict[Any, Callable[[Comprehensions, ast.Call], Expr]] = {
    dict.fromkeys: _fromkeys,
    functools.reduce: _reduce,
    math.prod: _prod,
    map: _map,
    filter: _filter,
    next: _next,
    divmod: _divmod,
    pow: _pow,
    int: _int,
}
