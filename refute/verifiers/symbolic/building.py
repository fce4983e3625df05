"""Arbitrary and known values of a type, and what a model of Z3 says that they are.

Over closed types an arbitrary value is a list of Boolean and integer unknowns. A map over an open
Sort is one function for each of the unknowns that an entry has, a set over one is a relation for
each shape of its elements.
"""

from __future__ import annotations

from typing import Any

import z3

from refute.specs.machine import types as t
from refute.specs.machine.values import Value
from refute.verifiers.symbolic.coding import Coding, Shaping, extent, members
from refute.verifiers.symbolic.comparing import equal, fits, weighted
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.decoding import Decoding, Universe
from refute.verifiers.symbolic.folding import Bit, Term, all_of, and_, equals, iff
from refute.verifiers.symbolic.forms import (
    OpenMap,
    OpenSet,
    Outside,
    Row,
    Sym,
    alternatives,
    is_known,
    parts_of,
    row,
)
from refute.verifiers.symbolic.merging import select
from refute.verifiers.symbolic.quantifying import is_open, over, scoped, shapes

SIZE = 8  # elements of a growable container, where the caller says no size


def fresh(
    kind: t.Type, name: str, ctx: Context, *, growable: bool = False, size: int | None = None
) -> Sym:
    """An arbitrary value of the type; the constraints of its range are facts of the context.

    growable: sequences and sets without a bound have up to `size` elements. Raises Outside.
    """
    most = size if size is not None else SIZE if growable else None
    return _Fresh(ctx, most).value(kind, name)


class _Fresh(Shaping):
    """Makes unknowns, and over open Sorts functions of `terms`, the members they are for."""

    def __init__(self, ctx: Context, size: int | None, terms: tuple[Term, ...] = ()) -> None:
        super().__init__(self._leaf, self._assumed, size)
        self.ctx = ctx
        self.terms = terms

    def _leaf(self, name: str, sort: str) -> Term:
        return self._unknown(name, z3.BoolSort() if sort == "bool" else z3.IntSort())

    def _unknown(self, name: str, sort: Any) -> Term:
        if not self.terms:
            return z3.Const(name, sort)
        return z3.Function(name, *(term.sort() for term in self.terms), sort)(*self.terms)

    def _assumed(self, bit: Bit) -> None:
        self.ctx.assume(over(self.terms, bit, True))

    def value(self, kind: t.Type, name: str) -> Sym:
        """An arbitrary value of the type. Raises Outside."""
        match kind:
            case t.Atoms() if is_open(kind):
                return self._unknown(name, z3.DeclareSort(kind.name))
            case t.MapOf() if is_open(kind.key):
                return self._map(kind, name)
            case t.SetOf() if is_open(kind.elem) and not isinstance(kind, t.BagOf):
                return OpenSet(kind.elem, lambda elem: self._member(kind.elem, name, elem))
        return super().value(kind, name)

    def _at(self, kind: t.Type, name: str, key: Sym, quiet: bool = True) -> tuple[_Fresh, str]:
        """Where the unknowns for one key are made: by its known parts, over its open members."""
        found: list[Term] = []
        signature = _flat(key, found)
        ctx = self.ctx.quiet(facts=False) if quiet else self.ctx
        return _Fresh(ctx, self.size, (*self.terms, *found)), f"{name}[{signature}]"

    def _map(self, kind: t.MapOf, name: str) -> Sym:
        known: dict[Any, Sym] = {}

        def read(key: Sym) -> Sym:
            return select(
                (bit, one(form)) for bit, form in _spelled(key) if fits(form, kind.key) is not False
            )

        def one(form: Sym) -> Sym:
            maker, full = self._at(kind.key, name, form)
            place = (full, *(term.ast.value for term in maker.terms))
            if place not in known:
                known[place] = maker.terms, maker.value(kind.value, full)  # terms stay alive
            return known[place][1]

        with scoped():
            for shape in shapes(kind.key):
                maker, full = self._at(kind.key, name, shape.value, quiet=False)
                maker.value(kind.value, full)
        return OpenMap(kind, read)

    def _member(self, kind: t.Type, name: str, elem: Sym) -> Bit:
        found = []
        for bit, form in _spelled(elem):
            maker, full = self._at(kind, name, form)
            found.append((bit, and_(fits(form, kind), maker.leaf(full, "bool"))))
        return weighted(found)


def _spelled(sym: Sym) -> list[tuple[Bit, Sym]]:
    """What a value may be, with nothing undecided in it but open members and integers."""
    found = []
    for bit, form in alternatives(sym):
        if isinstance(form, z3.BoolRef):
            found += [(and_(bit, form), True), (and_(bit, z3.Not(form)), False)]
        elif type(form) is Row:
            ways: list[tuple[Bit, tuple[Sym, ...]]] = [(bit, ())]
            for part in form.parts:
                inside = _spelled(part)
                ways = [(and_(a, b), (*done, v)) for a, done in ways for b, v in inside]
            found += [(test, row(parts, form.head)) for test, parts in ways if test is not False]
        else:
            found.append((bit, form))
    return found


def _flat(sym: Sym, terms: list[Term]) -> str:
    """The known part of a spelled value as a text; its terms are put into the list."""
    if type(sym) is Row:
        head = "" if sym.head is None else sym.head.name
        return f"{head}({','.join(_flat(part, terms) for part in sym.parts)})"
    if is_known(sym):
        return _text(sym)
    if not isinstance(sym, z3.ExprRef):
        raise Outside(f"a {type(sym).__name__} as a key or element over an open Sort")
    terms.append(sym)
    return str(sym.sort())


def _text(value: Value) -> str:
    found = parts_of(value)
    if found is None:
        return repr(value)
    head = "" if found[0] is None else found[0].name
    return f"{head}({','.join(map(_text, found[1]))})"


def known(value: Value, kind: t.Type) -> Sym:
    """A concrete value of the type; known values stand for themselves."""
    return value


def leaves(sym: Sym, kind: t.Type, size: int | None = None) -> tuple[Term, ...]:
    """The unknowns that make the value, in the order of `fresh`. Raises Outside."""
    made = Coding(size)
    made.value(sym, kind)
    return tuple(made.found)


def equated(a: Sym, b: Sym, kind: t.Type) -> Bit:
    """Whether two values of a type are the same, by their unknowns; quantified for open Sorts."""
    if a is b:
        return True
    if is_open(kind) or unlisted(kind):
        return equal(a, b)
    size = max(extent(a, kind), extent(b, kind))
    pairs = zip(leaves(a, kind, size), leaves(b, kind, size), strict=True)
    return all_of(iff(x, y) if isinstance(x, z3.BoolRef) else equals(x, y) for x, y in pairs)


def unlisted(kind: t.Type) -> bool:
    """Whether a set in the type is coded as a list, in which one set has several codes."""
    match kind:
        case t.SetOf():
            return members(kind) is None or unlisted(kind.elem)
        case t.Tuple(parts) | t.Union(parts):
            return any(map(unlisted, parts))
        case t.Rec():
            return any(unlisted(part) for _, part in kind.fields)
        case t.MapOf():
            return unlisted(kind.value)
        case t.SeqOf():
            return unlisted(kind.elem)
    return False


def decoded(model: Any, sym: Sym, kind: t.Type, universe: Universe | None = None) -> Value:
    """The concrete value under a model. universe: elements that open Sorts have in the model.

    Members of open Sorts become those of Sorts of that many members.
    """
    return Decoding(model, universe or {}).value(sym)
