"""`--set NAME=VALUE`: sizes of Sorts and constants, one number or a range to sweep over."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping

from refute.errors import UsageError

MAX_SWEEP = 1_000
_SETTING = re.compile(r"([A-Za-z_]\w*)=(-?\d+)(?:\.\.(-?\d+))?\Z")

Settings = Mapping[str, tuple[int, ...]]


def parse_settings(texts: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """`["RM=2..4", "N=1"]` → {"RM": (2, 3, 4), "N": (1,)}. Raises UsageError."""
    found: dict[str, tuple[int, ...]] = {}
    for text in texts:
        match = _SETTING.match(text.strip())
        if match is None or match[1] in found:
            raise UsageError(
                f"--set {text!r} " + ("repeats a name" if match else "is not NAME=NUMBER"),
                thing="--set",
                value=text,
                possible=("RM=3", "RM=2..6"),
                next_step="give each name once, with a number or a range lo..hi",
            )
        low = int(match[2])
        high = int(match[3]) if match[3] else low
        if high < low or high - low >= MAX_SWEEP:
            raise UsageError(
                f"--set {text!r} is an empty or too long range",
                thing="--set",
                value=text,
                next_step=f"give lo..hi with lo <= hi, at most {MAX_SWEEP} numbers",
            )
        found[match[1]] = tuple(range(low, high + 1))
    return found


def combinations(settings: Settings) -> list[dict[str, int]]:
    """Every combination of a sweep: the first name varies slowest."""
    rows = itertools.product(*settings.values())
    return [dict(zip(settings, row, strict=True)) for row in rows]
