"""How values of a machine's types are held in C.

Whatever has few values is a number: the value's place in the canonical order of its type (`code`).
Sets over few elements are bits over the codes of these, so that walking through the bits is walking
through the set in canonical order; larger ones and bags are sorted arrays. Maps are arrays,
sequences arrays with a length, and tuples, records and unions with too many values for a code are
structs. Ints, and elements of sorted arrays and sequences, that no type bounds have the `Room` in
force; a search that needs more is begun again with more. A type that has no form is refused by
`Unsuited`, and the plain engine runs.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
from collections.abc import Iterator

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.types import show
from refute.specs.machine.values import Value, cardinality, conforms, domain

MAX_CODES = 4096  # values of a type that is held as a number, and elements of a set of bits
FEW = 512  # elements of a type up to which its sets are bits in any case
BUILT = 4  # times as many elements may be in a value that a step makes on its way


@frozen
class Room:
    """Set aside in a state for what its type leaves open: bits of an int, elements."""

    bits: int = 32
    items: int = 5


ROOMS = (Room(), Room(63, 16), Room(63, 64), Room(63, 256))  # tried in this order
_room = contextvars.ContextVar("_room", default=ROOMS[0])


def room() -> Room:
    """The room in force."""
    return _room.get()


@contextlib.contextmanager
def with_room(given: Room) -> Iterator[None]:
    """Forms and layouts have this room."""
    token = _room.set(given)
    try:
        yield
    finally:
        _room.reset(token)


class Unsuited(Exception):
    """The native engine cannot hold or compute this; the message says what and where."""


class Cramped(Unsuited):
    """It could with more room."""


@frozen
class Form:
    """kind: "int", "code", "set", "bunch" (a sorted array), "map", "seq", "struct" or "union".

    count: values (code), elements of the domain (set), entries (map) or the most elements (seq,
    bunch). parts: the element type of a collection, the types of a struct's fields or a union's
    options. packed: the most elements (seq, bunch) in a state.
    """

    kind: str
    count: int = 0
    parts: tuple[t.Type, ...] = ()
    packed: int = 0


def form(kind: t.Type) -> Form:
    """The form of a type. Raises Unsuited."""
    return _form(kind, _room.get())


@functools.cache
def _form(kind: t.Type, given: Room) -> Form:
    match kind:
        case t.Int():
            return Form("int")
        case t.Bool() | t.Nothing() | t.Atoms() | t.Text():
            return Form("code", int(cardinality(kind)))
        case t.SetOf():
            form(kind.elem)
            if _as_bits(kind.elem, given):
                return Form("set", count(kind.elem), (kind.elem,))
            return Form("bunch", BUILT * given.items, (kind.elem,), given.items)
        case t.MapOf():
            form(kind.value)
            return Form("map", count(kind.key), (kind.value,))
        case t.SeqOf():
            form(kind.elem)
            if kind.upto is None:
                return Form("seq", BUILT * given.items, (kind.elem,), given.items)
            return Form("seq", kind.upto, (kind.elem,), kind.upto)
        case t.Tuple() | t.Rec() | t.Union():
            return _compound(kind)
    raise Unsuited(f"the type {show(kind)}")


def _as_bits(elem: t.Type, given: Room) -> bool:
    """Whether a bit for each possible element takes less than a sorted array."""
    size = cardinality(elem)
    if size > MAX_CODES:
        return False
    return size <= FEW or size <= given.items * int(size).bit_length()


def _compound(kind: t.Tuple | t.Rec | t.Union) -> Form:
    parts = parts_of(kind)
    for part in parts:
        form(part)
    if isinstance(kind, t.Union):
        _check_union(kind)
    if cardinality(kind) <= MAX_CODES:
        return Form("code", len(domain(kind)), parts)
    return Form("union" if isinstance(kind, t.Union) else "struct", len(parts), parts)


def parts_of(kind: t.Type) -> tuple[t.Type, ...]:
    """The types of a tuple's items, a record's fields or a union's options."""
    match kind:
        case t.Tuple():
            return kind.items
        case t.Rec():
            return tuple(field for _, field in kind.fields)
        case t.Union():
            return kind.options
    return ()


def _check_union(kind: t.Union) -> None:
    """Python finds True equal to 1 and a sequence equal to a tuple; here they have other forms."""
    has = {type(option) for option in kind.options}
    if {t.Bool, t.Int} <= has or (t.SeqOf in has and has & {t.Tuple, t.MapOf}):
        raise Unsuited(f"the type {show(kind)}, whose options have equal values")
    if {t.MapOf, t.Tuple} <= has or sum(type(o) is t.MapOf for o in kind.options) > 1:
        raise Unsuited(f"the type {show(kind)}, whose options have equal values")


def count(kind: t.Type) -> int:
    """How many values a type has, few enough for a code each. Raises Unsuited."""
    if cardinality(kind) > MAX_CODES:
        raise Unsuited(f"the type {show(kind)}, which has more than {MAX_CODES} values")
    form(kind)
    return len(codes(kind))


def is_small(kind: t.Type) -> bool:
    """Whether every value of the type has a code."""
    return cardinality(kind) <= MAX_CODES


@functools.cache
def codes(kind: t.Type) -> dict[Value, int]:
    """From the values of a small type to their codes."""
    return {value: at for at, value in enumerate(domain(kind))}


def code_of(value: Value, kind: t.Type) -> int:
    """The code of a value in a small type, -1 when it is not one of the type's."""
    return codes(kind).get(value, -1) if conforms(value, kind) else -1


def option_of(value: Value, kind: t.Union) -> int:
    """The first option of a union that the value belongs to."""
    return next(at for at, option in enumerate(kind.options) if conforms(value, option))
