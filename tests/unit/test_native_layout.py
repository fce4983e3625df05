"""Packed states: nothing crosses a word, everything comes back, and constants become arithmetic."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from refute.specs.machine import types as t
from refute.specs.machine.values import atom, cardinality, domain, tag
from refute.verifiers.model.native.forms import ROOMS, Cramped, Unsuited, code_of, form, with_room
from refute.verifiers.model.native.layout import (
    WORD,
    arrange,
    array_width,
    bits_of,
    element_offset,
    value_of,
    width_of,
)
from refute.verifiers.model.native.program import layout_of
from refute.verifiers.model.native.text import Place, Text
from refute.verifiers.model.search import Search

RM = t.Atoms("RM", ("RM0", "RM1", "RM2"), "sort")
PAIR = t.Tuple((RM, t.Int(-2, 5)))
MESSAGE = t.Union((t.Rec("Vote", (("of", RM), ("yes", t.Bool()))), t.Rec("Stop", ()), t.Nothing()))
LARGE = t.Rec("Large", (("a", t.Int(0, 999)), ("b", t.MapOf(RM, t.Int(0, 99)))))
TYPES: list[t.Type] = [
    t.Bool(),
    t.Int(-3, 12),
    t.Int(7, 7),
    t.Int(),
    t.Int(5, None),
    RM,
    PAIR,
    MESSAGE,
    t.SetOf(MESSAGE),
    t.SetOf(t.Tuple((PAIR, RM))),
    t.MapOf(RM, t.SetOf(PAIR)),
    t.MapOf(PAIR, t.Int(0, 6)),
    t.SeqOf(MESSAGE, 3),
    t.SeqOf(t.Int(), None),
    LARGE,
    t.Union((LARGE, t.Nothing(), PAIR)),
    t.SetOf(t.SetOf(RM)),
    t.MapOf(RM, t.SeqOf(t.Tuple((t.Int(0, 2**40), RM)), 2)),
    t.SetOf(t.Tuple((t.Int(), t.Nothing()))),
    t.BagOf(t.Tuple((LARGE, t.Int(1, None)))),
    t.SetOf(t.SetOf(t.Int(0, 999))),
]


def drawn(kind: t.Type, source: random.Random) -> Any:
    match kind:
        case t.Int():
            lo = kind.lo if kind.lo is not None else -1000
            return source.randint(lo, kind.hi if kind.hi is not None else lo + 5000)
        case t.Tuple():
            return tuple(drawn(k, source) for k in kind.items)
        case t.Rec():
            names = tuple(n for n, _ in kind.fields)
            return (tag(kind.name, names), *(drawn(k, source) for _, k in kind.fields))
        case t.Union():
            return drawn(source.choice(kind.options), source)
        case t.SetOf() if form(kind).kind == "bunch":
            return frozenset(drawn(kind.elem, source) for _ in range(source.randint(0, 5)))
        case t.SetOf():
            return frozenset(v for v in domain(kind.elem) if source.random() < 0.4)
        case t.MapOf():
            return tuple(drawn(kind.value, source) for _ in domain(kind.key))
        case t.SeqOf():
            length = source.randint(0, 5 if kind.upto is None else kind.upto)
            return tuple(drawn(kind.elem, source) for _ in range(length))
    return source.choice(domain(kind))


@pytest.mark.parametrize("kind", TYPES, ids=t.show)
def test_values_come_back_from_their_bits(kind: t.Type) -> None:
    source = random.Random(0)
    values = [drawn(kind, source) for _ in range(60)]
    packed = [bits_of(v, kind) for v in values]
    assert [value_of(bits, kind) for bits in packed] == values
    assert all(0 <= bits < 2 ** width_of(kind) for bits in packed)
    for left, a in zip(values, packed, strict=True):
        assert all((left == right) == (a == b) for right, b in zip(values, packed, strict=True))


@pytest.mark.parametrize("width", [1, 2, 3, 5, 7, 31, 33, 63, 64, 65, 130])
@pytest.mark.parametrize("count", [1, 2, 5, 21, 64, 65])
def test_no_element_of_an_array_crosses_a_word(count: int, width: int) -> None:
    starts = [element_offset(count, width, at) for at in range(count)]
    assert all(b - a >= width for a, b in itertools.pairwise(starts))
    for start in starts:
        assert start % WORD + width <= WORD or (width > WORD and start % WORD == 0)
    assert array_width(count, width) == starts[-1] + width


def test_no_field_crosses_a_word() -> None:
    source = random.Random(1)
    for _ in range(200):
        widths = [source.choice([1, 3, 10, 20, 40, 63, 64, 65, 100]) for _ in range(6)]
        offsets, total = arrange(widths)
        ends = [at + width for at, width in zip(offsets, widths, strict=True)]
        assert total == ends[-1]
        for at, width, end in zip(offsets, widths, ends, strict=True):
            assert at % WORD == 0 or at // WORD == (end - 1) // WORD
            assert all(end <= other or at >= other for other in offsets if other > at)
            assert width == end - at


def test_records_and_tuples_are_numbered_by_mixed_radix() -> None:
    kind = t.Rec("R", (("a", RM), ("b", t.Bool()), ("c", t.Int(1, 4))))
    head = tag("R", ("a", "b", "c"))
    for a in range(3):
        for b in (False, True):
            for c in range(1, 5):
                value = (head, atom("RM", a, f"RM{a}"), b, c)
                assert code_of(value, kind) == (a * 2 + b) * 4 + c - 1


def test_types_without_a_form_are_refused_by_name() -> None:
    with pytest.raises(Unsuited, match="more than"):
        form(t.MapOf(t.Int(0, 5000), t.Bool()))
    for kind in (t.Union((t.Bool(), t.Int(0, 3))), t.Union((t.SeqOf(RM, 2), PAIR))):
        with pytest.raises(Unsuited, match="equal values"):
            form(kind)


def test_tables_of_a_plain_pattern_become_arithmetic() -> None:
    text = Text()
    assert text.table("L", ["0", "1", "2"], "x") == "x"
    assert text.table("L", ["5", "6", "7"], "x") == "(x + 5)"
    assert text.table("L", ["4", "4"], "x") == "4"
    assert text.table("L", ["1", "0"], "x").startswith("(L)c")
    assert text.table("L", ["1", "0"], "y")[3:-3] == text.table("L", ["1", "0"], "x")[3:-3]
    assert len(text.prelude) == 1


def test_places_know_their_word() -> None:
    place = Place("w", "0", "3")
    assert place.shifted(70) == Place("w", "1", "9")
    assert place.element(4, 5, "2") == Place("w", "0", "13")
    assert Place("w", "2", "0").element(30, 5, "k") == Place("w", "2 + k / 12", "k % 12 * 5")


def test_states_come_back_from_their_words(machines: Any) -> None:
    for model in machines:
        search = Search(model.ir)
        search.advance(0.05)
        layout = layout_of(model.ir)
        packed = [layout.pack(state) for state in search.states]
        assert [layout.unpack(words) for words in packed] == search.states
        assert len(set(packed)) == len(packed)


@pytest.fixture
def machines() -> Any:
    from refute.specs.library.dining_philosophers import DiningPhilosophers
    from refute.specs.library.two_phase_commit import TwoPhase

    return [TwoPhase.build(RM=3), DiningPhilosophers.build(NP=4)]


def test_what_has_no_room_says_so() -> None:
    many = frozenset(range(0, 9000, 1000))
    with pytest.raises(Cramped):
        bits_of(many, t.SetOf(t.Int()))
    with with_room(ROOMS[1]):
        assert value_of(bits_of(many, t.SetOf(t.Int())), t.SetOf(t.Int())) == many
    with pytest.raises(Cramped):
        bits_of(2**40, t.Int())


def test_nothing_together_with_something_unbounded_is_nothing() -> None:
    nothing = t.Rec("R", (("never", t.NEVER), ("many", t.SeqOf(t.Int()))))
    assert cardinality(nothing) == 0
    assert domain(nothing) == domain(t.Tuple((t.SeqOf(t.Bool()), nothing))) == ()
