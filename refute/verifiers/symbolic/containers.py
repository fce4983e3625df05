"""Containers: their elements in canonical order, entries, slices, and the operations on sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import z3

from refute.specs.machine import types as t
from refute.specs.machine.values import Value, domain, order
from refute.verifiers.symbolic.arithmetic import less, numbers
from refute.verifiers.symbolic.comparing import SETS, contains, equal, fits, is_number
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.folding import (
    Bit,
    address,
    and_,
    any_of,
    equals,
    not_,
    number_of,
    or_,
)
from refute.verifiers.symbolic.forms import (
    OpenMap,
    OpenSet,
    Outside,
    Sym,
    alternatives,
    as_cells,
    cells,
    expanded,
    parts_of,
    row,
)
from refute.verifiers.symbolic.merging import choice, merge, select
from refute.verifiers.symbolic.quantifying import is_open

MOST_MISSING = 128  # elements that may each be missing from a list
MOST_SORTED = 16  # unknown elements that are put in order

Item = tuple[Bit, Sym]  # an element, and when it is there


def rows(sym: Sym, ctx: Context) -> list[tuple[Bit, tuple[Sym, ...]]]:
    """The tuples that a value may be; anything else is an error."""
    found = []
    for bit, form in alternatives(sym):
        parts = parts_of(form)
        if parts is None:
            ctx.fail(bit)
        else:
            found.append((bit, parts[1]))
    return found


def listed_set(sym: Sym, ctx: Context) -> Sym:
    """The set that a value is; anything else is an error."""
    found: Sym = frozenset()
    for bit, form in alternatives(sym):
        if isinstance(form, SETS):
            found = form
        else:
            ctx.fail(bit)
    return found


def items(sym: Sym, kind: t.Type, ctx: Context) -> list[Item]:
    """The elements in canonical order, each with when it is there. Raises Outside."""
    if isinstance(kind, t.MapOf):
        return [(True, key) for key in domain(_written_out(kind.key))]
    if isinstance(kind, t.SetOf):
        return _in_order(listed_set(sym, ctx), ctx)
    found = rows(sym, ctx)
    longest = max((len(parts) for _, parts in found), default=0)
    made = []
    for at in range(longest):
        there = [(bit, parts[at]) for bit, parts in found if at < len(parts)]
        whole = len(there) == len(found)
        made.append((True if whole else any_of(bit for bit, _ in there), select(there)))
    return made


def unordered(sym: Sym, kind: t.Type, ctx: Context) -> list[Item]:
    """The elements, each once, in any order. Raises Outside."""
    if not isinstance(kind, t.SetOf):
        return items(sym, kind, ctx)
    found = as_cells(_closed(listed_set(sym, ctx)))
    made: list[Item] = [(found.known[v], v) for v in sorted(found.known, key=order)]
    for bit, form in found.others:
        again = any_of(and_(b, equal(other, form)) for b, other in made)
        made.append((and_(bit, not_(again)), form))
    return made


def _written_out(kind: t.Type) -> t.Type:
    if is_open(kind):
        raise Outside(f"a walk through {t.show(kind)}, a Sort of any size, in order")
    return kind


def _closed(sym: Sym) -> Sym:
    if type(sym) is OpenSet:
        raise Outside(f"a walk through a set of {t.show(sym.elem)}, of any size")
    return sym


def _in_order(sym: Sym, ctx: Context) -> list[Item]:
    found = as_cells(_closed(sym))
    made: list[Item] = [(found.known[v], v) for v in sorted(found.known, key=order)]
    if not found.others:
        return made
    once = unordered(sym, t.SetOf(t.NEVER), ctx)
    return in_order([*made, *once[len(made) :]], len(made), ctx)


def in_order(found: list[Item], sorted_already: int, ctx: Context) -> list[Item]:
    """Items by the canonical order; equal ones stay as they are. Raises Outside."""
    made = found[:sorted_already]
    if len(found) - len(made) > MOST_SORTED:
        raise Outside(f"the order of more than {MOST_SORTED} unknown elements")
    for carried in found[sorted_already:]:
        for at, (there, form) in enumerate(made):
            swap = and_(and_(carried[0], there), less(carried[1], form, ctx))
            if swap is False:
                continue
            made[at] = merge(swap, carried[0], there), merge(swap, carried[1], form)
            carried = merge(swap, there, carried[0]), merge(swap, form, carried[1])
        made.append(carried)
    return made


def gathered(found: Sequence[Item]) -> Sym:
    """The sequence of the items that are there. Raises Outside."""
    if all(bit is True for bit, _ in found):
        return row(form for _, form in found)
    if sum(bit is not True for bit, _ in found) > MOST_MISSING:
        raise Outside(f"a list of more than {MOST_MISSING} elements that may be missing")
    counts: list[Bit] = [True]  # for each number, whether so many have been there
    here: list[list[Item]] = []  # for each place, what may be in it
    for bit, form in found:
        if bit is False:
            continue
        steps = [and_(count, bit) for count in counts]
        here.append([])
        for place, step in zip(here, steps, strict=True):
            if step is not False:
                place.append((step, form))
        stay = [and_(count, not_(bit)) for count in counts]
        counts = [stay[0], *map(or_, stay[1:], steps), steps[-1]]
    places = [select(place) if place else None for place in here]
    lengths = [(bit, row(places[:n])) for n, bit in enumerate(counts) if bit is not False]
    return choice({}, lengths)


def set_of(found: Sequence[Item]) -> Sym:
    """The set of the items that are there."""
    known: dict[Value, list[Bit]] = {}
    others: dict[int, tuple[Sym, list[Bit]]] = {}  # one value in several places is one element
    for bit, form in found:
        values = expanded(form)
        if values is None:
            key = address(form) if isinstance(form, z3.ExprRef) else id(form)
            others.setdefault(key, (form, []))[1].append(bit)
            continue
        for test, value in values:
            known.setdefault(value, []).append(and_(bit, test))
    rest = [(any_of(bits), form) for form, bits in others.values()]
    return cells({value: any_of(bits) for value, bits in known.items()}, rest)


def united(a: Sym, b: Sym) -> Sym:
    """The union of two sets."""
    if type(a) is OpenSet or type(b) is OpenSet:
        elem = t.join(s.elem for s in (a, b) if type(s) is OpenSet)
        return OpenSet(elem, lambda e: or_(contains(a, e), contains(b, e)))
    left, right = as_cells(a), as_cells(b)
    known = dict(left.known)
    for value, bit in right.known.items():
        known[value] = or_(known.get(value, False), bit)
    return cells(known, (*left.others, *right.others))


def kept(a: Sym, test: Callable[[Sym], Bit]) -> Sym:
    """The elements of a set of which something is true."""
    if type(a) is OpenSet:
        return OpenSet(a.elem, lambda e: and_(a.has(e), test(e)))
    found = as_cells(a)
    known = {value: and_(bit, test(value)) for value, bit in found.known.items()}
    return cells(known, [(and_(bit, test(form)), form) for bit, form in found.others])


def intersected(a: Sym, b: Sym) -> Sym:
    """What is in both sets."""
    if type(a) is OpenSet and type(b) is not OpenSet:
        a, b = b, a
    return kept(a, lambda e: contains(b, e))


def without(a: Sym, b: Sym) -> Sym:
    """What is in the first set only."""
    return kept(a, lambda e: not_(contains(b, e)))


def entry(sym: Sym, kind: t.Type, key: Sym, ctx: Context) -> Sym:
    """The entry of a map, sequence or tuple; KeyError or IndexError where there is none."""
    found = []
    for bit, form in alternatives(sym):
        if type(form) is OpenMap:
            found.append((bit, _read(form, key, bit, ctx)))
            continue
        parts = parts_of(form)
        if parts is None:
            ctx.fail(bit)
            continue
        for test, at in places(parts[1], kind, key, bit, ctx):
            found.append((and_(bit, test), parts[1][at]))
    return select(found) if found else None


def _read(form: OpenMap, key: Sym, bit: Bit, ctx: Context) -> Sym:
    inside = fits(key, form.kind.key)
    ctx.fail(and_(bit, not_(inside)))
    return None if inside is False else form.read(key)


def places(
    parts: Sequence[Any], kind: t.Type, key: Sym, bit: Bit, ctx: Context
) -> list[tuple[Bit, int]]:
    """The places that a key may mean in a row; an error, on the condition, where it means none."""
    if isinstance(kind, t.MapOf):
        found = _key_places(kind.key, key)
    else:
        found = _number_places(len(parts), key, ctx)
    there = any_of(test for test, at in found if at >= 0)
    missing = [test for test, at in found if at < 0]
    if missing or not found:
        ctx.fail(and_(bit, not_(there)))
    return [(test, at) for test, at in found if at >= 0]


def _key_places(kind: t.Type, key: Sym) -> list[tuple[Bit, int]]:
    """-1: the key is none of the map's."""
    keys = {value: at for at, value in enumerate(domain(kind))}
    values = expanded(key)
    if values is not None:
        return [(bit, keys.get(value, -1)) for bit, value in values]
    found = [(equal(key, value), at) for value, at in keys.items()]
    found = [(bit, at) for bit, at in found if bit is not False]
    return [*found, (not_(any_of(bit for bit, _ in found)), -1)]


def _number_places(length: int, key: Sym, ctx: Context) -> list[tuple[Bit, int]]:
    found = numbers(key, ctx)
    if isinstance(found, list):
        inside = [(bit, at + length if at < 0 else at) for bit, at in found]
        return [(bit, at if 0 <= at < length else -1) for bit, at in inside]
    made = [
        (or_(equals(found, number_of(at)), equals(found, number_of(at - length))), at)
        for at in range(length)
    ]
    return [*made, (not_(any_of(bit for bit, _ in made)), -1)]


def sliced(sym: Sym, low: Sym, high: Sym, ctx: Context) -> Sym:
    """The part of a sequence between two places, as Python has it."""
    found = []
    for bit, parts in rows(sym, ctx):
        for first, start in _ends(low, len(parts), 0, ctx):
            for second, stop in _ends(high, len(parts), len(parts), ctx):
                found.append((and_(bit, and_(first, second)), row(parts[start:stop])))
    return select(found) if found else ()


def _ends(sym: Sym, length: int, absent: int, ctx: Context) -> list[tuple[Bit, int]]:
    made = []
    for bit, form in alternatives(sym):
        if form is None:
            made.append((bit, absent))
        elif isinstance(form, z3.ArithRef):
            made += [(and_(bit, test), at) for test, at in _clamped(form, length)]
        elif is_number(form):
            pairs = numbers(form, ctx)
            made += [(and_(bit, test), _place(value, length)) for test, value in pairs]
        else:
            ctx.fail(bit)
    return made


def _place(value: int, length: int) -> int:
    return min(max(value + length if value < 0 else value, 0), length)


def _clamped(term: Any, length: int) -> list[tuple[Bit, int]]:
    if length == 0:
        return [(True, 0)]
    made: list[tuple[Bit, int]] = [(or_(term <= -length, equals(term, number_of(0))), 0)]
    for at in range(1, length):
        inside = equals(term, number_of(at)), equals(term, number_of(at - length))
        made.append((or_(*inside), at))
    return [*made, (term >= length, length)]


def joined(a: Sym, b: Sym, ctx: Context) -> Sym:
    """One sequence after another."""
    left, right = rows(a, ctx), rows(b, ctx)
    pairs = [(and_(p, q), row((*x, *y))) for p, x in left for q, y in right]
    return select(pairs) if pairs else ()


def popped(sym: Sym, at: Sym, ctx: Context) -> Sym:
    """A sequence without the entry at a place; IndexError where there is none."""
    found = []
    for bit, parts in rows(sym, ctx):
        for test, place in places(parts, t.SeqOf(t.NEVER), at, bit, ctx):
            found.append((and_(bit, test), row((*parts[:place], *parts[place + 1 :]))))
    return select(found) if found else ()


def written(sym: Sym, kind: t.Type, path: Sequence[Sym], value: Sym, ctx: Context) -> Sym:
    """The container with the entry at the path of keys replaced; an error where it has none."""
    if not path:
        return value
    key, *rest = path
    inner = kind.value if isinstance(kind, t.MapOf) else getattr(kind, "elem", t.NEVER)
    found = []
    for bit, form in alternatives(sym):
        parts = parts_of(form)
        if type(form) is OpenMap:
            found.append((bit, _overwritten(form, key, rest, value, bit, ctx)))
        elif parts is None or not isinstance(kind, t.MapOf | t.SeqOf):
            ctx.fail(bit)
        else:
            new = list(parts[1])
            for test, at in places(new, kind, key, bit, ctx):
                with ctx.under(and_(bit, test)):
                    replaced = written(new[at], inner, rest, value, ctx)
                new[at] = merge(test, replaced, new[at])
            found.append((bit, row(new)))
    return select(found) if found else sym


def _overwritten(
    form: OpenMap, key: Sym, rest: Sequence[Sym], value: Sym, bit: Bit, ctx: Context
) -> Sym:
    old = _read(form, key, bit, ctx)
    with ctx.under(bit):
        new = written(old, form.kind.value, rest, value, ctx)

    def read(other: Sym) -> Sym:
        return merge(equal(other, key), new, form.read(other))

    return OpenMap(form.kind, read)
