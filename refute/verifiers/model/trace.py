"""Traces as people read them: the step taken, and only what it changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from refute.frozen import frozen
from refute.plain import Plain
from refute.specs.machine import types as t
from refute.specs.machine.ir import STEP_KINDS, UNIVERSAL, Action, MachineIR, Process, Stmt
from refute.specs.machine.meaning import Meaning, World, bindings
from refute.specs.machine.naming import entry_text, step_text
from refute.specs.machine.values import Value, conforms, domain, pack_value, said, text
from refute.verifiers.model.compiled import Instance, State

MOST_PARTS = 8  # of one kind that are listed one by one

Move = tuple[Instance, tuple[Any, ...], State]  # who moved, its choices, the state before


@frozen
class Trace:
    """A way through a machine. states: one more than moves; () where a step has no result."""

    ir: MachineIR
    property: str
    why: str
    predicate: str
    states: tuple[State, ...]
    moves: tuple[Move, ...]


def trace_of(trace: Trace) -> Plain:
    """The trace as plain data: what a replayer needs (`case`), and lines of text (`steps`)."""
    count = len(trace.ir.variables)
    case = {
        "property": trace.property,
        "predicate": trace.predicate,
        "start": [pack_value(v) for v in trace.states[0][:count]],
        "steps": [
            {
                "do": instance.name,
                "params": [pack_value(v) for v in instance.params],
                "choices": [pack_value(v) for v in choices],
            }
            for instance, choices, _ in trace.moves
        ],
    }
    every: tuple[Action | Process, ...] = (*trace.ir.actions, *trace.ir.processes)
    movers = {mover.name: mover for mover in every}
    lines = [{"text": "start", "changes": _all(trace.ir, trace.states[0])}]
    for (instance, choices, before), after in zip(trace.moves, trace.states[1:], strict=True):
        changes = changed(trace.ir, before, after) if after else {}
        line = _moved(trace.ir, movers[instance.name], instance, choices, before)
        lines.append({"text": line, "changes": changes})
    return {"case": case, "steps": lines, "why": _told(trace)}


def covering(ends: Mapping[str, int], told: Callable[[str], Trace]) -> list[Plain]:
    """Traces that together take every step of these names.

    ends: for each the number of the state that it was first taken in; told: the trace to there. The
    latest come first, as they take most of the others on their way: where there are thousands of
    steps, a trace for each would be of the square of their number.
    """
    taken: set[str] = set()
    found: list[Plain] = []
    for name in sorted(ends, key=lambda n: (-ends[n], n)):
        if name not in taken:
            trace = told(name)
            taken |= {instance.name for instance, _, _ in trace.moves}
            found.append(trace_of(trace))
    return found


def _told(trace: Trace) -> str:
    """Why, with the parameters for which a property is false first."""
    ir, count = trace.ir, len(trace.ir.variables)
    found = [p for p in ir.properties if p.name == trace.property and p.kind in UNIVERSAL]
    if not found or not found[0].params or trace.why != f"{trace.property} is False":
        return trace.why
    (prop,), meaning = found, Meaning(ir)
    ends = trace.states[-2:] if prop.kind in STEP_KINDS else trace.states[-1:]
    worlds = [World(state[:count], ()) for state in ends]
    for given in bindings(prop.params):
        if not meaning.true(prop.predicate, prop.params, given, *worlds):
            shown = [text(v, p.type) for v, p in zip(given, prop.params, strict=True)]
            return f"{trace.property}({', '.join(shown)}) is False"
    return trace.why


def _moved(
    ir: MachineIR,
    mover: Action | Process,
    instance: Instance,
    choices: tuple[Value, ...],
    before: State,
) -> str:
    shown = [text(v, p.type) for v, p in zip(instance.params, mover.params, strict=True)]
    line = step_text(mover, shown)
    if choices:
        line += " choosing " + ", ".join(map(said, choices))
    place = _line(ir, mover, instance, before)
    return f"{line} from line {place}" if place else line


def _line(ir: MachineIR, mover: Action | Process, instance: Instance, before: State) -> int:
    """The source line a process goes on from; 0 for actions."""
    if isinstance(mover, Action):
        if not mover.place or not before:
            return 0
        names = [v.name for v in ir.variables]
        at = before[names.index(mover.place)]
        for value, param in zip(instance.params, mover.params, strict=True):
            at = at[domain(param.type).index(value)]
        return mover.lines[at]
    for at, process in enumerate(ir.processes):
        if instance.kind == "process" and process.name == instance.name and before:
            family = before[len(ir.variables) + at]
            keys = [domain(p.type) for p in process.params]
            number = 0
            for value, values in zip(instance.params, keys, strict=True):
                number = number * len(values) + values.index(value)
            return _first_line(process, family[number][0])
    return 0


def _first_line(process: Process, block: int) -> int:
    seen: set[int] = set()
    queue = [block]
    while queue:
        at = queue.pop(0)
        if at in seen or at < 0:
            continue
        seen.add(at)
        body: tuple[Stmt, ...] = process.blocks[at].body
        if body:
            return body[0].line
        end: Any = process.blocks[at].end
        queue += [getattr(end, n) for n in ("target", "then", "orelse") if hasattr(end, n)]
    return process.line


def _all(ir: MachineIR, state: State) -> dict[str, str]:
    found: dict[str, str] = {}
    for variable, value in zip(ir.variables, state, strict=False):
        if not variable.hidden:
            found.update(_values(variable.name, variable.type, value))
    return found


def _values(name: str, kind: t.Type, value: Value) -> dict[str, str]:
    """A variable as text; of a few parts that have it, one by one."""
    if "[]" not in name or not isinstance(kind, t.MapOf) or len(value) > MOST_PARTS:
        return {name: text(value, kind)}
    found: dict[str, str] = {}
    for key, inner in zip(domain(kind.key), value, strict=True):
        found.update(_values(entry_text(name, text(key, kind.key)), kind.value, inner))
    return found


def changed(ir: MachineIR, before: State, after: State) -> dict[str, str]:
    """What a step changes, by variable, or by the place in a map, as text."""
    changes: dict[str, str] = {}
    for variable, old, new in zip(ir.variables, before, after, strict=False):
        if old != new and not variable.hidden:
            changes.update(_difference(variable.name, variable.type, old, new))
    return changes


def _difference(name: str, kind: t.Type, old: Value, new: Value) -> dict[str, str]:
    if not isinstance(kind, t.MapOf) or not conforms(new, kind):
        return {name: text(new, kind)}
    found: dict[str, str] = {}
    for key, a, b in zip(domain(kind.key), old, new, strict=True):
        entry = entry_text(name, text(key, kind.key))
        if a != b and "[]" in entry:
            found.update(_difference(entry, kind.value, a, b))
        elif a != b:
            found[entry] = text(b, kind.value)
    return found
