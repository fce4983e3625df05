"""What evaluation leaves behind besides a value: facts, and where Python would raise."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import z3

from refute.specs.machine import types as t
from refute.verifiers.symbolic.folding import Bit, Term, and_, any_of

_NUMBERS = itertools.count()


class Context:
    """Collects for one formula what is to be assumed and what goes wrong.

    facts: what holds of the unknowns that were made, axioms of orders among it. errors: conditions
    on which something is raised, each of the path on which it is. path: the condition of being
    where evaluation is.
    """

    def __init__(self) -> None:
        self.facts: list[Term] = []
        self.errors: list[Bit] = []
        self.path: Bit = True
        self.memory: dict[Any, Any] = {}  # of the evaluator
        self._ordered: dict[str, Term] = {}

    @property
    def error(self) -> Bit:
        """Whether anything is raised."""
        return any_of(self.errors)

    def fail(self, bit: Bit = True) -> None:
        """Something is raised here on this condition."""
        found = and_(self.path, bit)
        if found is not False:
            self.errors.append(found)

    def assume(self, bit: Bit) -> None:
        """A fact about unknowns."""
        if bit is not True:
            self.facts.append(z3.BoolVal(False) if bit is False else bit)

    @contextmanager
    def under(self, bit: Bit) -> Iterator[None]:
        """What is evaluated inside is evaluated on this condition only."""
        before = self.path
        self.path = and_(before, bit)
        try:
            yield
        finally:
            self.path = before

    @contextmanager
    def apart(self) -> Iterator[list[Bit]]:
        """Errors from inside go to the list that this gives."""
        before, self.errors = self.errors, []
        try:
            yield self.errors
        finally:
            self.errors = before

    def quiet(self, facts: bool = True) -> Context:
        """A context whose errors are nobody's. facts: whether its facts are this one's."""
        made = Context()
        if facts:
            made.facts, made._ordered, made.memory = self.facts, self._ordered, self.memory
        return made

    def fresh(self, name: str) -> str:
        """A name that nothing else has."""
        return f"{name}#{next(_NUMBERS)}"

    def is_ordered(self, name: str) -> bool:
        """Whether the open Sort of this name is known to have an order."""
        return name in self._ordered

    def before(self, kind: t.Atoms) -> Term:
        """The strict total order of an open OrderedSort, as a function of Z3."""
        if kind.name not in self._ordered:
            sort = z3.DeclareSort(kind.name)
            less = z3.Function(f"{kind.name}<", sort, sort, z3.BoolSort())
            a, b, c = z3.Consts("a b c", sort)
            self.assume(z3.ForAll([a], z3.Not(less(a, a))))
            chain = z3.Implies(z3.And(less(a, b), less(b, c)), less(a, c))
            self.assume(z3.ForAll([a, b, c], chain))
            self.assume(z3.ForAll([a, b], z3.Or(less(a, b), a == b, less(b, a))))
            self._ordered[kind.name] = less
        return self._ordered[kind.name]

    def after(self, kind: t.Atoms) -> tuple[Term, Term, Term]:
        """First and last member of an open OrderedSort, and the function to the next one.

        There are a first and a last one in every finite order, and one after all but the last.
        """
        less, sort = self.before(kind), z3.DeclareSort(kind.name)
        first, last = z3.Consts(f"{kind.name}.first {kind.name}.last", sort)
        after = z3.Function(f"{kind.name}.next", sort, sort)
        if f"{kind.name}.next" not in self._ordered:
            self._ordered[f"{kind.name}.next"] = after
            a, b = z3.Consts("a b", sort)
            self.assume(z3.ForAll([a], z3.Not(less(a, first))))
            self.assume(z3.ForAll([a], z3.Not(less(last, a))))
            self.assume(z3.ForAll([a], z3.Or(a == last, less(a, after(a)))))
            between = z3.And(less(a, b), less(b, after(a)))
            self.assume(z3.ForAll([a, b], z3.Or(a == last, z3.Not(between))))
        return first, last, after
