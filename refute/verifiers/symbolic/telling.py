"""A counterexample to induction as people read it: states, steps, and what fails at the end.

It is no behaviour of the machine: its first state may be one that cannot be reached. So it is never
a trace, never replayed, and always called what it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from refute.plain import Plain
from refute.specs.machine import types as t
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.naming import step_text
from refute.specs.machine.values import Value, text
from refute.verifiers.symbolic.decoding import Universe, closed
from refute.verifiers.symbolic.induction import Step
from refute.verifiers.symbolic.reading import state_in, taken_in, universe_of
from refute.verifiers.symbolic.rewriting import sorts_of
from refute.verifiers.symbolic.stepping import taken
from refute.verifiers.symbolic.world import Step as Moved


def told_induction(ir: MachineIR, step: Step) -> dict[str, Plain]:
    """The counterexample in plain data: "states", each with the values of variables as text (of
    later ones what differs from the one before), "steps", "why", "assumed" and "sizes"."""
    path, model = step.path, step.model
    universe = universe_of(model, sorts_of(path.encoding.flat))
    kinds = {n: closed(kind, universe) for n, kind in path.encoding.kinds.items()}
    rows = [state_in(model, world, path.encoding.kinds, universe) for world in path.worlds]
    shown = [_texts(row, kinds) for row in rows]
    states = [shown[0]] + [_changes(a, b) for a, b in itertools.pairwise(shown)]
    steps = [_step(step, at, universe) for at in range(path.length)]
    if step.goal.further is not None:
        steps.append(_further(step, step.goal.further, universe))
    return {
        "k": path.length,
        "states": states,
        "steps": steps,
        "why": step.goal.why,
        "assumed": list(step.assumed),
        "sizes": {name: len(members) for name, members in universe.items()},
    }


def _texts(row: Mapping[str, Value], kinds: Mapping[str, t.Type]) -> dict[str, str]:
    return {name: text(value, kinds[name]) for name, value in row.items()}


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in after.items() if value != before[name]}


def _step(step: Step, at: int, universe: Universe) -> str:
    found = taken(step.model, step.path, at, universe)
    return _text(step, found.name, found.params, found.choices, universe)


def _further(step: Step, moved: Moved, universe: Universe) -> str:
    kinds = [p.type for p in step.path.encoding.action(moved.name).params]
    found = taken_in(step.model, moved, kinds, universe)
    return _text(step, found.name, found.params, found.choices, universe)


def _text(
    step: Step,
    name: str,
    params: Sequence[Value],
    choices: Sequence[Value],
    universe: Universe,
) -> str:
    mover = step.path.encoding.action(name)
    kinds = [closed(p.type, universe) for p in mover.params]
    shown = [text(v, kind) for v, kind in zip(params, kinds, strict=True)]
    line = step_text(mover, shown)
    return f"{line} choosing {', '.join(map(repr, choices))}" if choices else line
