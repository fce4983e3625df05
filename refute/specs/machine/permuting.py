"""Permutations of a Sort's members, applied to values of a machine.

A permutation moves atoms wherever they are: as elements of sets and sequences, in records, and as
keys of maps, whose entries move with them. A `view` is what is left of a value when the members of
the classes are known by a number only: values that a permutation takes into one another have equal
views under numbers that are permuted alike. Both are made once for a type, as functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from refute.specs.machine import types as t
from refute.specs.machine.values import Atom, Value, conforms, domain

Permutation = Mapping[Atom, Atom]  # members that stay may be left out
Labels = Mapping[Atom, int]
Mover = Callable[[Value, Permutation], Value]
Viewer = Callable[[Value, Labels], int]


@functools.cache
def mentions(kind: t.Type, sorts: frozenset[str]) -> bool:
    """Whether values of the type may hold members of one of these Sorts."""
    match kind:
        case t.Atoms():
            return kind.kind == "sort" and kind.name in sorts
        case t.Tuple():
            return any(mentions(k, sorts) for k in kind.items)
        case t.Rec():
            return any(mentions(k, sorts) for _, k in kind.fields)
        case t.Union():
            return any(mentions(k, sorts) for k in kind.options)
        case t.SetOf() | t.SeqOf():
            return mentions(kind.elem, sorts)
        case t.MapOf():
            return mentions(kind.key, sorts) or mentions(kind.value, sorts)
    return False


def ambiguous(kind: t.Type, sorts: frozenset[str]) -> bool:
    """Whether it is open for some value which entries belong to which keys of a map.

    A map is the tuple of its values, and so are tuples and sequences: of a union of them one
    cannot say what a permutation of the keys does.
    """
    match kind:
        case t.Tuple():
            return any(ambiguous(k, sorts) for k in kind.items)
        case t.Rec():
            return any(ambiguous(k, sorts) for _, k in kind.fields)
        case t.SetOf() | t.SeqOf():
            return ambiguous(kind.elem, sorts)
        case t.MapOf():
            return ambiguous(kind.key, sorts) or ambiguous(kind.value, sorts)
        case t.Union():
            rows = [o for o in kind.options if isinstance(o, t.MapOf | t.Tuple | t.SeqOf)]
            keyed = any(isinstance(o, t.MapOf) and mentions(o.key, sorts) for o in rows)
            return (keyed and len(rows) > 1) or any(ambiguous(o, sorts) for o in kind.options)
    return False


@functools.cache
def mover(kind: t.Type, sorts: frozenset[str]) -> Mover:
    """The function that applies a permutation of these Sorts to values of the type."""
    if not mentions(kind, sorts):
        return lambda value, moved: value
    match kind:
        case t.Atoms():
            return lambda value, moved: moved.get(value, value)
        case t.Tuple():
            return _fields([mover(k, sorts) for k in kind.items], 0)
        case t.Rec():
            return _fields([mover(k, sorts) for _, k in kind.fields], 1)
        case t.SetOf():
            return _set(mover(kind.elem, sorts))
        case t.SeqOf():
            return _seq(mover(kind.elem, sorts))
        case t.MapOf():
            return _map(kind, mover(kind.key, sorts), mover(kind.value, sorts))
        case t.Union():
            return _union([(option, mover(option, sorts)) for option in kind.options])
    raise AssertionError(kind)


def _fields(parts: list[Mover], head: int) -> Mover:
    def move(value: Value, moved: Permutation) -> Value:
        row = zip(parts, value[head:], strict=True)
        return (*value[:head], *(part(v, moved) for part, v in row))

    return move


def _set(part: Mover) -> Mover:
    return lambda value, moved: frozenset(part(v, moved) for v in value)


def _seq(part: Mover) -> Mover:
    return lambda value, moved: tuple(part(v, moved) for v in value)


def _map(kind: t.MapOf, key: Mover, part: Mover) -> Mover:
    keys = domain(kind.key)
    places = {k: at for at, k in enumerate(keys)}

    def move(value: Value, moved: Permutation) -> Value:
        found = list(value)
        for k, v in zip(keys, value, strict=True):
            found[places[key(k, moved)]] = part(v, moved)
        return tuple(found)

    return move


def _union(parts: list[tuple[t.Type, Mover]]) -> Mover:
    def move(value: Value, moved: Permutation) -> Value:
        return next(part for option, part in parts if conforms(value, option))(value, moved)

    return move


@functools.cache
def viewer(kind: t.Type, sorts: frozenset[str]) -> Viewer:
    """The function that views values of the type; see the module. Equal views may be chance."""
    if not mentions(kind, sorts):
        return lambda value, labels: _opaque(value)
    match kind:
        case t.Atoms():
            return lambda value, labels: labels[value] if value in labels else hash((value.i, 11))
        case t.Tuple():
            return _viewed_fields([viewer(k, sorts) for k in kind.items], 0)
        case t.Rec():
            return _viewed_fields([viewer(k, sorts) for _, k in kind.fields], 1)
        case t.SetOf():
            return _viewed_set(viewer(kind.elem, sorts))
        case t.SeqOf():
            part = viewer(kind.elem, sorts)
            return lambda value, labels: hash(tuple(part(v, labels) for v in value))
        case t.MapOf():
            return _viewed_map(kind, viewer(kind.key, sorts), viewer(kind.value, sorts))
        case t.Union():
            return _viewed_union([(o, viewer(o, sorts)) for o in kind.options])
    raise AssertionError(kind)


def _opaque(value: Any) -> int:
    """A number for a value that no permutation changes, the same in every process."""
    kind = type(value)
    if kind is Atom:
        return hash((value.i, 3))
    if kind is frozenset:
        return hash(tuple(sorted(map(_opaque, value))))
    if kind is tuple:
        return hash(tuple(map(_opaque, value)))
    return hash((value, 5)) if kind in (int, bool) else 7


def _viewed_fields(parts: list[Viewer], head: int) -> Viewer:
    def view(value: Value, labels: Labels) -> int:
        row = zip(parts, value[head:], strict=True)
        return hash(tuple(part(v, labels) for part, v in row))

    return view


def _viewed_set(part: Viewer) -> Viewer:
    return lambda value, labels: hash(tuple(sorted(part(v, labels) for v in value)))


def _viewed_map(kind: t.MapOf, key: Viewer, part: Viewer) -> Viewer:
    keys = domain(kind.key)

    def view(value: Value, labels: Labels) -> int:
        pairs = zip(keys, value, strict=True)
        return hash(tuple(sorted((key(k, labels), part(v, labels)) for k, v in pairs)))

    return view


def _viewed_union(parts: list[tuple[t.Type, Viewer]]) -> Viewer:
    def view(value: Value, labels: Labels) -> int:
        at = next(at for at, (option, _) in enumerate(parts) if conforms(value, option))
        return hash((at, parts[at][1](value, labels)))

    return view
