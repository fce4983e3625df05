"""Comparison: equality, order and membership of values.

Equality of the subset's values raises nothing; order does, where Python has none.
"""

from __future__ import annotations

import ast

import z3

from refute.verifiers.contracts.kinds import NEVER
from refute.verifiers.contracts.operators import described, each, number, range_items, sequence
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.terms import (
    Term,
    conj,
    disj,
    floor_mod,
    iff,
    is_false,
    is_true,
    known,
    neg,
)
from refute.verifiers.contracts.values import (
    BoolV,
    IterV,
    NameV,
    NoneV,
    RangeV,
    Seq,
    StrV,
    UnionV,
    Value,
)

MOST_EXPANDED = 24


def equal(run: Run, state: State, left: Value, right: Value) -> Term:
    """`left == right`, which raises nothing on the values of the subset."""
    if left is right:
        return True
    if isinstance(left, UnionV):
        return disj([conj([c, equal(run, state, v, right)]) for c, v in left.options])
    if isinstance(right, UnionV):
        return disj([conj([c, equal(run, state, left, v)]) for c, v in right.options])
    a, b = number(left), number(right)
    if a is not None and b is not None:
        if isinstance(left, BoolV) and isinstance(right, BoolV):
            return iff(left.term, right.term)
        return a == b
    match left, right:
        case NoneV(), NoneV():
            return True
        case StrV(), StrV():
            return left.term == right.term
        case NameV(), NameV():
            return left.name == right.name
        case RangeV(), RangeV():
            return equal_seqs(run, state, range_items(left), range_items(right))
    first, second = sequence(state, left), sequence(state, right)
    if first is not None and second is not None:
        octets = {first[0], second[0]} <= {"bytes", "bytearray"}
        if first[0] == second[0] or octets:
            return equal_seqs(run, state, first[1], second[1])
    return False


def equal_seqs(run: Run, state: State, left: Seq, right: Seq) -> Term:
    """Whether two sequences have the same length and equal elements."""
    if left is right:
        return True
    lengths = left.length == right.length
    if is_false(lengths) or NEVER in (left.element, right.element):
        return lengths
    size = left.length if known(left.length) else right.length
    if known(size) and size <= MOST_EXPANDED:
        pairs = [equal(run, state, left.at(i), right.at(i)) for i in range(size)]
        return conj([lengths, *pairs])
    with run.context.binding() as index:
        shift = left.offset if left.base is not None else 0
        inner = index - shift
        pair = equal(run, state, _at(left, index, inner), right.at(inner))
        within = z3.And(inner >= 0, inner < left.length)
        every = run.context.for_all([index], within, pair)
    return conj([lengths, every])


def _at(seq: Seq, index: Term, inner: Term) -> Value:
    return seq.base.at(index) if seq.base is not None else seq.at(inner)


def less(run: Run, state: State, left: Value, right: Value, node: ast.AST, or_equal: bool) -> Term:
    """`left < right` or `left <= right`."""
    value = each(
        run,
        state,
        left,
        lambda a: each(run, state, right, lambda b: BoolV(_less(run, state, a, b, node, or_equal))),
    )
    return value.term if isinstance(value, BoolV) else False


def _less(run: Run, state: State, left: Value, right: Value, node: ast.AST, or_equal: bool) -> Term:
    a, b = number(left), number(right)
    if a is not None and b is not None:
        return a <= b if or_equal else a < b
    first, second = sequence(state, left), sequence(state, right)
    if first is not None and second is not None and first[0] == second[0]:
        return _lexicographic(run, state, first[1], second[1], node, or_equal)
    if isinstance(left, StrV) and isinstance(right, StrV):
        run.unsupported(state, "the order of strings", node)
        return run.context.condition("order")
    text = f"{described(state, left)} < {described(state, right)}"
    run.may_raise(state, True, "TypeError", node, text)
    return False


def _lexicographic(
    run: Run, state: State, left: Seq, right: Seq, node: ast.AST, or_equal: bool
) -> Term:
    if left.items is None or right.items is None or len(left.items) > MOST_EXPANDED:
        run.unsupported(state, "the order of sequences of unknown length", node)
        return run.context.condition("order")
    result: Term = (
        or_equal if len(left.items) == len(right.items) else (len(left.items) < len(right.items))
    )
    for a, b in reversed(list(zip(left.items, right.items, strict=False))):
        same = equal(run, state, a, b)
        if is_true(same):
            continue
        with state.under(neg(same)):
            smaller = less(run, state, a, b, node, False)
        result = disj([conj([neg(same), smaller]), conj([same, result])])
    return result


def contains(run: Run, state: State, item: Value, holder: Value, node: ast.AST) -> Term:
    """`item in holder`."""
    value = each(run, state, holder, lambda h: BoolV(_contains(run, state, item, h, node)))
    return value.term if isinstance(value, BoolV) else False


def _contains(run: Run, state: State, item: Value, holder: Value, node: ast.AST) -> Term:
    if isinstance(holder, RangeV):
        wanted = number(item)
        if wanted is not None and known(holder.step):
            start, stop, step = holder.start, holder.stop, holder.step
            inside = (
                conj([start <= wanted, wanted < stop])
                if step > 0
                else conj([stop < wanted, wanted <= start])
            )
            return conj([inside, floor_mod(wanted - start, abs(step)) == 0])
    held = sequence(state, holder)
    if held is None:
        if isinstance(holder, RangeV | IterV | StrV):
            run.unsupported(state, f"`in` on {described(state, holder)}", node)
        else:
            text = f"{described(state, holder)} holds nothing"
            run.may_raise(state, True, "TypeError", node, text)
        return run.context.condition("contains")
    kind, seq = held
    wanted = number(item)
    if kind in ("bytes", "bytearray") and wanted is not None:
        bad = disj([wanted < 0, wanted > 255])
        run.may_raise(state, bad, "ValueError", node, "byte must be in range(0, 256)")
    return seq_contains(run, state, seq, item)


def seq_contains(run: Run, state: State, seq: Seq, item: Value) -> Term:
    """Whether some element equals the item."""
    if seq.items is not None and len(seq.items) <= MOST_EXPANDED:
        return disj([equal(run, state, i, item) for i in seq.items])
    with run.context.binding() as index:
        whole = seq.base if seq.base is not None else seq
        start = seq.offset if seq.base is not None else 0
        other = neg(equal(run, state, whole.at(index), item))
        within = conj([start <= index, index < start + seq.length])
        return neg(run.context.for_all([index], within, other))
