"""Expressions of the IR as symbolic values: the tree walk of `meaning`, for all states at once.

Where all arguments of an operation are known its meaning is that of `operations`, so that the two
cannot differ there. Conditions are followed as Python follows them: what stands behind `and`, `or`,
`if` or a filter is evaluated under its condition, and so are its errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import z3

from refute.specs.machine import types as t
from refute.specs.machine.errors import MOST_CALLS, MOST_ROUNDS
from refute.specs.machine.ir import Expr
from refute.specs.machine.operations import apply
from refute.specs.machine.values import unpack_value
from refute.verifiers.symbolic import walking
from refute.verifiers.symbolic.comparing import fits
from refute.verifiers.symbolic.containers import items, rows
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.folding import Bit, all_of, and_, any_of, not_, term_of
from refute.verifiers.symbolic.forms import OpenSet, Outside, Sym, is_known, row, truth
from refute.verifiers.symbolic.merging import merge, select
from refute.verifiers.symbolic.operating import OPERATIONS, in_source
from refute.verifiers.symbolic.quantifying import is_open
from refute.verifiers.symbolic.remembering import remembered

Env = Mapping[str, Any]
MOST_SYMBOLIC = (
    64  # rounds of a loop, or calls inside each other, while it is open if there are more
)
FEW_ROUNDS = 8  # after which it is asked whether there can be more
ASK_MS = 500
_FRAMES = 20_000  # of Python, for calls inside each other
_ERRORS = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, AssertionError)


def environment(
    variables: Mapping[str, Sym],
    locals: Mapping[str, Sym] | None = None,
    after: Mapping[str, Sym] | None = None,
) -> dict[str, Any]:
    """What `evaluate` takes: variables are "self.x", variables of the next state "'x"."""
    made: dict[str, Any] = {f"self.{name}": value for name, value in variables.items()}
    made.update({f"'{name}": value for name, value in (after or {}).items()})
    made.update(locals or {})
    return made


def evaluate(expr: Expr, env: Env, ctx: Context) -> Sym:
    """The value of an expression; errors and facts go to the context. Raises Outside.

    env: as `environment` makes it; a local and a variable may have one name.
    """
    special = _SPECIAL.get(expr.op)
    if special is not None:
        return special(expr, env, ctx)
    return _operated(expr, env, ctx)


def _operated(expr: Expr, env: Env, ctx: Context) -> Sym:
    values = [evaluate(a, env, ctx) for a in expr.args]
    if ctx.path is False:
        return None
    if all(map(is_known, values)) and not _opened(expr):
        try:
            return apply(expr, values)
        except _ERRORS:
            ctx.fail()
            return None
    operation = OPERATIONS.get(expr.op)
    if operation is None:
        raise Outside(f"the operation {expr.op!r}")
    return operation(expr, values, ctx)


def _opened(expr: Expr) -> bool:
    """Whether the node has open Sorts in it, of which `operations` knows nothing."""
    return is_open(expr.type) or any(is_open(a.type) for a in expr.args)


def condition(expr: Expr, env: Env, ctx: Context) -> Bit:
    """The truth of an expression."""
    return False if ctx.path is False else truth(evaluate(expr, env, ctx))


def _const(expr: Expr, env: Env, ctx: Context) -> Sym:
    return unpack_value(expr.data)


def _read(expr: Expr, env: Env, ctx: Context) -> Sym:
    return env[f"self.{expr.data}"]


def _next(expr: Expr, env: Env, ctx: Context) -> Sym:
    return env[f"'{expr.data}"]


def _local(expr: Expr, env: Env, ctx: Context) -> Sym:
    return env[expr.data]


def _let(expr: Expr, env: Env, ctx: Context) -> Sym:
    value, body = expr.args
    return evaluate(body, {**env, expr.data: evaluate(value, env, ctx)}, ctx)


def _and(expr: Expr, env: Env, ctx: Context) -> Bit:
    found: list[Bit] = []
    for arg in expr.args:
        so_far = all_of(found)
        if so_far is False:
            return False
        with ctx.under(so_far):
            found.append(condition(arg, env, ctx))
    return all_of(found)


def _or(expr: Expr, env: Env, ctx: Context) -> Bit:
    found: list[Bit] = []
    for arg in expr.args:
        so_far = any_of(found)
        if so_far is True:
            return True
        with ctx.under(not_(so_far)):
            found.append(condition(arg, env, ctx))
    return any_of(found)


def _if(expr: Expr, env: Env, ctx: Context) -> Sym:
    test, then, orelse = expr.args
    holds = condition(test, env, ctx)
    if holds is True or holds is False:
        return evaluate(then if holds else orelse, env, ctx)
    with ctx.under(holds):
        first = evaluate(then, env, ctx)
    with ctx.under(not_(holds)):
        second = evaluate(orelse, env, ctx)
    return merge(holds, first, second)


def _parts(sym: Sym, count: int, ctx: Context) -> list[Sym]:
    """The parts of a tuple of known length."""
    found = [(bit, parts) for bit, parts in rows(sym, ctx) if len(parts) == count]
    return [select([(bit, parts[at]) for bit, parts in found]) for at in range(count)]


def _fold(expr: Expr, env: Env, ctx: Context) -> Sym:
    return remembered(_folded, expr, env, ctx)


def _folded(expr: Expr, env: Env, ctx: Context) -> Sym:
    source, start, body = expr.args
    item, *names = expr.data
    values = evaluate(start, env, ctx)
    for there, element in items(evaluate(source, env, ctx), source.type, ctx):
        if there is False:
            continue
        bound = dict(zip(names, _parts(values, len(names), ctx), strict=True))
        with ctx.under(there):
            after = evaluate(body, {**env, item: element, **bound}, ctx)
        values = merge(there, after, values)
    return values


def _loop(expr: Expr, env: Env, ctx: Context) -> Sym:
    start, body = expr.args
    count = len(expr.data)
    values = _parts(evaluate(start, env, ctx), count, ctx)
    goes, ends, unknown = truth(values[-1]), [], 0
    if goes is not True:
        ends.append((not_(goes), row(values)))
    for _ in range(MOST_ROUNDS):
        if and_(ctx.path, goes) is False:
            return select(ends) if ends else None
        unknown += goes is not True
        if unknown > FEW_ROUNDS and _impossible(and_(ctx.path, goes), ctx):
            return select(ends)
        if unknown > MOST_SYMBOLIC:
            raise Outside(f"a while loop of one step that may go round {MOST_SYMBOLIC} times")
        with ctx.under(goes):
            after = evaluate(body, {**env, **dict(zip(expr.data, values, strict=True))}, ctx)
        values = _parts(after, count, ctx)
        again = and_(goes, truth(values[-1]))
        ends.append((and_(goes, not_(truth(values[-1]))), after))
        goes = again
    ctx.fail(goes)
    return select(ends)


def _impossible(bit: Bit, ctx: Context) -> bool:
    """Whether the solver finds soon that a path is none."""
    solver = z3.Solver()
    solver.set("timeout", ASK_MS)
    solver.add(*ctx.facts, term_of(bit))
    return bool(solver.check() == z3.unsat)


def _rec(expr: Expr, env: Env, ctx: Context) -> Sym:
    return _called(expr, [evaluate(a, env, ctx) for a in expr.args[:-1]], env, ctx)


def _again(expr: Expr, env: Env, ctx: Context) -> Sym:
    return _called(env[expr.data], [evaluate(a, env, ctx) for a in expr.args], env, ctx)


def _called(rec: Expr, values: list[Sym], env: Env, ctx: Context) -> Sym:
    """The body of a recursive helper; its own name stands for it, and for how deep it is."""
    name, *params = rec.data
    depth = env.get(f"depth of {name}", 0) + 1
    if ctx.path is False:
        return None
    if depth > MOST_CALLS:
        ctx.fail()
        return None
    if depth > MOST_SYMBOLIC and not all(map(is_known, values)):
        raise Outside(f"a helper that may call itself {MOST_SYMBOLIC} times over")
    if sys.getrecursionlimit() < _FRAMES:
        sys.setrecursionlimit(_FRAMES)
    bound = {name: rec, f"depth of {name}": depth, **dict(zip(params, values, strict=True))}
    return evaluate(rec.args[-1], {**env, **bound}, ctx)


def _range(expr: Expr, env: Env, ctx: Context) -> Sym:
    return walking.ranged(expr, [evaluate(a, env, ctx) for a in expr.args], ctx)


def _domain(expr: Expr, env: Env, ctx: Context) -> Sym:
    if is_open(expr.type):
        raise Outside(f"all values at once: {t.show(expr.type)} of a Sort of any size")
    return apply(expr, [])


def _in(expr: Expr, env: Env, ctx: Context) -> Sym:
    item, container = expr.args
    if container.op not in ("domain", "range"):
        return _operated(expr, env, ctx)
    values = [evaluate(a, env, ctx) for a in (item, *container.args)]
    return None if ctx.path is False else in_source(container, values, ctx)


def _toset(expr: Expr, env: Env, ctx: Context) -> Sym:
    (source,) = expr.args
    if source.op == "domain" and is_open(source.type) and isinstance(source.type, t.SeqOf):
        kind = source.type.elem
        return OpenSet(kind, lambda e: fits(e, kind))
    return _operated(expr, env, ctx)


def _listed(expr: Expr, env: Env, ctx: Context) -> Sym:
    return remembered(_operated, expr, env, ctx)


def _walked(expr: Expr, env: Env, ctx: Context) -> Sym:
    return remembered(_comprehension, expr, env, ctx)


def _comprehension(expr: Expr, env: Env, ctx: Context) -> Sym:
    return walking.Walk(evaluate, ctx).comprehension(expr, env)


_SPECIAL: dict[str, Callable[[Expr, Env, Context], Sym]] = {
    "const": _const,
    "read": _read,
    "next": _next,
    "local": _local,
    "let": _let,
    "and": _and,
    "or": _or,
    "if": _if,
    "fold": _fold,
    "loop": _loop,
    "rec": _rec,
    "again": _again,
    "domain": _domain,
    "range": _range,
    "in": _in,
    **dict.fromkeys(("toseq", "sorted", "len", "sum", "min", "max"), _listed),
    "toset": _toset,
    **dict.fromkeys(("any", "all", "set", "list", "total", "mapping"), _walked),
}
