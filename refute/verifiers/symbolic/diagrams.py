"""A finite state as a sentence: that there are such members, of which this and that is true.

The diagram of a state says of its members everything that conditions of the vocabulary can say of
them. Every state in which its sentence is true contains that state, up to names, and so the
sentence's opposite is the strongest clause that the state refutes (A. Karbyshev, N. Bjørner,
S. Itzhaky, N. Rinetzky, S. Shoham: "Property-directed inference of universal invariants or proving
their absence", CAV 2015).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import z3

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr, MachineIR, Param
from refute.specs.machine.lower import used
from refute.verifiers.symbolic.alternation import chosen_by, functions_of, goes_round
from refute.verifiers.symbolic.building import fresh
from refute.verifiers.symbolic.candidates import Vocabulary
from refute.verifiers.symbolic.clauses import Clause, Literal
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.decoding import Decoding, Universe
from refute.verifiers.symbolic.evaluating import environment, evaluate
from refute.verifiers.symbolic.folding import Bit, Term, and_, not_
from refute.verifiers.symbolic.forms import Outside, truth
from refute.verifiers.symbolic.rewriting import nodes, substituted
from refute.verifiers.symbolic.world import World

MOST_MEMBERS = 5  # of one Sort in a state that is made a diagram
MOST_CONDITIONS = 2_000  # about the members of one state
MOST_QUANTIFIERS = 2  # in one condition
MOST_NAMINGS = 200  # of one cube that are tried for the first one


@frozen
class Cube:
    """Different members, by name, and what is true of them together."""

    params: tuple[Param, ...]
    literals: tuple[Literal, ...]

    def fewer(self, literals: Sequence[Literal]) -> Cube:
        """Some of it, about the members that it then still speaks of."""
        read = frozenset[str]().union(*(used(literal.condition) for literal in literals))
        return Cube(tuple(p for p in self.params if p.name in read), tuple(literals))

    def clause(self) -> Clause:
        """Its opposite; cubes that differ in names only have one clause."""
        ways = itertools.islice(self._namings(), MOST_NAMINGS)
        return min((self._named(names) for names in ways), key=repr)

    def _namings(self) -> Iterator[tuple[Param, ...]]:
        """The members in every order of those of each Sort, for the names that they get."""
        sorts = sorted(dict.fromkeys(p.type for p in self.params), key=t.show)
        own = [[p for p in self.params if p.type == sort] for sort in sorts]
        for groups in itertools.product(*map(itertools.permutations, own)):
            yield tuple(itertools.chain.from_iterable(groups))

    def _named(self, params: tuple[Param, ...]) -> Clause:
        names: dict[str, Expr] = {}
        fresh: list[Param] = []
        for param in params:
            at = 1 + sum(p.type == param.type for p in fresh)
            fresh.append(Param(name_of(param.type, at), param.type))
            names[param.name] = Expr("local", param.type, (), fresh[-1].name)
        found = ((substituted(li.condition, names), li.positive) for li in self.literals)
        literals = sorted((Literal(c, not positive) for c, positive in found), key=repr)
        return Clause(tuple(fresh), tuple(literals))


def name_of(kind: t.Type, number: int) -> str:
    """The name of the n-th variable of a Sort, as all lemmas have it."""
    return f"{t.show(kind).lower()}{number}"


class Diagrams:
    """Conditions about members that have names, and what a model says of them."""

    def __init__(self, ir: MachineIR) -> None:
        self.ir = ir
        self.vocabulary = Vocabulary(ir)
        self.functions = functions_of(ir)
        self._conditions: dict[tuple[Param, ...], tuple[Expr, ...]] = {}
        self._signed: dict[tuple[Param, ...], tuple[tuple[Literal, Literal], ...]] = {}

    def conditions(self, params: tuple[Param, ...]) -> tuple[Expr, ...]:
        """What may be said of members with these names; those with quantifiers come last.

        Raises Outside where it is too much.
        """
        if params not in self._conditions:
            found = [c for c in self.vocabulary.conditions(params) if self._decidable(c, params)]
            if len(found) > MOST_CONDITIONS:
                raise Outside(f"{len(found)} conditions about the members of one state")
            self._conditions[params] = tuple(sorted(found, key=weight))
            pairs = ((Literal(c, False), Literal(c, True)) for c in self._conditions[params])
            self._signed[params] = tuple(pairs)
        return self._conditions[params]

    def _decidable(self, condition: Expr, params: tuple[Param, ...]) -> bool:
        """Whether a clause with the condition, and one with its opposite, may be put to Z3."""
        if weight(condition)[0] > MOST_QUANTIFIERS:
            return False
        read = tuple(p for p in params if p.name in used(condition))
        return not any(
            goes_round(self.functions | chosen_by(Clause(read, (Literal(condition, sign),))))
            for sign in (True, False)
        )

    def of(self, model: Any, universe: Universe, atoms: Atoms) -> Cube:
        """The diagram of the state that a model gives to the atoms' world. Raises Outside."""
        params, members = [], {}
        for name, elements in universe.items():
            if len(elements) > MOST_MEMBERS:
                raise Outside(f"a state with {len(elements)} members of {name}")
            for at, element in enumerate(elements, 1):
                kind = atoms.sorts[name]
                params.append(Param(name_of(kind, at), kind))
                members[params[-1].name] = element
        reading = Decoding(model, universe)
        literals = []
        for at, condition in enumerate(self.conditions(tuple(params))):
            true, error = atoms.at(condition, members)
            if not reading.true(error):
                literals.append(self._signed[tuple(params)][at][reading.true(true)])
        return Cube(tuple(params), tuple(literals))


def weight(condition: Expr) -> tuple[int, int]:
    """How many quantifiers a condition has, and how long it is: more is worse."""
    every = list(nodes(condition))
    return sum(n.op in ("any", "all") for n in every), len(every)


class Atoms:
    """Conditions as formulas over one state, about members that are constants of Z3."""

    def __init__(self, world: World, sorts: Mapping[str, t.Atoms]) -> None:
        self.world = world
        self.sorts = sorts
        self.facts: list[Term] = []
        self._known: dict[Expr, tuple[Bit, Bit]] = {}

    def formula(self, condition: Expr) -> tuple[Bit, Bit]:
        """Whether a condition is true of the constants with its locals' names, and raises."""
        if condition not in self._known:
            context = Context()
            free = {n.data: n.type for n in nodes(condition) if n.op == "local"}
            given = {name: constant(name, free[name]) for name in used(condition)}
            value = evaluate(condition, environment(self.world.values, given), context)
            self._known[condition] = truth(value), context.error
            self.facts += context.facts
        return self._known[condition]

    def literal(self, literal: Literal) -> Bit:
        """Whether a literal is true, and does not raise."""
        true, error = self.formula(literal.condition)
        return and_(true if literal.positive else not_(true), not_(error))

    def at(self, condition: Expr, members: Mapping[str, Term]) -> tuple[Bit, Bit]:
        """The same of other members, by name."""
        pairs = [(constant(n, members[n].sort()), members[n]) for n in used(condition)]
        true, error = self.formula(condition)
        return _replaced(true, pairs), _replaced(error, pairs)


def constant(name: str, kind: Any) -> Term:
    """The constant of Z3 for a member with this name. kind: a type, or a sort of Z3."""
    if isinstance(kind, z3.SortRef):
        return z3.Const(f"{name}!", kind)
    return fresh(kind, f"{name}!", Context())


def _replaced(bit: Bit, pairs: list[tuple[Term, Term]]) -> Bit:
    return bit if isinstance(bit, bool) or not pairs else z3.substitute(bit, *pairs)
