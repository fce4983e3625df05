"""What a model of Z3 says that values are."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import z3

from refute.specs.machine import types as t
from refute.specs.machine.values import Atom, Value, atom, domain
from refute.verifiers.symbolic.folding import Bit, Term
from refute.verifiers.symbolic.forms import (
    Cells,
    Choice,
    OpenMap,
    OpenSet,
    Outside,
    Row,
    Sym,
    alternatives,
    cells,
    is_known,
    parts_of,
    row,
)
from refute.verifiers.symbolic.quantifying import is_open

Universe = Mapping[str, Sequence[Term]]  # an open Sort's name → its elements in one model


class Decoding:
    """Values and truths under one model."""

    def __init__(self, model: Any, universe: Universe) -> None:
        self.model = model
        self.universe = universe

    def value(self, sym: Sym) -> Value:
        """The concrete value. Raises Outside where its open Sorts have no universe."""
        if is_known(sym):
            return sym
        if isinstance(sym, z3.BoolRef):
            return self.true(sym)
        if isinstance(sym, z3.ArithRef):
            return self.model.eval(sym, model_completion=True).as_long()
        if type(sym) is Choice:
            return self.value(self._picked(sym))
        if type(sym) is Row:
            return self._row(sym)
        if type(sym) is Cells:
            return self._set(sym)
        if isinstance(sym, OpenSet | OpenMap):
            return self._open(sym)
        return self._member(sym)

    def true(self, bit: Bit) -> bool:
        """Whether a formula is true, where what the model leaves open is anything.

        Raises Outside for a quantifier over what has no universe.
        """
        if isinstance(bit, bool):
            return bit
        found = self.model.eval(bit, model_completion=True)
        if z3.is_true(found) or z3.is_false(found):
            return bool(z3.is_true(found))
        return self._written_out(found)

    def _written_out(self, bit: Term) -> bool:
        """A formula that the model does not decide at once: one with quantifiers in it."""
        if isinstance(bit, z3.QuantifierRef):
            return self._quantified(bit)
        parts = bit.children()
        if z3.is_not(bit):
            return not self.true(parts[0])
        if z3.is_and(bit):
            return all(map(self.true, parts))
        if z3.is_or(bit):
            return any(map(self.true, parts))
        if z3.is_implies(bit):
            return not self.true(parts[0]) or self.true(parts[1])
        if z3.is_app_of(bit, z3.Z3_OP_ITE):
            return self.true(parts[1] if self.true(parts[0]) else parts[2])
        if z3.is_eq(bit) and z3.is_bool(parts[0]):
            return self.true(parts[0]) is self.true(parts[1])
        raise Outside("a model that does not decide a formula")

    def _quantified(self, bit: z3.QuantifierRef) -> bool:
        names = [bit.var_sort(at).name() for at in range(bit.num_vars())]
        if not all(name in self.universe for name in names):
            raise Outside("the truth of a quantifier over integers in a model")
        ways = itertools.product(*(self.universe[name] for name in names))
        found = (self.true(z3.substitute_vars(bit.body(), *reversed(way))) for way in ways)
        return all(found) if bit.is_forall() else any(found)

    def _picked(self, sym: Choice) -> Sym:
        found = alternatives(sym)
        return next((form for bit, form in found[:-1] if self.true(bit)), found[-1][1])

    def _row(self, sym: Row) -> Value:
        parts = tuple(self.value(part) for part in sym.parts)
        return parts if sym.head is None else (sym.head, *parts)

    def _set(self, sym: Cells) -> Value:
        there = [value for value, bit in sym.known.items() if self.true(bit)]
        there += [self.value(form) for bit, form in sym.others if self.true(bit)]
        return frozenset(there)

    def _member(self, sym: Term) -> Atom:
        name = sym.sort().name()
        element = self.model.eval(sym, model_completion=True)
        for at, known_element in enumerate(self.universe.get(name, ())):
            if z3.is_true(self.model.eval(element == known_element, model_completion=True)):
                return atom(name, at, f"{name}{at}")
        raise Outside(f"a member of {name} that is not in the model's universe")

    def _open(self, sym: OpenSet | OpenMap) -> Value:
        if isinstance(sym, OpenMap):
            keys = domain(closed(sym.kind.key, self.universe))
            return tuple(self.value(sym.read(self.lifted(k))) for k in keys)
        elems = domain(closed(sym.elem, self.universe))
        return frozenset(e for e in elems if self.true(sym.has(self.lifted(e))))

    def lifted(self, value: Value) -> Sym:
        """A value over closed Sorts as one over the model's elements."""
        if type(value) is Atom and value.kind in self.universe:
            return self.universe[value.kind][value.i]
        if type(value) is frozenset:
            inside = [(v, self.lifted(v)) for v in value]
            same = {v: True for v, sym in inside if is_known(sym)}
            return cells(same, [(True, sym) for _, sym in inside if not is_known(sym)])
        found = parts_of(value)
        return value if found is None else row(map(self.lifted, found[1]), found[0])


def closed(kind: t.Type, universe: Universe) -> t.Type:
    """The type where open Sorts have as many members as in the universe."""
    match kind:
        case t.Atoms() if is_open(kind):
            names = tuple(f"{kind.name}{at}" for at in range(len(universe[kind.name])))
            return t.Atoms(kind.name, names, "ordered" if "ordered" in kind.kind else "sort")
        case t.Tuple(parts):
            return t.Tuple(tuple(closed(p, universe) for p in parts))
        case t.Union(parts):
            return t.Union(tuple(closed(p, universe) for p in parts))
        case t.Rec():
            return t.Rec(kind.name, tuple((n, closed(p, universe)) for n, p in kind.fields))
        case t.SetOf():
            return type(kind)(closed(kind.elem, universe))
        case t.SeqOf():
            return t.SeqOf(closed(kind.elem, universe), kind.upto)
        case t.MapOf():
            return t.MapOf(closed(kind.key, universe), closed(kind.value, universe))
    return kind
