"""Budgets are values that are split, with a seed for each part; the clock only counts down."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import strategies as st

from refute.budget import Budget, Clock, derive_seed, parse_duration, parse_size
from refute.errors import UsageError


@pytest.mark.parametrize("field", ["cases", "cpu_s", "wall_s", "memory"])
@pytest.mark.parametrize("value", [0, -1])
def test_nothing_of_a_budget_may_be_missing(field: str, value: int) -> None:
    with pytest.raises(UsageError, match=field):
        Budget(**{field: value})


@hypothesis.given(st.integers(1, 10**6), st.floats(1e-3, 1.0))
@hypothesis.settings(max_examples=50, database=None)
def test_a_part_is_no_more_than_the_whole(cases: int, share: float) -> None:
    whole = Budget(cases=cases)
    part = whole.part("engine", share)
    assert 1 <= part.cases <= whole.cases
    assert part.cpu_s <= whole.cpu_s
    assert part.wall_s <= whole.wall_s
    assert part.memory == whole.memory


@pytest.mark.parametrize("share", [0.0, -0.5, 1.5])
def test_a_share_is_a_share(share: float) -> None:
    with pytest.raises(UsageError, match="share"):
        Budget().part("engine", share)


def test_seeds_of_parts_differ_by_name_and_by_parent_and_repeat() -> None:
    seeds = {Budget(seed=s).part(n).seed for s in (0, 1) for n in ("a", "b")}
    assert len(seeds) == 4
    assert Budget(seed=1).part("a") == Budget(seed=1).part("a")
    assert derive_seed(0, "a") == 7606779636460171844
    assert 0 <= derive_seed(-5, "x") < 2**63


def test_a_clock_runs_out_and_never_below_zero() -> None:
    clock = Clock(0.0)
    assert clock.over
    assert clock.left == 0.0
    assert clock.spent >= 0.0
    assert not Clock(1000.0).over


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60", 60), ("60s", 60), ("1.5m", 90), ("2h", 7200), ("500ms", 0.5), (" 3 min ", 180)],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "-1s", "0", "1 day", "1e3", "nan", "inf"])
def test_what_is_no_duration_says_what_would_be(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_duration(text)
    assert "60s" in caught.value.possible


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8GiB", 2**33),
        ("8g", 2**33),
        ("512MiB", 2**29),
        ("1.5k", 1536),
        ("77", 77),
        ("3 TB", 3 * 2**40),
    ],
)
def test_amounts_of_memory(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "-1G", "GiB", "2Q", "2GiBs", "1e9"])
def test_what_is_no_amount_of_memory(text: str) -> None:
    with pytest.raises(UsageError, match="amount of memory"):
        parse_size(text)
