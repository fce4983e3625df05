"""Types of machine values, and plain data for everything that is built of dataclasses.

A machine's state must be finite enough to enumerate and small enough to send, so its values come
from a closed set of types. Constants and Sort sizes are already resolved here: a `Type` stands for
itself, without the user's classes, and `domain` in `values` lists its members.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, TypeAlias

from refute.errors import UnreadableInput
from refute.frozen import frozen
from refute.plain import Plain


@frozen
class Bool:
    """False and True."""


@frozen
class Int:
    """Integers from lo to hi, both included; None is unbounded on that side."""

    lo: int | None = None
    hi: int | None = None


@frozen
class Nothing:
    """The type of None."""


@frozen
class Atoms:
    """An Enum ("enum"), a Sort ("sort") or an OrderedSort ("ordered"), by name and members.

    A Sort of any size is "open", or "open ordered", and has no members by name.
    """

    name: str
    members: tuple[str, ...]
    kind: str = "enum"


@frozen
class Text:
    """One of some strings, in alphabetical order."""

    options: tuple[str, ...]


@frozen
class Tuple:
    """Tuples of fixed length."""

    items: tuple[Type, ...]


@frozen
class Rec:
    """A frozen dataclass: its name and its fields in order."""

    name: str
    fields: tuple[tuple[str, Type], ...]


@frozen
class Union:
    """One of several types; no option at all is the type of an empty set's elements."""

    options: tuple[Type, ...]


@frozen
class SetOf:
    """Finite sets."""

    elem: Type


@frozen
class BagOf(SetOf):
    """Multisets: a set of pairs of an element and how often it is there, at least once."""


@frozen
class MapOf:
    """Total maps from a finite type."""

    key: Type
    value: Type


@frozen
class SeqOf:
    """Sequences; at most `upto` long, None is unbounded."""

    elem: Type
    upto: int | None = None


Type: TypeAlias = Bool | Int | Nothing | Atoms | Text | Tuple | Rec | Union | SetOf | MapOf | SeqOf

NEVER = Union(())
ANY = "any"  # in place of the size of a Sort: it has any number of members, at least one
OPEN, OPEN_ORDERED = "open", "open ordered"


def text_of(options: Iterable[str]) -> Text:
    """The type of these strings."""
    return Text(tuple(sorted(set(options))))


def options(kind: Type) -> tuple[Type, ...]:
    """The alternatives of a union; a single type is its only alternative."""
    return kind.options if isinstance(kind, Union) else (kind,)


def join(kinds: Iterable[Type]) -> Type:
    """The least type in this language that includes all of them."""
    flat: list[Type] = []
    for kind in kinds:
        for option in options(kind):
            _join_into(flat, option)
    return flat[0] if len(flat) == 1 else Union(tuple(flat))


def _join_into(flat: list[Type], option: Type) -> None:
    for at, known in enumerate(flat):
        merged = _merge(known, option)
        if merged is not None:
            flat[at] = merged
            return
    flat.append(option)


def _merge(left: Type, right: Type) -> Type | None:
    if left == right:
        return left
    match left, right:
        case Int(), Int():
            return Int(_least(left.lo, right.lo), _most(left.hi, right.hi))
        case Text(), Text():
            return text_of({*left.options, *right.options})
        case SetOf(), SetOf() if type(left) is type(right):
            return type(left)(join((left.elem, right.elem)))
        case SeqOf(), SeqOf():
            return SeqOf(join((left.elem, right.elem)), _most(left.upto, right.upto))
        case MapOf(), MapOf() if left.key == right.key:
            return MapOf(left.key, join((left.value, right.value)))
        case Tuple(), Tuple() if len(left.items) == len(right.items):
            return Tuple(tuple(join(p) for p in zip(left.items, right.items, strict=True)))
        case Rec(), Rec() if left.name == right.name:
            pairs = zip(left.fields, right.fields, strict=True)
            return Rec(left.name, tuple((a[0], join((a[1], b[1]))) for a, b in pairs))
    return None


def widened(kind: Type) -> Type:
    """The type with every int unbounded and every sequence of any length."""
    match kind:
        case Int():
            return Int()
        case SetOf():
            return type(kind)(widened(kind.elem))
        case SeqOf():
            return SeqOf(widened(kind.elem))
        case Tuple():
            return Tuple(tuple(map(widened, kind.items)))
        case Union():
            return join(map(widened, kind.options))
        case Rec():
            return Rec(kind.name, tuple((n, widened(k)) for n, k in kind.fields))
        case MapOf():
            return MapOf(kind.key, widened(kind.value))
    return kind


def _least(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else min(a, b)


def _most(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else max(a, b)


def included(inner: Type, outer: Type) -> bool:
    """Whether every value of `inner` is surely a value of `outer`; False when not sure."""
    if inner == outer:
        return True
    if isinstance(inner, Union):
        return all(included(option, outer) for option in inner.options)
    if isinstance(outer, Union):
        return any(included(inner, option) for option in outer.options)
    match inner, outer:
        case Int(), Int():
            low = outer.lo is None or (inner.lo is not None and inner.lo >= outer.lo)
            return low and (outer.hi is None or (inner.hi is not None and inner.hi <= outer.hi))
        case Text(), Text():
            return set(inner.options) <= set(outer.options)
        case SetOf(), SetOf():
            return type(inner) is type(outer) and included(inner.elem, outer.elem)
        case SeqOf(), SeqOf():
            short = outer.upto is None or (inner.upto is not None and inner.upto <= outer.upto)
            return short and included(inner.elem, outer.elem)
        case MapOf(), MapOf():
            return inner.key == outer.key and included(inner.value, outer.value)
        case Tuple(), Tuple() if len(inner.items) == len(outer.items):
            return all(map(included, inner.items, outer.items))
        case Rec(), Rec() if inner.name == outer.name:
            pairs = zip(inner.fields, outer.fields, strict=True)
            return all(included(a[1], b[1]) for a, b in pairs)
    return False


def parts(kind: Type) -> tuple[Type, ...]:
    """The types that a type is made of, one level down."""
    match kind:
        case SetOf() | SeqOf():
            return (kind.elem,)
        case MapOf():
            return (kind.key, kind.value)
        case Tuple():
            return kind.items
        case Union():
            return kind.options
        case Rec():
            return tuple(field for _, field in kind.fields)
    return ()


def open_sorts(kind: Type) -> tuple[str, ...]:
    """The names of the Sorts of any size in a type, each once."""
    if isinstance(kind, Atoms):
        return (kind.name,) if kind.kind in (OPEN, OPEN_ORDERED) else ()
    return tuple(dict.fromkeys(name for part in parts(kind) for name in open_sorts(part)))


def show(kind: Type) -> str:
    """The type as a person reads it."""
    match kind:
        case Int():
            if kind.lo is None and kind.hi is None:
                return "int"
            return f"{_end(kind.lo)}..{_end(kind.hi)}"
        case Atoms() | Rec():
            return kind.name
        case Text():
            return f"Literal[{', '.join(map(repr, kind.options))}]"
        case Tuple():
            return f"tuple[{', '.join(map(show, kind.items))}]"
        case Union():
            return " | ".join(map(show, kind.options)) or "nothing"
        case BagOf(Tuple((elem, _))):
            return f"Bag[{show(elem)}]"
        case SetOf():
            return f"Set[{show(kind.elem)}]"
        case MapOf():
            return f"Map[{show(kind.key)}, {show(kind.value)}]"
        case SeqOf():
            limit = "" if kind.upto is None else f" up to {kind.upto}"
            return f"Seq[{show(kind.elem)}]{limit}"
        case Bool():
            return "bool"
        case Nothing():
            return "None"


def _end(bound: int | None) -> str:
    return "" if bound is None else str(bound)


_CLASSES: dict[str, type[Any]] = {}
_FIELDS: dict[type[Any], tuple[str, ...]] = {}  # of the same classes
_LATER: dict[type[Any], int] = {}  # how many last fields are left out where they are None


def register(*classes: type[Any], later: int = 0) -> None:
    """Let `pack` and `unpack` know these dataclasses, by their names.

    later: of their last fields, so many are left out as long as all of these are None, so that data
    and digests from before there were such fields stay what they are.
    """
    _CLASSES.update({c.__name__: c for c in classes})
    _FIELDS.update({c: tuple(f.name for f in dataclasses.fields(c)) for c in classes})
    _LATER.update(dict.fromkeys(classes, later) if later else {})


register(Bool, Int, Nothing, Atoms, Text, Tuple, Rec, Union, SetOf, BagOf, MapOf, SeqOf)


def pack(value: Any) -> Plain:
    """Registered dataclasses, tuples and scalars as plain data."""
    kind = type(value)
    if kind is tuple or kind is list:
        return [pack(v) for v in value]
    names = _FIELDS.get(kind)
    if names is None:
        return value
    later = _LATER.get(kind)
    if later and all(getattr(value, name) is None for name in names[-later:]):
        names = names[:-later]
    return {"is": kind.__name__, "of": [pack(getattr(value, name)) for name in names]}


def unpack(data: Plain) -> Any:
    """The inverse of `pack`; lists come back as tuples. Raises UnreadableInput."""
    if type(data) is list or type(data) is tuple:
        return tuple(unpack(v) for v in data)
    if type(data) is dict:
        kind = _CLASSES.get(str(data.get("is")))
        fields = data.get("of")
        if kind is None or type(fields) is not list:
            raise UnreadableInput(f"not the data of a machine: {str(data)[:80]}", thing="machine")
        if len(fields) not in (len(_FIELDS[kind]), len(_FIELDS[kind]) - _LATER.get(kind, 0)):
            raise UnreadableInput(f"{kind.__name__} has other fields", thing="machine")
        return kind(*(unpack(v) for v in fields))
    if data is None or type(data) in (bool, int, str):
        return data
    raise UnreadableInput(f"not the data of a machine: {type(data).__name__}", thing="machine")
