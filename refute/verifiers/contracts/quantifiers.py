"""Quantifiers: `all`, `any`, `sum` and comprehensions over an unknown number of elements.

Over few known elements they are expanded, with Python's short circuit. Otherwise `all` and `any`
are quantified formulas over the indices, several generators in one, `sum` is a fold, and a
comprehension is a sequence whose elements are computed when asked for. An exception that the body
may raise for some element is a possible exception of the whole; where an earlier element may have
ended the evaluation first, execution may also go on.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

import z3

from refute.verifiers.contracts.folds import total
from refute.verifiers.contracts.iteration import Iteration, iterate
from refute.verifiers.contracts.kinds import Kind
from refute.verifiers.contracts.objects import references
from refute.verifiers.contracts.operators import integer, made, truth
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.targets import assign
from refute.verifiers.contracts.terms import Term, conj, implies, ite, lift, neg
from refute.verifiers.contracts.values import (
    IterV,
    Seq,
    Value,
    concat,
    literal,
    merge_seqs,
)

MOST_EXPANDED = 24

Comprehension = ast.GeneratorExp | ast.ListComp
Judge = Callable[[State], Term]


def quantify(run: Run, state: State, node: Comprehension, universal: bool) -> Term:
    """`all(node)` or `any(node)`."""

    def body(inner: State) -> Term:
        holds = truth(run, inner, run.evaluate(inner, node.elt))
        return holds if universal else neg(holds)

    if _assigns(run, state, node):
        return False
    every = _every(run, state, node.generators, body)
    return every if universal else neg(every)


def _assigns(run: Run, state: State, node: Comprehension) -> bool:
    """Whether the comprehension assigns to a variable of the function, which is not supported."""
    found = any(isinstance(part, ast.NamedExpr) for part in ast.walk(node))
    if found:
        run.unsupported(state, f"an assignment in a comprehension: {_text(node)}", node)
    return found


@contextlib.contextmanager
def _kept_as_it_is(run: Run, state: State, over: Iteration, node: ast.AST) -> Any:
    """What is gone over element by element may not change meanwhile."""
    lists = (*over.lists, *([over.source.address] if over.source is not None else []))
    before = [state.heap[a].seq for a in lists]
    yield
    if any(state.heap[a].seq is not seq for a, seq in zip(lists, before, strict=True)):
        run.unsupported(state, f"a change of what is gone over: {_text(node)}", node)


def _refuse_effects(run: Run, state: State, inner: State, node: ast.AST) -> None:
    """What is evaluated for any element may not change an object; it is not known how often."""
    if any(inner.heap[a].seq is not cell.seq for a, cell in state.heap.items()):
        run.unsupported(state, f"a change of an object for each element: {_text(node)}", node)


def every_element(run: Run, state: State, over: Iteration, body: Callable[[Value], Term]) -> Term:
    """Whether the body holds for every element of an iteration."""
    if over.count is not None and over.count <= MOST_EXPANDED:
        return conj([body(over.at(k)) for k in range(over.start, over.stop)])
    with run.context.binding() as index:
        within = conj([over.start <= index, index < over.stop])
        return run.context.for_all([index], within, body(over.at(index)))


def _every(run: Run, state: State, generators: list[ast.comprehension], body: Judge) -> Term:
    if not generators:
        return body(state)
    first = generators[0]
    over = iterate(run, state, run.evaluate(state, first.iter), first.iter)
    if over.count is not None and over.count <= MOST_EXPANDED:
        with _kept_as_it_is(run, state, over, first.iter):
            return _expanded(run, state, generators, over, body)
    return _bound(run, state, generators, over, body)


def _expanded(
    run: Run, state: State, generators: list[ast.comprehension], over: Iteration, body: Judge
) -> Term:
    result: Term = True
    for index in range(over.start, over.stop):
        if result is False:
            break
        with state.under(result), _scope(state):
            assign(run, state, generators[0].target, over.at(index))
            rest = _filtered(run, state, generators, body)
        result = conj([result, rest])
    return result


@contextlib.contextmanager
def _scope(state: State) -> Any:
    """Names bound in a comprehension are its own."""
    env = dict(state.env)
    try:
        yield
    finally:
        state.env = env


def _filtered(run: Run, state: State, generators: list[ast.comprehension], body: Judge) -> Term:
    condition = _conditions(run, state, generators[0].ifs)
    if condition is False:
        return True
    with state.under(condition):
        return implies(condition, _every(run, state, generators[1:], body))


def _conditions(run: Run, state: State, nodes: list[ast.expr]) -> Term:
    """All `if`s of a generator, each evaluated where the earlier ones hold."""
    if not nodes:
        return True
    first = truth(run, state, run.evaluate(state, nodes[0]))
    with state.under(first):
        return conj([first, _conditions(run, state, nodes[1:])])


def _bound(
    run: Run, state: State, generators: list[ast.comprehension], over: Iteration, body: Judge
) -> Term:
    """One formula for this generator and those after it, as far as they are unbounded too."""
    inner = state.copy()
    variables: list[Term] = []
    with contextlib.ExitStack() as stack, run.apart() as sinks:
        limits: list[Term] = []
        left = generators
        while True:
            index = stack.enter_context(run.context.binding())
            variables.append(index)
            within = conj([over.start <= index, index < over.stop])
            inner.path.append(within)
            assign(run, inner, left[0].target, over.at(index))
            condition = _conditions(run, inner, left[0].ifs)
            inner.path += [] if condition is True else [condition]
            limits += [within, condition]
            left = left[1:]
            if not left:
                holds = body(inner)
                break
            over = iterate(run, inner, run.evaluate(inner, left[0].iter), left[0].iter)
            if over.count is not None and over.count <= MOST_EXPANDED:
                holds = _expanded(run, inner, left, over, body)
                break
        formula = run.context.for_all(variables, conj(limits), holds)
    run.quantified(state, sinks, variables, True, neg(formula))
    _refuse_effects(run, state, inner, generators[0].iter)
    return formula


def summed(run: Run, state: State, node: Comprehension) -> Term:
    """`sum(node)` of ints."""
    if _assigns(run, state, node):
        return 0
    return _sum(run, state, node.generators, node.elt)


def _sum(run: Run, state: State, generators: list[ast.comprehension], element: ast.expr) -> Term:
    if not generators:
        value = run.evaluate(state, element)
        return integer(run, state, value, element, "sum of something other than ints")
    over = iterate(run, state, run.evaluate(state, generators[0].iter), generators[0].iter)

    def summand(index: Term) -> Term:
        inner = state if isinstance(index, int) else state.copy()
        with run.apart() as sinks, _scope(inner):
            inner.path.append(conj([over.start <= index, index < over.stop]))
            depth = len(inner.path)
            assign(run, inner, generators[0].target, over.at(index))
            condition = _conditions(run, inner, generators[0].ifs)
            with inner.under(condition):
                value = _sum(run, inner, generators[1:], element)
            assert len(inner.path) == depth
            inner.path.pop()
        if inner is state:
            run.keep(sinks)
        else:
            run.quantified(state, sinks, [index], True)
            _refuse_effects(run, state, inner, element)
        return ite(condition, value, 0)

    with _kept_as_it_is(run, state, over, element):
        return total(run.context, over.start, over.stop, summand)


def list_comprehension(run: Run, state: State, node: ast.ListComp) -> Value:
    """`[… for …]`, a new list."""
    return made(run, state, "list", _collected(run, state, node, node.generators))


def generator(run: Run, state: State, node: ast.GeneratorExp) -> Value:
    """`(… for …)`, evaluated at once; its body has no side effects that could tell."""
    seq = _collected(run, state, node, node.generators)
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    read = [r.address for n in names & state.env.keys() for r in references(state.env[n])]
    return IterV(seq, None, tuple(sorted(set(read))), True)


def _collected(
    run: Run, state: State, node: Comprehension, generators: list[ast.comprehension]
) -> Seq:
    if generators == node.generators and _assigns(run, state, node):
        return literal([])
    if not generators:
        why = f"a change of an object that is also in the list made at {run.place(node)}"
        return literal([state.frozen(run.evaluate(state, node.elt), why)])
    first = generators[0]
    over = iterate(run, state, run.evaluate(state, first.iter), first.iter)
    if over.count is not None and over.count <= 2 * MOST_EXPANDED:
        with _kept_as_it_is(run, state, over, node):
            return _gathered(run, state, node, generators, over)
    if len(generators) > 1 or (first.ifs and run.context.bound):
        what = f"a comprehension over an unknown number of elements: {_text(node)}"
        run.unsupported(state, what, node)
        return literal([])
    return _kept(run, state, node, over) if first.ifs else _lazy(run, state, node, over)


def _text(node: ast.AST) -> str:
    return ast.unparse(node)[:60]


def _gathered(
    run: Run,
    state: State,
    node: Comprehension,
    generators: list[ast.comprehension],
    over: Iteration,
) -> Seq:
    result = literal([])
    for index in range(over.start, over.stop):
        with _scope(state):
            assign(run, state, generators[0].target, over.at(index))
            condition = _conditions(run, state, generators[0].ifs)
            if condition is False:
                continue
            with state.under(condition):
                part = _collected(run, state, node, generators[1:])
        result = concat(result, merge_seqs(condition, part, literal([])))
    return result


def _lazy(run: Run, state: State, node: Comprehension, over: Iteration) -> Seq:
    """The elements as a function of the index, over the state as it is now."""
    held, frame = state.copy(), run.frame
    target = node.generators[0].target

    def at(index: Term) -> Value:
        inner = held.copy()
        with run.apart(), run.inside(frame):
            assign(run, inner, target, over.at(over.start + index))
            value = run.evaluate(inner, node.elt)
        return inner.frozen(value, "")

    kind = _probe(run, state, node, over)
    return Seq(over.stop - over.start if _plain(over) else _length(over), at, kind)


def _kept(run: Run, state: State, node: Comprehension, over: Iteration) -> Seq:
    """The elements that a filter keeps: `source` tells the place in the whole of each of them.

    `source` rises, and `place` is its inverse on what is kept.
    """
    held, frame, context = state.copy(), run.frame, run.context
    first = node.generators[0]
    names = (context.name("source"), context.name("place"))
    source, place = (z3.Function(n, z3.IntSort(), z3.IntSort()) for n in names)
    length = context.integer("kept")

    def item(index: Term) -> tuple[Term, Value]:
        inner = held.copy()
        with run.apart(), run.inside(frame):
            assign(run, inner, first.target, over.at(over.start + index))
            keep = _conditions(run, inner, first.ifs)
            return keep, inner.frozen(run.evaluate(inner, node.elt), "")

    count = _length(over)
    context.define(z3.And(length >= 0, length <= count))
    with context.binding() as i, context.binding() as j:
        inside = conj([i >= 0, i < length])
        taken = conj([source(i) >= 0, source(i) < count, place(source(i)) == i, item(source(i))[0]])
        context.axioms.append(z3.ForAll([i], implies(inside, taken)))
        order = implies(conj([i >= 0, i < j, j < length]), source(i) < source(j))
        context.axioms.append(z3.ForAll([i, j], order))
        kept = conj([i >= 0, i < count, item(i)[0]])
        back = conj([place(i) >= 0, place(i) < length, source(place(i)) == i])
        context.axioms.append(z3.ForAll([i], implies(kept, back)))
    kind = _probe(run, state, node, over)
    return Seq(length, lambda index: item(source(lift(index)))[1], kind)


def _plain(over: Iteration) -> bool:
    return isinstance(over.start, int) and over.start == 0


def _length(over: Iteration) -> Term:
    return ite(over.stop >= over.start, over.stop - over.start, 0)


def _probe(run: Run, state: State, node: Comprehension, over: Iteration) -> Kind:
    """Evaluate the body for any one element: its kind, and what it may raise."""
    inner = state.copy()
    with run.context.binding() as index, run.apart() as sinks:
        inner.path.append(conj([over.start <= index, index < over.stop]))
        assign(run, inner, node.generators[0].target, over.at(index))
        with inner.under(_conditions(run, inner, node.generators[0].ifs)):
            value = run.evaluate(inner, node.elt)
        kind = inner.kind(value)
        inner.frozen(value, f"a change of an object that is also in {_text(node)}")
    run.quantified(state, sinks, [index], True)
    _refuse_effects(run, state, inner, node)
    for address, cell in state.heap.items():
        state.heap[address] = dataclasses.replace(cell, frozen=inner.heap[address].frozen)
    return kind
