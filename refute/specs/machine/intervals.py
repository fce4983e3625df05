"""Bounds of integer expressions, as far as they follow from the bounds of their operands."""

from __future__ import annotations

from collections.abc import Callable

from refute.specs.machine import types as t


def interval(op: str, left: t.Type, right: t.Type) -> t.Int:
    """The type of `left op right`; open where nothing is known."""
    (a, b), (c, d) = (_ends(left), _ends(right))
    if op == "+":
        return t.Int(_both(a, c, int.__add__), _both(b, d, int.__add__))
    if op == "-":
        return t.Int(_both(a, d, int.__sub__), _both(b, c, int.__sub__))
    if op == "*" and a is not None and b is not None and c is not None and d is not None:
        corners = (a * c, a * d, b * c, b * d)
        return t.Int(min(corners), max(corners))
    if op == "%" and c is not None and d is not None and c > 0:
        return t.Int(0, d - 1)
    return t.Int()


def _ends(kind: t.Type) -> tuple[int | None, int | None]:
    return (kind.lo, kind.hi) if isinstance(kind, t.Int) else (0, 1)


def _both(a: int | None, b: int | None, combine: Callable[[int, int], int]) -> int | None:
    return None if a is None or b is None else combine(a, b)
