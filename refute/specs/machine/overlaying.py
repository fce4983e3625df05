"""Maps with other values for some keys: `{**m, k: v}`, `m | n` and `m.update(n)`.

They are new maps, put together of other operations, so that engines know nothing of them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from refute.specs.machine import types as t
from refute.specs.machine.expressions import BOOL, Expressions, comparable, constant, number
from refute.specs.machine.ir import Expr
from refute.specs.machine.sugar import joined


def updated(calls: Expressions, node: ast.Dict, want: t.Type | None) -> Expr | None:
    """`{**m, k: v, **n}`: the map with other values; None for any other use of `**`."""
    if node.keys[0] is not None:
        return None
    base = calls.expr(node.values[0], want)
    over: list[ast.expr] = []
    for key, value in zip(node.keys[1:], node.values[1:], strict=True):
        over.append(value if key is None else ast.copy_location(ast.Dict([key], [value]), node))
    return overlaid(calls, base, over)


def overlaid(calls: Expressions, base: Expr, over: Sequence[ast.expr]) -> Expr | None:
    """A map with the entries of others, some of which may be written out, put over its own; None
    where one is no map."""
    if not isinstance(base.type, t.MapOf):
        return None
    if t.open_sorts(base.type.key):
        return _written_over(calls, base, over)
    pair = t.Tuple((base.type.key, base.type.value))
    parts = [Expr("items", t.SeqOf(pair), (base,))]
    for node in over:
        entries = _entries(calls, node, base.type)
        if entries is None:
            return None
        parts.append(entries)
    return of_pairs(calls, joined(parts), base.type.key)


def _written_over(calls: Expressions, base: Expr, over: Sequence[ast.expr]) -> Expr | None:
    """As `overlaid`, of maps whose keys cannot be listed: a new map, by a test for each entry."""
    made = base
    for node in over:
        if (
            not isinstance(node, ast.Dict)
            or None in node.keys
            or not isinstance(base.type, t.MapOf)
        ):
            return None
        held, key = calls.build.fresh("map"), calls.build.fresh("key")
        old, here = Expr("local", made.type, (), held), Expr("local", base.type.key, (), key)
        value = Expr("index", base.type.value, (old, here))
        lets: list[tuple[str, Expr]] = [(held, made)]
        for at, entry in zip(node.keys, node.values, strict=True):
            names = calls.build.fresh("at"), calls.build.fresh("value")
            pair = calls.expr(at or entry), calls.expr(entry, base.type.value)
            lets += zip(names, pair, strict=True)
            where, what = (Expr("local", e.type, (), n) for n, e in zip(names, pair, strict=True))
            same = Expr("==", BOOL, (here, where))
            value = Expr("if", t.join((what.type, value.type)), (same, what, value))
        kind = t.MapOf(base.type.key, value.type)
        item = Expr("item", t.Nothing(), (here, value))
        every = Expr("domain", t.SeqOf(base.type.key))
        inner = Expr("mapping", kind, (Expr("for", t.Nothing(), (every, item), key),))
        for name, bound in reversed(lets):
            inner = Expr("let", kind, (bound, inner), name)
        made = inner
    return made


def _entries(calls: Expressions, node: ast.expr, kind: t.MapOf) -> Expr | None:
    """The entries of a dict that is written here, or of a whole map, as a sequence of pairs."""
    match node:
        case ast.Dict(keys=keys, values=values) if None not in keys:
            made = []
            for key, value in zip(keys, values, strict=True):
                pair = calls.expr(key or value), calls.expr(value, kind.value)
                if not comparable(pair[0].type, kind.key):
                    what = f"{t.show(pair[0].type)} as a key of {t.show(kind)}"
                    raise calls.scope.refuse(node, what, "one of its keys")
                entry = Expr("tuple", t.Tuple((pair[0].type, pair[1].type)), pair)
                made.append(Expr("seq", t.SeqOf(entry.type, 1), (entry,)))
            return joined(made) if made else constant((), t.SeqOf(t.NEVER, 0))
        case ast.DictComp():
            both = ast.Tuple([node.key, node.value], ast.Load())
            pairs = ast.copy_location(ast.ListComp(both, node.generators), node)
            return calls.expr(ast.fix_missing_locations(pairs))
    found = calls.expr(node, kind)
    if not isinstance(found.type, t.MapOf):
        return None
    return Expr("items", t.SeqOf(t.Tuple((found.type.key, found.type.value))), (found,))


def of_pairs(calls: Expressions, pairs: Expr, key: t.Type) -> Expr | None:
    """The map of a sequence of pairs; a later one counts."""
    kind = pairs.type.elem if isinstance(pairs.type, t.SeqOf | t.SetOf) else t.NEVER
    if not isinstance(kind, t.Tuple) or len(kind.items) != 2:
        return None
    name = calls.build.fresh("pair")
    pair = Expr("local", kind, (), name)
    entry = tuple(Expr("index", k, (pair, number(at))) for at, k in enumerate(kind.items))
    chain = Expr("for", t.Nothing(), (pairs, Expr("item", t.Nothing(), entry)), name)
    return Expr("mapping", t.MapOf(key, kind.items[1]), (chain,))
