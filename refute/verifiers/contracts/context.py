"""Context: fresh symbols and the facts that define them.

Inside a quantifier a fresh symbol is a function of the bound variables, and a fact about it holds
for all of them; so whoever evaluates an expression need not know whether it stands in one. Bound
variables are named by their depth, so that equal expressions are one and the same term.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence

import z3

from refute.verifiers.contracts.kinds import Kind
from refute.verifiers.contracts.terms import Term, conj, implies, is_true, lift, mentions, neg
from refute.verifiers.contracts.values import (
    NO_VALUE,
    BoolV,
    IntV,
    Seq,
    SeqV,
    StrV,
    TupleV,
    UnionV,
    Value,
    choose,
)

MOST_TERMS = 60_000
CHECKED = 64  # symbols between two looks at the clock


class TooLarge(Exception):
    """The verification condition of a function grew beyond what a solver could use."""


class Context:
    """axioms: facts that hold wherever their symbols are used. bound: variables in scope."""

    def __init__(self, deadline: float = math.inf) -> None:
        self.deadline = deadline
        self.axioms: list[Term] = []
        self.bound: list[Term] = []
        self._count = 0
        self._ranged: set[int] = set()
        self.strings = z3.DeclareSort("str")
        self.literals: dict[str, Term] = {}  # text → its symbol
        self.memory: dict[str, object] = {}  # what other modules keep for this run

    def check_time(self) -> None:
        """Raises TooLarge when the time is up."""
        if time.monotonic() > self.deadline:
            raise TooLarge("the time ended while the function was still executed symbolically")

    def name(self, hint: str) -> str:
        """A name that no other symbol has."""
        self._count += 1
        if self._count % CHECKED == 0:
            self.check_time()
        if self._count > MOST_TERMS:
            raise TooLarge(f"more than {MOST_TERMS} symbols")
        return f"{hint}!{self._count}"

    def fresh(self, hint: str, sort: Term) -> Term:
        """A symbol about which nothing is known, one for each value of the bound variables."""
        name = self.name(hint)
        if not self.bound:
            return z3.Const(name, sort)
        sorts = [v.sort() for v in self.bound]
        return z3.Function(name, *sorts, sort)(*self.bound)

    def integer(self, hint: str) -> Term:
        """A fresh int."""
        return self.fresh(hint, z3.IntSort())

    def condition(self, hint: str) -> Term:
        """A fresh bool."""
        return self.fresh(hint, z3.BoolSort())

    def define(self, fact: Term, pattern: Term = None) -> None:
        """State a fact that holds by definition of its symbols, for all bound variables."""
        if is_true(fact):
            return
        fact = lift(fact)
        bound = [v for v in self.bound if mentions(fact, frozenset([v.get_id()]))]
        if not bound:
            self.axioms.append(fact)
            return
        triggers = [pattern] if pattern is not None and _triggers(pattern, bound) else []
        self.axioms.append(z3.ForAll(bound, fact, patterns=triggers))

    @contextlib.contextmanager
    def binding(self, sort: Term = None) -> Iterator[Term]:
        """A bound variable for the time of a context; the same one at the same depth."""
        variable = z3.Const(f"q!{len(self.bound)}", z3.IntSort() if sort is None else sort)
        self.bound.append(variable)
        try:
            yield variable
        finally:
            self.bound.pop()

    def closed(self, term: Term) -> bool:
        """Whether no bound variable in scope occurs in the term."""
        return not mentions(term, frozenset(v.get_id() for v in self.bound))

    def string(self, text: str) -> Term:
        """The symbol of a string literal; different texts are different strings."""
        if text not in self.literals:
            symbol = z3.Const(f"str!{len(self.literals)}", self.strings)
            self.axioms += [symbol != other for other in self.literals.values()]
            self.literals[text] = symbol
        return self.literals[text]

    def value(self, kind: Kind, hint: str) -> Value:
        """A value of the kind about which nothing else is known. Lists come as `SeqV`."""
        if self.bound:
            hint = f"{hint}.{len(self.bound)}"
        bound = tuple(self.bound)
        return self._make(kind, self.name(hint), tuple(v.sort() for v in bound))(bound)

    def _make(self, kind: Kind, name: str, sorts: tuple[Term, ...]) -> Callable[..., Value]:
        """A function from indices of these sorts to a value, through symbols called `name`."""
        match kind.name:
            case "int":
                number = _symbol(name, sorts, z3.IntSort())
                return lambda at: IntV(number(at))
            case "bool":
                flag = _symbol(name, sorts, z3.BoolSort())
                return lambda at: BoolV(flag(at))
            case "str":
                text = _symbol(name, sorts, self.strings)
                return lambda at: StrV(text(at))
            case "None":
                return lambda at: NO_VALUE
            case "tuple":
                made = [self._make(k, f"{name}.{i}", sorts) for i, k in enumerate(kind.inner)]
                return lambda at: TupleV(tuple(m(at) for m in made))
            case "union":
                return self._union(kind, name, sorts)
        return self._sequence(kind, name, sorts)

    def _union(self, kind: Kind, name: str, sorts: tuple[Term, ...]) -> Callable[..., Value]:
        tags = [_symbol(f"{name}?{i}", sorts, z3.BoolSort()) for i in range(len(kind.inner) - 1)]
        made = [self._make(k, f"{name}|{i}", sorts) for i, k in enumerate(kind.inner)]

        def union(at: Sequence[Term]) -> Value:
            cases: list[tuple[Term, Value]] = []
            before: list[Term] = []
            for tag, make in zip(tags, made[:-1], strict=True):
                cases.append((conj([*before, tag(at)]), make(at)))
                before.append(neg(tag(at)))
            cases.append((conj(before), made[-1](at)))
            chosen = choose(cases)
            return chosen if isinstance(chosen, UnionV) else cases[-1][1]

        return union

    def _sequence(self, kind: Kind, name: str, sorts: tuple[Term, ...]) -> Callable[..., Value]:
        if not kind.is_sequence or kind.element.name in ("never", "other"):
            raise TooLarge(f"a value of type {kind} of which nothing is known")
        length = _symbol(f"{name}#", sorts, z3.IntSort())
        element = self._make(kind.element, f"{name}[]", (*sorts, z3.IntSort()))
        octets = kind.name in ("bytes", "bytearray")

        def sequence(at: Sequence[Term]) -> Value:
            size = length(at)
            self._state(size >= 0)

            def item(index: Term) -> Value:
                value = element((*at, lift(index)))
                if octets and isinstance(value, IntV):
                    self._state(z3.And(value.term >= 0, value.term <= 255))
                return value

            return SeqV(kind.name, Seq(size, item, kind.element))

        return sequence

    def _state(self, fact: Term) -> None:
        """Define a fact once."""
        if fact.get_id() not in self._ranged:
            self._ranged.add(fact.get_id())
            self.memory.setdefault(f"keep{fact.get_id()}", fact)
            self.define(fact, fact.arg(0).arg(0) if z3.is_and(fact) else fact.arg(0))

    def for_all(self, variables: Sequence[Term], range_: Term, body: Term) -> Term:
        """Every value of the variables in the range makes the body true."""
        formula = implies(range_, body)
        if isinstance(formula, bool):
            return formula
        used = [v for v in variables if mentions(formula, frozenset([v.get_id()]))]
        return z3.ForAll(used, formula) if used else formula


def _triggers(pattern: Term, bound: Sequence[Term]) -> bool:
    """Whether Z3 takes the term as a pattern: it holds all variables, and no logic."""
    if not all(mentions(pattern, frozenset([v.get_id()])) for v in bound):
        return False
    todo = [pattern]
    while todo:
        node = todo.pop()
        logical = z3.is_quantifier(node) or z3.is_bool(node) or z3.is_app_of(node, z3.Z3_OP_ITE)
        if logical and not _uninterpreted(node):
            return False
        todo += node.children()
    return _uninterpreted(pattern)


def _uninterpreted(term: Term) -> bool:
    return bool(z3.is_select(term) or z3.is_app_of(term, z3.Z3_OP_UNINTERPRETED))


def _symbol(name: str, sorts: tuple[Term, ...], sort: Term) -> Callable[[Sequence[Term]], Term]:
    """A constant, or an array of arrays over the sorts."""
    for inner in reversed(sorts):
        sort = z3.ArraySort(inner, sort)
    constant = z3.Const(name, sort)

    def at(indices: Sequence[Term]) -> Term:
        term = constant
        for index in indices:
            term = z3.Select(term, index)
        return term

    return at
