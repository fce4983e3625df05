"""Values: what an expression stands for, a Python object whose leaves are terms.

A mutable object is a `Ref` to a cell of the state's heap, so that aliases between variables are
exact. Inside another container it is a `SeqV`, a value that can be read and not changed: reading
needs no identity, and a change there is refused. A sequence is its length and a function from an
index to an element, not an array: slices, concatenations and comprehensions cost nothing until
an element is asked for, and no axiom about them is needed at all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from refute.verifiers.contracts.kinds import (
    BOOL,
    INT,
    NEVER,
    NONE,
    OTHER,
    STR,
    Kind,
    join,
    union,
)
from refute.verifiers.contracts.terms import Term, conj, disj, is_false, ite, neg, same


class Value:
    """Any value; the subclasses are all there are."""


@dataclasses.dataclass(frozen=True, eq=False)
class IntV(Value):
    """An int of unbounded size."""

    term: Term


@dataclasses.dataclass(frozen=True, eq=False)
class BoolV(Value):
    """A bool, which is an int wherever Python says so."""

    term: Term


@dataclasses.dataclass(frozen=True, eq=False)
class NoneV(Value):
    """None."""


@dataclasses.dataclass(frozen=True, eq=False)
class StrV(Value):
    """A string, of which only whether it equals another is known. text: if it is a literal."""

    term: Term
    text: str | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class TupleV(Value):
    """A tuple of known arity."""

    items: tuple[Value, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Seq:
    """length, and the element at each index in 0..length; outside of it, anything.

    items: the elements where the length is known. base, offset: what this is a slice of, so that
    a quantifier can range over the indices of the whole.
    """

    length: Term
    at: Callable[[Term], Value]
    element: Kind
    items: tuple[Value, ...] | None = None
    base: Seq | None = None
    offset: Term = 0


@dataclasses.dataclass(frozen=True, eq=False)
class SeqV(Value):
    """A sequence as a value. kind: list, bytes, bytearray or vtuple."""

    kind: str
    seq: Seq


@dataclasses.dataclass(frozen=True, eq=False)
class Ref(Value):
    """A mutable sequence, by its address in the heap."""

    address: int


@dataclasses.dataclass(frozen=True, eq=False)
class RangeV(Value):
    """A range object. step: not zero."""

    start: Term
    stop: Term
    step: Term


@dataclasses.dataclass(frozen=True, eq=False)
class IterV(Value):
    """What enumerate, zip, reversed and a generator give: to be iterated over at once.

    live: what it goes over in a later state, where that is more than `seq`; it is looked at element
    by element. lists: addresses of what it looks at. fixed: whether those may not change meanwhile.
    """

    seq: Seq
    live: Callable[..., Seq] | None = None
    lists: tuple[int, ...] = ()
    fixed: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class UnionV(Value):
    """One of the options, each under its condition; exactly one condition holds."""

    options: tuple[tuple[Term, Value], ...]


@dataclasses.dataclass(frozen=True, eq=False)
class UnboundV(Value):
    """A local variable before its first assignment."""


@dataclasses.dataclass(frozen=True, eq=False)
class NameV(Value):
    """A function, class or module. name: dotted; `builtins.len`, or `module:qualname` of a tree."""

    name: str


NO_VALUE = NoneV()
UNBOUND = UnboundV()


def iterator(value: Value) -> bool:
    """Whether the value is, or may be, an iterator, which is used up by going over it."""
    match value:
        case IterV():
            return True
        case TupleV(items=items):
            return any(map(iterator, items))
        case UnionV(options=cases):
            return any(iterator(v) for _, v in cases)
    return False


def literal(items: Sequence[Value]) -> Seq:
    """The sequence of these elements."""
    held = tuple(items)

    def at(index: Term) -> Value:
        if isinstance(index, int):
            return held[index] if 0 <= index < len(held) else (held[-1] if held else IntV(0))
        chosen = held[-1] if held else IntV(0)
        for place in range(len(held) - 2, -1, -1):
            chosen = merge(index == place, held[place], chosen)
        return chosen

    element = NEVER
    for item in held:
        element = join(element, kind_of(item))
    return Seq(len(held), at, element, held)


def category(value: Value) -> object:
    """Values of one category merge into one of it; others stand in a union."""
    match value:
        case TupleV(items=items):
            return ("tuple", len(items))
        case SeqV(kind=kind):
            return ("seq", kind)
        case Ref(address=address):
            return ("ref", address)
        case NameV(name=name):
            return ("name", name)
    return type(value)


def options(value: Value) -> tuple[tuple[Term, Value], ...]:
    """The options of a value: itself, unless it is a union."""
    return value.options if isinstance(value, UnionV) else ((True, value),)


def choose(cases: Sequence[tuple[Term, Value]]) -> Value:
    """The value that the one condition that holds stands beside."""
    groups: dict[object, list[tuple[Term, Value]]] = {}
    for condition, value in cases:
        for inner, option in options(value):
            both = conj([condition, inner])
            if not is_false(both):
                groups.setdefault(category(option), []).append((both, option))
    merged = []
    for group in groups.values():
        value = group[-1][1]
        for condition, option in reversed(group[:-1]):
            value = _merge_alike(condition, option, value)
        merged.append((disj([c for c, _ in group]), value))
    if not merged:
        return cases[-1][1]
    return merged[0][1] if len(merged) == 1 else UnionV(tuple(merged))


def merge(condition: Term, then: Value, other: Value) -> Value:
    """`then` where the condition holds, else `other`."""
    if then is other:
        return then
    if isinstance(condition, bool):
        return then if condition else other
    if isinstance(then, UnionV) or isinstance(other, UnionV) or category(then) != category(other):
        return choose([(condition, then), (neg(condition), other)])
    return _merge_alike(condition, then, other)


def _merge_alike(condition: Term, then: Value, other: Value) -> Value:
    if isinstance(condition, bool):
        return then if condition else other
    match then, other:
        case IntV(), IntV():
            return IntV(ite(condition, then.term, other.term))
        case BoolV(), BoolV():
            return BoolV(ite(condition, then.term, other.term))
        case StrV(), StrV():
            text = then.text if then.text == other.text else None
            return StrV(ite(condition, then.term, other.term), text)
        case TupleV(), TupleV():
            pairs = zip(then.items, other.items, strict=True)
            return TupleV(tuple(merge(condition, a, b) for a, b in pairs))
        case SeqV(), SeqV():
            return SeqV(then.kind, merge_seqs(condition, then.seq, other.seq))
        case RangeV(), RangeV():
            return RangeV(
                ite(condition, then.start, other.start),
                ite(condition, then.stop, other.stop),
                ite(condition, then.step, other.step),
            )
        case IterV(), IterV():
            seq, lists = merge_seqs(condition, then.seq, other.seq), then.lists + other.lists
            return IterV(seq, None, lists, True)
    return then


def merge_seqs(condition: Term, then: Seq, other: Seq) -> Seq:
    """The one sequence or the other."""
    if then is other:
        return then
    if isinstance(condition, bool):
        return then if condition else other
    length = ite(condition, then.length, other.length)
    items = None
    if then.items is not None and other.items is not None and isinstance(length, int):
        pairs = zip(then.items, other.items, strict=True)
        items = tuple(merge(condition, a, b) for a, b in pairs)
        return literal(items)
    element = join(then.element, other.element)
    if then.base is not None and then.base is other.base:
        return slice_of(then.base, ite(condition, then.offset, other.offset), length)

    def at(index: Term) -> Value:
        if then.element == NEVER:
            return other.at(index)
        return then.at(index) if other.element == NEVER else _pick(condition, then, other, index)

    return Seq(length, at, element)


def _pick(condition: Term, then: Seq, other: Seq, index: Term) -> Value:
    return merge(condition, then.at(index), other.at(index))


def slice_of(seq: Seq, start: Term, length: Term) -> Seq:
    """`length` elements from `start` on, which must lie inside."""
    if seq.items is not None and isinstance(start, int) and isinstance(length, int):
        return literal(seq.items[start : start + length])
    if seq.base is not None:
        return slice_of(seq.base, seq.offset + start, length)
    return Seq(length, lambda i: seq.at(i + start), seq.element, None, seq, start)


def concat(left: Seq, right: Seq) -> Seq:
    """The one after the other."""
    if left.items is not None and right.items is not None:
        return literal(left.items + right.items)
    if left.items == ():
        return right
    if right.items == ():
        return left

    def at(index: Term) -> Value:
        if isinstance(index, int) and isinstance(left.length, int):
            return left.at(index) if index < left.length else right.at(index - left.length)
        return merge(index < left.length, left.at(index), right.at(index - left.length))

    return Seq(left.length + right.length, at, join(left.element, right.element))


def with_item(seq: Seq, place: Term, item: Value) -> Seq:
    """The sequence with another element at a place inside."""
    if seq.items is not None and isinstance(place, int):
        return literal((*seq.items[:place], item, *seq.items[place + 1 :]))

    def at(index: Term) -> Value:
        if same(index, place):
            return item
        return merge(index == place, item, seq.at(index))

    return Seq(seq.length, at, join(seq.element, kind_of(item)))


def mapped(seq: Seq, function: Callable[[Value], Value], element: Kind) -> Seq:
    """The function of every element."""
    if seq.items is not None:
        return literal([function(item) for item in seq.items])
    return Seq(seq.length, lambda i: function(seq.at(i)), element)


def kind_of(value: Value) -> Kind:
    """The kind of a value that needs no heap; `Ref` has none here."""
    match value:
        case IntV():
            return INT
        case BoolV():
            return BOOL
        case NoneV():
            return NONE
        case StrV():
            return STR
        case TupleV(items=items):
            return Kind("tuple", tuple(map(kind_of, items)))
        case SeqV(kind=kind, seq=seq):
            return Kind(kind) if kind in ("bytes", "bytearray") else Kind(kind, (seq.element,))
        case UnionV(options=cases):
            return union([kind_of(v) for _, v in cases])
    return OTHER
