"""Loops inside loops are evaluated once for each of what they depend on.

The body of a walk is evaluated for every element, and a walk in it that does not depend on the
element would be built anew each time. What it raises is kept without the path on which it is, so
that it holds on any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from refute.specs.machine.ir import Expr
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.folding import Bit
from refute.verifiers.symbolic.forms import Sym

Names = frozenset[str]
_FREE: dict[int, tuple[Expr, Names | None]] = {}
_ENDLESS = ("loop", "rec", "again")  # their evaluation ends because of the path


def free(expr: Expr) -> Names | None:
    """The names of an environment that the value depends on; None where it depends on the path."""
    found = _FREE.get(id(expr))
    if found is None:
        found = _FREE[id(expr)] = expr, _free(expr)
    return found[1]


def _free(expr: Expr) -> Names | None:
    if expr.op in _ENDLESS:
        return None
    if expr.op == "read":
        return frozenset((f"self.{expr.data}",))
    if expr.op == "next":
        return frozenset((f"'{expr.data}",))
    if expr.op == "local":
        return frozenset((str(expr.data),))
    parts = [free(a) for a in expr.args]
    known = [names for names in parts if names is not None]
    if len(known) < len(parts):
        return None
    *outer, inner = known or [frozenset()]
    if expr.op in ("for", "let"):
        inner -= {str(expr.data)}
    if expr.op == "fold":
        inner -= frozenset(map(str, expr.data))
    return inner.union(*outer)


def remembered(
    evaluate: Callable[[Expr, Mapping[str, Any], Context], Sym],
    expr: Expr,
    env: Mapping[str, Any],
    ctx: Context,
) -> Sym:
    """What the function makes of the expression, made once where it is the same."""
    names = free(expr)
    if names is None:
        return evaluate(expr, env, ctx)
    given = tuple(env[name] for name in sorted(names))
    key = (id(expr), *map(id, given))
    found = ctx.memory.get(key)
    if found is None:
        path, ctx.path = ctx.path, True
        try:
            with ctx.apart() as errors:
                value = evaluate(expr, env, ctx)
        finally:
            ctx.path = path
        kept: list[Bit] = list(errors)
        found = ctx.memory[key] = value, kept, expr, given  # what has these ids stays alive
    for error in found[1]:
        ctx.fail(error)
    return found[0]
