"""Subscripts: items and slices, with Python's negative indices and clipping."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence

from refute.verifiers.contracts.operators import (
    described,
    each,
    integer,
    made,
    number,
    range_items,
    sequence,
)
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.terms import (
    Term,
    conj,
    disj,
    ite,
    known,
    maximum,
    minimum,
)
from refute.verifiers.contracts.values import (
    NO_VALUE,
    RangeV,
    Ref,
    Seq,
    SeqV,
    StrV,
    TupleV,
    Value,
    concat,
    literal,
    merge_seqs,
    slice_of,
    with_item,
)


def place_in(run: Run, state: State, seq: Seq, index: Term, node: ast.AST, text: str = "") -> Term:
    """The index from the front that an index means; raises IndexError where it is none."""
    length = seq.length
    run.may_raise(state, disj([index < -length, index >= length]), "IndexError", node, text)
    negative = index < 0
    if isinstance(negative, bool):
        return index + length if negative else index
    if state.decided(negative) is False or _never_negative(state, index):
        return index
    return ite(negative, index + length, index)


def _never_negative(state: State, index: Term) -> bool:
    """Whether the path says at once that an index is not negative."""
    return state.decided(index >= 0) is True


def item_at(run: Run, state: State, base: Value, index: Value, node: ast.AST) -> Value:
    """`base[index]`."""
    if isinstance(base, RangeV):
        base = SeqV("vtuple", range_items(base))
    held = sequence(state, base)
    if held is None:
        return _no_items(run, state, base, node)
    at = integer(run, state, index, node, "the index is no int")
    seq = held[1]
    place = place_in(run, state, seq, at, node)
    return seq.at(place)


def _no_items(run: Run, state: State, base: Value, node: ast.AST) -> Value:
    if isinstance(base, StrV):
        run.unsupported(state, "the characters of a string", node)
    else:
        run.may_raise(state, True, "TypeError", node, f"{described(state, base)} has no items")
    return NO_VALUE


def bounds(
    run: Run, state: State, length: Term, parts: Sequence[Value | None], node: ast.AST
) -> tuple[Term, Term] | None:
    """(start, length) of a slice with step 1; None for a slice that cannot be."""
    terms: list[Term | None] = []
    for part in parts:
        kind = None if part is None else state.kind(part).name
        if part is None or kind == "None":
            terms.append(None)
            continue
        term = number(part)
        if term is None:
            run.unsupported(state, f"a slice by {described(state, part)}", node)
            return None
        terms.append(term)
    start = 0 if terms[0] is None else clipped(terms[0], length)
    stop = length if terms[1] is None else clipped(terms[1], length)
    low, high = 0 if terms[0] is None else terms[0], length if terms[1] is None else terms[1]
    if run.context.bound and terms[2] is None and _inside(run, state, low, high, length):
        return low, high - low
    if _step(terms[2]) != 1:
        run.unsupported(state, "a slice with a step", node)
        return None
    return start, maximum(0, stop - start) if not _same_start(start) else maximum(0, stop)


def _inside(run: Run, state: State, low: Term, high: Term, length: Term) -> bool:
    """Whether the ends of a slice lie in the whole and in order, so that they can stay as they are.

    Under a quantifier this decides what Z3 finds again: it knows no pattern with a choice in it.
    """
    if known(low) and known(high):
        return False
    return run.holds(state, conj([low >= 0, low <= high, high <= length]))


def _same_start(start: Term) -> bool:
    return known(start) and start == 0


def _step(step: Term | None) -> Term:
    return 1 if step is None or (known(step) and step == 1) else step


def clipped(at: Term, length: Term) -> Term:
    """The place in 0..length that an end of a slice means."""
    if known(at):
        return minimum(at, length) if at >= 0 else maximum(0, length + at)
    from_end = ite(at < 0, at + length, at)
    return maximum(0, minimum(from_end, length))


def slice_at(
    run: Run, state: State, base: Value, parts: Sequence[Value | None], node: ast.AST
) -> Value:
    """`base[start:stop:step]`, a new object."""
    held = sequence(state, base)
    if held is None:
        if isinstance(base, RangeV):
            held = ("tuple", range_items(base))
        else:
            return _no_items(run, state, base, node)
    kind, seq = held
    step = number(parts[2]) if parts[2] is not None else 1
    if step is not None and known(step) and step == -1 and parts[0] is None and parts[1] is None:
        flipped = Seq(seq.length, lambda i: seq.at(seq.length - 1 - i), seq.element)
        whole = literal(seq.items[::-1]) if seq.items is not None else flipped
        return _same_kind(run, state, base, kind, whole)
    if step is not None and known(step) and step != 1:
        return _strided(run, state, kind, seq, parts, node)
    found = bounds(run, state, seq.length, parts, node)
    if found is None:
        return _same_kind(run, state, base, kind, literal([]))
    return _same_kind(run, state, base, kind, slice_of(seq, *found))


def _strided(
    run: Run, state: State, kind: str, seq: Seq, parts: Sequence[Value | None], node: ast.AST
) -> Value:
    terms = [None if p is None else number(p) for p in parts]
    if seq.items is not None and all(t is None or known(t) for t in terms):
        if terms[2] == 0:
            run.may_raise(state, True, "ValueError", node, "slice step cannot be zero")
            return NO_VALUE
        items = seq.items[slice(*terms)]
        return TupleV(items) if kind == "tuple" else made(run, state, kind, literal(items))
    run.unsupported(state, "a slice with a step", node)
    return made(run, state, kind, seq)


def _same_kind(run: Run, state: State, base: Value, kind: str, seq: Seq) -> Value:
    if kind == "tuple" and isinstance(base, TupleV) and seq.items is not None:
        return TupleV(seq.items)
    return made(run, state, kind, seq)


def store_item(
    run: Run, state: State, base: Value, index: Value, item: Value, node: ast.AST
) -> None:
    """`base[index] = item`."""

    def store(target: Value) -> Value:
        if not isinstance(target, Ref):
            _unchangeable(run, state, target, node)
        else:
            at = integer(run, state, index, node, "the index is no int")
            cell = state.cell(target)
            place = place_in(run, state, cell.seq, at, node, "assignment")
            _octet(run, state, cell.kind, item, node)
            change(run, state, target, with_item(cell.seq, place, item), node)
        return NO_VALUE

    each(run, state, base, store)


def _octet(run: Run, state: State, kind: str, item: Value, node: ast.AST) -> None:
    """A bytearray takes only ints of one byte."""
    if kind != "bytearray":
        return
    term = integer(run, state, item, node, "a bytearray holds ints")
    run.may_raise(state, disj([term < 0, term > 255]), "ValueError", node, "byte out of range")


def _unchangeable(run: Run, state: State, target: Value, node: ast.AST) -> None:
    if isinstance(target, SeqV) and target.kind in ("list", "bytearray"):
        run.unsupported(state, "a change of a list inside another container", node)
    else:
        run.may_raise(state, True, "TypeError", node, f"{described(state, target)} never changes")


def store_slice(
    run: Run, state: State, base: Value, parts: Sequence[Value | None], item: Value, node: ast.AST
) -> None:
    """`base[start:stop] = item`."""
    given = sequence(state, item)

    def store(target: Value) -> Value:
        if not isinstance(target, Ref):
            _unchangeable(run, state, target, node)
        elif given is None:
            run.unsupported(state, f"assigning {described(state, item)} to a slice", node)
        else:
            cell = state.cell(target)
            found = bounds(run, state, cell.seq.length, parts, node)
            if found is not None:
                change(run, state, target, _spliced(cell.seq, *found, given[1]), node)
        return NO_VALUE

    each(run, state, base, store)


def _spliced(seq: Seq, start: Term, length: Term, middle: Seq) -> Seq:
    end = start + length
    head, tail = slice_of(seq, 0, start), slice_of(seq, end, seq.length - end)
    return concat(concat(head, middle), tail)


def inserted(seq: Seq, place: Term, item: Value, element: Seq) -> Seq:
    """The sequence with one element more before a place in 0..length."""
    return _spliced(seq, place, 0, element)


def removed(seq: Seq, place: Term) -> Seq:
    """The sequence without the element at a place inside."""
    last = seq.length - 1
    if known(place) and known(last) and place == last and seq.items is not None:
        return literal(seq.items[:-1])
    return _spliced(seq, place, 1, literal([]))


def change(run: Run, state: State, target: Ref, seq: Seq, node: ast.AST) -> None:
    """Give an object other contents; every alias sees them."""
    cell = state.cell(target)
    if cell.frozen:
        run.unsupported(state, cell.frozen, node)
    state.heap[target.address] = dataclasses.replace(cell, seq=seq)


def unfrozen(seq: Seq, other: Seq, condition: Term) -> Seq:
    """One of two contents."""
    return merge_seqs(condition, seq, other)
