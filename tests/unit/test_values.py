"""Values come simple first, repeat with their seed, stay inside, and shrink to the least."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import hypothesis
import pytest

from refute import plain
from refute.fuzz.samples import sampler
from refute.fuzz.shrinking import minimise, simpler
from refute.fuzz.strategies import generate, strategy
from refute.fuzz.values import diagonal, enumerate_values
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
)

DOMAINS = [
    Bools(),
    Ints(),
    Ints(10, 20),
    Ints(lo=-5),
    Ints(hi=-5),
    Ints(-(10**30), 10**30),
    Floats(),
    Floats(0.25, 0.5),
    Floats(hi=-3.0),
    Text(),
    Text(min=2, max=4, alphabet="xy"),
    Bytes(max=5),
    OneOf([], "a", None),
    Optional(Text(max=2)),
    Either(Ints(0, 3), Bools(), Text(max=2)),
    Lists(Lists(Ints(), max=3)),
    Tuples(Bools(), Floats()),
    Records({"n": Ints(0, 9), "s": Text(max=1)}),
    Sets(Ints(0, 5), min=2, max=4),
    Sets(Text(max=3), min=1),
    Dicts(Text(max=2), Optional(Ints()), max=3),
]


def test_integers_go_outwards_from_zero_or_the_nearest_bound() -> None:
    assert list(enumerate_values(Ints(-2, 3))) == [0, 1, -1, 2, -2, 3]
    assert list(enumerate_values(Ints(4, 6))) == [4, 5, 6]
    assert list(enumerate_values(Ints(-6, -4))) == [-4, -5, -6]


def test_sequences_go_by_length() -> None:
    lengths = [len(v) for v in enumerate_values(Lists(Ints(0, 2), max=3))]
    assert lengths == sorted(lengths)


def test_no_part_of_a_product_runs_to_its_end_first() -> None:
    rows = list(itertools.islice(enumerate_values(Tuples(Ints(0, 99), Ints(0, 99))), 6))
    assert rows == [(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (2, 0)]


def test_diagonal_takes_endless_sources() -> None:
    rows = itertools.islice(diagonal([itertools.count(), iter("ab")]), 5)
    assert list(rows) == [(0, "a"), (0, "b"), (1, "a"), (1, "b"), (2, "a")]


def test_diagonal_of_an_empty_source_is_empty() -> None:
    assert list(diagonal([iter("ab"), iter("")])) == []


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_samples_are_inside_and_repeat_with_the_seed(domain: Domain) -> None:
    draw = sampler(domain)
    first, again = random.Random(7), random.Random(7)
    values = [draw(first) for _ in range(200)]
    assert all(domain.contains(v) for v in values)
    assert [plain.dumps(v) for v in values] == [plain.dumps(draw(again)) for _ in range(200)]


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_hypothesis_draws_inside_the_domain(domain: Domain) -> None:
    values = generate(domain, 10, seed=3)
    assert values
    assert all(domain.contains(v) for v in values)


def test_hypothesis_repeats_with_the_seed_whatever_is_loaded() -> None:
    domain = Records({"x": Bytes(max=64), "n": Ints()})
    first = [plain.dumps(v) for v in generate(domain, 150, seed=5)]
    assert first == [plain.dumps(v) for v in generate(domain, 150, seed=5)]
    assert first != [plain.dumps(v) for v in generate(domain, 150, seed=6)]


@hypothesis.given(strategy(Dicts(Text(max=2), Optional(Ints(0, 3)), max=2)))
@hypothesis.settings(max_examples=20, database=None)
def test_strategies_serve_ordinary_tests(value: object) -> None:
    assert Dicts(Text(max=2), Optional(Ints(0, 3)), max=2).contains(value)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_simpler_values_are_inside_and_differ(domain: Domain) -> None:
    draw, rng = sampler(domain), random.Random(1)
    for value in (draw(rng) for _ in range(10)):
        for better in itertools.islice(simpler(domain, value), 50):
            assert domain.contains(better)
            assert not plain.same(better, value)


def _minimise(domain: Domain, start: object, broken: object) -> object:
    def first_broken(batch: Sequence[object]) -> int | None:
        return next((i for i, v in enumerate(batch) if broken(v)), None)  # type: ignore[operator]

    return minimise(start, lambda v: simpler(domain, v), first_broken, tries=5000)


@pytest.mark.parametrize(
    ("domain", "start", "broken", "least"),
    [
        (Ints(), 10**9, lambda n: n > 1000, 1001),
        (Ints(), -987, lambda n: n < -3, -4),
        (Ints(lo=5), 70, lambda n: n >= 5, 5),
        (Bytes(), bytes(range(200)), lambda b: b"\x80" in b, b"\x80"),
        (Text(), "xy zz%top", lambda s: "%" in s, "%"),
        (Lists(Ints()), [5, 900, 3, 17], lambda v: sum(v) > 100, [101]),
        (Lists(Ints()), [9, 4, 7, 1], lambda v: v != sorted(v), [1, 0]),
        (Optional(Ints()), 88, lambda v: v is None or v > 3, None),
        (Sets(Ints(0, 99)), {4, 50, 77}, lambda s: len(s) >= 2, {0, 1}),
        (Floats(), 1234.56789, lambda f: f > 1.5, 2.0),
        (Records({"a": Ints(), "b": Ints()}), {"a": 40, "b": 9}, lambda r: r["a"] > r["b"], None),
    ],
)
def test_minimise_finds_the_least(
    domain: Domain, start: object, broken: object, least: object
) -> None:
    expected = {"a": 1, "b": 0} if isinstance(domain, Records) else least
    assert plain.same(_minimise(domain, start, broken), expected)


def test_minimise_keeps_within_its_tries() -> None:
    asked = 0

    def first_broken(batch: Sequence[object]) -> int | None:
        nonlocal asked
        asked += len(batch)
        return len(batch) - 1

    minimise(10**30, lambda v: simpler(Ints(), v), first_broken, tries=20)
    assert asked == 20
