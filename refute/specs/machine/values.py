"""Values of a machine as engines hold them, one form for all of them.

bool, int, str and None are themselves; members of Enums and Sorts are interned `Atom`s; a frozen
dataclass is a tuple headed by its interned `Tag`; Set is frozenset, Seq and tuple are tuple, and a
Map is the tuple of its values in the order of its key type. That form hashes fast; which of the
tuples is meant follows from the static type, so `text` and `conforms` take one.

`order` is the canonical order: iteration over a Set follows it in every meaning of a machine, so
that no result depends on hashing.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence
from typing import Any

from refute.errors import UnreadableInput, UsageError
from refute.plain import Plain
from refute.specs.machine.types import (
    ANY,
    Atoms,
    BagOf,
    Bool,
    Int,
    MapOf,
    Nothing,
    Rec,
    SeqOf,
    SetOf,
    Text,
    Tuple,
    Type,
    Union,
    open_sorts,
    parts,
    show,
)

MAX_DOMAIN = 1_000_000

Value = Any  # bool | int | str | None | Atom | tuple | frozenset, nested


class Atom:
    """A member of an Enum or Sort; interned, so identity is equality."""

    __slots__ = ("i", "kind", "name")

    def __init__(self, kind: str, i: int, name: str) -> None:
        self.kind = kind
        self.i = i
        self.name = name

    def __repr__(self) -> str:
        return self.name


class Tag:
    """The head of a record value: the dataclass's name and field names; interned."""

    __slots__ = ("fields", "name", "position")

    def __init__(self, name: str, fields: tuple[str, ...]) -> None:
        self.name = name
        self.fields = fields
        self.position = {field: at for at, field in enumerate(fields, 1)}

    def __repr__(self) -> str:
        return self.name


@functools.cache
def atom(kind: str, i: int, name: str) -> Atom:
    """The one Atom with these attributes."""
    return Atom(kind, i, name)


@functools.cache
def tag(name: str, fields: tuple[str, ...]) -> Tag:
    """The one Tag with these attributes."""
    return Tag(name, fields)


def tag_of(kind: Rec) -> Tag:
    """The Tag that heads the values of a record type."""
    return tag(kind.name, tuple(name for name, _ in kind.fields))


@functools.cache
def members(kind: Atoms) -> tuple[Atom, ...]:
    """The atoms of an Enum or Sort, in order."""
    return tuple(atom(kind.name, i, name) for i, name in enumerate(kind.members))


@functools.cache
def domain(kind: Type) -> tuple[Value, ...]:
    """All values of a finite type in canonical order. Raises UsageError when it is not finite."""
    size = cardinality(kind)
    if size == 0:  # also of nothing together with something unbounded
        return ()
    if size > MAX_DOMAIN:
        _refuse_open(kind)
        raise UsageError(
            f"the type {show(kind)} has more than {MAX_DOMAIN} values",
            thing="type",
            value=show(kind),
            next_step="bound it: Annotated[int, Range(lo, hi)], Annotated[Seq[T], Upto(n)]",
        )
    return tuple(sorted(set(_all(kind)), key=order))


def _refuse_open(kind: Type) -> None:
    names = open_sorts(kind)
    if names:
        raise UsageError(
            f"{names[0]} has any number of members, so the values of {show(kind)} are not listed",
            thing=names[0],
            value=ANY,
            next_step=f"give a number, --set {names[0]}=3; or take single members of {names[0]}",
        )


def quantifiable(kind: Type) -> bool:
    """Whether `for all` and `exists` have a meaning over a type without listing its values.

    Of sets, maps and sequences, whose quantifiers are of second order, only if they are few.
    """
    if isinstance(kind, Tuple | Rec | Union):
        return all(map(quantifiable, parts(kind)))
    if isinstance(kind, SetOf | MapOf | SeqOf):
        return cardinality(kind) <= MAX_DOMAIN
    return True


def choosable(kind: Type) -> bool:
    """Whether a value of the type can be chosen without listing them: a set, say, of members of a
    Sort of any size. Not of what has no bound but its elements, a sequence of any length."""
    if isinstance(kind, SeqOf | BagOf) and cardinality(kind) > MAX_DOMAIN:
        return False
    return all(map(choosable, parts(kind)))


def cardinality(kind: Type) -> float:
    """How many values the type has; infinity when unbounded (an upper bound for unions)."""
    match kind:
        case Bool():
            return 2
        case Int():
            return float("inf") if kind.lo is None or kind.hi is None else kind.hi - kind.lo + 1
        case Nothing():
            return 1
        case Atoms():
            return float("inf") if open_sorts(kind) else len(kind.members)
        case Text():
            return len(kind.options)
        case Tuple():
            return _product(kind.items)
        case Rec():
            return _product([field for _, field in kind.fields])
        case Union():
            return sum(map(cardinality, kind.options))
        case BagOf():
            return float("inf")
        case SetOf():
            return _power(2, cardinality(kind.elem))
        case MapOf():
            return _power(cardinality(kind.value), cardinality(kind.key))
        case SeqOf():
            if kind.upto is None:
                return float("inf")
            return sum(_power(cardinality(kind.elem), n) for n in range(kind.upto + 1))


def _product(kinds: Sequence[Type]) -> float:
    """Of nothing and of something unbounded there is nothing."""
    sizes = [cardinality(kind) for kind in kinds]
    return 0 if 0 in sizes else functools.reduce(operator.mul, sizes, 1.0)


def _power(base: float, exponent: float) -> float:
    if exponent == 0 or base == 1:
        return 1
    return float("inf") if exponent > 64 or base == float("inf") else float(base**exponent)


def _all(kind: Type) -> Any:
    match kind:
        case Bool():
            return (False, True)
        case Int():
            return range(kind.lo or 0, (kind.hi or 0) + 1)
        case Nothing():
            return (None,)
        case Atoms():
            return members(kind)
        case Text():
            return kind.options
        case Tuple():
            return itertools.product(*map(domain, kind.items))
        case Rec():
            head = tag_of(kind)
            products = itertools.product(*(domain(t) for _, t in kind.fields))
            return ((head, *fields) for fields in products)
        case Union():
            return itertools.chain.from_iterable(map(domain, kind.options))
        case SetOf():
            elems = domain(kind.elem)
            sizes = range(len(elems) + 1)
            return (frozenset(c) for n in sizes for c in itertools.combinations(elems, n))
        case MapOf():
            return itertools.product(domain(kind.value), repeat=len(domain(kind.key)))
        case SeqOf():
            lengths = range((kind.upto or 0) + 1)
            return (s for n in lengths for s in itertools.product(domain(kind.elem), repeat=n))


def conforms(value: Value, kind: Type) -> bool:
    """Whether the value is one of the type's."""
    match kind:
        case Bool():
            return type(value) is bool
        case Int():
            if type(value) not in (int, bool):
                return False
            return (kind.lo is None or value >= kind.lo) and (kind.hi is None or value <= kind.hi)
        case Nothing():
            return value is None
        case Atoms():
            inside = type(value) is Atom and value.kind == kind.name
            return inside and value.i < len(kind.members)
        case Text():
            return type(value) is str and value in kind.options
        case Tuple():
            return _row(value, kind.items)
        case Rec():
            return (
                type(value) is tuple
                and value[:1] == (tag_of(kind),)
                and _row(value[1:], tuple(t for _, t in kind.fields))
            )
        case Union():
            return any(conforms(value, option) for option in kind.options)
        case SetOf():
            return type(value) is frozenset and all(conforms(v, kind.elem) for v in value)
        case MapOf():
            keys = len(domain(kind.key))
            return _row(value, (kind.value,) * keys)
        case SeqOf():
            short = type(value) is tuple and (kind.upto is None or len(value) <= kind.upto)
            return short and _row(value, (kind.elem,) * len(value))


def is_instance(value: Value, kinds: tuple[Type, ...]) -> bool:
    """Python's `isinstance`: the class alone, whatever the fields hold."""
    if type(value) is tuple and value and type(value[0]) is Tag:
        return any(isinstance(k, Rec) and k.name == value[0].name for k in kinds)
    if type(value) is Atom:
        return any(isinstance(k, Atoms) and k.name == value.kind for k in kinds)
    return any(conforms(value, k) for k in kinds if isinstance(k, Bool | Int | Text))


def _row(value: Value, kinds: tuple[Type, ...]) -> bool:
    return type(value) is tuple and len(value) == len(kinds) and all(map(conforms, value, kinds))


def order(value: Value) -> tuple[Any, ...]:
    """Sort key of the canonical order: None, numbers, atoms, tuples, records, sets."""
    if value is None:
        return (0,)
    kind = type(value)
    if kind is bool or kind is int:
        return (1, int(value))
    if kind is Atom:
        return (2, value.kind, value.i)
    if kind is str:
        return (2, "", value)
    if kind is frozenset:
        return (5, tuple(sorted(map(order, value))))
    if value and type(value[0]) is Tag:
        return (4, value[0].name, tuple(map(order, value[1:])))
    return (3, tuple(map(order, value)))


def text(value: Value, kind: Type) -> str:
    """The value as a person reads it."""
    match kind:
        case Union():
            fitting = [option for option in kind.options if conforms(value, option)]
            return text(value, fitting[0]) if fitting else repr(value)
        case MapOf() if type(value) is tuple:
            pairs = zip(domain(kind.key), value, strict=True)
            inside = (f"{text(k, kind.key)}: {text(v, kind.value)}" for k, v in pairs)
            return "{" + ", ".join(inside) + "}"
        case BagOf(Tuple((elem, _))) if type(value) is frozenset:
            often = sorted(value, key=order)
            return "{" + ", ".join(f"{text(v, elem)}: {n}" for v, n in often) + "}"
        case SetOf() if type(value) is frozenset:
            return "{" + ", ".join(text(v, kind.elem) for v in sorted(value, key=order)) + "}"
        case SeqOf() if type(value) is tuple:
            return "[" + ", ".join(text(v, kind.elem) for v in value) + "]"
        case Tuple() if type(value) is tuple:
            inside = (text(v, t) for v, t in zip(value, kind.items, strict=True))
            return "(" + ", ".join(inside) + ("," if len(value) == 1 else "") + ")"
        case Rec() if type(value) is tuple:
            fields = zip(value[1:], kind.fields, strict=True)
            return f"{kind.name}({', '.join(f'{n}={text(v, t)}' for v, (n, t) in fields)})"
    return repr(value)


def said(value: Value) -> str:
    """The value as a person reads it, where no type is at hand; a Map shows its values only."""
    if type(value) is frozenset:
        return "{" + ", ".join(map(said, sorted(value, key=order))) + "}"
    if type(value) is not tuple:
        return repr(value)
    if value and type(value[0]) is Tag:
        fields = zip(value[0].fields, value[1:], strict=True)
        return f"{value[0].name}({', '.join(f'{n}={said(v)}' for n, v in fields)})"
    return "(" + ", ".join(map(said, value)) + ("," if len(value) == 1 else "") + ")"


def pack_value(value: Value) -> Plain:
    """A value as plain data that `unpack_value` reads back without a type."""
    kind = type(value)
    if value is None or kind is bool or kind is int or kind is str:
        return value
    if kind is Atom:
        return ("atom", value.kind, value.i, value.name)
    if kind is frozenset:
        return ("set", *(pack_value(v) for v in sorted(value, key=order)))
    if value and type(value[0]) is Tag:
        return ("rec", value[0].name, value[0].fields, *map(pack_value, value[1:]))
    return ("tuple", *map(pack_value, value))


def unpack_value(data: Plain) -> Value:
    """The inverse of `pack_value`. Raises UnreadableInput."""
    if data is None or type(data) in (bool, int, str):
        return data
    try:
        match data[0]:
            case "atom":
                return atom(str(data[1]), int(data[2]), str(data[3]))
            case "set":
                return frozenset(map(unpack_value, data[1:]))
            case "rec":
                return (tag(str(data[1]), tuple(data[2])), *map(unpack_value, data[3:]))
            case "tuple":
                return tuple(map(unpack_value, data[1:]))
    except (TypeError, IndexError, KeyError, ValueError) as error:
        raise UnreadableInput(f"not a machine's value: {error}", thing="value") from error
    raise UnreadableInput(f"not a machine's value: {str(data)[:60]}", thing="value")
