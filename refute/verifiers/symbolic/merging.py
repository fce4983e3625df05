"""One value out of several, by conditions: where paths meet, what their values have in common.

Forms of one shape become one form of that shape, part by part, so that a value never grows with
the number of paths that lead to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from refute.specs.machine import types as t
from refute.specs.machine.values import Value
from refute.verifiers.symbolic.comparing import contains
from refute.verifiers.symbolic.folding import (
    Bit,
    address,
    and_,
    any_of,
    chosen,
    either,
    not_,
    number_of,
)
from refute.verifiers.symbolic.forms import (
    SCALARS,
    Choice,
    OpenMap,
    OpenSet,
    Sym,
    alternatives,
    as_cells,
    cells,
    parts_of,
    row,
    shape,
)

MOST_NUMBERS = 64  # known integers in a choice; with more it becomes one integer term


def select(pairs: Iterable[tuple[Bit, Sym]]) -> Sym:
    """The value whose condition holds; conditions exclude each other, and one of them holds.

    Raises Outside when there is nothing to select from.
    """
    known: dict[Value, list[Bit]] = {}
    groups: dict[Any, list[tuple[Bit, Sym]]] = {}
    given = [pair for pair in pairs if pair[0] is not False]
    if given and all(sym is given[0][1] for _, sym in given):
        return given[0][1]
    for test, sym in given:
        if test is True:
            return sym
        for bit, form in alternatives(sym):
            if type(form) in SCALARS:
                known.setdefault(form, []).append(and_(test, bit))
            else:
                groups.setdefault(shape(form), []).append((and_(test, bit), form))
    _one_integer(known, groups)
    bits = {value: any_of(tests) for value, tests in known.items()}
    bits = {value: bit for value, bit in bits.items() if bit is not False}
    others = []
    for group in groups.values():
        there = [pair for pair in group if pair[0] is not False]
        if there:
            others.append((any_of(bit for bit, _ in there), _combined(there)))
    return choice(bits, others)


def choice(known: dict[Value, Bit], others: Iterable[tuple[Bit, Sym]] = ()) -> Sym:
    """A choice of these, of different shapes; the only one of them where there is one."""
    rest = tuple(others)
    if len(known) + len(rest) == 1:
        return rest[0][1] if rest else next(iter(known))
    for value, bit in known.items():
        if bit is True:
            return value
    for bit, form in rest:
        if bit is True:
            return form
    if not known and not rest:
        return None  # only where no path leads
    return Choice(known, rest)


def _one_integer(known: dict[Value, list[Bit]], groups: dict[Any, list[tuple[Bit, Sym]]]) -> None:
    """Known integers beside an integer term, or too many of them, become part of one term."""
    numbers = [v for v in known if type(v) is int]
    if numbers and ("int" in groups or len(numbers) > MOST_NUMBERS):
        found = groups.setdefault("int", [])
        for value in numbers:
            found.append((any_of(known.pop(value)), number_of(value)))


def _combined(pairs: list[tuple[Bit, Sym]]) -> Sym:
    """Forms of one shape as one."""
    first = pairs[0][1]
    if len(pairs) == 1:
        return first
    found = shape(first)
    if found == "bool":
        return _truths(pairs)
    if found == "set":
        return _sets(pairs)
    if found == "map":
        return OpenMap(first.kind, lambda key: select([(bit, m.read(key)) for bit, m in pairs]))
    if found[0] == "row":
        rows = [(bit, parts[1]) for bit, form in pairs if (parts := parts_of(form)) is not None]
        each = range(found[2])
        return row((select([(bit, parts[at]) for bit, parts in rows]) for at in each), found[1])
    return chosen(pairs)


def _truths(pairs: list[tuple[Bit, Bit]]) -> Bit:
    if len(pairs) == 2:
        return either(pairs[0][0], pairs[0][1], pairs[1][1])
    return any_of(and_(bit, form) for bit, form in pairs)


def _sets(pairs: list[tuple[Bit, Sym]]) -> Sym:
    opened = [form for _, form in pairs if type(form) is OpenSet]
    if opened:
        kind = t.join(form.elem for form in opened)
        return OpenSet(kind, lambda e: any_of(and_(bit, contains(f, e)) for bit, f in pairs))
    known: dict[Value, list[tuple[Bit, Bit]]] = {}
    others = []
    for bit, form in pairs:
        listed = as_cells(form)
        for value, there in listed.known.items():
            known.setdefault(value, []).append((bit, there))
        others += [(and_(bit, there), sym) for there, sym in listed.others]
    tests = [bit for bit, _ in pairs]
    return cells({v: _present(found, tests) for v, found in known.items()}, others)


def _present(found: list[tuple[Bit, Bit]], tests: list[Bit]) -> Bit:
    """When an element is in one of several sets; where it is in all of them it is there."""
    if len(found) == len(tests):
        there = found[0][1]
        if all(_same_bit(bit, there) for _, bit in found):
            return there
    return any_of(and_(test, bit) for test, bit in found)


def _same_bit(left: Bit, right: Bit) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return address(left) == address(right)


def merge(test: Bit, then: Sym, orelse: Sym, kind: t.Type | None = None) -> Sym:
    """One of two values of a type."""
    if test is True or test is False:
        return then if test else orelse
    if then is orelse:
        return then
    return select([(test, then), (not_(test), orelse)])
