"""`<`, `<=`, `>` and `>=` of sequences, as Python has them: the first elements that differ decide,
and of two rows of which one is the beginning of the other the shorter is less."""

from __future__ import annotations

from collections.abc import Callable

from refute.specs.machine import types as t
from refute.specs.machine.expressions import BOOL, number
from refute.specs.machine.ir import Expr

Less = Callable[[Expr, Expr], "Expr | None"]


def before(
    op: str, left: Expr, right: Expr, less: Less, fresh: Callable[[str], str]
) -> Expr | None:
    """How two sequences compare; None where their elements have no order. less: of elements."""
    names = fresh("left"), fresh("right")
    held = [Expr("local", side.type, (), n) for side, n in zip((left, right), names, strict=True)]
    low, high = held if op in ("<", "<=") else reversed(held)
    made = _less(low, high, less, fresh("at"))
    if made is None:
        return None
    if op in ("<=", ">="):
        made = Expr("or", BOOL, (Expr("==", BOOL, (low, high)), made))
    for name, side in ((names[1], right), (names[0], left)):
        made = Expr("let", BOOL, (side, made), name)
    return made


def _less(low: Expr, high: Expr, less: Less, name: str) -> Expr | None:
    """There is a place of the longer row up to which both are equal, and there `low` has ended or
    has less."""
    assert isinstance(low.type, t.SeqOf) and isinstance(high.type, t.SeqOf)
    last = None if high.type.upto is None else max(high.type.upto - 1, 0)
    at = Expr("local", t.Int(0, last), (), name)
    decides = less(*(Expr("index", _elem(row), (row, at)) for row in (low, high)))
    if decides is None:
        return None
    ends = Expr("len", t.Int(0, low.type.upto), (low,))
    heads = tuple(Expr("slice", row.type, (row, number(0), at)) for row in (low, high))
    ended = Expr("==", BOOL, (at, ends))
    inside = Expr("and", BOOL, (Expr("<", BOOL, (at, ends)), decides))
    test = Expr("and", BOOL, (Expr("==", BOOL, heads), Expr("or", BOOL, (ended, inside))))
    length = Expr("len", t.Int(0, high.type.upto), (high,))
    places = Expr("range", t.SeqOf(at.type, high.type.upto), (number(0), length, number(1)))
    chain = Expr("for", BOOL, (places, Expr("item", BOOL, (test,))), name)
    return Expr("any", BOOL, (chain,))


def _elem(row: Expr) -> t.Type:
    return row.type.elem if isinstance(row.type, t.SeqOf) else t.NEVER
