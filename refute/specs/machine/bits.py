"""`&`, `|`, `^` and `~` of numbers, as Python has them: two's complement without end.

Results are bounded where both operands are, so that no type of a variable is left unawares.
"""

from __future__ import annotations

import ast

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr

_SIGNS: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}


def of_numbers(op: type[ast.operator], left: Expr, right: Expr) -> Expr | None:
    """A bit operator on two numbers; None for anything else."""
    kinds = left.type, right.type
    if op not in _SIGNS or not all(isinstance(k, t.Int | t.Bool) for k in kinds):
        return None
    return Expr(_SIGNS[op], reach(_SIGNS[op], *kinds), (left, right))


def inverted(found: Expr) -> Expr | None:
    """`~x`, which is `-1 - x`; None where x is no number."""
    if not isinstance(found.type, t.Int):
        return None
    lo, hi = found.type.lo, found.type.hi
    kind = t.Int(None if hi is None else -1 - hi, None if lo is None else -1 - lo)
    return Expr("-", kind, (Expr("const", t.Int(-1, -1), (), -1), found))


def reach(sign: str, left: t.Type, right: t.Type) -> t.Int:
    """The numbers that `&`, `|` or `^` of two intervals may give."""
    ends = [(k.lo, k.hi) if isinstance(k, t.Int) else (0, 1) for k in (left, right)]
    if sign == "&":
        tops = [hi for lo, hi in ends if lo is not None and lo >= 0]
        known = [hi for hi in tops if hi is not None]
        if tops:
            return t.Int(0, min(known) if known else None)
    known = [end for pair in ends for end in pair if end is not None]
    natural = all(lo is not None and lo >= 0 for lo, _ in ends)
    if len(known) < 4:
        return t.Int(0 if natural else None, None)
    bits = max((end if end >= 0 else -1 - end).bit_length() for end in known)
    return t.Int(0 if natural else -(2**bits), 2**bits - 1)
