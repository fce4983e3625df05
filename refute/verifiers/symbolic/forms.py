"""Symbolic values: what a machine's value may be, depending on unknowns.

A value says itself what it is, so that no type has to be carried along with it:

    a known value        as `values` has it, wholly concrete: bool, int, str, None, Atom, tuple, …
    z3.BoolRef           a truth             z3.ArithRef     an integer without bounds
    z3.ExprRef           a member of an open Sort, an element of an uninterpreted sort
    Row                  a tuple, a record, a map over few keys, or a sequence of this length
    Cells                a set of elements that are listed, each with the condition of being there
    OpenSet, OpenMap     a relation and a function over what cannot be listed
    Choice               one of several of these, by conditions that exclude each other

A sequence whose length is unknown is a choice of rows, a small range or Enum a choice of known
values: every operation is exact for each of them, and the results are merged where they agree.
Conditions of a choice are exhaustive wherever the value is looked at. Values on paths that raise,
or that are not taken, are arbitrary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import z3

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.values import Atom, Tag, Value
from refute.verifiers.symbolic.folding import (
    Bit,
    and_,
    any_of,
    not_,
)

Sym: TypeAlias = Any  # a known Value or one of the forms above
MOST_ALTERNATIVES = 1024  # known values that one symbolic value is expanded into

SCALARS = (int, str, Atom, type(None))
_KNOWN = (bool, int, str, Atom, type(None), tuple, frozenset)


class Outside(Exception):
    """What symbolic engines do not take; the message names the construct."""


@frozen
class Row:
    """Parts in order. head: the Tag of a record, else None. At least one part is not known."""

    parts: tuple[Sym, ...]
    head: Tag | None = None


@frozen
class Cells:
    """A set: known elements and when each is in it, and other elements, which may be equal."""

    known: dict[Value, Bit]
    others: tuple[tuple[Bit, Sym], ...] = ()


@frozen
class OpenSet:
    """A set over a type that has no list of its values, by membership."""

    elem: t.Type
    has: Callable[[Sym], Bit]


@frozen
class OpenMap:
    """A total map from such a type, by reading."""

    kind: t.MapOf
    read: Callable[[Sym], Sym]


@frozen
class Choice:
    """Known scalars with their conditions, and other forms, one of each shape, with theirs."""

    known: dict[Value, Bit]
    others: tuple[tuple[Bit, Sym], ...] = ()


def is_known(sym: Sym) -> bool:
    """Whether the value is wholly concrete."""
    return type(sym) in _KNOWN


def row(parts: Iterable[Sym], head: Tag | None = None) -> Sym:
    """A tuple or record of these parts; known where they all are."""
    made = tuple(parts)
    if all(type(p) in _KNOWN for p in made):
        return made if head is None else (head, *made)
    return Row(made, head)


def cells(known: dict[Value, Bit], others: Iterable[tuple[Bit, Sym]] = ()) -> Sym:
    """A set of these elements; known where all conditions are."""
    there = {value: bit for value, bit in known.items() if bit is not False}
    rest = tuple((bit, sym) for bit, sym in others if bit is not False)
    if not rest and all(bit is True for bit in there.values()):
        return frozenset(there)
    return Cells(there, rest)


def as_cells(sym: Sym) -> Cells:
    """A listed set as `Cells`, also where it is known."""
    return Cells(dict.fromkeys(sym, True)) if type(sym) is frozenset else sym


def parts_of(sym: Sym) -> tuple[Tag | None, tuple[Sym, ...]] | None:
    """Head and parts of a tuple or record; None of anything else."""
    if type(sym) is Row:
        return sym.head, sym.parts
    if type(sym) is tuple:
        return (sym[0], sym[1:]) if sym and type(sym[0]) is Tag else (None, sym)
    return None


def alternatives(sym: Sym) -> list[tuple[Bit, Sym]]:
    """What the value may be, each with its condition; no choice among them."""
    if type(sym) is Choice:
        return [(bit, value) for value, bit in sym.known.items()] + list(sym.others)
    return [(True, sym)]


def shape(sym: Sym) -> Any:
    """What two forms have in common that can be merged into one of the same shape."""
    kind = type(sym)
    if kind is bool or isinstance(sym, z3.BoolRef):
        return "bool"
    if kind is Row:
        return "row", sym.head, len(sym.parts)
    if kind is tuple:
        head, parts = parts_of(sym) or (None, ())
        return "row", head, len(parts)
    if kind in (Cells, frozenset, OpenSet):
        return "set"
    if kind is OpenMap:
        return "map"
    if isinstance(sym, z3.ArithRef):
        return "int"
    return "open", sym.sort().name()


def truth(sym: Sym) -> Bit:
    """A value as a condition."""
    if type(sym) is bool or isinstance(sym, z3.BoolRef):
        return sym
    if is_known(sym):
        return bool(sym)
    if type(sym) is Choice:
        return any_of(and_(bit, truth(form)) for bit, form in alternatives(sym))
    if isinstance(sym, z3.ArithRef):
        return not_(sym == 0)
    raise Outside(f"{type(sym).__name__} as a condition")


def expanded(sym: Sym, limit: int = MOST_ALTERNATIVES) -> list[tuple[Bit, Value]] | None:
    """All known values it may be, each with its condition; None if there are more than the limit.

    Different entries may have one value.
    """
    kind = type(sym)
    if kind in _KNOWN:
        return [(True, sym)]
    if isinstance(sym, z3.BoolRef):
        return [(sym, True), (not_(sym), False)]
    if kind is Choice:
        return _expanded_choice(sym, limit)
    if kind is Row:
        found = _products(sym.parts, limit)
        if found is None or sym.head is None:
            return found
        return [(bit, (sym.head, *parts)) for bit, parts in found]
    if kind is Cells and not sym.others:
        ways = [[(bit, True), (not_(bit), False)] for bit in sym.known.values()]
        sets = _combinations(ways, limit)
        if sets is not None:
            return [
                (bit, frozenset(v for v, there in zip(sym.known, inside, strict=True) if there))
                for bit, inside in sets
            ]
    return None


def _expanded_choice(sym: Choice, limit: int) -> list[tuple[Bit, Value]] | None:
    found = [(bit, value) for value, bit in sym.known.items()]
    for bit, form in sym.others:
        inside = expanded(form, limit)
        if inside is None:
            return None
        found += [(and_(bit, test), value) for test, value in inside]
    return found if len(found) <= limit else None


def _products(parts: tuple[Sym, ...], limit: int) -> list[tuple[Bit, tuple[Value, ...]]] | None:
    ways = []
    for part in parts:
        inside = expanded(part, limit)
        if inside is None:
            return None
        ways.append(inside)
    return _combinations(ways, limit)


def _combinations(
    ways: list[list[tuple[Bit, Any]]], limit: int
) -> list[tuple[Bit, tuple[Any, ...]]] | None:
    found: list[tuple[Bit, tuple[Any, ...]]] = [(True, ())]
    for way in ways:
        if len(found) * len(way) > limit:
            return None
        found = [
            (test, (*done, value))
            for bit, done in found
            for more, value in way
            if (test := and_(bit, more)) is not False
        ]
    return found
