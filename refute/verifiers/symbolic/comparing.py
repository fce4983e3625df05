"""When two symbolic values are equal, one is in another, or one is of a type: Python's answers."""

from __future__ import annotations

from collections.abc import Iterable

import z3

from refute.specs.machine import types as t
from refute.specs.machine.values import conforms, domain, is_instance, tag_of
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.folding import (
    Bit,
    Term,
    all_of,
    and_,
    any_of,
    equals,
    iff,
    implies,
    not_,
    number_of,
)
from refute.verifiers.symbolic.forms import (
    Cells,
    Choice,
    OpenMap,
    OpenSet,
    Row,
    Sym,
    alternatives,
    as_cells,
    is_known,
    parts_of,
)
from refute.verifiers.symbolic.quantifying import bound

SETS = (frozenset, Cells, OpenSet)


def weighted(pairs: Iterable[tuple[Bit, Bit]]) -> Bit:
    """The truth whose condition holds; known where it is the same for all of them."""
    found = list(pairs)
    if all(bit is True for _, bit in found):
        return True
    return any_of(and_(test, bit) for test, bit in found)


def is_number(sym: Sym) -> bool:
    """Whether it is a truth or an integer, which Python compares with each other."""
    return isinstance(sym, int | z3.BoolRef | z3.ArithRef)


def integer(sym: Sym) -> Term:
    """A truth or an integer as an integer term."""
    return z3.If(sym, number_of(1), number_of(0)) if isinstance(sym, z3.BoolRef) else number_of(sym)


def equal(a: Sym, b: Sym) -> Bit:
    """Whether two values are equal, as `==` has it. Raises Outside."""
    if a is b:
        return True
    if is_known(a) and is_known(b):
        return bool(a == b)
    if type(a) is Choice or type(b) is Choice:
        return _equal_choices(a, b)
    return _equal_forms(a, b)


def _equal_choices(a: Sym, b: Sym) -> Bit:
    if type(a) is Choice and type(b) is Choice:
        found = [and_(bit, b.known.get(value, False)) for value, bit in a.known.items()]
        found += [
            and_(bit, other, equal(value, form))
            for value, bit in a.known.items()
            for other, form in b.others
        ]
        found += [
            and_(bit, other, equal(form, value))
            for bit, form in a.others
            for other, value in alternatives(b)
        ]
        return any_of(found)
    several, one = (a, b) if type(a) is Choice else (b, a)
    if is_known(one) and not several.others and not isinstance(one, tuple | frozenset):
        return several.known.get(one, False)
    return weighted((bit, equal(form, one)) for bit, form in alternatives(several))


def _equal_forms(a: Sym, b: Sym) -> Bit:
    if is_number(a) and is_number(b):
        truths = [isinstance(s, bool | z3.BoolRef) for s in (a, b)]
        return iff(a, b) if all(truths) else _equal_numbers(a, b)
    first, second = parts_of(a), parts_of(b)
    if first is not None and second is not None:
        (head, left), (other, right) = first, second
        if head is not other or len(left) != len(right):
            return False
        return _all(equal(p, q) for p, q in zip(left, right, strict=True))
    if isinstance(a, SETS) and isinstance(b, SETS):
        return _equal_sets(a, b)
    if type(a) is OpenMap and type(b) is OpenMap:
        return bound([a.kind.key], lambda k: equal(a.read(k[0]), b.read(k[0])), True, Context())
    if isinstance(a, z3.ExprRef) and isinstance(b, z3.ExprRef) and a.sort().eq(b.sort()):
        return equals(a, b)
    return False


def _equal_numbers(a: Sym, b: Sym) -> Bit:
    for truth, other in ((a, b), (b, a)):
        if isinstance(truth, z3.BoolRef) and isinstance(other, int):
            return truth if other == 1 else not_(truth) if other == 0 else False
    return equals(integer(a), integer(b))


def _all(bits: Iterable[Bit]) -> Bit:
    """Conjunction that stops at what is false."""
    found = []
    for bit in bits:
        if bit is False:
            return False
        found.append(bit)
    return all_of(found)


def _equal_sets(a: Sym, b: Sym) -> Bit:
    if type(a) is not OpenSet and type(b) is not OpenSet:
        left, right = as_cells(a), as_cells(b)
        if not left.others and not right.others:
            values = {**left.known, **right.known}
            return _all(iff(left.known.get(v, False), right.known.get(v, False)) for v in values)
    elif type(a) is OpenSet and type(b) is OpenSet:
        kind = t.join((a.elem, b.elem))
        return bound([kind], lambda e: iff(a.has(e[0]), b.has(e[0])), True, Context())
    return and_(subset(a, b), subset(b, a))


def subset(a: Sym, b: Sym) -> Bit:
    """Whether all elements of one set are in another. Raises Outside."""
    if type(a) is OpenSet:
        return bound([a.elem], lambda e: implies(a.has(e[0]), contains(b, e[0])), True, Context())
    listed = as_cells(a)
    pairs = [(bit, value) for value, bit in listed.known.items()] + list(listed.others)
    return _all(implies(bit, contains(b, value)) for bit, value in pairs)


def contains(collection: Sym, elem: Sym) -> Bit:
    """Whether an element is in a set. Raises Outside."""
    if type(elem) is Choice:
        return weighted((bit, contains(collection, form)) for bit, form in alternatives(elem))
    if type(collection) is OpenSet:
        return collection.has(elem)
    listed = as_cells(collection)
    if is_known(elem):
        found = [listed.known.get(elem, False)]
    else:
        found = [and_(bit, equal(value, elem)) for value, bit in listed.known.items()]
        if isinstance(elem, z3.BoolRef):
            found = [
                weighted(
                    [
                        (elem, listed.known.get(True, False)),
                        (not_(elem), listed.known.get(False, False)),
                    ]
                )
            ]
    found += [and_(bit, equal(form, elem)) for bit, form in listed.others]
    return any_of(found)


def fits(sym: Sym, kind: t.Type) -> Bit:
    """Whether the value is one of the type's, as `conforms` has it. Raises Outside."""
    if is_known(sym):
        return conforms(sym, kind)
    if type(sym) is Choice:
        found = [(bit, fits(form, kind)) for bit, form in alternatives(sym)]
        if all(bit is False for _, bit in found):
            return False
        return not_(any_of(and_(test, not_(bit)) for test, bit in found))
    match kind:
        case t.Union():
            return any_of(fits(sym, option) for option in kind.options)
        case t.Bool():
            return isinstance(sym, z3.BoolRef)
        case t.Int():
            return _in_range(sym, kind)
        case t.Atoms():
            same = isinstance(sym, z3.ExprRef) and sym.sort().name() == kind.name
            return same and not is_number(sym)
    return _fits_container(sym, kind)


def _in_range(sym: Sym, kind: t.Int) -> Bit:
    if not is_number(sym):
        return False
    if isinstance(sym, z3.BoolRef):
        return and_(implies(sym, conforms(True, kind)), implies(not_(sym), conforms(False, kind)))
    low = True if kind.lo is None else sym >= kind.lo
    return and_(low, True if kind.hi is None else sym <= kind.hi)


def _fits_container(sym: Sym, kind: t.Type) -> Bit:
    match kind, sym:
        case t.Tuple(), Row(head=None):
            return len(sym.parts) == len(kind.items) and _fit(sym.parts, kind.items)
        case t.Rec(), Row():
            same = sym.head is tag_of(kind)
            return same and _fit(sym.parts, [part for _, part in kind.fields])
        case t.MapOf(), OpenMap():
            if kind.key != sym.kind.key or t.included(sym.kind.value, kind.value):
                return kind.key == sym.kind.key
            return bound([kind.key], lambda k: fits(sym.read(k[0]), kind.value), True, Context())
        case t.MapOf(), Row(head=None):
            same = len(sym.parts) == len(domain(kind.key))
            return same and _fit(sym.parts, [kind.value] * len(sym.parts))
        case t.SeqOf(), Row(head=None):
            short = kind.upto is None or len(sym.parts) <= kind.upto
            return short and _fit(sym.parts, [kind.elem] * len(sym.parts))
        case t.SetOf(), OpenSet():
            if t.included(sym.elem, kind.elem):
                return True
            return bound(
                [sym.elem], lambda e: implies(sym.has(e[0]), fits(e[0], kind.elem)), True, Context()
            )
        case t.SetOf(), Cells():
            pairs = [(bit, value) for value, bit in sym.known.items()] + list(sym.others)
            return _all(implies(bit, fits(value, kind.elem)) for bit, value in pairs)
    return False


def _fit(parts: Iterable[Sym], kinds: Iterable[t.Type]) -> Bit:
    return _all(fits(part, kind) for part, kind in zip(parts, kinds, strict=True))


def instance(sym: Sym, kinds: tuple[t.Type, ...]) -> Bit:
    """Python's `isinstance`: the class alone, whatever the fields hold."""
    if is_known(sym):
        return is_instance(sym, kinds)
    if type(sym) is Choice:
        return weighted((bit, instance(form, kinds)) for bit, form in alternatives(sym))
    if type(sym) is Row and sym.head is not None:
        return any(isinstance(k, t.Rec) and k.name == sym.head.name for k in kinds)
    return any_of(fits(sym, k) for k in kinds if isinstance(k, t.Bool | t.Int | t.Atoms))
