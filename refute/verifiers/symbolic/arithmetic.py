"""Numbers: Python's arithmetic on what may be known integers or an integer unknown.

Python rounds quotients down and gives a remainder the sign of the divisor; Z3's division keeps
remainders from being negative, which is the same for positive divisors only. Where both operands
are choices of known numbers the result is one too, and no integer reaches the solver.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

import z3

from refute.specs.machine import types as t
from refute.specs.machine.values import Atom, Tag, order
from refute.verifiers.symbolic.comparing import SETS, contains, equal, is_number, weighted
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.folding import (
    Bit,
    Term,
    and_,
    any_of,
    chosen,
    equals,
    not_,
    number_of,
    or_,
)
from refute.verifiers.symbolic.forms import (
    Choice,
    Outside,
    Sym,
    alternatives,
    as_cells,
    is_known,
    parts_of,
)
from refute.verifiers.symbolic.merging import MOST_NUMBERS, merge, select

MOST_PAIRS = 1024  # of known operands that are worked out
Numbers = list[tuple[Bit, int]]  # known ones, each with its condition

_KNOWN: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


def numbers(sym: Sym, ctx: Context) -> Numbers | Term:
    """The integers that a value may be, or one integer term. What is no number is an error."""
    known: Numbers = []
    terms: list[tuple[Bit, Term]] = []
    for bit, form in alternatives(sym):
        if isinstance(form, int):
            known.append((bit, int(form)))
        elif isinstance(form, z3.BoolRef):
            known += [(and_(bit, form), 1), (and_(bit, not_(form)), 0)]
        elif isinstance(form, z3.ArithRef):
            terms.append((bit, form))
        elif type(form) is Atom:
            known.append((bit, form.i))
        else:
            ctx.fail(bit)
    if not terms:
        return known or [(True, 0)]
    return chosen([*terms, *((bit, number_of(value)) for bit, value in known)])


def _term(found: Numbers | Term) -> Term:
    return chosen([(b, number_of(v)) for b, v in found]) if isinstance(found, list) else found


def arithmetic(op: str, a: Sym, b: Sym, ctx: Context) -> Sym:
    """One of + - * // % & | ^ on two numbers. Division by zero is an error. Raises Outside."""
    left, right = numbers(a, ctx), numbers(b, ctx)
    if isinstance(left, list) and isinstance(right, list) and len(left) * len(right) <= MOST_PAIRS:
        return _worked_out(op, left, right, ctx)
    if op in ("//", "%"):
        return _divided(op, _term(left), right, ctx)
    if op == "*":
        for few, other in ((left, right), (right, left)):
            if isinstance(few, list):
                return select([(bit, number_of(v) * _term(other)) for bit, v in few])
    if op not in ("+", "-", "*"):
        raise Outside(f"{op} of integers that are not among a few known ones")
    made: Sym = _KNOWN[op](_term(left), _term(right))
    return made


def _worked_out(op: str, left: Numbers, right: Numbers, ctx: Context) -> Sym:
    found = []
    for bit, x in left:
        for other, y in right:
            both = and_(bit, other)
            if y == 0 and op in ("//", "%"):
                ctx.fail(both)
            else:
                found.append((both, _KNOWN[op](x, y)))
    return select(found) if found else 0


def _divided(op: str, x: Term, right: Numbers | Term, ctx: Context) -> Sym:
    if not isinstance(right, list):
        ctx.fail(equals(right, number_of(0)))
        return z3.If(right > 0, _quotient(op, x, right, False), _quotient(op, x, right, True))
    found = []
    for bit, y in right:
        if y == 0:
            ctx.fail(bit)
        else:
            found.append((bit, _quotient(op, x, number_of(y), y < 0)))
    return select(found) if found else 0


def _quotient(op: str, x: Term, y: Term, negative: bool) -> Term:
    if negative:
        return (-x) / (-y) if op == "//" else -((-x) % (-y))
    return x / y if op == "//" else x % y


def negated(sym: Sym, ctx: Context) -> Sym:
    """The number with the other sign."""
    return arithmetic("-", 0, sym, ctx)


def absolute(sym: Sym, ctx: Context) -> Sym:
    """The number without its sign."""
    found = numbers(sym, ctx)
    if isinstance(found, list):
        return select([(bit, abs(v)) for bit, v in found])
    return z3.If(found >= 0, found, -found)


def below(a: Sym, b: Sym, kind: t.Type, ctx: Context) -> Bit:
    """Whether one number or member of an OrderedSort is less than another. Raises Outside."""
    if isinstance(kind, t.Atoms) and kind.kind.startswith("open"):
        ctx.before(kind)
        return weighted(
            (and_(p, q), less(x, y, ctx)) for p, x in alternatives(a) for q, y in alternatives(b)
        )
    left, right = numbers(a, ctx), numbers(b, ctx)
    if isinstance(left, list) and isinstance(right, list):
        return _below(left, right)
    low, high = _term(left), _term(right)
    return low < high


def _below(left: Numbers, right: Numbers) -> Bit:
    if max(v for _, v in left) < min(v for _, v in right):
        return True
    if min(v for _, v in left) >= max(v for _, v in right):
        return False
    if len(left) <= len(right):
        return any_of(and_(bit, any_of(o for o, y in right if x < y)) for bit, x in left)
    return any_of(and_(bit, any_of(o for o, x in left if x < y)) for bit, y in right)


def less(a: Sym, b: Sym, ctx: Context) -> Bit:
    """Whether a value comes before another in the canonical order. Raises Outside."""
    if a is b:
        return False
    if is_known(a) and is_known(b):
        return bool(order(a) < order(b))
    if type(a) is Choice or type(b) is Choice:
        return weighted(
            (and_(p, q), less(x, y, ctx)) for p, x in alternatives(a) for q, y in alternatives(b)
        )
    classes = _class(a), _class(b)
    if classes[0] != classes[1]:
        return classes[0] < classes[1]
    if is_number(a):
        return below(a, b, t.Int(), ctx)
    rows = parts_of(a), parts_of(b)
    if rows[0] is not None and rows[1] is not None:
        return _rows_less(rows[0][0], rows[0][1], rows[1][0], rows[1][1], ctx)
    if isinstance(a, SETS) and isinstance(b, SETS):
        return _sets_less(a, b)
    if isinstance(a, z3.ExprRef) and isinstance(b, z3.ExprRef):
        return _open_less(a, b, ctx)
    raise Outside("the order of members of an open Sort and of what is none")


def _class(sym: Sym) -> int:
    """The first number of `values.order`."""
    if is_number(sym):
        return 1
    if isinstance(sym, SETS):
        return 5
    found = parts_of(sym)
    if found is not None:
        return 3 if found[0] is None else 4
    return 0 if sym is None else 2


def _rows_less(
    head: Tag | None, left: tuple[Sym, ...], other: Tag | None, right: tuple[Sym, ...], ctx: Context
) -> Bit:
    if head is not None and other is not None and head.name != other.name:
        return head.name < other.name
    found: Bit = len(left) < len(right)
    for x, y in reversed(list(zip(left, right, strict=False))):
        found = or_(less(x, y, ctx), and_(equal(x, y), found))
    return found


def _sets_less(a: Sym, b: Sym) -> Bit:
    """By the smallest element that only one of them has: which has a larger one after it."""
    if not all(isinstance(s, frozenset) or not getattr(s, "others", True) for s in (a, b)):
        raise Outside("the order of sets whose elements are unknown")
    values = sorted({*as_cells(a).known, *as_cells(b).known}, key=order)
    found: Bit = False
    after_a: Bit = False
    after_b: Bit = False
    for value in reversed(values):
        in_a, in_b = contains(a, value), contains(b, value)
        only_a, only_b = and_(in_a, not_(in_b)), and_(in_b, not_(in_a))
        same = not_(or_(only_a, only_b))
        found = any_of([and_(only_a, after_b), and_(only_b, not_(after_a)), and_(same, found)])
        after_a, after_b = or_(in_a, after_a), or_(in_b, after_b)
    return found


def _open_less(a: Term, b: Term, ctx: Context) -> Bit:
    name = a.sort().name()
    if not a.sort().eq(b.sort()):
        return bool(name < b.sort().name())
    if not ctx.is_ordered(name):
        raise Outside(f"the order of {name}, which has none")
    return ctx.before(t.Atoms(name, (), "open ordered"))(a, b)


def best(items: Iterable[tuple[Bit, Sym]], largest: bool, ctx: Context) -> Sym:
    """The first least or largest of the items that are there; an error if none is."""
    found: Any = None
    there: Bit = False
    for bit, form in items:
        if there is False:
            found = form
        else:
            before = less(found, form, ctx) if largest else less(form, found, ctx)
            found = merge(and_(bit, or_(not_(there), before)), form, found)
        there = or_(there, bit)
    ctx.fail(not_(there))
    return found


def summed(items: Iterable[tuple[Bit, Sym]], ctx: Context) -> Sym:
    """The sum of the items that are there; of very many one term, not every number it may be."""
    found = [merge(bit, form, 0) for bit, form in items]
    if len(found) > MOST_NUMBERS:
        return z3.Sum([integer_of(form, ctx) for form in found])
    add = functools.partial(arithmetic, "+", ctx=ctx)
    return functools.reduce(add, found, 0)


def integer_of(sym: Sym, ctx: Context) -> Term:
    """A number as one integer term."""
    return _term(numbers(sym, ctx))
