"""How a state is packed into 64-bit words: a field of bits for each variable and process.

No field that fits into a word crosses the border of two, so that each is read by one shift and one
mask; larger ones begin at a word. Arrays keep that promise for every element, also when the index
is known only at run time. Packing is canonical: equal states are equal bits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.ir import MachineIR, Process, Yield
from refute.specs.machine.types import show
from refute.specs.machine.values import Tag, Value, cardinality, domain, order, tag_of
from refute.verifiers.model.native.forms import (
    Cramped,
    Form,
    Room,
    Unsuited,
    code_of,
    codes,
    form,
    option_of,
    parts_of,
    room,
    with_room,
)

WORD = 64
MAX_WORDS = 512


def arrange(widths: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """Offsets of fields one after the other, and the total width, in bits."""
    offsets, end = [], 0
    for width in widths:
        if width > WORD or end % WORD + width > WORD:
            end = -(-end // WORD) * WORD
        offsets.append(end)
        end += width
    return tuple(offsets), end


def array_width(count: int, width: int) -> int:
    """Bits of an array of fields of this width."""
    return element_offset(count, width, count - 1) + width if count else 0


def element_offset(count: int, width: int, at: int) -> int:
    """Where an element of an array begins, in bits from the array's begin."""
    if count * width <= WORD:
        return at * width
    if width <= WORD:
        per = WORD // width
        return at // per * WORD + at % per * width
    return at * (-(-width // WORD) * WORD)


def width_of(kind: t.Type) -> int:
    """Bits of a value of the type in a packed state. Raises Unsuited."""
    return _width_of(kind, room())


@functools.cache
def _width_of(kind: t.Type, given: Room) -> int:
    made = form(kind)
    match made.kind:
        case "int":
            bounded = isinstance(kind, t.Int) and kind.lo is not None and kind.hi is not None
            return (int(cardinality(kind)) - 1).bit_length() if bounded else given.bits
        case "code":
            return max(made.count - 1, 0).bit_length()
        case "set":
            return made.count
        case "map":
            return array_width(made.count, width_of(made.parts[0]))
        case "seq" | "bunch":
            elements = array_width(made.packed, width_of(made.parts[0]))
            return arrange((made.packed.bit_length(), elements))[1]
        case "struct":
            return arrange([width_of(p) for p in made.parts])[1]
    return max(arrange(union_fields(kind, at))[1] for at in range(len(made.parts)))


def union_fields(kind: t.Type, at: int) -> tuple[int, int]:
    """The widths of a union's tag and of one of its options."""
    parts = parts_of(kind)
    return (len(parts) - 1).bit_length(), width_of(parts[at])


def base_of(kind: t.Int) -> int:
    """The number that is packed as zero."""
    if kind.lo is not None:
        return kind.lo
    bits = room().bits
    return -(1 << bits - 1) if kind.hi is None else kind.hi + 1 - (1 << bits)


def bits_of(value: Value, kind: t.Type) -> int:
    """The packed value as a whole number, bit 0 first. Raises Cramped."""
    return _packer(kind, room())(value)


@functools.cache
def _packer(kind: t.Type, given: Room) -> Callable[[Value], int]:
    """`bits_of` for one type, which is asked about the type's form only once."""
    made = form(kind)
    match made.kind:
        case "int":
            assert isinstance(kind, t.Int)
            return _int_packer(base_of(kind), width_of(kind))
        case "code":
            return functools.partial(code_of, kind=kind)
        case "set":
            places = codes(made.parts[0])
            return lambda value: sum(1 << places[v] for v in value)
        case "map":
            return _array_packer(made.parts[0], made.count, given)
        case "seq" | "bunch":
            return _sequence_packer(kind, made, given)
        case "struct":
            offsets, _ = arrange([width_of(p) for p in made.parts])
            rows = [(_packer(p, given), at) for p, at in zip(made.parts, offsets, strict=True)]
            skip = 1 if isinstance(kind, t.Rec) else 0
            return lambda value: sum(
                [pack(v) << at for (pack, at), v in zip(rows, value[skip:], strict=True)]
            )
    assert isinstance(kind, t.Union)
    return _union_packer(kind, given)


def _int_packer(base: int, width: int) -> Callable[[Value], int]:
    def packed(value: Value) -> int:
        found = int(value) - base
        if found < 0 or found >> width:
            raise Cramped(f"the number {int(value)}")
        return found

    return packed


def _array_packer(kind: t.Type, count: int, given: Room) -> Callable[[Value], int]:
    pack, width = _packer(kind, given), width_of(kind)
    offsets = [element_offset(count, width, at) for at in range(count)]
    return lambda values: sum([pack(v) << at for v, at in zip(values, offsets, strict=False)])


def _sequence_packer(kind: t.Type, made: Form, given: Room) -> Callable[[Value], int]:
    elements = _array_packer(made.parts[0], made.packed, given)
    length = made.packed.bit_length()
    start = arrange((length, array_width(made.packed, width_of(made.parts[0]))))[0][1]

    def packed(value: Value) -> int:
        if len(value) > made.packed:
            raise Cramped(f"{len(value)} elements of {show(kind)}")
        items = value if made.kind == "seq" else sorted(value, key=order)
        return len(value) | elements(items) << start

    return packed


def _union_packer(kind: t.Union, given: Room) -> Callable[[Value], int]:
    starts = [arrange(union_fields(kind, at))[0][1] for at in range(len(kind.options))]
    packers = [_packer(option, given) for option in kind.options]

    def packed(value: Value) -> int:
        option = option_of(value, kind)
        return option | packers[option](value) << starts[option]

    return packed


def value_of(bits: int, kind: t.Type) -> Value:
    """The inverse of `bits_of`; higher bits are ignored."""
    made, width = form(kind), width_of(kind)
    own = bits & ((1 << width) - 1)
    match made.kind:
        case "int":
            assert isinstance(kind, t.Int)
            return own + base_of(kind)
        case "code":
            return domain(kind)[own]
        case "set":
            return frozenset(v for at, v in enumerate(domain(made.parts[0])) if own >> at & 1)
        case "map":
            return _array_values(own, made.parts[0], made.count, made.count)
        case "seq" | "bunch":
            length = made.packed.bit_length()
            elements = array_width(made.packed, width_of(made.parts[0]))
            start = arrange((length, elements))[0][1]
            held = own & ((1 << length) - 1)
            found = _array_values(own >> start, made.parts[0], made.packed, held)
            return found if made.kind == "seq" else frozenset(found)
        case "struct":
            offsets, _ = arrange([width_of(p) for p in made.parts])
            pairs = zip(made.parts, offsets, strict=True)
            fields = tuple(value_of(own >> at, p) for p, at in pairs)
            return (tag_of(kind), *fields) if isinstance(kind, t.Rec) else fields
    tag_width, _ = union_fields(kind, 0)
    option = own & ((1 << tag_width) - 1)
    offsets, _ = arrange(union_fields(kind, option))
    return value_of(own >> offsets[1], made.parts[option])


def _array_values(bits: int, kind: t.Type, count: int, held: int) -> tuple[Value, ...]:
    width = width_of(kind)
    return tuple(value_of(bits >> element_offset(count, width, at), kind) for at in range(held))


@frozen
class Family:
    """The processes of one kind: the places they can be at, and which locals each place keeps.

    stops: block numbers, the entry first; a process that returned has the number len(stops).
    """

    process: Process
    members: tuple[tuple[Value, ...], ...]
    stops: tuple[int, ...]
    live: Mapping[int, tuple[str, ...]]
    types: Mapping[str, t.Type]

    @property
    def place_width(self) -> int:
        """Bits that say where a process is."""
        return len(self.stops).bit_length()

    def offsets(self, stop: int) -> tuple[int, ...]:
        """Where the place and each kept local lie, at this stop."""
        return arrange(self._widths(stop))[0]

    def _widths(self, stop: int) -> list[int]:
        return [self.place_width, *(width_of(self.types[n]) for n in self.live.get(stop, ()))]

    @property
    def width(self) -> int:
        """Bits of one process."""
        return max(arrange(self._widths(stop))[1] for stop in self.stops)


def family(process: Process, members: tuple[tuple[Value, ...], ...]) -> Family:
    """The layout of a process family."""
    live = {b.end.target: b.end.live for b in process.blocks if isinstance(b.end, Yield)}
    stops = dict.fromkeys((process.entry, *sorted(live)))
    types = {p.name: p.type for p in process.locals}
    return Family(process, members, tuple(stops), live, types)


Placed = tuple[int, list[tuple[Callable[[Value], int], int]]]  # of a place: its number, locals


def _packed_places(made: Family, given: Room) -> dict[int, Placed]:
    """How each place of a family is packed."""
    found = {}
    for number, block in enumerate(made.stops):
        packers = [_packer(made.types[n], given) for n in made.live.get(block, ())]
        found[block] = (number, list(zip(packers, made.offsets(block)[1:], strict=True)))
    return found


class Layout:
    """Where everything lies in a packed state of one machine. Raises Unsuited."""

    def __init__(self, ir: MachineIR, families: Sequence[Family]) -> None:
        self.ir = ir
        self.room = room()
        self.families = tuple(families)
        widths = [self._width(v.name, v.type) for v in ir.variables]
        for made in families:
            for name in {n for names in made.live.values() for n in names}:
                self._width(f"{name.rpartition('.')[0]} of {made.process.name}", made.types[name])
            widths.append(array_width(len(made.members), made.width))
        self.widths = tuple(widths)
        self.offsets, self.bits = _fitted(widths)
        self.words = max(1, -(-self.bits // WORD))
        if self.words > MAX_WORDS:
            raise Unsuited(f"a state needs {self.bits} bits, more than {MAX_WORDS * WORD}")

    def _width(self, name: str, kind: t.Type) -> int:
        try:
            return width_of(kind)
        except Unsuited as why:
            raise Unsuited(f"{name}: {show(kind)} has no packed form ({why})") from why

    def pack(self, state: Sequence[Any]) -> tuple[int, ...]:
        """The words of a state as the plain engine holds it. Raises Unsuited: it has no room."""
        with with_room(self.room):
            return self._packed(state)

    @functools.cached_property
    def _rows(self) -> list[tuple[Callable[[Value], int], int]]:
        """How each variable is packed, and where it lies."""
        pairs = zip(self.ir.variables, self.offsets, strict=False)
        return [(_packer(v.type, self.room), at) for v, at in pairs]

    @functools.cached_property
    def _starts(self) -> list[list[int]]:
        """Where the processes of each family lie."""
        found = []
        for made, at in zip(self.families, self.offsets[len(self.ir.variables) :], strict=True):
            count, width = len(made.members), made.width
            found.append([at + element_offset(count, width, n) for n in range(count)])
        return found

    def _packed(self, state: Sequence[Any]) -> tuple[int, ...]:
        count = len(self.ir.variables)
        whole = sum([pack(x) << at for (pack, at), x in zip(self._rows, state, strict=False)])
        for packers, places, starts in zip(self._places, state[count:], self._starts, strict=True):
            for place, start in zip(places, starts, strict=True):
                found, kept = packers[place[0]]
                for value, (pack, at) in zip(place[1:], kept, strict=True):
                    found |= pack(value) << at
                whole |= found << start
        return tuple(whole >> WORD * at & (2**WORD - 1) for at in range(self.words))

    @functools.cached_property
    def _places(self) -> list[dict[int, Placed]]:
        """How the processes of each family are packed, by the block that they are at."""
        return [{-1: (len(m.stops), []), **_packed_places(m, self.room)} for m in self.families]

    def unpack(self, words: Sequence[int]) -> tuple[Any, ...]:
        """The inverse of `pack`."""
        with with_room(self.room):
            return self._unpacked(words)

    def _unpacked(self, words: Sequence[int]) -> tuple[Any, ...]:
        whole = sum(word << WORD * at for at, word in enumerate(words))
        pairs = zip(self.ir.variables, self.offsets, strict=False)
        state: list[Any] = [value_of(whole >> at, v.type) for v, at in pairs]
        for made, starts in zip(self.families, self._starts, strict=True):
            state.append(tuple(self._place(made, whole >> start) for start in starts))
        return tuple(state)

    def _place(self, made: Family, bits: int) -> tuple[Any, ...]:
        stop = bits & ((1 << made.place_width) - 1)
        if stop == len(made.stops):
            return (-1,)
        block = made.stops[stop]
        pairs = zip(made.live.get(block, ()), made.offsets(block)[1:], strict=True)
        return (block, *(value_of(bits >> at, made.types[n]) for n, at in pairs))


def _fitted(widths: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """Offsets that waste few bits: large fields first, then each where it fits first."""
    offsets = [0] * len(widths)
    free: list[int] = []  # per word: the first free bit
    for at in sorted(range(len(widths)), key=lambda i: -widths[i]):
        width = widths[at]
        if width > WORD:
            offsets[at] = len(free) * WORD
            full, rest = divmod(width, WORD)
            free += [WORD] * full + ([rest] if rest else [])
            continue
        word = next((i for i, used in enumerate(free) if used + width <= WORD), len(free))
        if word == len(free):
            free.append(0)
        offsets[at] = word * WORD + free[word]
        free[word] += width
    ends = [WORD * i + used for i, used in enumerate(free)]
    return tuple(offsets), max(ends, default=0)


def is_record(value: Value) -> bool:
    """Whether a tuple is a record's value."""
    return type(value) is tuple and bool(value) and type(value[0]) is Tag
