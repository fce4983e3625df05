"""Sorting: a sequence in order, described by what it is and not by how it comes about."""

from __future__ import annotations

import ast

import z3

from refute.verifiers.contracts.kinds import BOOL, INT, Kind
from refute.verifiers.contracts.operators import number
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.terms import Term, conj, ite, lift
from refute.verifiers.contracts.values import IntV, Seq, SeqV, Value, literal

MOST_NETWORK = 6


def in_order(run: Run, state: State, seq: Seq, falling: Term, node: ast.AST) -> Seq:
    """The elements of a sequence of ints, the smallest first (last, where `falling`)."""
    few = seq.items is not None and len(seq.items) <= MOST_NETWORK
    if few and all(number(i) is not None for i in seq.items or ()):
        return _network(seq, falling)
    if seq.element not in (INT, BOOL) or run.context.bound:
        run.unsupported(state, f"sorted of {seq.element} here", node)
        return seq
    return _described(run, seq, falling)


def _int(value: Value) -> Term:
    term = number(value)
    assert term is not None
    return term


def _network(seq: Seq, falling: Term) -> Seq:
    """Few elements: compared and exchanged."""
    terms = [_int(i) for i in seq.items or ()]
    for end in range(len(terms) - 1, 0, -1):
        for place in range(end):
            low, high = terms[place], terms[place + 1]
            keep = ite(falling, low >= high, low <= high)
            terms[place] = ite(keep, low, high)
            terms[place + 1] = ite(keep, high, low)
    return literal([IntV(t) for t in terms])


def _described(run: Run, seq: Seq, falling: Term) -> Seq:
    """A fresh sequence that is in order, with a bijection between the places of both."""
    context = run.context
    fresh = context.value(Kind("list", (INT,)), "sorted")
    assert isinstance(fresh, SeqV)
    result = Seq(seq.length, fresh.seq.at, INT)
    to = z3.Function(context.name("to"), z3.IntSort(), z3.IntSort())
    back = z3.Function(context.name("back"), z3.IntSort(), z3.IntSort())
    with context.binding() as i, context.binding() as j:
        inside = conj([i >= 0, i < seq.length])
        here, there = number(result.at(i)), number(seq.at(to(i)))
        goes = [to(i) >= 0, to(i) < seq.length, back(to(i)) == i, here == there]
        context.axioms.append(z3.ForAll([i], z3.Implies(lift(inside), conj(goes))))
        here, there = number(result.at(back(i))), number(seq.at(i))
        comes = [back(i) >= 0, back(i) < seq.length, to(back(i)) == i, here == there]
        context.axioms.append(z3.ForAll([i], z3.Implies(lift(inside), conj(comes))))
        first, second = _int(result.at(i)), _int(result.at(j))
        order = ite(falling, first >= second, first <= second)
        pairs = conj([i >= 0, i <= j, j < seq.length])
        context.axioms.append(z3.ForAll([i, j], z3.Implies(pairs, order)))
    return result
