"""Operators: arithmetic and truth of values, with Python's exceptions.

A value that is one of several kinds is taken apart, each option under its condition, and the
results become one value again; so `None + 1` raises TypeError exactly where it would.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from refute.verifiers.contracts import integers
from refute.verifiers.contracts.kinds import INT
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.state import Cell, State
from refute.verifiers.contracts.terms import (
    Term,
    as_int,
    conj,
    disj,
    floor_div,
    floor_mod,
    iff,
    ite,
    known,
    maximum,
    neg,
)
from refute.verifiers.contracts.values import (
    NO_VALUE,
    BoolV,
    IntV,
    IterV,
    NameV,
    NoneV,
    RangeV,
    Ref,
    Seq,
    SeqV,
    StrV,
    TupleV,
    UnboundV,
    UnionV,
    Value,
    choose,
    concat,
    literal,
)

MOST_REPEATED = 64
SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Div: "/",
    ast.MatMult: "@",
}


def each(run: Run, state: State, value: Value, function: Callable[[Value], Value]) -> Value:
    """The function of a value, option by option, each under its condition."""
    if not isinstance(value, UnionV):
        return function(value)
    results: list[tuple[Term, Value]] = []
    for condition, option in value.options:
        decided = state.decided(condition)
        if decided is False:
            continue
        if decided is True:
            return function(option)
        with state.under(condition):
            result = function(option)
            if not state.dead:
                results.append((condition, result))
    return choose(results) if results else NO_VALUE


def number(value: Value) -> Term | None:
    """The int that a value is, None where it is none or may be none."""
    match value:
        case UnionV(options=cases):
            terms = [(c, number(v)) for c, v in cases]
            result = terms[-1][1]
            for condition, term in reversed(terms[:-1]):
                if term is None or result is None:
                    return None
                result = ite(condition, term, result)
            return result
        case IntV(term=term):
            return term
        case BoolV(term=term):
            return as_int(term)
    return None


def integer(run: Run, state: State, value: Value, node: ast.AST, text: str = "") -> Term:
    """The int that a value must be; where it is none, TypeError."""
    found: list[tuple[Term, Term]] = []
    for condition, option in value.options if isinstance(value, UnionV) else ((True, value),):
        term = number(option)
        if term is None:
            why = text or f"{described(state, option)} is no int"
            run.may_raise(state, condition, "TypeError", node, why)
        else:
            found.append((condition, term))
    result: Term = found[-1][1] if found else 0
    for condition, term in reversed(found[:-1]):
        result = ite(condition, term, result)
    return result


def sequence(state: State, value: Value) -> tuple[str, Seq] | None:
    """(kind, elements) of a sequence, None where it is none."""
    match value:
        case Ref():
            cell = state.cell(value)
            return cell.kind, cell.seq
        case SeqV(kind=kind, seq=seq):
            return ("tuple" if kind == "vtuple" else kind), seq
        case TupleV(items=items):
            return "tuple", literal(items)
    return None


def range_length(value: RangeV) -> Term:
    """How many ints a range holds."""
    start, stop, step = value.start, value.stop, value.step
    if known(step):
        distance = stop - start if step > 0 else start - stop
        size = abs(step)
        return maximum(0, distance if size == 1 else floor_div(distance + size - 1, size))
    up = floor_div(stop - start + step - 1, step)
    down = floor_div(start - stop - step - 1, -step)
    return maximum(0, ite(step > 0, up, down))


def range_items(value: RangeV) -> Seq:
    """The ints of a range."""
    length = range_length(value)
    if known(length) and known(value.start) and known(value.step) and length <= 4096:
        return literal([IntV(value.start + i * value.step) for i in range(length)])
    return Seq(length, lambda i: IntV(value.start + i * value.step), INT)


def truth(run: Run, state: State, value: Value) -> Term:
    """Whether a value counts as true."""
    match value:
        case BoolV(term=term):
            return term
        case IntV(term=term):
            return term != 0
        case NoneV():
            return False
        case StrV(term=term):
            return neg(term == run.context.string(""))
        case UnionV(options=cases):
            return disj([conj([c, truth(run, state, v)]) for c, v in cases])
        case RangeV():
            return range_length(value) > 0
        case NameV():
            return True
    held = sequence(state, value)
    if held is not None:
        return held[1].length != 0
    raise run.refuse(f"the truth of {described(state, value)}", None)


def described(state: State, value: Value) -> str:
    """The type of a value, as messages name it."""
    match value:
        case NameV(name=name):
            return name
        case RangeV():
            return "a range"
        case IterV():
            return "an iterator"
        case UnboundV():
            return "a variable without a value"
    return str(state.kind(value))


def binary(
    run: Run, state: State, operator: ast.operator, left: Value, right: Value, node: ast.AST
) -> Value:
    """`left operator right`."""
    return each(
        run,
        state,
        left,
        lambda a: each(run, state, right, lambda b: _binary(run, state, operator, a, b, node)),
    )


def _binary(
    run: Run, state: State, operator: ast.operator, left: Value, right: Value, node: ast.AST
) -> Value:
    a, b = number(left), number(right)
    if a is not None and b is not None:
        logical = isinstance(operator, ast.BitAnd | ast.BitOr | ast.BitXor)
        if logical and isinstance(left, BoolV) and isinstance(right, BoolV):
            return _logical(operator, left.term, right.term)
        return _arithmetic(run, state, operator, a, b, node)
    first, second = sequence(state, left), sequence(state, right)
    if isinstance(operator, ast.Add) and first and second and first[0] == second[0]:
        return _joined(run, state, left, right, first, second)
    if isinstance(operator, ast.Mult):
        for held, times in ((first, b), (second, a)):
            if held is not None and times is not None:
                return _repeated(run, state, held, times, node)
    if isinstance(left, StrV) or isinstance(right, StrV):
        run.unsupported(state, f"{SYMBOLS[type(operator)]} on a string", node)
        return NO_VALUE
    text = f"{described(state, left)} {SYMBOLS[type(operator)]} {described(state, right)}"
    run.may_raise(state, True, "TypeError", node, text)
    return NO_VALUE


def _logical(operator: ast.operator, left: Term, right: Term) -> Value:
    if isinstance(operator, ast.BitAnd):
        return BoolV(conj([left, right]))
    if isinstance(operator, ast.BitOr):
        return BoolV(disj([left, right]))
    return BoolV(neg(iff(left, right)))


def _arithmetic(
    run: Run, state: State, operator: ast.operator, a: Term, b: Term, node: ast.AST
) -> Value:
    context = run.context
    match operator:
        case ast.Add():
            return IntV(a + b)
        case ast.Sub():
            return IntV(a - b)
        case ast.Mult():
            return IntV(a * b)
        case ast.FloorDiv() | ast.Mod():
            run.may_raise(state, b == 0, "ZeroDivisionError", node)
            divide = isinstance(operator, ast.FloorDiv)
            result = (integers.divide if divide else integers.modulo)(context, a, b)
            return IntV(result)
        case ast.BitAnd():
            return IntV(integers.bit_and(context, a, b))
        case ast.BitOr():
            return IntV(integers.bit_or(context, a, b))
        case ast.BitXor():
            return IntV(integers.bit_xor(context, a, b))
        case ast.LShift() | ast.RShift():
            run.may_raise(state, b < 0, "ValueError", node, "negative shift count")
            left = isinstance(operator, ast.LShift)
            shift = integers.shift_left if left else integers.shift_right
            return IntV(shift(context, a, b))
        case ast.Pow():
            return _power(run, state, a, b, node)
    run.unsupported(state, f"the operator {SYMBOLS[type(operator)]}", node)
    return IntV(context.integer("unsupported"))


def _power(run: Run, state: State, base: Term, exponent: Term, node: ast.AST) -> Value:
    run.unsupported(state, "a negative exponent", node, exponent < 0)
    if known(exponent) and 0 <= exponent <= MOST_REPEATED:
        return IntV(integers.power(run.context, base, exponent))
    if known(base) and base == 2:
        return IntV(integers.power_of_two(run.context, exponent))
    run.unsupported(state, "** with an exponent that varies", node)
    return IntV(run.context.integer("unsupported"))


def _joined(
    run: Run,
    state: State,
    left: Value,
    right: Value,
    first: tuple[str, Seq],
    second: tuple[str, Seq],
) -> Value:
    if isinstance(left, TupleV) and isinstance(right, TupleV):
        return TupleV(left.items + right.items)
    return made(run, state, first[0], concat(first[1], second[1]))


def _repeated(run: Run, state: State, held: tuple[str, Seq], times: Term, node: ast.AST) -> Value:
    kind, seq = held
    if known(times) and seq.items is not None and len(seq.items) * times <= 4096:
        if kind == "tuple":
            return TupleV(seq.items * max(0, times))
        return made(run, state, kind, literal(seq.items * max(0, times)))
    count = maximum(0, times)
    if seq.items is not None and len(seq.items) == 1:
        only = seq.items[0]
        return made(run, state, kind, Seq(count, lambda _: only, seq.element))
    size = seq.length
    length = count * size
    return made(run, state, kind, Seq(length, lambda i: seq.at(floor_mod(i, size)), seq.element))


def made(run: Run, state: State, kind: str, seq: Seq) -> Value:
    """A new object of this kind; the elements become values."""
    if kind in ("list", "bytearray"):
        ref = Ref(run.new_address())
        state.heap[ref.address] = Cell(kind, seq)
        return ref
    if kind == "tuple" and seq.items is not None:
        return TupleV(seq.items)
    return SeqV("vtuple" if kind == "tuple" else kind, seq)
