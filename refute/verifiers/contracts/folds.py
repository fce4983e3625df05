"""Folds: sums over a range of indices, as functions of the two ends.

`sum(f(k) for k in lo..hi)` is S(lo, hi) for a symbol S of its own for each summand f, equal
summands having the same. Where such a term occurs, its recurrence at both ends is stated for it,
which is what a loop's step needs; no quantifier is involved. Two sums of different summands are
equal if the summands are, which is stated with a witness index: either the sums agree, or the
summands differ at some index.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import cast

import z3

from refute.verifiers.contracts.context import Context
from refute.verifiers.contracts.terms import Term, conj, disj, implies, known, lift, mentions, same

MOST_EXPANDED = 24
MOST_COMPARED = 12
_INDEX = z3.Int("index!")  # one name for all summands, so that equal ones are the same term


@dataclasses.dataclass(eq=False)
class _Sum:
    """One summand. body: over `_INDEX` and the outer bound variables `outer`."""

    body: Term
    outer: list[Term]
    symbol: Term
    terms: list[tuple[Term, Term, Term]] = dataclasses.field(default_factory=list)

    def at(self, index: Term) -> Term:
        """The summand at an index."""
        return z3.substitute(self.body, (_INDEX, lift(index)))

    def over(self, low: Term, high: Term) -> Term:
        """The sum from `low` up to and without `high`."""
        return self.symbol(lift(low), lift(high), *self.outer)


def total(context: Context, low: Term, high: Term, summand: Callable[[Term], Term]) -> Term:
    """The sum of the summand at low, low + 1, … high - 1; 0 if there is none."""
    if known(low) and known(high) and high - low <= MOST_EXPANDED:
        return _added([summand(k) for k in range(low, high)])
    with context.binding() as variable:
        body = z3.substitute(lift(summand(variable)), (variable, _INDEX))
    fold = _fold(context, body)
    if not mentions(body, frozenset([_INDEX.get_id()])):
        return _constant(fold.at(low), low, high)
    term = fold.over(low, high)
    key = f"sum{term.get_id()}"
    if key not in context.memory:
        context.memory[key] = term
        _state(context, fold, term, lift(low), lift(high))
    return term


def _added(terms: list[Term]) -> Term:
    result: Term = 0
    for term in terms:
        result = result + term
    return result


def _constant(value: Term, low: Term, high: Term) -> Term:
    return z3.If(lift(high) > lift(low), (lift(high) - lift(low)) * value, 0)


def _fold(context: Context, body: Term) -> _Sum:
    folds = cast(dict[int, _Sum], context.memory.setdefault("folds", {}))
    held = folds.get(body.get_id())
    if held is None:
        outer = [v for v in context.bound if mentions(body, frozenset([v.get_id()]))]
        sorts = [z3.IntSort(), z3.IntSort(), *(v.sort() for v in outer), z3.IntSort()]
        symbol = z3.Function(context.name("sum"), *sorts)
        held = folds[body.get_id()] = _Sum(body, outer, symbol)
    return held


def _state(context: Context, fold: _Sum, term: Term, low: Term, high: Term) -> None:
    """What is known of one sum."""
    last, first = high - 1, low + 1
    without_last, without_first = fold.over(low, last), fold.over(first, high)
    facts = [
        implies(high <= low, term == 0),
        implies(high > low, term == without_last + fold.at(last)),
        implies(high > low, term == fold.at(low) + without_first),
        implies(last <= low, without_last == 0),
        implies(high <= first, without_first == 0),
    ]
    index = context.integer("least")
    inside = conj([low <= index, index < high])
    facts.append(disj([term >= 0, conj([inside, fold.at(index) < 0])]))
    index = context.integer("most")
    inside = conj([low <= index, index < high])
    facts.append(disj([high <= low, term <= high - low, conj([inside, fold.at(index) > 1])]))
    context.define(z3.And(facts), term)
    if not context.closed(term):
        _recurrence(context, fold)
        return
    for other in _all_folds(context):
        for begin, end, held in other.terms[-MOST_COMPARED:]:
            if other is fold:
                _additive(context, fold, (low, high, term), (begin, end, held))
            else:
                _extensional(context, (fold, low, high, term), (other, begin, end, held))
                _extensional(context, (fold, low, last, without_last), (other, begin, end, held))
    fold.terms += [(low, last, without_last), (low, high, term)]


def _all_folds(context: Context) -> list[_Sum]:
    folds = cast(dict[int, _Sum], context.memory["folds"])
    return [f for f in folds.values() if not f.outer][-MOST_COMPARED:]


def _recurrence(context: Context, fold: _Sum) -> None:
    """The recurrence for all ends, for a sum whose ends or summand are under a quantifier.

    What it is reduced to is the same sum by another name, so that one step asks for no further one.
    """
    key = f"recurrence{fold.body.get_id()}"
    if key in context.memory:
        return
    context.memory[key] = fold
    ended = z3.Function(f"{fold.symbol.name()}.ended", *_sorts(fold))
    with context.binding() as low, context.binding() as high:
        term = fold.over(low, high)
        before = ended(low, high - 1, *fold.outer)
        step = z3.If(high <= low, 0, before + fold.at(high - 1))
        context.define(z3.And(term == step, term == ended(low, high, *fold.outer)), term)


def _sorts(fold: _Sum) -> list[Term]:
    domain = [fold.symbol.domain(i) for i in range(fold.symbol.arity())]
    return [*domain, fold.symbol.range()]


def _additive(
    context: Context, fold: _Sum, new: tuple[Term, Term, Term], old: tuple[Term, Term, Term]
) -> None:
    """Neighbouring ranges add up; so do ranges with a common end."""
    for (a, b, left), (c, d, right) in ((new, old), (old, new)):
        if same(b, c):
            whole = fold.over(a, d)
            context.define(implies(conj([a <= b, c <= d]), whole == left + right))
        elif same(a, c):
            rest = fold.over(b, d)
            context.define(implies(conj([a <= b, b <= d]), right == left + rest))
            context.define(implies(b == d, rest == 0))


def _extensional(
    context: Context,
    new: tuple[_Sum, Term, Term, Term],
    old: tuple[_Sum, Term, Term, Term],
) -> None:
    """Sums over ranges of one length are equal, or some summand differs."""
    fold, low, high, term = new
    other, begin, end, held = old
    index = context.integer("differs")
    inside = conj([index >= 0, index < high - low])
    differ = fold.at(low + index) != other.at(begin + index)
    lengths = high - low == end - begin
    context.define(disj([z3.Not(lengths), term == held, conj([inside, differ])]))
