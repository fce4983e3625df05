"""Values of a type as a fixed list of Boolean and integer unknowns, in both directions.

What has few values is numbered and its number is coded in binary; numbers that are left over mean
the last value, so that no constraint is needed. A sequence or set without a bound takes a size: so
many elements at most. Codes are how a state at one depth of a search becomes the next one's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import z3

from refute.specs.machine import types as t
from refute.specs.machine.values import Value, cardinality, domain, tag_of
from refute.verifiers.symbolic.comparing import SETS, contains, equal, fits, integer, is_number
from refute.verifiers.symbolic.folding import Bit, Term, and_, any_of, chosen, not_, term_of
from refute.verifiers.symbolic.forms import (
    Cells,
    Outside,
    Sym,
    alternatives,
    as_cells,
    cells,
    is_known,
    parts_of,
    row,
)
from refute.verifiers.symbolic.merging import choice, select

FEW = 32  # integers of a range that is numbered; a longer one is an integer unknown
MOST_MEMBERS = 1024  # possible elements of a set that are asked about one by one
ABSENT = object()  # no value at all: the items behind a sequence's end

Leaf = Callable[[str, str], Term]  # of a name and "bool" or "int"


@functools.cache
def scalars(kind: t.Type) -> tuple[Value, ...] | None:
    """The values of a type that is numbered; None of any other."""
    match kind:
        case t.Int() if cardinality(kind) > FEW:
            return None
        case t.Atoms() if kind.kind.startswith("open"):
            return None
        case t.Int() | t.Atoms() | t.Text() | t.Nothing():
            return domain(kind)
        case t.Union():
            parts = [scalars(option) for option in kind.options]
            found = [values for values in parts if values is not None]
            return tuple(v for p in found for v in p) if len(found) == len(parts) else None
    return None


@functools.cache
def groups(kind: t.Union) -> tuple[t.Type, ...]:
    """The options of a union that are coded apart: what can be numbered is one of them."""
    plain = tuple(o for o in kind.options if scalars(o) is not None)
    rest = tuple(o for o in kind.options if scalars(o) is None)
    return (t.Union(plain), *rest) if plain else rest


@functools.cache
def members(kind: t.SetOf) -> tuple[Value, ...] | None:
    """The possible elements of a set that is coded element by element."""
    if isinstance(kind, t.BagOf) or cardinality(kind.elem) > MOST_MEMBERS:
        return None
    return domain(kind.elem)


def counted(kind: t.BagOf) -> tuple[tuple[Value, ...], t.Int] | None:
    """The possible elements of a bag, and how often each may be there; None if it has a size."""
    match kind.elem:
        case t.Tuple((elem, t.Int() as often)) if cardinality(elem) <= MOST_MEMBERS:
            return domain(elem), t.Int(0, often.hi)
    return None


def room(kind: t.SeqOf, size: int | None) -> int:
    """How long a sequence may be. Raises Outside."""
    if kind.upto is not None and (size is None or kind.upto <= size):
        return kind.upto
    if size is None:
        raise Outside(f"an arbitrary value of {t.show(kind)}, of any length")
    return size


def numbered(values: Sequence[Any], bits: Sequence[Bit]) -> list[tuple[Bit, Any]]:
    """The values with the conditions that the bits, lowest first, are their number."""
    if len(values) == 1:
        return [(True, values[0])]
    half = 1 << (len(bits) - 1)
    *lower, top = bits
    if len(values) <= half:
        return numbered(values, lower)
    low, high = numbered(values[:half], lower), numbered(values[half:], lower)
    return [(and_(not_(top), bit), v) for bit, v in low] + [(and_(top, bit), v) for bit, v in high]


class Shaping:
    """Makes a value of a type from unknowns. size: of what has no bound."""

    def __init__(self, leaf: Leaf, assume: Callable[[Bit], None], size: int | None) -> None:
        self.leaf = leaf
        self.assume = assume
        self.size = size

    def number(self, values: Sequence[Any], name: str) -> list[tuple[Bit, Any]]:
        """Values and when each is meant."""
        bits = [self.leaf(f"{name}.{at}", "bool") for at in range((len(values) - 1).bit_length())]
        return numbered(values, bits)

    def value(self, kind: t.Type, name: str) -> Sym:
        """An arbitrary value of the type. Raises Outside."""
        plain = scalars(kind)
        if plain is not None:
            if not plain:
                raise Outside(f"a value of {t.show(kind)}, which has none")
            return choice({value: bit for bit, value in self.number(plain, name)})
        match kind:
            case t.Bool():
                return self.leaf(name, "bool")
            case t.Int():
                return self._integer(kind, name)
            case t.Tuple(items):
                return row(self.value(part, f"{name}.{at}") for at, part in enumerate(items))
            case t.Rec():
                parts = [self.value(part, f"{name}.{field}") for field, part in kind.fields]
                return row(parts, tag_of(kind))
            case t.Union():
                found = self.number(groups(kind), f"{name}.is")
                each = enumerate(found)
                return select((bit, self.value(part, f"{name}.{at}")) for at, (bit, part) in each)
            case t.MapOf():
                return row(self.value(kind.value, f"{name}[{key!r}]") for key in domain(kind.key))
            case t.SeqOf():
                return self._sequence(kind, name)
            case t.SetOf():
                return self._set(kind, name)
        raise Outside(f"an arbitrary value of {t.show(kind)}")

    def _integer(self, kind: t.Int, name: str) -> Term:
        made = self.leaf(name, "int")
        if kind.lo is not None:
            self.assume(made >= kind.lo)
        if kind.hi is not None:
            self.assume(made <= kind.hi)
        return made

    def _sequence(self, kind: t.SeqOf, name: str) -> Sym:
        most = room(kind, self.size)
        items = [self.value(kind.elem, f"{name}[{at}]") for at in range(most)]
        lengths = self.number(range(most + 1), f"{name}.len")
        return choice({}, [(bit, row(items[:length])) for bit, length in lengths])

    def _set(self, kind: t.SetOf, name: str) -> Sym:
        few = members(kind)
        if few is not None:
            return cells({value: self.leaf(f"{name}[{value!r}]", "bool") for value in few})
        counts = counted(kind) if isinstance(kind, t.BagOf) else None
        if counts is not None:
            return self._bag(*counts, name)
        if self.size is None:
            raise Outside(f"an arbitrary value of {t.show(kind)}, of any size")
        names = [f"{name}[{at}]" for at in range(self.size)]
        return cells({}, [(self.leaf(f"{n}.in", "bool"), self.value(kind.elem, n)) for n in names])

    def _bag(self, elements: Sequence[Value], often: t.Int, name: str) -> Sym:
        known: dict[Value, Bit] = {}
        others: list[tuple[Bit, Sym]] = []
        for elem in elements:
            count = self.value(often, f"{name}[{elem!r}]")
            if isinstance(count, z3.ArithRef):
                others.append((count >= 1, row((elem, count))))
            else:
                known |= {(elem, n): bit for bit, n in alternatives(count) if n}
        return cells(known, others)


class Coding:
    """The unknowns' values that make a given value; the inverse of `Shaping`, in the same order."""

    def __init__(self, size: int | None) -> None:
        self.size = size
        self.found: list[Term] = []

    def number(self, values: Sequence[Any], pairs: Iterable[tuple[Bit, int]]) -> None:
        """The bits of a number. pairs: the numbers that it may be, with their conditions."""
        tests = list(pairs)
        for at in range((len(values) - 1).bit_length()):
            self.found.append(term_of(any_of(bit for bit, n in tests if n >> at & 1)))

    def value(self, sym: Sym, kind: t.Type) -> None:
        """The unknowns of one value. Raises Outside where it is too large."""
        pairs = [] if sym is ABSENT else alternatives(sym)
        plain = scalars(kind)
        if plain is not None:
            self.number(plain, _positions(plain, pairs))
            return
        match kind:
            case t.Bool():
                bits = (and_(b, f) for b, f in pairs if isinstance(f, bool | z3.BoolRef))
                self.found.append(term_of(any_of(bits)))
            case t.Int():
                numbers = [(bit, integer(form)) for bit, form in pairs if is_number(form)]
                self.found.append(chosen(numbers) if numbers else z3.IntVal(0))
            case t.Tuple(items):
                self._parts(pairs, items, None)
            case t.Rec():
                self._parts(pairs, [part for _, part in kind.fields], tag_of(kind))
            case t.Union():
                self._union(pairs, kind)
            case t.MapOf():
                self._parts(pairs, [kind.value] * len(domain(kind.key)), None)
            case t.SeqOf():
                self._sequence(pairs, kind)
            case t.SetOf():
                self._set(pairs, kind)
            case _:
                raise Outside(f"a value of {t.show(kind)} as unknowns")

    def _parts(self, pairs: list[tuple[Bit, Sym]], kinds: Sequence[t.Type], head: Any) -> None:
        found = [(bit, parts_of(form)) for bit, form in pairs]
        rows = [(b, p[1]) for b, p in found if p and p[0] is head and len(p[1]) == len(kinds)]
        for at, kind in enumerate(kinds):
            self.value(_picked((bit, parts[at]) for bit, parts in rows), kind)

    def _union(self, pairs: list[tuple[Bit, Sym]], kind: t.Union) -> None:
        numbers, inside = [], []
        left = pairs
        for at, group in enumerate(groups(kind)):
            fitting = [(bit, form, fits(form, group)) for bit, form in left]
            inside.append(
                [(and_(bit, fit), form) for bit, form, fit in fitting if fit is not False]
            )
            numbers += [(bit, at) for bit, _ in inside[-1]]
            left = [(and_(b, not_(fit)), form) for b, form, fit in fitting if fit is not True]
        self.number(groups(kind), numbers)
        for group, found in zip(groups(kind), inside, strict=True):
            self.value(_picked(found), group)

    def _sequence(self, pairs: list[tuple[Bit, Sym]], kind: t.SeqOf) -> None:
        most = room(kind, self.size)
        found = [(bit, parts_of(form)) for bit, form in pairs]
        rows = [(bit, parts[1]) for bit, parts in found if parts and parts[0] is None]
        if any(len(parts) > most for _, parts in rows):
            raise Outside(f"{t.show(kind)} longer than {most}")
        for at in range(most):
            item = _picked((bit, parts[at]) for bit, parts in rows if at < len(parts))
            self.value(item, kind.elem)
        self.number(range(most + 1), [(bit, len(parts)) for bit, parts in rows])

    def _set(self, pairs: list[tuple[Bit, Sym]], kind: t.SetOf) -> None:
        found = _picked((bit, form) for bit, form in pairs if isinstance(form, SETS))
        held = frozenset() if found is ABSENT else found
        few = members(kind)
        counts = counted(kind) if isinstance(kind, t.BagOf) else None
        if few is not None:
            self.found += [term_of(contains(held, value)) for value in few]
        elif counts is not None:
            self._bag(held, *counts)
        else:
            self._listed(held, kind)

    def _bag(self, held: Sym, elements: Sequence[Value], often: t.Int) -> None:
        listed = as_cells(held)
        pairs = [(bit, *value) for value, bit in listed.known.items()]
        for bit, form in listed.others:
            found = parts_of(form)
            if found is None:
                raise Outside("a bag of unknown pairs")
            pairs.append((bit, *found[1]))
        for elem in elements:
            own = [(and_(bit, equal(e, elem)), n) for bit, e, n in pairs]
            own = [(bit, n) for bit, n in own if bit is not False]
            self.value(select([*own, (not_(any_of(b for b, _ in own)), 0)]), often)

    def _listed(self, held: Sym, kind: t.SetOf) -> None:
        listed = as_cells(held)
        pairs = [(bit, value) for value, bit in listed.known.items()] + list(listed.others)
        if self.size is None or len(pairs) > self.size:
            raise Outside(f"{t.show(kind)} with more than {self.size} elements")
        pairs += [(False, ABSENT)] * (self.size - len(pairs))
        for bit, form in pairs:
            self.found.append(term_of(bit))
            self.value(form, kind.elem)


def _picked(pairs: Iterable[tuple[Bit, Sym]]) -> Sym:
    found = [(bit, form) for bit, form in pairs if bit is not False]
    return select(found) if found else ABSENT


def _positions(values: tuple[Value, ...], pairs: list[tuple[Bit, Sym]]) -> list[tuple[Bit, int]]:
    """The numbers of known values, and when each is meant."""
    places = {value: at for at, value in enumerate(values)}
    found = []
    for bit, form in pairs:
        if is_known(form):
            found += [(bit, places[form])] if form in places else []
        elif is_number(form):
            found += [(and_(bit, equal(form, v)), at) for v, at in places.items() if is_number(v)]
    return found


def extent(sym: Sym, kind: t.Type) -> int:
    """How many elements the largest sequence or set in a value has whose type has no bound."""
    found = [0]
    for _, form in alternatives(sym):
        for option in t.options(kind):
            found += _extents(form, option)
    return max(found)


def _extents(form: Sym, kind: t.Type) -> list[int]:
    if isinstance(kind, t.SetOf) and isinstance(form, frozenset | Cells):
        if members(kind) is not None or isinstance(kind, t.BagOf):
            return []
        listed = as_cells(form)
        inside = [*listed.known, *(other for _, other in listed.others)]
        return [len(inside), *(extent(value, kind.elem) for value in inside)]
    found = parts_of(form)
    if found is None:
        return []
    parts = found[1]
    match kind:
        case t.SeqOf():
            return [len(parts), *(extent(part, kind.elem) for part in parts)]
        case t.MapOf():
            return [extent(part, kind.value) for part in parts]
        case t.Tuple(kinds) if len(kinds) == len(parts):
            return [extent(part, k) for part, k in zip(parts, kinds, strict=True)]
        case t.Rec() if len(kind.fields) == len(parts):
            return [extent(part, k) for part, (_, k) in zip(parts, kind.fields, strict=True)]
    return []
