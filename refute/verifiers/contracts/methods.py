"""Methods of lists, bytes, tuples and ints."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from refute.verifiers.contracts import integers
from refute.verifiers.contracts.comparison import equal, seq_contains
from refute.verifiers.contracts.folds import total
from refute.verifiers.contracts.iteration import backwards, elements
from refute.verifiers.contracts.operators import described, integer, made, number, sequence, truth
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.sorting import in_order
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.subscripts import change, clipped, inserted, place_in, removed
from refute.verifiers.contracts.terms import (
    Term,
    as_int,
    conj,
    disj,
    floor_div,
    floor_mod,
    implies,
    known,
    lift,
    neg,
)
from refute.verifiers.contracts.values import (
    NO_VALUE,
    IntV,
    Ref,
    Seq,
    SeqV,
    StrV,
    Value,
    concat,
    literal,
)

Arguments = Sequence[Value]
Method = Callable[[Run, State, Ref, Arguments, ast.Call], Value]
Reader = Callable[[Run, State, Seq, Arguments, ast.Call], Value]
MOST_OCTETS = 64


def call_method(
    run: Run, state: State, target: Value, name: str, args: Arguments, node: ast.Call
) -> Value:
    """`target.name(*args)` for one kind of target."""
    number_ = number(target)
    if number_ is not None and name in _OF_INTS:
        return _OF_INTS[name](run, state, number_, args, node)
    held = sequence(state, target)
    if held is not None and name in _READING and _fits(args, _READING[name][0]):
        return _READING[name][1](run, state, held[1], args, node)
    if isinstance(target, Ref) and name in _CHANGING and _fits(args, _CHANGING[name][0]):
        return _CHANGING[name][1](run, state, target, args, node)
    if isinstance(target, SeqV) and target.kind in ("list", "bytearray") and name in _CHANGING:
        run.unsupported(state, "a change of a list inside another container", node)
    elif held is None and not isinstance(target, StrV):
        text = f"{described(state, target)} has no method {name}"
        run.may_raise(state, True, "AttributeError", node, text)
    run.unsupported(state, f"the method {name} of {described(state, target)}", node)
    return NO_VALUE


def _fits(args: Arguments, counts: range) -> bool:
    return len(args) in counts


def _stored(run: Run, state: State, value: Value, node: ast.Call) -> Value:
    why = f"a change of an object that was put into a list at {run.place(node)}"
    return state.frozen(value, why)


def _octet(run: Run, state: State, target: Ref, value: Value, node: ast.Call) -> None:
    if state.cell(target).kind == "bytearray":
        term = integer(run, state, value, node)
        bad = disj([term < 0, term > 255])
        run.may_raise(state, bad, "ValueError", node, "byte must be in range(0, 256)")


def _append(run: Run, state: State, target: Ref, args: Arguments, node: ast.Call) -> Value:
    _octet(run, state, target, args[0], node)
    item = literal([_stored(run, state, args[0], node)])
    change(run, state, target, concat(state.cell(target).seq, item), node)
    return NO_VALUE


def _extend(run: Run, state: State, target: Ref, args: Arguments, node: ast.Call) -> Value:
    seq = elements(run, state, args[0], node)
    if state.cell(target).kind == "bytearray" and not _is_octets(state, args[0]):
        run.unsupported(state, "extending a bytearray by anything but bytes", node)
    change(run, state, target, concat(state.cell(target).seq, seq), node)
    return NO_VALUE


def _is_octets(state: State, value: Value) -> bool:
    return state.kind(value).name in ("bytes", "bytearray")


def _insert(run: Run, state: State, target: Ref, args: Arguments, node: ast.Call) -> Value:
    seq = state.cell(target).seq
    at = integer(run, state, args[0], node, "the index is no int")
    _octet(run, state, target, args[1], node)
    item = literal([_stored(run, state, args[1], node)])
    change(run, state, target, inserted(seq, clipped(at, seq.length), args[1], item), node)
    return NO_VALUE


def _pop(run: Run, state: State, target: Ref, args: Arguments, node: ast.Call) -> Value:
    seq = state.cell(target).seq
    at = integer(run, state, args[0], node, "the index is no int") if args else -1
    if not args:
        run.may_raise(state, seq.length == 0, "IndexError", node, "pop from empty list")
        place = seq.length - 1
    else:
        place = place_in(run, state, seq, at, node, "pop index out of range")
    item = seq.at(place)
    if seq.items == ():
        return NO_VALUE
    shorter = Seq(seq.length - 1, seq.at, seq.element)
    if seq.items is not None and known(place):
        shorter = literal(seq.items[:place] + seq.items[place + 1 :])
    elif args:
        shorter = removed(seq, place)
    change(run, state, target, shorter, node)
    return item


def _clear(run: Run, state: State, target: Ref, args: Arguments, node: ast.Call) -> Value:
    change(run, state, target, literal([]), node)
    return NO_VALUE


def _reverse(run: Run, state: State, target: Ref, args: Arguments, node: ast.Call) -> Value:
    change(run, state, target, backwards(state.cell(target).seq), node)
    return NO_VALUE


def _sort(run: Run, state: State, target: Ref, args: Arguments, node: ast.Call) -> Value:
    falling: Term = False
    for keyword in node.keywords:
        if keyword.arg != "reverse":
            run.unsupported(state, "sort with a key", node)
        falling = truth(run, state, run.evaluate(state, keyword.value))
    change(run, state, target, in_order(run, state, state.cell(target).seq, falling, node), node)
    return NO_VALUE


def _remove(run: Run, state: State, target: Ref, args: Arguments, node: ast.Call) -> Value:
    seq = state.cell(target).seq
    place = number(_index(run, state, seq, args, node))
    assert place is not None
    change(run, state, target, removed(seq, place), node)
    return NO_VALUE


def _copy(run: Run, state: State, seq: Seq, args: Arguments, node: ast.Call) -> Value:
    return made(run, state, "list", seq)


def _count(run: Run, state: State, seq: Seq, args: Arguments, node: ast.Call) -> Value:
    base = seq.base if seq.base is not None else seq
    start = seq.offset if seq.base is not None else 0

    def one(index: Term) -> Term:
        return as_int(equal(run, state, base.at(index), args[0]))

    return IntV(total(run.context, start, start + seq.length, one))


def _index(run: Run, state: State, seq: Seq, args: Arguments, node: ast.Call) -> Value:
    found = seq_contains(run, state, seq, args[0])
    run.may_raise(state, neg(found), "ValueError", node, "the item is not in the list")
    context = run.context
    place = context.integer("index")
    with context.binding() as before:
        other = neg(equal(run, state, seq.at(before), args[0]))
        first = context.for_all([before], conj([before >= 0, before < place]), other)
    here = equal(run, state, seq.at(place), args[0])
    inside = conj([place >= 0, place < seq.length, here, first])
    context.define(implies(found, inside), place)
    return IntV(place)


def _bit_length(run: Run, state: State, term: Term, args: Arguments, node: ast.Call) -> Value:
    return IntV(integers.bit_length(run.context, term))


def _bit_count(run: Run, state: State, term: Term, args: Arguments, node: ast.Call) -> Value:
    """Exact up to a byte; anything larger is not supported."""
    if known(term):
        return IntV(term.bit_count())
    run.unsupported(state, "bit_count of more than 8 bits", node, disj([term < -255, term > 255]))
    size = lift(term)
    bits = [floor_mod(floor_div(_size(size), 1 << i), 2) for i in range(8)]
    return IntV(sum(bits[1:], bits[0]))


def _size(term: Term) -> Term:
    return floor_mod(term, 256) if known(term) else _absolute(term)


def _absolute(term: Term) -> Term:
    positive = term >= 0
    return as_int(positive) * term - as_int(neg(positive)) * term


def _to_bytes(run: Run, state: State, term: Term, args: Arguments, node: ast.Call) -> Value:
    """`n.to_bytes(size, order)` for a known size."""
    size = number(args[0]) if args else 1
    order = args[1] if len(args) > 1 else None
    text = "big" if order is None else order.text if isinstance(order, StrV) else None
    for keyword in node.keywords:
        if keyword.arg != "signed" or ast.unparse(keyword.value) != "False":
            text = None
    if size is None or not known(size) or not 0 <= size <= MOST_OCTETS or text is None:
        run.unsupported(state, "to_bytes of a size that varies", node)
        return SeqV("bytes", literal([]))
    large = disj([term < 0, term >= (1 << (8 * size))])
    run.may_raise(state, large, "OverflowError", node, f"an int of {size} bytes")
    octets = [IntV(floor_mod(floor_div(term, 1 << (8 * i)), 256)) for i in range(size)]
    return SeqV("bytes", literal(octets if text == "little" else octets[::-1]))


def from_bytes(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    """`int.from_bytes(data, order)` for a known number of bytes."""
    held = sequence(state, args[0])
    order = args[1] if len(args) > 1 else None
    text = "big" if order is None else order.text if isinstance(order, StrV) else None
    seq = held[1] if held is not None else literal([])
    if text is None or node.keywords or not known(seq.length) or seq.length > MOST_OCTETS:
        run.unsupported(state, "from_bytes of a size that varies", node)
        return IntV(run.context.integer("from_bytes"))
    octets = [number(seq.at(i)) for i in range(seq.length)]
    result: Term = 0
    for place, octet in enumerate(octets if text == "little" else octets[::-1]):
        assert octet is not None
        result = result + octet * (1 << (8 * place))
    return IntV(result)


_CHANGING: dict[str, tuple[range, Method]] = {
    "append": (range(1, 2), _append),
    "extend": (range(1, 2), _extend),
    "insert": (range(2, 3), _insert),
    "pop": (range(2), _pop),
    "clear": (range(1), _clear),
    "reverse": (range(1), _reverse),
    "sort": (range(1), _sort),
    "remove": (range(1, 2), _remove),
}
_READING: dict[str, tuple[range, Reader]] = {
    "copy": (range(1), _copy),
    "count": (range(1, 2), _count),
    "index": (range(1, 2), _index),
}
_OF_INTS: dict[str, Callable[..., Value]] = {
    "bit_length": _bit_length,
    "bit_count": _bit_count,
    "to_bytes": _to_bytes,
}
CHANGING = frozenset(_CHANGING)
