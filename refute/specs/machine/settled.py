"""Starting values that `@initial` predicates settle, so that engines need not try all others.

`var(one_of=anything)` next to `self.high == len(self.seq)` means what `high = Len(seq)` means in
TLA+. Engines take the product of all starting values and drop what a predicate does not admit; the
values that come before none of the admitted starts can be left out of that product, and here they
are: an equality gives its variable, once those it reads have values, and every other conjunct is
asked as soon as it can be. What raises an exception, or takes too long, is left as it was said.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr, MachineIR, Property, Variable
from refute.specs.machine.meaning import Meaning, World
from refute.specs.machine.start_predicates import YES
from refute.specs.machine.values import (
    Value,
    cardinality,
    conforms,
    domain,
    order,
    pack_value,
    unpack_value,
)

_FEW = 2_000  # combinations that any engine goes through at once
_MANY = 20_000  # evaluations that building a machine may take
MAX_STARTS = 200_000  # values that one variable may start with


class _TooMany(Exception):
    """So many combinations that it is left to the engines."""


def settled(
    variables: Sequence[Variable], open_to_all: frozenset[str], properties: Sequence[Property]
) -> tuple[Variable, ...]:
    """The variables with the values that they may start with.

    open_to_all: those that may start with any value of their type. Where such a type is too large,
    and no predicate settles which of its values it is, that stays a predicate (`Variable.start`).
    """
    asked = [p.predicate for p in properties if p.kind == "initial"]
    listed, conjuncts = _listed(variables, [c for p in asked for c in _conjuncts(p)])
    search = _Search(listed, open_to_all, conjuncts)
    found = search.found() if conjuncts and search.large() else None
    made = [v for v in variables if v not in listed]
    for at, variable in enumerate(listed):
        if found is not None and (variable.name in search.given or len(found[at])):
            values: Sequence[Value] = sorted(found[at], key=order)
        elif variable.name in open_to_all and cardinality(variable.type) > MAX_STARTS:
            made.append(dataclasses.replace(variable, start=YES))
            continue
        elif variable.name in open_to_all:
            values = domain(variable.type)
        else:
            made.append(variable)
            continue
        made.append(dataclasses.replace(variable, initial=tuple(map(pack_value, values))))
    place = {variable.name: at for at, variable in enumerate(variables)}
    return tuple(sorted(made, key=lambda variable: place[variable.name]))


def _listed(
    variables: Sequence[Variable], conjuncts: Sequence[Expr]
) -> tuple[list[Variable], list[Expr]]:
    """The variables whose values can be listed, and what is said of these alone."""
    listed = [v for v in variables if v.start is None and not t.open_sorts(v.type)]
    names = {v.name for v in listed}
    return listed, [c for c in conjuncts if _reads(c) <= names and not _open(c)]


def _open(expr: Expr) -> bool:
    """Whether a quantifier over a Sort of any size is inside."""
    return bool(t.open_sorts(expr.type)) or any(map(_open, expr.args))


class _Search:
    """One variable after the other gets its values; what is known by then has to hold."""

    def __init__(
        self, variables: Sequence[Variable], open_to_all: frozenset[str], conjuncts: list[Expr]
    ) -> None:
        self.variables = variables
        self.open_to_all = open_to_all
        self.at = {v.name: at for at, v in enumerate(variables)}
        self.given: dict[str, Expr] = {}
        self.order = self._ordered(conjuncts)
        place = {name: at for at, name in enumerate(self.order)}
        self.asked: list[list[Expr]] = [[] for _ in self.order]
        for conjunct in conjuncts:
            last = max((place[name] for name in _reads(conjunct)), default=0)
            if self.order:
                self.asked[last].append(conjunct)
        empty = MachineIR("", "", "", 0, "", (), tuple(variables), (), (), ())
        self.meaning = Meaning(empty)
        self.left = _MANY

    def _ordered(self, conjuncts: list[Expr]) -> list[str]:
        """The free variables, small ones first, then each given one after those it reads."""
        said: dict[str, Expr] = {}
        for conjunct in conjuncts:
            name, value = _equality(conjunct)
            if name in self.open_to_all and name not in said:
                said[name] = value
        free = [v.name for v in self.variables if v.name not in said]
        done = sorted(free, key=lambda n: self._count(self.variables[self.at[n]]))
        while True:
            ready = [n for n, value in said.items() if n not in done and _reads(value) <= {*done}]
            rest = [n for n in said if n not in done]
            if not rest:
                return done
            if ready:
                self.given |= {n: said[n] for n in ready}
            done += ready or rest[:1]

    def _count(self, variable: Variable) -> float:
        open_ = variable.name in self.open_to_all
        return cardinality(variable.type) if open_ else len(variable.initial)

    def large(self) -> bool:
        """Whether there are more combinations than engines go through at once, and it helps."""
        helps = bool(self.given) or any(self.asked[:-1])
        return helps and math.prod(map(self._count, self.variables)) > _FEW

    def found(self) -> list[set[Value]] | None:
        """For each variable the values of all starts; None when that is left to the engines."""
        values: list[set[Value]] = [set() for _ in self.variables]
        try:
            for start in self._starts(0, [None] * len(self.variables)):
                for some, value in zip(values, start, strict=True):
                    some.add(value)
        except Exception:
            return None
        return values

    def _starts(self, depth: int, row: list[Value]) -> Iterator[tuple[Value, ...]]:
        if depth == len(self.order):
            yield tuple(row)
            return
        name = self.order[depth]
        for value in self._values(name, row):
            row[self.at[name]] = value
            self._count_one()
            if all(self._valued(c, row) for c in self.asked[depth]):
                yield from self._starts(depth + 1, row)

    def _values(self, name: str, row: list[Value]) -> Sequence[Value]:
        variable = self.variables[self.at[name]]
        if name in self.given:
            value = self._valued(self.given[name], row)
            return (value,) if conforms(value, variable.type) else ()
        if name not in self.open_to_all:
            return [unpack_value(v) for v in variable.initial]
        if cardinality(variable.type) > _MANY:
            raise _TooMany
        return domain(variable.type)

    def _count_one(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _TooMany

    def _valued(self, expr: Expr, row: list[Value]) -> Value:
        return self.meaning.valued(expr, World(tuple(row), ()))


def _conjuncts(predicate: Expr) -> Iterator[Expr]:
    if predicate.op == "and":
        for part in predicate.args:
            yield from _conjuncts(part)
    else:
        yield predicate


def _equality(conjunct: Expr) -> tuple[str, Expr]:
    """The variable that a conjunct gives a value, and the value; no name when it does not."""
    if conjunct.op == "==":
        for side, other in (conjunct.args, conjunct.args[::-1]):
            if side.op == "read" and side.data not in _reads(other):
                return str(side.data), other
    return "", conjunct


def _reads(expr: Expr) -> set[str]:
    """The variables whose values an expression asks for."""
    own = {str(expr.data)} if expr.op == "read" else set()
    return own.union(*map(_reads, expr.args))
