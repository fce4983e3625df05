"""`--set`: values, sweeps and lists are read exactly, everything else is refused."""

from __future__ import annotations

import pytest

from refute.cli.setting import combinations, read_settings
from refute.errors import UsageError
from refute.plain import Plain


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("RM=3", (3,)),
        ("RM=2..6", (2, 3, 4, 5, 6)),
        ("RM=3..3", (3,)),
        ("N=-1..1", (-1, 0, 1)),
        ("RM=2,4,8", (2, 4, 8)),
        ("lossy=true", (True,)),
        ("lossy=true,false", (True, False)),
        ("mode=fast", ("fast",)),
    ],
)
def test_values(text: str, values: tuple[Plain, ...]) -> None:
    name = text.partition("=")[0]
    assert read_settings([text]) == {name: values}
    assert [type(v) for v in read_settings([text])[name]] == [type(v) for v in values]


@pytest.mark.parametrize(
    "texts",
    [
        ["RM"],
        ["=3"],
        ["RM="],
        ["RM=6..2"],
        ["RM=0..5000"],
        ["RM=3", "RM=4"],
        ["RM=1.5"],
        ["RM=__import__('os')"],
        ["2x=1"],
        ["RM=" + "9" * 5000],
        ["RM=\u0663"],
        ["RM=1,,2"],
    ],
    ids=lambda t: str(t)[:30],
)
def test_what_is_no_setting_is_refused(texts: list[str]) -> None:
    with pytest.raises(UsageError, match="--set"):
        read_settings(texts)


def test_combinations_vary_the_last_constant_fastest() -> None:
    made = combinations({"A": (1, 2), "B": (3, 4)})
    assert made == [{"A": 1, "B": 3}, {"A": 1, "B": 4}, {"A": 2, "B": 3}, {"A": 2, "B": 4}]
    assert combinations({}) == [{}]


def test_a_sweep_that_would_never_end_is_refused() -> None:
    with pytest.raises(UsageError, match="10000 combinations"):
        combinations({"A": range(100), "B": range(100)})
