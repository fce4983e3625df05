"""`--set NAME=VALUE`: sizes of Sorts and constants, one value or several to sweep over.

A Sort of size `any` has any number of members.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping

from refute.errors import UsageError
from refute.specs.machine.types import ANY

MAX_SWEEP = 1_000
_SETTING = re.compile(r"([A-Za-z_]\w*)=(.+)\Z")
_VALUE = re.compile(r"(-?\d+)(?:\.\.(-?\d+))?\Z")
_TRUTH = {"true": True, "false": False, "True": True, "False": False}

Settings = Mapping[str, tuple[int | str, ...]]


def parse_settings(texts: Iterable[str]) -> dict[str, tuple[int | str, ...]]:
    """`["RM=2..4", "N=1,3", "LOSSY=true"]` → {"RM": (2, 3, 4), "N": (1, 3), "LOSSY": (True,)}.

    Raises UsageError.
    """
    found: dict[str, tuple[int | str, ...]] = {}
    for text in texts:
        match = _SETTING.match(text.strip())
        rows = [_values(part.strip(), text) for part in match[2].split(",")] if match else [None]
        if match is None or match[1] in found or None in rows:
            repeats = match is not None and match[1] in found
            raise UsageError(
                f"--set {text!r} " + ("repeats a name" if repeats else "is not NAME=NUMBER"),
                thing="--set",
                value=text,
                possible=("RM=3", "RM=2..6", "N=1,3", "LOSSY=true", "RM=any"),
                next_step="give each name once, with numbers, ranges lo..hi, true, false or any",
            )
        found[match[1]] = tuple(dict.fromkeys(v for row in rows for v in row or ()))
    return found


def _values(part: str, text: str) -> tuple[int | str, ...] | None:
    """A number, a range, true, false or any; None for anything else. Raises UsageError."""
    if part == ANY:
        return (ANY,)
    if part in _TRUTH:
        return (_TRUTH[part],)
    match = _VALUE.match(part)
    if match is None:
        return None
    low = int(match[1])
    high = int(match[2]) if match[2] else low
    if high < low or high - low >= MAX_SWEEP:
        raise UsageError(
            f"--set {text!r} is an empty or too long range",
            thing="--set",
            value=text,
            next_step=f"give lo..hi with lo <= hi, at most {MAX_SWEEP} numbers",
        )
    return tuple(range(low, high + 1))


def combinations(settings: Settings) -> list[dict[str, int | str]]:
    """Every combination of a sweep: the first name varies slowest."""
    rows = itertools.product(*settings.values())
    return [dict(zip(settings, row, strict=True)) for row in rows]
