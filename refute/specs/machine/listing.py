"""What an engine that goes through values one by one cannot take of a machine, said before it runs.

The symbolic engine takes these machines: with Sorts of any size, variables that start with more
values than can be listed, and choices over as many.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from refute.errors import UsageError
from refute.specs.machine import types as t
from refute.specs.machine.commuting import statements
from refute.specs.machine.ir import Action, Expr, MachineIR, Process, Property, Stmt, Temporal
from refute.specs.machine.values import MAX_DOMAIN, cardinality

SYMBOLIC = "--engine symbolic"


def require_listed(ir: MachineIR) -> None:
    """Raises UsageError unless all values of the machine can be gone through one by one."""
    for name, size in ir.constants:
        if size == t.ANY:
            raise UsageError(
                f"{name} has any number of members; a search of all states needs a number",
                thing=name,
                value=t.ANY,
                next_step=f"give one, --set {name}=3, or take {SYMBOLIC}",
            )
    for variable in ir.variables:
        if variable.start is not None:
            raise _too_many_starts(variable.name, variable.type)
    for line, kind in _walked(ir):
        if cardinality(kind) > MAX_DOMAIN:
            where = f"{Path(ir.file).name}:{line}"
            raise UsageError(
                f"{where}: the type {t.show(kind)} has more than {MAX_DOMAIN:,} values, too many",
                thing=where,
                value=t.show(kind),
                next_step=f"bound it, Annotated[int, Range(lo, hi)], or take {SYMBOLIC}",
            )
    for refinement in ir.refinements:
        require_listed(refinement.abstract)


def _too_many_starts(name: str, kind: t.Type) -> UsageError:
    size = cardinality(kind)
    often = "unboundedly many" if size == float("inf") else f"{size:,.0f}"
    return UsageError(
        f"{name} may start with any of {often} values of {t.show(kind)}, too many to try all",
        thing=name,
        value=t.show(kind),
        next_step=f"var(one_of=f), where f() lists those that are meant, or self.{name} == … in an "
        f"@initial; or take {SYMBOLIC}",
    )


def _walked(ir: MachineIR) -> Iterator[tuple[int, t.Type]]:
    """The types that all values are tried of, with the lines where that is."""
    named: list[Action | Process | Property | Temporal] = [*ir.actions, *ir.processes]
    named += [*ir.properties, *ir.temporals]
    for each in named:
        yield from ((each.line, param.type) for param in each.params)
    bodies = [a.body for a in ir.actions]
    bodies += [block.body for process in ir.processes for block in process.blocks]
    for stmt in (stmt for body in bodies for stmt in statements(body)):
        yield from ((stmt.line, kind) for expr in _own(stmt) for kind in _domains(expr))
    for prop in ir.properties:
        yield from ((prop.line, kind) for kind in _domains(prop.predicate))


def _own(stmt: Stmt) -> Iterator[Expr]:
    """The expressions of a statement, without those of statements inside."""
    for name in ("condition", "source", "value"):
        found = getattr(stmt, name, None)
        if found is not None:
            yield found
    yield from getattr(stmt, "path", ())


def _domains(expr: Expr) -> Iterator[t.Type]:
    if expr.op == "domain" and isinstance(expr.type, t.SeqOf):
        yield expr.type.elem
    for part in expr.args:
        yield from _domains(part)
