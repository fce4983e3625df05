"""Domains hold exactly their values, survive the trip through plain data, refuse nonsense."""

from __future__ import annotations

import math

import pytest

from refute import plain
from refute.errors import IllegalClaim
from refute.fuzz.values import edges, enumerate_values
from refute.specs.domains import (
    Bools,
    Bytes,
    Dicts,
    Domain,
    Either,
    Floats,
    Ints,
    Lists,
    OneOf,
    Optional,
    Records,
    Sets,
    Text,
    Tuples,
    from_plain,
    inputs,
)

FINITE = [
    Bools(),
    Ints(-3, 4),
    Ints(5, 9),
    Ints(-9, -5),
    OneOf("b", "a", None, [1]),
    Text(max=2, alphabet="xyz"),
    Text(min=1, max=1, alphabet="q"),
    Bytes(max=1),
    Lists(Bools(), max=3),
    Lists(Ints(0, 2), min=2, max=2),
    Tuples(Ints(0, 2), Bools()),
    Tuples(),
    Records({"a": Bools(), "b": Ints(0, 1)}),
    Records({}),
    Optional(Ints(0, 3)),
    Sets(Ints(0, 3), max=2),
    Sets(Ints(0, 2)),
    Dicts(OneOf("k", "l"), Ints(0, 2)),
    Dicts(Text(max=1, alphabet="ab"), Bools(), min=1, max=2),
    Lists(Lists(Bools(), max=1), max=2),
]
UNBOUNDED = [
    Ints(),
    Ints(lo=0),
    Ints(hi=-2),
    Floats(),
    Floats(0.0, 1.0),
    Floats(lo=-1.0, nan=False),
    Text(),
    Bytes(),
    Lists(Bools()),
    Tuples(Bools(), Ints()),
    Dicts(Text(max=3), Bytes()),
    Sets(Ints()),
    Either(Text(max=1, alphabet="a"), Ints()),
]


@pytest.mark.parametrize("domain", FINITE, ids=str)
def test_size_is_the_number_of_enumerated_values(domain: Domain) -> None:
    values = list(enumerate_values(domain))
    assert len(values) == domain.size
    assert len({plain.dumps(v) for v in values}) == len(values)
    assert all(domain.contains(v) for v in values)


@pytest.mark.parametrize("domain", UNBOUNDED, ids=str)
def test_unbounded_domains_are_not_enumerated(domain: Domain) -> None:
    assert domain.size is None
    with pytest.raises(IllegalClaim, match="cannot be enumerated"):
        enumerate_values(domain)


@pytest.mark.parametrize("domain", FINITE + UNBOUNDED, ids=str)
def test_round_trip_through_plain_data(domain: Domain) -> None:
    text = plain.dumps(domain.to_plain())
    assert from_plain(plain.loads(text)) == domain
    assert plain.dumps(from_plain(plain.loads(text)).to_plain()) == text


@pytest.mark.parametrize("domain", FINITE + UNBOUNDED, ids=str)
def test_edges_belong_to_the_domain_and_differ(domain: Domain) -> None:
    found = edges(domain)
    assert found
    assert all(domain.contains(v) for v in found)
    assert len({plain.dumps(v) for v in found}) == len(found)


@pytest.mark.parametrize(
    ("domain", "stranger"),
    [
        (Bools(), 1),
        (Ints(0, 1), True),
        (Ints(0, 1), 2),
        (Ints(0, 1), 1.0),
        (Floats(nan=False), math.nan),
        (Floats(inf=False), math.inf),
        (Floats(0.0, 1.0), math.nan),
        (Floats(0.0, 1.0), 1),
        (Text(max=1), "ab"),
        (Text(), "\ud800"),
        (Text(alphabet="ab"), "abc"),
        (Bytes(min=1), b""),
        (Bytes(), bytearray(b"a")),
        (Lists(Bools()), (True,)),
        (Lists(Bools()), [0]),
        (Tuples(Bools()), [True]),
        (Tuples(Bools()), (True, True)),
        (Records({"a": Bools()}), {"a": True, "b": True}),
        (Records({"a": Bools()}), {"a": 1}),
        (OneOf(0), False),
        (Optional(Ints(0, 1)), 2),
        (Sets(Ints(0, 1)), frozenset({0})),
        (Dicts(Text(), Bools()), {1: True}),
    ],
    ids=str,
)
def test_contains_is_exact(domain: Domain, stranger: object) -> None:
    assert not domain.contains(stranger)


def test_nan_infinity_and_negative_zero_are_floats() -> None:
    assert all(Floats().contains(v) for v in (math.nan, math.inf, -math.inf, -0.0))
    assert OneOf(math.nan).contains(math.nan)
    assert not OneOf(0.0).contains(-0.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Ints(2, 1),
        lambda: Ints(True, 3),
        lambda: Ints(0.0, 3),  # type: ignore[arg-type]
        lambda: Floats(lo=math.nan),
        lambda: Text(min=2, max=1),
        lambda: Text(alphabet=""),
        lambda: Text(alphabet="aa"),
        lambda: Bytes(min=-1),
        lambda: Lists(int),  # type: ignore[arg-type]
        lambda: Tuples(1),  # type: ignore[arg-type]
        lambda: OneOf(),
        lambda: OneOf(1, 1),
        lambda: Either(),
        lambda: Sets(Lists(Bools())),
        lambda: Sets(Bools(), min=3),
        lambda: Dicts(OneOf([1]), Bools()),
        lambda: Records({1: Bools()}),  # type: ignore[dict-item]
        lambda: from_plain({"domain": "spheres"}),
        lambda: from_plain([1]),
        lambda: from_plain({"domain": "ints", "low": 3}),
        lambda: inputs({"not a name": Bools()}, "claim"),
    ],
)
def test_nonsense_is_refused_when_stated(make: object) -> None:
    with pytest.raises(IllegalClaim):
        make()  # type: ignore[operator]


def test_one_of_keeps_values_of_different_types_apart() -> None:
    assert OneOf(1, True, 1.0).size == 3


def test_a_domain_reads_as_it_was_written() -> None:
    assert str(Lists(Ints(lo=0), max=3)) == "Lists(of=Ints(lo=0), max=3)"
    assert str(Optional(Bools())) == "Either(OneOf(None), Bools())"
