"""Which variables grow without a bound: what to say where a search could never end.

An `int` without a Range, a Seq of any length or a Bag is fine where guards or a `@constraint` hold
it. Where a search is cut, the last state found shows which of them went on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr, MachineIR
from refute.specs.machine.values import Value, conforms
from refute.verifiers.model.structure import resumes

FEW = 8  # more than this is said to have grown


def grown(ir: MachineIR, first: Sequence[Any], last: Sequence[Any]) -> str:
    """What of an early state is larger in a late one, in words; "" where nothing is."""
    bounded = {name for prop in ir.of_kind("constraint") for name in _read(prop.predicate)}
    found = []
    for at, (name, kind) in enumerate((v.name, v.type) for v in ir.variables):
        size = measure(kind, last[at])
        if name not in bounded and size > max(FEW, measure(kind, first[at])):
            found.append((size, f"{name} ({t.show(kind)})"))
    found += [(size, name) for size, name in _locals(ir, last) if size > FEW]
    if not found:
        return ""
    size, name = max(found)
    return (
        f"{name} has grown to {size:,} and has no bound: give it one, Range(lo, hi) or Upto(n), "
        "or a @constraint"
    )


def _locals(ir: MachineIR, state: Sequence[Any]) -> Iterator[tuple[int, str]]:
    for process, family in zip(ir.processes, state[len(ir.variables) :], strict=True):
        kinds = {p.name: p.type for p in process.locals}
        live = dict(resumes(process))
        for place, *kept in family:
            for name, value in zip(live.get(place, ()), kept, strict=False):
                shown = f"{name.split('.')[0]} of {process.name} ({t.show(kinds[name])})"
                yield measure(kinds[name], value), shown


def measure(kind: t.Type, value: Value) -> int:
    """The largest number, or number of elements, in a place that has no bound; else 0."""
    match kind:
        case t.Int(lo, hi):
            return abs(value) if lo is None or hi is None else 0
        case t.SeqOf(elem, upto):
            return max([len(value) if upto is None else 0, *(measure(elem, v) for v in value)])
        case t.SetOf(elem):
            inner = max((measure(elem, v) for v in value), default=0)
            return max(inner, len(value)) if inner else 0
        case t.MapOf(_, inside):
            return max((measure(inside, v) for v in value), default=0)
        case t.Tuple(items):
            return max(map(measure, items, value), default=0)
        case t.Rec(_, fields):
            return max(map(measure, (f for _, f in fields), value[1:]), default=0)
        case t.Union(options):
            return max((measure(o, value) for o in options if conforms(value, o)), default=0)
    return 0


def _read(expr: Expr) -> Iterator[str]:
    if expr.op == "read":
        yield str(expr.data)
    for part in expr.args:
        yield from _read(part)
