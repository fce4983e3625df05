"""Quantifiers: types with few values are written out, open Sorts and integers are quantified.

A type over open Sorts is taken apart into shapes: each is a value whose Enums, options and small
ranges are known and whose members of open Sorts are variables. So formulas quantify over open
Sorts and integers only.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import z3

from refute.specs.machine import types as t
from refute.specs.machine.ir import Param
from refute.specs.machine.values import cardinality, domain, tag_of
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.folding import Bit, Term, all_of, and_, any_of, implies
from refute.verifiers.symbolic.forms import Outside, Sym, row

MOST_SHAPES = 4096  # values that one quantifier is written out for
FEW_NUMBERS = 64  # in a range that is written out


class Shape(NamedTuple):
    """Values of one form. variables: bound ones; fits: when they are in range."""

    variables: tuple[Term, ...]
    fits: Bit
    value: Sym


class _Nesting:
    """How many quantifiers are open; variables are named by it, so equal formulas are one term."""

    depth = 0


@contextmanager
def scoped() -> Iterator[None]:
    """Variables of shapes made inside are not those of quantifiers around, and end with it."""
    depth = _Nesting.depth
    try:
        yield
    finally:
        _Nesting.depth = depth


@functools.cache
def is_open(kind: t.Type) -> bool:
    """Whether open Sorts occur in the type."""
    match kind:
        case t.Atoms():
            return kind.kind.startswith("open")
        case t.Tuple(parts) | t.Union(parts):
            return any(map(is_open, parts))
        case t.Rec():
            return any(is_open(part) for _, part in kind.fields)
        case t.SetOf() | t.SeqOf():
            return is_open(kind.elem)
        case t.MapOf():
            return is_open(kind.key) or is_open(kind.value)
    return False


def listed(kind: t.Type) -> bool:
    """Whether all values of the type can be written out."""
    return not is_open(kind) and cardinality(kind) <= MOST_SHAPES


def shapes(kind: t.Type) -> list[Shape]:
    """The shapes of a type, with new variables. Raises Outside."""
    match kind:
        case t.Atoms() if is_open(kind):
            variable = z3.Const(_name(kind.name), z3.DeclareSort(kind.name))
            return [Shape((variable,), True, variable)]
        case t.Int() if not (listed(kind) and cardinality(kind) <= FEW_NUMBERS):
            variable = z3.Int(_name("int"))
            low = True if kind.lo is None else variable >= kind.lo
            high = True if kind.hi is None else variable <= kind.hi
            return [Shape((variable,), and_(low, high), variable)]
        case t.Union():
            return [found for option in kind.options for found in shapes(option)]
        case _ if listed(kind):
            return [Shape((), True, value) for value in domain(kind)]
        case t.Tuple():
            return [_joined(found) for found in _products(kind.items)]
        case t.Rec():
            head = tag_of(kind)
            products = _products([part for _, part in kind.fields])
            return [
                _joined(found)._replace(value=row([s.value for s in found], head))
                for found in products
            ]
    raise Outside(f"a quantifier over {t.show(kind)}")


def _name(sort: str) -> str:
    _Nesting.depth += 1
    return f"{sort}?{_Nesting.depth}"


def _products(kinds: Iterable[t.Type]) -> list[tuple[Shape, ...]]:
    found = list(itertools.product(*map(shapes, kinds)))
    if len(found) > MOST_SHAPES:
        raise Outside(f"a quantifier over {len(found)} shapes of values")
    return found


def _joined(found: Sequence[Shape]) -> Shape:
    variables = tuple(v for shape in found for v in shape.variables)
    return Shape(variables, all_of(s.fits for s in found), row([s.value for s in found]))


def bound(
    kinds: Sequence[t.Type], body: Callable[[list[Sym]], Bit], every: bool, ctx: Context
) -> Bit:
    """Whether the body holds for all values of the types, or for some. Raises Outside.

    An error in the body is one for some values.
    """
    found = []
    with scoped():
        for shape in map(_joined, _products(kinds)):
            found.append(_closed(shape, body, every, ctx))
            if found[-1] is (not every):
                break
    return all_of(found) if every else any_of(found)


def _closed(shape: Shape, body: Callable[[list[Sym]], Bit], every: bool, ctx: Context) -> Bit:
    values = list(shape.value.parts if hasattr(shape.value, "parts") else shape.value)
    with ctx.under(shape.fits), ctx.apart() as errors:
        holds = body(values)
    ctx.errors.extend(over(shape.variables, error, False) for error in errors)
    joined = implies(shape.fits, holds) if every else and_(shape.fits, holds)
    return over(shape.variables, joined, every)


def over(variables: tuple[Term, ...], bit: Bit, every: bool) -> Bit:
    """The quantifier over these constants; what is known stays known."""
    if not variables or bit is True or bit is False:
        return bit
    return z3.ForAll(list(variables), bit) if every else z3.Exists(list(variables), bit)


def for_all(params: Sequence[Param], body: Callable[[list[Sym]], Bit], ctx: Context) -> Bit:
    """Whether the body holds for all values of the parameters. Raises Outside."""
    return bound([p.type for p in params], body, True, ctx)


def exists(params: Sequence[Param], body: Callable[[list[Sym]], Bit], ctx: Context) -> Bit:
    """Whether the body holds for some values of the parameters. Raises Outside."""
    return bound([p.type for p in params], body, False, ctx)
