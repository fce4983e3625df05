"""Builtin functions, and the few of the standard library whose meaning is stated here.

Each takes the values of its arguments and gives a value; what it may raise leaves the state. The
functions of the standard library are trusted to do what is written here, and a proof that uses
one lists it as an assumption.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import cast

from refute.verifiers.contracts.comparison import equal, less
from refute.verifiers.contracts.folds import total
from refute.verifiers.contracts.iteration import (
    Iteration,
    backwards,
    elements,
    enumerated,
    iterate,
    zipped,
)
from refute.verifiers.contracts.kinds import BOOL, INT, Kind
from refute.verifiers.contracts.operators import (
    binary,
    described,
    each,
    integer,
    made,
    number,
    range_length,
    sequence,
    truth,
)
from refute.verifiers.contracts.quantifiers import every_element
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.sorting import in_order
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.terms import (
    Term,
    conj,
    disj,
    implies,
    ite,
    known,
    lift,
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
    StrV,
    TupleV,
    UnionV,
    Value,
    literal,
    merge,
    options,
)

Arguments = Sequence[Value]
Builtin = Callable[[Run, State, Arguments, ast.Call], Value]


def _len(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    def size(value: Value) -> Value:
        if isinstance(value, RangeV):
            return IntV(range_length(value))
        if isinstance(value, StrV):
            run.unsupported(state, "the length of a string", node)
            return IntV(run.context.integer("length"))
        held = sequence(state, value)
        if held is None:
            text = f"len of {described(state, value)}"
            run.may_raise(state, True, "TypeError", node, text)
            return IntV(0)
        return IntV(held[1].length)

    return each(run, state, args[0], size)


def _abs(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    def size(value: Value) -> Value:
        term = _int(run, state, value, node)
        return IntV(ite(term >= 0, term, -term))

    return each(run, state, args[0], size)


def _int(run: Run, state: State, value: Value, node: ast.AST) -> Term:
    """The int that a value must be; TypeError where it is none."""
    return integer(run, state, value, node)


def _extreme(smallest: bool) -> Builtin:
    def extreme(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
        if len(args) > 1:
            chosen = args[0]
            for other in args[1:]:
                a, b = (other, chosen) if smallest else (chosen, other)
                better = less(run, state, a, b, node, False)
                chosen = merge(better, other, chosen)
            return chosen
        default = next((k.value for k in node.keywords if k.arg == "default"), None)
        seq = elements(run, state, args[0], node)
        if default is None:
            run.may_raise(state, seq.length == 0, "ValueError", node, "of no elements")
            return _extreme_of(run, state, seq, node, smallest)
        other = run.evaluate(state, default)
        with state.under(seq.length != 0):
            found = _extreme_of(run, state, seq, node, smallest)
        return merge(seq.length != 0, found, other)

    return extreme


def _extreme_of(run: Run, state: State, seq: Seq, node: ast.Call, smallest: bool) -> Value:
    if seq.items is not None and len(seq.items) == 1:
        return seq.items[0]
    if seq.items:
        extreme = _extreme(smallest)
        return extreme(run, state, seq.items, node)
    if seq.element not in (INT, BOOL):
        run.unsupported(state, f"min or max of {seq.element}", node)
        return NO_VALUE
    index = run.context.integer("extreme")
    best = number(seq.at(index))
    assert best is not None
    with run.context.binding() as other:
        item = number(seq.at(other))
        assert item is not None
        within = conj([other >= 0, other < seq.length])
        order = best <= item if smallest else best >= item
        every = run.context.for_all([other], within, order)
    inside = conj([index >= 0, index < seq.length, every])
    run.context.define(implies(seq.length > 0, inside), index)
    return seq.at(index)


def _sum(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    over = iterate(run, state, args[0], node)
    if over.count is not None and over.count <= 24:
        result: Value = args[1] if len(args) > 1 else IntV(0)
        for k in range(over.start, over.stop):
            result = binary(run, state, ast.Add(), result, over.at(k), node)
        return result
    first = _int(run, state, args[1], node) if len(args) > 1 else 0
    return IntV(first + total(run.context, over.start, over.stop, _summand(run, state, over, node)))


def _summand(run: Run, state: State, over: Iteration, node: ast.Call) -> Callable[[Term], Term]:
    def summand(index: Term) -> Term:
        term = number(over.at(index))
        if term is None:
            run.unsupported(state, "the sum of anything but ints", node)
            return 0
        return term

    return summand


def _bool(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    return BoolV(truth(run, state, args[0]) if args else False)


def _int_of(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    if not args:
        return IntV(0)

    def convert(value: Value) -> Value:
        if isinstance(value, StrV) or (sequence(state, value) or ("",))[0].startswith("byte"):
            run.unsupported(state, "int of a text", node)
        return IntV(_int(run, state, value, node))

    if len(args) > 1:
        run.unsupported(state, "int with a base", node)
    return each(run, state, args[0], convert)


def _divmod(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    quotient = binary(run, state, ast.FloorDiv(), args[0], args[1], node)
    return TupleV((quotient, binary(run, state, ast.Mod(), args[0], args[1], node)))


def _pow(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    power = binary(run, state, ast.Pow(), args[0], args[1], node)
    return power if len(args) == 2 else binary(run, state, ast.Mod(), power, args[2], node)


def _range(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    terms = [_int(run, state, a, node) for a in args]
    if len(terms) == 1:
        return RangeV(0, terms[0], 1)
    if len(terms) == 2:
        return RangeV(terms[0], terms[1], 1)
    run.may_raise(state, terms[2] == 0, "ValueError", node, "range step is 0")
    return RangeV(*terms)


def _enumerate(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    start: Value = args[1] if len(args) > 1 else IntV(0)
    for keyword in node.keywords:
        start = run.evaluate(state, keyword.value)
    first = _int(run, state, start, node)
    return _iterator(run, state, args[:1], node, lambda seqs: enumerated(seqs[0], first))


def _iterator(
    run: Run, state: State, args: Arguments, node: ast.Call, make: Callable[[list[Seq]], Seq]
) -> IterV:
    """An iterator over sequences made of those of the arguments, as they are when it looks."""
    held = [elements(run, state, a, node) for a in args]
    lists: list[int] = []
    fixed = False
    for arg in args:
        for _, option in options(arg):
            if isinstance(option, Ref):
                lists.append(option.address)
                fixed = fixed or isinstance(arg, UnionV)
            elif isinstance(option, IterV):
                lists += option.lists
                fixed = fixed or option.fixed or isinstance(arg, UnionV)

    def live(later: State) -> Seq:
        return make([_now(later, a, seq) for a, seq in zip(args, held, strict=True)])

    return IterV(make(held), live, tuple(lists), fixed)


def _now(state: State, value: Value, seq: Seq) -> Seq:
    """The elements that an argument of an iterator has in a later state."""
    if isinstance(value, Ref):
        return state.cell(value).seq
    if isinstance(value, IterV) and value.live is not None:
        return value.live(state)
    return seq


def _zip(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    seqs = [elements(run, state, a, node) for a in args]
    strict = any(k.arg == "strict" and ast.unparse(k.value) == "True" for k in node.keywords)
    for seq in seqs[1:] if strict else ():
        uneven = seqs[0].length != seq.length
        run.unsupported(state, "zip of unequal lengths with strict=True", node, uneven)
    return _iterator(run, state, args, node, lambda now: zipped(now) if now else literal([]))


def _reversed(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    made_ = _iterator(run, state, args, node, lambda seqs: backwards(seqs[0]))
    return IterV(made_.seq, None, made_.lists, True)


def _copied(kind: str) -> Builtin:
    def copied(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
        if not args:
            return TupleV(()) if kind == "tuple" else made(run, state, kind, literal([]))
        size = number(args[0])
        if kind in ("bytes", "bytearray"):
            if size is not None:
                run.may_raise(state, size < 0, "ValueError", node, "negative count")
                zeros = literal([IntV(0)] * size) if known(size) and 0 <= size < 4096 else None
                return made(run, state, kind, zeros or Seq(size, lambda _: IntV(0), INT))
            return _octets(run, state, kind, args[0], node)
        return made(run, state, kind, elements(run, state, args[0], node))

    return copied


def _octets(run: Run, state: State, kind: str, value: Value, node: ast.Call) -> Value:
    seq = elements(run, state, value, node)
    held = sequence(state, value)
    if held is None or not held[0].startswith("byte"):
        fits = every_element(run, state, Iteration(0, seq.length, seq.at), _is_octet)
        run.may_raise(state, neg(fits), "ValueError", node, "bytes must be in range(0, 256)")
    return made(run, state, kind, seq)


def _is_octet(value: Value) -> Term:
    term = number(value)
    return False if term is None else conj([term >= 0, term <= 255])


def _sorted(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    flags = [k for k in node.keywords if k.arg == "reverse"]
    if len(flags) < len(node.keywords):
        run.unsupported(state, "sorted with a key", node)
    falling = False
    for flag in flags:
        falling = truth(run, state, run.evaluate(state, flag.value))
    seq = elements(run, state, args[0], node)
    return made(run, state, "list", in_order(run, state, seq, falling, node))


def _isinstance(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    wanted = args[1].items if isinstance(args[1], TupleV) else (args[1],)
    names = {v.name.removeprefix("builtins.") for v in wanted if isinstance(v, NameV)}
    names |= {"None" for v in wanted if isinstance(v, NoneV)}
    known_ = {"int", "bool", "str", "bytes", "bytearray", "list", "tuple", "None", "object"}
    if len(names) < len(wanted) or not names <= known_ | {"float", "dict", "set"}:
        run.unsupported(state, f"isinstance of {ast.unparse(node.args[1])[:40]}", node)
        return BoolV(run.context.condition("isinstance"))
    cases = args[0].options if isinstance(args[0], UnionV) else ((True, args[0]),)
    return BoolV(disj([conj([c, _is_one_of(state.kind(v), names)]) for c, v in cases]))


def _is_one_of(kind: Kind, names: set[str]) -> bool:
    own = {"vtuple": {"tuple"}, "bool": {"bool", "int"}}.get(kind.name, {kind.name})
    return bool(own & names) or "object" in names


def _isqrt(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    term = _int(run, state, args[0], node)
    run.may_raise(state, term < 0, "ValueError", node, "isqrt of a negative number")
    root = run.context.integer("isqrt")
    facts = [root >= 0, root * root <= term, term < (root + 1) * (root + 1)]
    run.context.define(implies(term >= 0, conj(facts)), root)
    return IntV(root)


def _gcd(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    a, b = (_int(run, state, v, node) for v in args[:2])
    divisor = run.context.integer("gcd")
    both = lift(a) != 0, lift(b) != 0
    divides = [lift(t) % divisor == 0 for t in (a, b)]
    facts = [divisor >= 0, implies(disj(both), conj([divisor >= 1, *divides]))]
    facts.append(implies(neg(disj(both)), divisor == 0))
    run.context.define(conj(facts), divisor)
    return IntV(divisor)


def _crc32(run: Run, state: State, args: Arguments, node: ast.Call) -> Value:
    """An int of 32 bits, the same for the same bytes and start."""
    seq = elements(run, state, args[0], node)
    start = _int(run, state, args[1], node) if len(args) > 1 else 0
    result = run.context.integer("crc32")
    run.context.define(conj([result >= 0, result < 2**32]), result)
    calls = cast(list[tuple[Seq, Term, Term]], run.context.memory.setdefault("crc32", []))
    if run.context.bound:
        run.unsupported(state, "zlib.crc32 under a quantifier", node)
    for other, begin, value in calls[-8:]:
        index = run.context.integer("differs")
        lengths = seq.length == other.length
        differ = neg(equal(run, state, seq.at(index), other.at(index)))
        inside = conj([index >= 0, index < seq.length, differ])
        unlike = disj([neg(lengths), neg(lift(start) == begin), inside])
        run.context.define(disj([result == value, unlike]))
    calls.append((seq, start, result))
    return IntV(result)


BUILTINS: dict[str, tuple[int, int, Builtin]] = {
    "builtins.len": (1, 1, _len),
    "builtins.abs": (1, 1, _abs),
    "builtins.min": (1, 99, _extreme(True)),
    "builtins.max": (1, 99, _extreme(False)),
    "builtins.sum": (1, 2, _sum),
    "builtins.bool": (0, 1, _bool),
    "builtins.int": (0, 2, _int_of),
    "builtins.divmod": (2, 2, _divmod),
    "builtins.pow": (2, 3, _pow),
    "builtins.range": (1, 3, _range),
    "builtins.enumerate": (1, 2, _enumerate),
    "builtins.zip": (0, 9, _zip),
    "builtins.reversed": (1, 1, _reversed),
    "builtins.list": (0, 1, _copied("list")),
    "builtins.tuple": (0, 1, _copied("tuple")),
    "builtins.bytes": (0, 1, _copied("bytes")),
    "builtins.bytearray": (0, 1, _copied("bytearray")),
    "builtins.sorted": (1, 1, _sorted),
    "builtins.isinstance": (2, 2, _isinstance),
}
# name → (fewest arguments, most, meaning); a proof that uses one lists it
TRUSTED: dict[str, tuple[int, int, Builtin]] = {
    "math.isqrt": (1, 1, _isqrt),
    "math.gcd": (2, 2, _gcd),
    "zlib.crc32": (1, 2, _crc32),
}
KEYWORDS = {"builtins.min": {"default"}, "builtins.max": {"default"}, "builtins.zip": {"strict"}}
KEYWORDS |= {"builtins.sorted": {"reverse", "key"}, "builtins.enumerate": {"start"}}
