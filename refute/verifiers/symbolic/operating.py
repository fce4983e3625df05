"""Operations of the IR on symbolic values, by name: what `operations.apply` is for known ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr
from refute.specs.machine.values import domain, members, tag_of
from refute.verifiers.symbolic import arithmetic as numbers
from refute.verifiers.symbolic import containers
from refute.verifiers.symbolic.comparing import (
    contains,
    equal,
    fits,
    instance,
    is_number,
    subset,
    weighted,
)
from refute.verifiers.symbolic.containers import Item, items, listed_set, rows, unordered
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.folding import Bit, and_, any_of, equals, not_, or_
from refute.verifiers.symbolic.forms import (
    OpenMap,
    OpenSet,
    Outside,
    Sym,
    alternatives,
    parts_of,
    row,
    truth,
)
from refute.verifiers.symbolic.merging import select
from refute.verifiers.symbolic.quantifying import is_open
from refute.verifiers.symbolic.walking import total

Operation = Callable[[Expr, list[Sym], Context], Sym]


def _arithmetic(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    return numbers.arithmetic(expr.op, values[0], values[1], ctx)


def _sets(expr: Expr) -> bool:
    return isinstance(expr.args[0].type, t.SetOf)


def _bits(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    """`|`, `&` and `^`, of sets or of numbers."""
    if not _sets(expr):
        return numbers.arithmetic(expr.op, values[0], values[1], ctx)
    a, b = (listed_set(v, ctx) for v in values)
    match expr.op:
        case "|":
            return containers.united(a, b)
        case "&":
            return containers.intersected(a, b)
    return containers.united(containers.without(a, b), containers.without(b, a))


def _diff(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    return containers.without(*(listed_set(v, ctx) for v in values))


def _subset(expr: Expr, values: list[Sym], ctx: Context) -> Bit:
    return subset(*(listed_set(v, ctx) for v in values))


def _disjoint(expr: Expr, values: list[Sym], ctx: Context) -> Bit:
    a, b = (listed_set(v, ctx) for v in values)
    return equal(containers.intersected(a, b), frozenset())


def _order(expr: Expr, values: list[Sym], ctx: Context) -> Bit:
    a, b = values if expr.op in ("<", ">=") else reversed(values)
    found = numbers.below(a, b, expr.args[0].type, ctx)
    return found if expr.op in ("<", ">") else not_(found)


def _in(expr: Expr, values: list[Sym], ctx: Context) -> Bit:
    kind = expr.args[1].type
    if isinstance(kind, t.SetOf):
        return contains(listed_set(values[1], ctx), values[0])
    if isinstance(kind, t.MapOf):
        return fits(values[0], kind.key) if is_open(kind) else _among(domain(kind.key), values[0])
    pairs = items(values[1], kind, ctx)
    return any_of(and_(there, equal(element, values[0])) for there, element in pairs)


def _among(known: tuple[Any, ...], sym: Sym) -> Bit:
    return contains(frozenset(known), sym)


def in_source(container: Expr, values: list[Sym], ctx: Context) -> Bit:
    """`x in Sort` and `x in range(…)`, without making the sequence."""
    sym = values[0]
    if container.op == "domain" and isinstance(container.type, t.SeqOf):
        elem = container.type.elem
        return fits(sym, elem) if is_open(elem) else _among(domain(elem), sym)
    low, high, step = values[1:]
    found = []
    for bit, form in alternatives(sym):
        inside: Bit = False
        if is_number(form):
            inside = _in_range(form, low, high, step, ctx)
        found.append((bit, inside))
    return weighted(found)


def _in_range(form: Sym, low: Sym, high: Sym, step: Sym, ctx: Context) -> Bit:
    kind = t.Int()
    with ctx.under(equal(step, 0)):
        ctx.fail()
    with ctx.under(not_(equal(step, 0))):
        offset = numbers.arithmetic("-", form, low, ctx)
        whole = equal(numbers.arithmetic("%", offset, step, ctx), 0)
    up = and_(not_(numbers.below(form, low, kind, ctx)), numbers.below(form, high, kind, ctx))
    down = and_(not_(numbers.below(low, form, kind, ctx)), numbers.below(high, form, kind, ctx))
    rising = numbers.below(0, step, kind, ctx)
    return and_(whole, or_(and_(rising, up), and_(not_(rising), down)))


def _index(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    return containers.entry(values[0], expr.args[0].type, values[1], ctx)


def _slice(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    return containers.sliced(values[0], values[1], values[2], ctx)


def _field(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    found = []
    for bit, form in alternatives(values[0]):
        head, parts = parts_of(form) or (None, ())
        at = -1 if head is None else head.position.get(str(expr.data), 0) - 1
        if at < 0:
            ctx.fail(bit)
        else:
            found.append((bit, parts[at]))
    return select(found) if found else None


def _tuple(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    return row(values)


def _setof(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    return containers.set_of([(True, value) for value in values])


def _dict(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    if not isinstance(expr.type, t.MapOf) or is_open(expr.type.key):
        raise Outside("a map over an open Sort by its entries")
    pairs = zip(values[::2], values[1::2], strict=True)
    return total(expr.type, [(True, key, value) for key, value in pairs], ctx)


def _make(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    if not isinstance(expr.type, t.Rec):
        raise Outside("make of no record")
    return row(values, tag_of(expr.type))


def _toset(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    source = expr.args[0]
    if isinstance(source.type, t.SetOf):
        return listed_set(values[0], ctx)
    if isinstance(source.type, t.MapOf) and is_open(source.type.key):
        key = source.type.key
        return OpenSet(key, lambda e: fits(e, key))
    return containers.set_of(items(values[0], source.type, ctx))


def _toseq(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    kind = expr.args[0].type
    if isinstance(kind, t.SeqOf | t.Tuple):
        return values[0]
    return containers.gathered(items(values[0], kind, ctx))


def _sorted(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    kind = expr.args[0].type
    found = items(values[0], kind, ctx)
    ordered = isinstance(kind, t.SetOf | t.MapOf)
    return containers.gathered(found if ordered else containers.in_order(found, 0, ctx))


def _values(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    _refuse_open_map(values[0], "values()")
    return values[0]


def _items(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    _refuse_open_map(values[0], "items()")
    keys = items(values[0], expr.args[0].type, ctx)
    made = [
        (bit, row(row(pair) for pair in zip((k for _, k in keys), parts, strict=True)))
        for bit, parts in rows(values[0], ctx)
    ]
    return select(made) if made else ()


def _refuse_open_map(sym: Sym, what: str) -> None:
    if type(sym) is OpenMap:
        raise Outside(f"{what} of a map over {t.show(sym.kind.key)}, of any size")


def _len(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    found = unordered(values[0], expr.args[0].type, ctx)
    return numbers.summed([(bit, 1) for bit, _ in found], ctx)


def _sum(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    return numbers.summed(unordered(values[0], expr.args[0].type, ctx), ctx)


def _elements(expr: Expr, values: list[Sym], ctx: Context) -> list[Item]:
    kind = expr.args[0].type
    if isinstance(kind, t.SetOf):
        _declare(kind.elem, ctx)
    return unordered(values[0], kind, ctx)


def _min(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    _declare(expr.type, ctx)
    return numbers.best(_elements(expr, values, ctx), expr.op == "max", ctx)


def _least(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    _declare(expr.type, ctx)
    return numbers.best([(True, value) for value in values], expr.op == "most", ctx)


def _declare(kind: t.Type, ctx: Context) -> None:
    """Let the context know the open OrderedSorts whose order is about to be asked for."""
    match kind:
        case t.Atoms(kind="open ordered"):
            ctx.before(kind)
        case t.Tuple(parts) | t.Union(parts):
            for part in parts:
                _declare(part, ctx)
        case t.Rec():
            for _, part in kind.fields:
                _declare(part, ctx)


def _ordinal(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    if is_open(expr.args[0].type):
        raise Outside(".index of a member of an open Sort")
    return numbers.arithmetic("+", values[0], 0, ctx)


def _successor(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    (kind,) = [o for o in t.options(expr.type) if isinstance(o, t.Atoms)]
    if not is_open(kind):
        after = dict(zip(members(kind), (*members(kind)[1:], None), strict=True))
        ways = alternatives(values[0])
        for bit, form in ways:
            if form not in after:  # None, which has no `.next`
                ctx.fail(bit)
        return select([(bit, after.get(form)) for bit, form in ways])
    _, last, following = ctx.after(kind)
    found = []
    for bit, form in alternatives(values[0]):
        end = equals(form, last)
        found += [(and_(bit, end), None), (and_(bit, not_(end)), following(form))]
    return select(found)


def _fail(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    ctx.fail()
    return None


def _only(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    found = []
    for bit, form in alternatives(values[0]):
        there = fits(form, expr.type)
        ctx.fail(and_(bit, not_(there)))
        if there is not False:
            found.append((bit, form))
    return select(found) if found else None


def _removed(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    base = listed_set(values[0], ctx)
    ctx.fail(not_(contains(base, values[1])))
    return containers.without(base, containers.set_of([(True, values[1])]))


def _popped(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    return containers.popped(values[0], values[1], ctx)


OPERATIONS: dict[str, Operation] = {
    **dict.fromkeys(("+", "-", "*", "//", "%"), _arithmetic),
    **dict.fromkeys(("|", "&", "^"), _bits),
    **dict.fromkeys(("<", "<=", ">", ">="), _order),
    "not": lambda expr, values, ctx: not_(truth(values[0])),
    "neg": lambda expr, values, ctx: numbers.negated(values[0], ctx),
    "abs": lambda expr, values, ctx: numbers.absolute(values[0], ctx),
    "==": lambda expr, values, ctx: equal(values[0], values[1]),
    "!=": lambda expr, values, ctx: not_(equal(values[0], values[1])),
    "diff": _diff,
    "subset": _subset,
    "disjoint": _disjoint,
    "in": _in,
    "index": _index,
    "slice": _slice,
    "field": _field,
    "tuple": _tuple,
    "seq": _tuple,
    "setof": _setof,
    "dict": _dict,
    "make": _make,
    "cat": lambda expr, values, ctx: containers.joined(values[0], values[1], ctx),
    "toset": _toset,
    "toseq": _toseq,
    "keys": _toseq,
    "sorted": _sorted,
    "values": _values,
    "items": _items,
    "len": _len,
    "sum": _sum,
    "min": _min,
    "max": _min,
    "least": _least,
    "most": _least,
    "ordinal": _ordinal,
    "successor": _successor,
    "fail": _fail,
    "only": _only,
    "removed": _removed,
    "popped": _popped,
    "isa": lambda expr, values, ctx: instance(values[0], tuple(expr.data)),
}
