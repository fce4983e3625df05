"""Iteration: what a loop, a comprehension or a quantifier goes over, by index."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable

from refute.verifiers.contracts.kinds import INT, Kind
from refute.verifiers.contracts.operators import (
    described,
    range_items,
    sequence,
)
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.terms import Term, known, minimum
from refute.verifiers.contracts.values import (
    IntV,
    IterV,
    RangeV,
    Ref,
    Seq,
    TupleV,
    UnionV,
    Value,
    literal,
    merge_seqs,
)


@dataclasses.dataclass(frozen=True, eq=False)
class Iteration:
    """The elements at the indices start, start + 1, … stop - 1; none if stop <= start.

    source: the object iterated over, where it is one that the loop may change. live, lists, fixed:
    as those of an `IterV`.
    """

    start: Term
    stop: Term
    at: Callable[[Term], Value]
    source: Ref | None = None
    live: Callable[[State], Seq] | None = None
    lists: tuple[int, ...] = ()
    fixed: bool = False

    @property
    def count(self) -> int | None:
        """How many elements there are, where it is known."""
        known_ = known(self.start) and known(self.stop)
        return max(0, self.stop - self.start) if known_ else None


def iterate(run: Run, state: State, value: Value, node: ast.AST) -> Iteration:
    """What iterating over a value gives; raises TypeError in the state where it gives nothing."""
    match value:
        case RangeV(start=start, stop=stop, step=1):
            return Iteration(start, stop, IntV)
        case IterV(seq=seq, live=live, lists=lists, fixed=fixed):
            return Iteration(0, seq.length, seq.at, None, live, lists, fixed)
        case UnionV():
            seq = _several(run, state, value, node)
        case _:
            seq = elements(run, state, value, node)
    source = value if isinstance(value, Ref) else None
    if seq.base is not None and source is None:
        return Iteration(seq.offset, seq.offset + seq.length, seq.base.at)
    return Iteration(0, seq.length, seq.at, source)


def elements(run: Run, state: State, value: Value, node: ast.AST) -> Seq:
    """The elements of an iterable value, one after the other."""
    match value:
        case RangeV():
            return range_items(value)
        case IterV(seq=seq):
            return seq
        case UnionV():
            return _several(run, state, value, node)
    held = sequence(state, value)
    if held is not None:
        return held[1]
    if described(state, value) == "str":
        run.unsupported(state, "the characters of a string", node)
    else:
        run.may_raise(state, True, "TypeError", node, f"{described(state, value)} in a loop")
    return literal([])


def _several(run: Run, state: State, value: UnionV, node: ast.AST) -> Seq:
    found: list[tuple[Term, Seq]] = []
    for condition, option in value.options:
        if state.decided(condition) is False:
            continue
        with state.under(condition):
            seq = elements(run, state, option, node)
        if sequence(state, option) is not None or isinstance(option, RangeV | IterV):
            found.append((condition, seq))
    if not found:
        return literal([])
    result = found[-1][1]
    for condition, seq in reversed(found[:-1]):
        result = merge_seqs(condition, seq, result)
    return result


def zipped(seqs: list[Seq]) -> Seq:
    """Tuples of the elements at the same index, as long as the shortest."""
    if all(s.items is not None for s in seqs):
        rows = zip(*(s.items or () for s in seqs), strict=False)
        return literal([TupleV(tuple(row)) for row in rows])
    length = seqs[0].length
    for seq in seqs[1:]:
        length = minimum(length, seq.length)
    element = Kind("tuple", tuple(s.element for s in seqs))
    return Seq(length, lambda i: TupleV(tuple(s.at(i) for s in seqs)), element)


def enumerated(seq: Seq, first: Term) -> Seq:
    """Pairs of a number, from `first` on, and the element."""
    if seq.items is not None and known(first):
        return literal([TupleV((IntV(first + i), v)) for i, v in enumerate(seq.items)])
    element = Kind("tuple", (INT, seq.element))
    return Seq(seq.length, lambda i: TupleV((IntV(first + i), seq.at(i))), element)


def backwards(seq: Seq) -> Seq:
    """The elements from the last to the first."""
    if seq.items is not None:
        return literal(seq.items[::-1])
    return Seq(seq.length, lambda i: seq.at(seq.length - 1 - i), seq.element)
