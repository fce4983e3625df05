"""The order of values: NULL, then numbers, then text by a collation, then blobs.

Grouping, DISTINCT and sets use the same notion of equality through `identity`: 1 and 1.0 are one
value, and so is text that the collation cannot tell apart.
"""

from __future__ import annotations

from collections.abc import Callable

from minidb.errors import OperationalError
from minidb.values import Value

Fold = Callable[[str], str]

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def lower_ascii(text: str) -> str:
    """Lower case of the letters A to Z and no others, which is all that SQLite folds."""
    return text.translate(_LOWER)


def _unchanged(text: str) -> str:
    return text


def _without_trailing_spaces(text: str) -> str:
    return text.rstrip(" ")


FOLDS: dict[str, Fold] = {
    "BINARY": _unchanged,
    "NOCASE": lower_ascii,
    "RTRIM": _without_trailing_spaces,
}


def fold_of(collation: str | None) -> Fold:
    """What the collation compares instead of the text itself; None is BINARY."""
    name = (collation or "BINARY").upper()
    if name not in FOLDS:
        raise OperationalError(f"no such collation sequence: {collation}")
    return FOLDS[name]


def identity(value: Value, fold: Fold) -> Value:
    """A hashable stand-in that is equal for values that SQL calls equal."""
    return fold(value) if isinstance(value, str) else value


def sort_key(value: Value, fold: Fold) -> tuple[int, int | float | str | bytes]:
    """A key that sorts values of all classes."""
    if value is None:
        return (0, 0)
    if isinstance(value, int | float):
        return (1, value)
    return (2, fold(value)) if isinstance(value, str) else (3, value)


def order(left: Value, right: Value, fold: Fold) -> int:
    """Negative, zero or positive as left comes before, with or after right."""
    first, second = sort_key(left, fold), sort_key(right, fold)
    return (first > second) - (first < second)
