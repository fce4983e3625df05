"""That some step can be taken, as an invariant: what a proof of no deadlock looks for lemmas for.

An action can be taken where its guards hold for some parameters. Guards that come after a write
speak of a state that is none yet; an action with such guards is left out, which makes the invariant
stronger than it need be, and never weaker.
"""

from __future__ import annotations

from collections.abc import Sequence

from refute.specs.machine import types as t
from refute.specs.machine.ir import (
    Action,
    Assign,
    Check,
    Choose,
    Expr,
    For,
    If,
    MachineIR,
    Property,
    Stmt,
    When,
)
from refute.verifiers.symbolic.rewriting import any_

BOOL = t.Bool()
TRUE = Expr("const", BOOL, (), True)
NAME = "can_move"


def can_move(ir: MachineIR) -> Property | None:
    """The invariant that some action can be taken, or the machine may stop; None where that is not
    said by guards, as where there are processes."""
    if ir.processes:
        return None
    ways = [way for action in ir.actions if (way := _enabled(action)) is not None]
    ways += [p.predicate for p in ir.of_kind("terminal")]
    if not ways or TRUE in ways:
        return None
    predicate = ways[0] if len(ways) == 1 else Expr("or", BOOL, tuple(ways))
    return Property(unused(NAME, ir), "invariant", (), predicate, ir.line)


def unused(name: str, ir: MachineIR) -> str:
    """The name, or a longer one where the machine has a property of that name."""
    taken = {p.name for p in ir.properties}
    while name in taken:
        name += "_"
    return name


def _enabled(action: Action) -> Expr | None:
    """Whether some parameters let the action be taken; None where guards alone do not say that."""
    found = _guard(action.body)
    if found is None:
        return None
    for param in reversed(action.params):
        found = any_(param.type, param.name, found)
    return found


def _guard(body: Sequence[Stmt]) -> Expr | None:
    if not body:
        return TRUE
    first, rest = body[0], body[1:]
    if not isinstance(first, When | Assign):
        return None if any(map(_may_end, body)) else TRUE
    inner = _guard(rest)
    if inner is None:
        return None
    if isinstance(first, When):
        return first.condition if inner == TRUE else Expr("and", BOOL, (first.condition, inner))
    return Expr("let", BOOL, (first.value, inner), first.name)


def _may_end(stmt: Stmt) -> bool:
    """Whether a statement may undo the step, or make it raise by an `assert`."""
    if isinstance(stmt, If):
        return any(map(_may_end, (*stmt.then, *stmt.orelse)))
    if isinstance(stmt, For):
        return any(map(_may_end, stmt.body))
    return isinstance(stmt, When | Check | Choose)
