"""Bags in the IR: sets of pairs of an element and its number, so that engines know nothing new."""

from __future__ import annotations

import ast

from refute.specs.machine import sugar
from refute.specs.machine import types as t
from refute.specs.machine.comprehensions import Comprehensions
from refute.specs.machine.expressions import BOOL, constant, number
from refute.specs.machine.ir import Expr

COUNT = t.Int(0, None)
EMPTY = constant(frozenset(), t.BagOf(t.Tuple((t.NEVER, t.Int(1, 1)))))


def element_of(kind: t.BagOf) -> t.Type:
    """The type of a bag's elements."""
    return kind.elem.items[0] if isinstance(kind.elem, t.Tuple) else t.NEVER


def _chain(calls: Comprehensions, bag: Expr, made: str, wanted: Expr | None = None) -> Expr:
    """A walk over a bag's pairs. made: "element" or "number"; wanted: of this element alone."""
    assert isinstance(bag.type, t.BagOf)
    name = calls.build.fresh("pair")
    pair = Expr("local", bag.type.elem, (), name)
    kinds = {"element": element_of(bag.type), "number": t.Int(1, None)}
    parts = {
        which: Expr("index", kind, (pair, number(at)))
        for at, (which, kind) in enumerate(kinds.items())
    }
    item = Expr("item", parts[made].type, (parts[made],))
    if wanted is not None:
        same = Expr("==", BOOL, (parts["element"], wanted))
        item = Expr("if", item.type, (same, item))
    return Expr("for", item.type, (bag, item), name)


def method(calls: Comprehensions, bag: Expr, name: str, node: ast.Call) -> Expr:
    """`.count(x)`, `.total()` and `.distinct()`. Raises Unsupported."""
    assert isinstance(bag.type, t.BagOf)
    args = [calls.expr(a) for a in node.args]
    if name == "count" and len(args) == 1:
        return counted(calls, bag, args[0])
    if name == "total" and not args:
        return copies(calls, bag)
    if name == "distinct" and not args:
        return different(calls, bag)
    raise calls.scope.refuse(node, f".{name}(…) of a Bag", "count(x), total(), distinct()")


def copies(calls: Comprehensions, bag: Expr) -> Expr:
    """How many elements are in a bag."""
    return _total(_chain(calls, bag, "number"))


def different(calls: Comprehensions, bag: Expr) -> Expr:
    """The different elements of a bag, as a Set."""
    assert isinstance(bag.type, t.BagOf)
    found = Expr("set", t.SetOf(element_of(bag.type)), (_chain(calls, bag, "element"),))
    return Expr("toset", found.type, (found,), "Set")


def counted(calls: Comprehensions, bag: Expr, wanted: Expr) -> Expr:
    """How often an element is in a bag; the element is evaluated once, of an empty one too."""
    return sugar.held(calls, wanted, lambda e: _total(_chain(calls, bag, "number", e)))


def _total(numbers: Expr) -> Expr:
    return Expr("total", COUNT, (numbers,))


def mutated(calls: Comprehensions, bag: Expr, name: str, args: list[Expr]) -> Expr | None:
    """The bag after `add`, `discard`, `remove` or `clear`; None for anything else."""
    if name == "clear" and not args:
        return EMPTY
    if name not in ("add", "discard", "remove") or len(args) != 1:
        return None
    build = calls.build
    names = [build.fresh("element"), build.fresh("number")]
    element = Expr("local", args[0].type, (), names[0])
    before = Expr("local", COUNT, (), names[1])
    old = _pairs(element, before)
    base = Expr("removed" if name == "remove" else "diff", bag.type, (bag, _one(old, name)))
    if name == "add":
        made = _joined(bag.type, base, _pairs(element, Expr("+", COUNT, (before, number(1)))))
    else:
        fewer = _pairs(element, Expr("-", COUNT, (before, number(1))))
        more = Expr(">", BOOL, (before, number(1)))
        made = Expr("if", bag.type, (more, _joined(bag.type, base, fewer), base))
    made = Expr("let", made.type, (counted(calls, bag, element), made), names[1])
    return Expr("let", made.type, (args[0], made), names[0])


def _pairs(element: Expr, count: Expr) -> Expr:
    pair = Expr("tuple", t.Tuple((element.type, t.Int(1, None))), (element, count))
    return Expr("setof", t.BagOf(pair.type), (pair,))


def _one(old: Expr, name: str) -> Expr:
    """What is taken out of the pairs: a set of one, or for `removed` the pair itself."""
    return old.args[0] if name == "remove" else old


def _joined(kind: t.Type, base: Expr, more: Expr) -> Expr:
    return Expr("|", t.join((kind, more.type)), (base, more))
