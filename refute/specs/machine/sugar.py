"""Syntactic sugar: what is put together of other operations, so that engines know nothing of it.

Type checkers narrow `T | None`; here a value that an operator needs is `only`, which is the value,
or the TypeError that Python raises for None. So is a number that may be something else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from refute.specs.machine import rowwise
from refute.specs.machine import types as t
from refute.specs.machine.expressions import (
    BOOL,
    Expressions,
    comparable,
    constant,
    number,
    orderable,
)
from refute.specs.machine.intervals import interval
from refute.specs.machine.ir import Expr

NONE = constant(None, t.Nothing())
MOST_BITS = 62  # of a power that is looked up
_SCALARS = (t.Int, t.Bool)


def solid(found: Expr) -> Expr:
    """The value without the option None; an error of the step where it is None."""
    kinds = [o for o in t.options(found.type) if not isinstance(o, t.Nothing)]
    if not kinds or len(kinds) == len(t.options(found.type)):
        return found
    return Expr("only", t.join(kinds), (found,))


def numbers(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """Both sides of an operator as numbers, where both may be numbers, and one something else."""
    sides = solid(left), solid(right)
    kinds = [[o for o in t.options(s.type) if isinstance(o, _SCALARS)] for s in sides]
    if not all(kinds):
        return sides
    return _only(sides[0], kinds[0]), _only(sides[1], kinds[1])


def _only(found: Expr, kinds: Sequence[t.Type]) -> Expr:
    whole = len(kinds) == len(t.options(found.type))
    inner = found.args[0] if found.op == "only" else found
    return found if whole else Expr("only", t.join(kinds), (inner,))


def truth_of(found: Expr) -> Expr | None:
    """The value as a condition; None where no one would mean that."""
    kind = found.type
    match kind:
        case t.Bool():
            return found
        case t.SetOf() if t.open_sorts(kind):
            return Expr("!=", BOOL, (found, constant(frozenset(), t.SetOf(t.NEVER))))
        case t.SetOf() | t.SeqOf() | t.MapOf():
            return Expr(">", BOOL, (Expr("len", t.Int(0, None), (found,)), number(0)))
        case t.Int():
            return Expr("!=", BOOL, (found, number(0)))
        case t.Union() if t.Nothing() in kind.options:
            there = Expr("!=", BOOL, (found, NONE))
            rest = solid(found)
            if all(isinstance(o, t.Atoms | t.Rec) for o in t.options(rest.type)):
                return there
            inner = truth_of(rest)
            return None if inner is None else Expr("and", BOOL, (there, inner))
    return None


def chosen(calls: Expressions, node: ast.BoolOp, values: Sequence[Expr]) -> Expr:
    """`a or b`, `a and b` as values: the first that decides, as Python gives it."""
    *firsts, made = values
    for found, part in zip(reversed(firsts), reversed(node.values[:-1]), strict=True):
        name = calls.build.fresh("either")
        calls.build.note(name, found)
        held = Expr("local", found.type, (), name)
        test = calls.truth_of(held, part)
        ways = (solid(held), made) if isinstance(node.op, ast.Or) else (made, held)
        inner = Expr("if", t.join(w.type for w in ways), (test, *ways))
        made = Expr("let", inner.type, (found, inner), name)
    return made


def held(calls: Expressions, value: Expr, made: Callable[[Expr], Expr]) -> Expr:
    """What is made of a value that Python evaluates once, before it and whatever comes of it."""
    if value.op in ("local", "const", "read", "next"):
        return made(value)
    name = calls.build.fresh("held")
    calls.build.note(name, value)
    inner = made(Expr("local", value.type, (), name))
    return Expr("let", inner.type, (value, inner), name)


def or_default(calls: Expressions, some: Expr, first: Expr, default: Expr) -> Expr:
    """`first` where `some` holds, else a default, which may raise in any case."""
    kind = t.join((first.type, default.type))
    return held(calls, default, lambda other: Expr("if", kind, (some, first, other)))


def binary(calls: Expressions, op: type[ast.operator], left: Expr, right: Expr) -> Expr | None:
    """An operator that others make up; None for what has no meaning."""
    kinds = (left.type, right.type)
    if op is ast.Add and _rows(kinds):
        sides = [_as_seq(side) for side in (left, right)]
        return joined(sides)
    if op is ast.Mult:
        for row, times in ((left, right), (right, left)):
            if isinstance(row.type, t.SeqOf | t.Tuple) and isinstance(times.type, _SCALARS):
                return repeated(calls, _as_seq(row), times)
    if all(isinstance(k, t.Bool) for k in kinds) and op in (ast.BitOr, ast.BitAnd, ast.BitXor):
        return _both(op, left, right)
    if not all(isinstance(k, _SCALARS) for k in kinds):
        return _views(op, left, right)
    if op is ast.Pow:
        return power(calls, left, right)
    if op is ast.LShift:
        shift = power(calls, number(2), right)
        return None if shift is None else _times(left, shift)
    if op is ast.RShift:
        shift = power(calls, number(2), right)
        return None if shift is None else Expr("//", t.Int(), (left, shift))
    return None


def _rows(kinds: Sequence[t.Type]) -> bool:
    rows = [isinstance(k, t.SeqOf | t.Tuple) for k in kinds]
    return all(rows)


def alike(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """A sequence and a tuple as two sequences, which is how they are compared."""
    rows = {type(k) for side in (left, right) for k in t.options(side.type)}
    if t.SeqOf in rows and t.Tuple in rows:
        return _as_seq(left), _as_seq(right)
    return left, right


def refuse_list(calls: Expressions, nodes: Sequence[ast.expr], sides: Sequence[Expr]) -> None:
    """Python finds a Seq equal to a tuple and to a list, but these two never equal.

    Raises Unsupported for two sides of which one is a tuple and one is, or may be, a list.
    """
    for at, to in ((0, 1), (1, 0)):
        lists = isinstance(sides[at].type, t.SeqOf) and _may_be_list(nodes[at])
        if lists and isinstance(sides[to].type, t.Tuple):
            listed = ast.unparse(nodes[at])
            what = f"a tuple compared with {listed}, which may be a list and then never equal,"
            raise calls.scope.refuse(nodes[at], what, f"Seq({listed})")


def _may_be_list(node: ast.expr) -> bool:
    """A list, a local, or one of them in an expression; not what begins with `self` or `Seq`."""
    match node:
        case ast.Name() | ast.List() | ast.ListComp():
            return True
        case ast.Call(ast.Name(name)):
            return name in ("list", "sorted")
        case ast.BinOp(left, _, right):
            return _may_be_list(left) and _may_be_list(right)
        case ast.IfExp(_, body, orelse):
            return _may_be_list(body) or _may_be_list(orelse)
        case ast.Subscript(value, ast.Slice()):
            return _may_be_list(value)
    return False


def _as_seq(side: Expr) -> Expr:
    if isinstance(side.type, t.Tuple):
        return Expr("toseq", t.SeqOf(t.join(side.type.items), len(side.type.items)), (side,))
    return side


def joined(parts: Sequence[Expr]) -> Expr:
    """Sequences one after the other."""
    made = parts[0]
    for part in parts[1:]:
        assert isinstance(made.type, t.SeqOf) and isinstance(part.type, t.SeqOf)
        a, b = made.type.upto, part.type.upto
        upto = None if a is None or b is None else a + b
        kind = t.SeqOf(t.join((made.type.elem, part.type.elem)), upto)
        made = Expr("cat", kind, (made, part))
    return made


def repeated(calls: Expressions, row: Expr, times: Expr) -> Expr:
    """`[v] * n`: nothing where n is not positive."""
    assert isinstance(row.type, t.SeqOf)
    most = times.type.hi if isinstance(times.type, t.Int) else 1
    upto = None if most is None or row.type.upto is None else max(most, 0) * row.type.upto
    names = [calls.build.fresh(word) for word in ("row", "turn", "each")]
    turn = t.Int(0, None if most is None else max(most - 1, 0))
    turns = Expr("range", t.SeqOf(turn), (number(0), times, number(1)))
    held = Expr("local", row.type, (), names[0])
    elem = row.type.elem
    item = Expr("item", elem, (Expr("local", elem, (), names[2]),))
    chain = Expr("for", elem, (turns, Expr("for", elem, (held, item), names[2])), names[1])
    made = Expr("list", t.SeqOf(elem, upto), (chain,))
    return Expr("let", made.type, (row, made), names[0])


def _both(op: type[ast.operator], left: Expr, right: Expr) -> Expr:
    """`|`, `&` and `^` of two bools, both of which are evaluated."""
    if op is ast.BitXor:
        return Expr("!=", BOOL, (left, right))
    if op is ast.BitAnd:
        return Expr(">", BOOL, (_times(left, right), number(0)))
    kind = interval("+", left.type, right.type)
    return Expr(">", BOOL, (Expr("+", kind, (left, right)), number(0)))


def _product(factors: Sequence[Expr]) -> Expr:
    made = number(1)
    for factor in factors:
        made = _times(made, factor)
    return made


def _times(left: Expr, right: Expr) -> Expr:
    return Expr("*", interval("*", left.type, right.type), (left, right))


def _views(op: type[ast.operator], left: Expr, right: Expr) -> Expr | None:
    """Set operators on `m.keys()`, which Python answers with a builtin set."""
    names = {ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^", ast.Sub: "diff"}
    sides = [s.op == "keys" or isinstance(s.type, t.SetOf) for s in (left, right)]
    if op not in names or not all(sides) or "keys" not in (left.op, right.op):
        return None
    made = [
        Expr("toset", t.SetOf(s.type.elem), (s,)) if isinstance(s.type, t.SeqOf) else s
        for s in (left, right)
    ]
    return Expr(names[op], t.join(m.type for m in made), tuple(made))


def power(calls: Expressions, base: Expr, exponent: Expr) -> Expr | None:
    """`base ** exponent` where one of them is known and the exponent is small and not negative."""
    kind = exponent.type if isinstance(exponent.type, t.Int) else t.Int(0, 1)
    if kind.lo is None or kind.lo < 0 or kind.hi is None or kind.hi > MOST_BITS:
        return None
    if kind.lo == kind.hi and kind.hi <= 8:
        times = kind.hi
        return held(
            calls, base, lambda one: held(calls, exponent, lambda _: _product([one] * times))
        )
    if base.op != "const" or type(base.data) is not int:
        return None
    values = [base.data**n for n in range(kind.hi + 1)]
    if abs(values[-1]) >= 2**MOST_BITS:
        return None
    elem = t.Int(min(values), max(values))
    table = constant(tuple(values), t.SeqOf(elem, len(values)))
    return Expr("index", elem, (table, exponent))


def before(calls: Expressions, op: str, left: Expr, right: Expr) -> Expr | None:
    """`<`, `<=`, `>`, `>=`: of numbers, members of one OrderedSort, or rows, whose first items that
    differ decide; None for anything else."""
    left, right = alike(left, right)
    kinds = left.type, right.type
    if all(isinstance(k, t.SeqOf) for k in kinds):
        return rowwise.before(
            op, left, right, lambda a, b: before(calls, "<", a, b), calls.build.fresh
        )
    if not isinstance(kinds[0], t.Tuple) or not isinstance(kinds[1], t.Tuple):
        scalars = orderable(kinds[0]) and orderable(kinds[1]) and comparable(*kinds)
        return Expr(op, BOOL, (left, right)) if scalars else None
    if len(kinds[0].items) != len(kinds[1].items) or not kinds[0].items:
        return None
    names = calls.build.fresh("left"), calls.build.fresh("right")
    held = [Expr("local", k, (), n) for k, n in zip(kinds, names, strict=True)]
    made: Expr | None = None
    for at in reversed(range(len(kinds[0].items))):
        items = [
            Expr("index", k.items[at], (h, number(at)))
            for h, k in zip(held, kinds, strict=True)
            if isinstance(k, t.Tuple)
        ]
        last = made is None
        less = before(calls, op if last else op[0], items[0], items[1])
        if less is None:
            return None
        if made is None:
            made = less
        else:
            same = Expr("and", BOOL, (Expr("==", BOOL, tuple(items)), made))
            made = Expr("or", BOOL, (less, same))
    assert made is not None
    for name, value in ((names[1], right), (names[0], left)):
        made = Expr("let", BOOL, (value, made), name)
    return made


def listed(calls: Expressions, nodes: Sequence[ast.expr], what: str) -> Expr:
    """`[*a, x]`, `(*a, x)` or `{*a, x}`; what: "list", "tuple" or "set"."""
    parts: list[Expr] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            single = calls.expr(node)
            kind = t.SetOf(single.type) if what == "set" else t.SeqOf(single.type, 1)
            parts.append(Expr("setof" if what == "set" else "seq", kind, (single,)))
            continue
        found = calls.expr(node.value)
        elem = calls.element(found, node)
        if what == "set":
            parts.append(Expr("toset", t.SetOf(elem), (found,)))
        else:
            calls.scope.fixed_order(node, found)
            parts.append(found if isinstance(found.type, t.SeqOf) else _walked(found, elem))
    if what != "set":
        return joined(parts)
    made = parts[0]
    for part in parts[1:]:
        made = Expr("|", t.join((made.type, part.type)), (made, part))
    return made


def backwards(calls: Expressions, base: Expr) -> Expr:
    """`q[::-1]`."""
    assert isinstance(base.type, t.SeqOf)
    upto = base.type.upto
    length = Expr("len", t.Int(0, upto), (base,))
    places = Expr("range", t.SeqOf(t.Int(0, upto)), (number(0), length, number(1)))
    name = calls.build.fresh("place")
    at = Expr("-", t.Int(), (number(-1), Expr("local", t.Int(0, upto), (), name)))
    item = Expr("item", base.type.elem, (Expr("index", base.type.elem, (base, at)),))
    chain = Expr("for", base.type.elem, (places, item), name)
    return Expr("list", base.type, (chain,))


def _walked(found: Expr, elem: t.Type) -> Expr:
    upto = len(found.type.items) if isinstance(found.type, t.Tuple) else None
    return Expr("toseq", t.SeqOf(elem, upto), (found,))
