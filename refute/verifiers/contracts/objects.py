"""Objects: values as a caller gives them, with lists that are objects of their own."""

from __future__ import annotations

from refute.verifiers.contracts.kinds import Kind
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.state import Cell, State
from refute.verifiers.contracts.values import (
    Ref,
    SeqV,
    TupleV,
    UnionV,
    Value,
    literal,
)


def fresh_object(
    run: Run,
    state: State,
    kind: Kind,
    hint: str,
    frozen: str = "",
    size: int | None = None,
) -> Value:
    """Any value of the kind, whose lists are new objects.

    frozen: why they may not be changed. size: how many elements its sequences have.
    """
    value = run.context.value(kind, hint)
    return _placed(run, state, value if size is None else _sized(value, size), frozen)


def _sized(value: Value, size: int) -> Value:
    match value:
        case SeqV(kind=kind, seq=seq):
            return SeqV(kind, literal([_sized(seq.at(i), size) for i in range(size)]))
        case TupleV(items=items):
            return TupleV(tuple(_sized(i, size) for i in items))
        case UnionV(options=cases):
            return UnionV(tuple((c, _sized(v, size)) for c, v in cases))
    return value


def _placed(run: Run, state: State, value: Value, frozen: str) -> Value:
    match value:
        case SeqV(kind="list" | "bytearray", seq=seq):
            ref = Ref(run.new_address())
            state.heap[ref.address] = Cell(value.kind, seq, frozen)
            return ref
        case TupleV(items=items):
            return TupleV(tuple(_placed(run, state, i, frozen) for i in items))
        case UnionV(options=cases):
            return UnionV(tuple((c, _placed(run, state, v, frozen)) for c, v in cases))
    return value


def references(value: Value) -> list[Ref]:
    """The objects that a value refers to."""
    match value:
        case Ref():
            return [value]
        case TupleV(items=items):
            return [r for i in items for r in references(i)]
        case UnionV(options=cases):
            return [r for _, v in cases for r in references(v)]
    return []
