"""Plain data survives the trip exactly; what is not plain is opaque and equals nothing."""

from __future__ import annotations

import collections
import dataclasses
import enum
import json
import math
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from refute import plain
from refute.errors import NotPlainData
from refute.plain import Opaque, Record, decode, digest, dumps, encode, loads, same

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.binary(max_size=20)
    | st.lists(st.sampled_from("a!é\ud800\U0001f600"), max_size=4).map("".join)
    | st.complex_numbers(max_magnitude=10)
)
HASHABLE = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=5)
VALUES = st.recursive(
    SCALARS | st.binary(max_size=4).map(bytearray),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(HASHABLE, inner, max_size=3)
        | st.sets(HASHABLE, max_size=3)
        | st.frozensets(HASHABLE, max_size=3)
        | st.lists(st.tuples(st.just("f"), inner), max_size=2).map(
            lambda fields: Record("m.T", tuple(fields))
        )
    ),
    max_leaves=10,
)
QUICK = hypothesis.settings(max_examples=60, database=None, deadline=None)


def exact(value: object) -> object:
    """A structure that is equal only for values of equal types all the way down."""
    kind = type(value).__name__
    if isinstance(value, dict):
        return kind, sorted(((repr(exact(k)), repr(exact(v))) for k, v in value.items()))
    if isinstance(value, set | frozenset):
        return kind, sorted(repr(exact(v)) for v in value)
    if isinstance(value, list | tuple):
        return kind, [exact(v) for v in value]
    if isinstance(value, Record):
        return kind, value.type_name, [(k, exact(v)) for k, v in value.fields]
    return kind, repr(value)


@QUICK
@hypothesis.given(VALUES)
def test_values_survive_the_trip_exactly(value: object) -> None:
    assert exact(loads(dumps(value))) == exact(value)


@QUICK
@hypothesis.given(VALUES)
def test_values_survive_with_blobs_beside_them(value: object) -> None:
    blobs: list[bytes] = []
    carried = json.loads(json.dumps(encode(value, blobs=blobs)))
    assert exact(decode(carried, blobs)) == exact(value)


@QUICK
@hypothesis.given(VALUES, VALUES)
def test_same_is_exact_equality(left: object, right: object) -> None:
    assert same(left, left)
    assert same(left, right) == (exact(left) == exact(right))
    assert (digest(left) == digest(right)) == same(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        ("1", 1),
        (b"a", "a"),
        (b"a", bytearray(b"a")),
        ([1], (1,)),
        ({1}, frozenset({1})),
        ({"a": 1}, {"a": 1.0}),
        (math.inf, -math.inf),
        ({"!int": "0x1"}, 1),
    ],
)
def test_values_that_only_look_equal_are_not_the_same(left: object, right: object) -> None:
    assert not same(left, right)


def test_nan_is_the_same_as_nan() -> None:
    assert same(math.nan, float("nan"))
    assert same([math.nan], [-math.nan])


def test_the_order_of_a_dict_does_not_matter() -> None:
    assert same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert same({2: "a", 1: [{(4,): 0, 3: 0}]}, {1: [{3: 0, (4,): 0}], 2: "a"})
    assert digest({2: 0, 1: 0}) == digest({1: 0, 2: 0})


@pytest.mark.parametrize(
    "value", [{"b": 1, "a": 2}, {3: 0, 1: 0, 2: 0}, {(2,): {9: 0, 8: 0}, 1: 0}]
)
def test_a_dict_keeps_its_order_on_the_way(value: dict[Any, Any]) -> None:
    there_and_back = decode(encode(value))
    assert repr(there_and_back) == repr(value)
    assert repr(loads(dumps(value, canonical=False))) == repr(value)


class AlwaysEqual:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Lies(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


@pytest.mark.parametrize(
    "hostile", [AlwaysEqual(), Lies(3), object(), [Lies(1)], {"k": AlwaysEqual()}]
)
def test_objects_are_never_the_same_as_anything(hostile: object) -> None:
    assert not same(hostile, 3)
    assert not same(hostile, hostile)
    with pytest.raises(NotPlainData, match="is not plain data"):
        encode(hostile)


def test_objects_travel_as_opaque() -> None:
    carried = decode(json.loads(json.dumps(encode([AlwaysEqual()], opaque=True))))
    assert isinstance(carried[0], Opaque)
    assert carried[0].type_name.endswith("AlwaysEqual")
    assert carried[0] != Opaque(carried[0].type_name)
    assert not same(carried[0], carried[0])


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Point:
    x: int
    y: object


Pair = collections.namedtuple("Pair", "a b")


def test_dataclasses_named_tuples_and_enums_become_records() -> None:
    point = loads(dumps(Point(1, Pair(2, Colour.RED))))
    assert point.type_name.endswith("Point")
    assert dict(point.fields)["x"] == 1
    inner = dict(point.fields)["y"]
    assert [name for name, _ in inner.fields] == ["a", "b"]
    assert dict(inner.fields)["b"].fields == (("name", "RED"),)
    assert same(Point(1, 2), Point(1, 2))
    assert not same(Point(1, 2), Point(1, 3))
    assert not same(Pair(1, 2), (1, 2))


def test_a_dataclass_whose_attributes_raise_is_refused() -> None:
    broken = Point(1, 2)
    del broken.__dict__["y"]
    with pytest.raises(NotPlainData, match="cannot be read"):
        encode(broken)
    assert encode(broken, opaque=True)["!opaque"].endswith("Point")


def test_a_list_that_holds_itself_is_refused() -> None:
    knot: list[object] = []
    knot.append(knot)
    with pytest.raises(NotPlainData, match="nested deeper"):
        encode(knot)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"!int": 3}',
        '{"!int": "z"}',
        '{"!bytes": "*"}',
        '{"!spell": 1}',
        '{"!dict": [[1]]}',
        '{"!dict": [[[], 1]]}',
        '{"!set": [{"!set": []}]}',
        '{"!blob": 0}',
        '{"!record": "T"}',
        "[" * 100_000,
        "[" * 700 + "]" * 700,
    ],
    ids=lambda text: text[:20],
)
def test_malformed_data_is_refused(text: str) -> None:
    with pytest.raises(NotPlainData):
        loads(text)


def test_data_nested_too_deeply_for_python_is_refused() -> None:
    knot: list[object] = []
    for _ in range(5000):
        knot = [knot]
    with pytest.raises(NotPlainData, match="too deeply"):
        decode(knot)


def test_digest_any_takes_what_is_not_plain() -> None:
    assert plain.digest_any(object()) == plain.digest_any(object())
    assert plain.digest_any(object()) != plain.digest_any([object()])
