"""Methods that write a container: `self.x.add(e)` and the like as the value that is written."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from refute.specs.machine import bags, overlaying
from refute.specs.machine import types as t
from refute.specs.machine.expressions import number
from refute.specs.machine.ir import Expr

if TYPE_CHECKING:
    from refute.specs.machine.calls import Calls


def mutated(
    calls: Calls, now: Expr, kind: t.Type, name: str, call: ast.Call, node: ast.stmt
) -> Expr:
    """The value after the method. Raises Unsupported."""
    if isinstance(kind, t.MapOf) and name == "update" and len(call.args) == 1:
        over = overlaying.overlaid(calls, now, call.args)
        if over is not None and not call.keywords:
            return over
    args = [calls.expr(a) for a in call.args]
    if isinstance(kind, t.BagOf):
        made = bags.mutated(calls, now, name, args)
    elif isinstance(kind, t.SetOf):
        made = _set_mutated(calls, now, kind, name, args)
    elif isinstance(kind, t.SeqOf):
        made = _seq_mutated(calls, now, kind, name, args, node)
    else:
        made = None
    if made is None or call.keywords:
        raise calls.scope.refuse(
            node,
            f".{name}(…) on {t.show(kind)}",
            "add discard remove clear on Set and Bag; append extend pop clear on Seq; update",
        )
    return made


def _set_mutated(
    calls: Calls, now: Expr, kind: t.SetOf, name: str, args: list[Expr]
) -> Expr | None:
    if name == "clear" and not args:
        return Expr("setof", t.SetOf(t.NEVER))
    if len(args) != 1:
        return None
    if name == "update":
        more = args[0]
        elem = calls.element(more, calls.scope.tree)
        if not isinstance(more.type, t.SetOf):
            more = Expr("toset", t.SetOf(elem), (more,))
        return Expr("|", t.join((now.type, more.type)), (now, more))
    single = Expr("setof", t.SetOf(args[0].type), (args[0],))
    if name == "add":
        return Expr("|", t.join((now.type, single.type)), (now, single))
    if name == "discard":
        return Expr("diff", now.type, (now, single))
    if name == "remove":
        return Expr("removed", now.type, (now, args[0]))
    return None


def _seq_mutated(
    calls: Calls, now: Expr, kind: t.SeqOf, name: str, args: list[Expr], node: ast.stmt
) -> Expr | None:
    if name == "clear" and not args:
        return Expr("seq", t.SeqOf(t.NEVER, 0))
    if name == "pop" and len(args) <= 1:
        at = args[0] if args else number(-1)
        return Expr("popped", kind, (now, at)) if isinstance(at.type, t.Int) else None
    if len(args) != 1 or name not in ("append", "extend"):
        return None
    more = args[0]
    if name == "append":
        more = Expr("seq", t.SeqOf(more.type, 1), (more,))
    elif not isinstance(more.type, t.SeqOf):
        more = Expr("toseq", t.SeqOf(calls.element(more, node)), (more,))
    elem = t.join((kind.elem, t.options(more.type)[0].elem))  # type: ignore[union-attr]
    return Expr("cat", t.SeqOf(elem), (now, more))
