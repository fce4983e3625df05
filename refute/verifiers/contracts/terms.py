"""Terms: Python ints and bools where a value is known, Z3 expressions where it is not.

Known values stay Python's own, so that a branch that cannot be taken is never looked at, and so
that a loop over a constant range unrolls by itself. The integers are unbounded in both worlds.
Z3's `div` and `mod` leave a remainder that is never negative; Python's take the divisor's sign.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3

# An int or bool, or a Z3 expression of that sort. Z3's Python interface is not typed.
Term = Any


def known(term: Term) -> bool:
    """Whether the term is a Python value."""
    return isinstance(term, int)


def is_true(term: Term) -> bool:
    """Whether the condition is known to hold."""
    return term is True


def is_false(term: Term) -> bool:
    """Whether the condition is known not to hold."""
    return term is False


def fold_bool(term: Term) -> Term:
    """The condition, as a Python bool where Z3 holds one of its two constants."""
    if isinstance(term, bool):
        return term
    if z3.is_true(term):
        return True
    return False if z3.is_false(term) else term


def neg(condition: Term) -> Term:
    """Not the condition."""
    if isinstance(condition, bool):
        return not condition
    if z3.is_not(condition):
        return condition.arg(0)
    return z3.Not(condition)


def conj(conditions: Iterable[Term]) -> Term:
    """All of the conditions."""
    kept = []
    for condition in conditions:
        if is_false(condition):
            return False
        if not is_true(condition):
            kept.append(condition)
    if not kept:
        return True
    return kept[0] if len(kept) == 1 else z3.And(kept)


def disj(conditions: Iterable[Term]) -> Term:
    """Any of the conditions."""
    return neg(conj([neg(c) for c in conditions]))


def implies(condition: Term, then: Term) -> Term:
    """If the condition, then the other."""
    if is_true(condition) or is_true(then):
        return then
    if is_false(condition):
        return True
    return neg(condition) if is_false(then) else z3.Implies(condition, then)


def same(left: Term, right: Term) -> bool:
    """Whether the terms are one and the same, as written."""
    if known(left) or known(right):
        return type(left) is type(right) and bool(left == right)
    return bool(left.eq(right))


def ite(condition: Term, then: Term, other: Term) -> Term:
    """`then` where the condition holds, else `other`; both ints or both bools."""
    if isinstance(condition, bool):
        return then if condition else other
    if same(then, other):
        return then
    if isinstance(then, bool) and isinstance(other, bool):
        return condition if then else neg(condition)
    return z3.If(condition, then, other)


def iff(left: Term, right: Term) -> Term:
    """Whether two conditions are the same."""
    if isinstance(left, bool):
        return right if left else neg(right)
    if isinstance(right, bool):
        return left if right else neg(left)
    return left == right


def as_int(condition: Term) -> Term:
    """1 where the condition holds, else 0."""
    return int(condition) if isinstance(condition, bool) else z3.If(condition, 1, 0)


def floor_div(left: Term, right: Term) -> Term:
    """Python's `left // right` for a divisor that is not zero."""
    if known(left) and known(right):
        return left // right if right else 0
    if known(right):
        return _lift(left) / right if right > 0 else _lift(-left) / -right
    euclid = _lift(left) / right
    down = z3.If(_lift(left) % right == 0, euclid, euclid - 1)
    return z3.If(right > 0, euclid, down)


def floor_mod(left: Term, right: Term) -> Term:
    """Python's `left % right` for a divisor that is not zero."""
    if known(left) and known(right):
        return left % right if right else 0
    if known(right):
        return _lift(left) % right if right > 0 else -(_lift(-left) % -right)
    rest = _lift(left) % right
    return z3.If(z3.Or(right > 0, rest == 0), rest, rest + right)


def _lift(term: Term) -> Term:
    return z3.IntVal(term) if known(term) else term


def lift(term: Term) -> Term:
    """The term as a Z3 expression."""
    if isinstance(term, bool):
        return z3.BoolVal(term)
    return z3.IntVal(term) if isinstance(term, int) else term


def minimum(left: Term, right: Term) -> Term:
    """The smaller of two ints."""
    if known(left) and known(right):
        return min(left, right)
    return ite(left <= right, left, right)


def maximum(left: Term, right: Term) -> Term:
    """The larger of two ints."""
    if known(left) and known(right):
        return max(left, right)
    return ite(left >= right, left, right)


def mentions(term: Term, names: frozenset[int]) -> bool:
    """Whether a Z3 expression holds any of the constants with these ids."""
    if known(term):
        return False
    todo, seen = [term], set()
    while todo:
        node = todo.pop()
        if node.get_id() in seen:
            continue
        seen.add(node.get_id())
        if node.get_id() in names:
            return True
        todo += [node.body()] if z3.is_quantifier(node) else node.children()
    return False
