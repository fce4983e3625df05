"""Steps and variables of a machine with parts as people read them.

`workers[].run` with the parameters (2, 0) is `workers[2].run(0)`; two steps that meet are shown
with an arrow, the sender first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from refute.specs.machine.ir import Action, MachineIR, Process


def step_text(mover: Action | Process, params: Sequence[str]) -> str:
    """One step of an action or process. params: its parameters as text."""
    if isinstance(mover, Action) and mover.meets:
        (sender, count), (receiver, _) = mover.meets
        return f"{_single(sender, params[:count])} → {_single(receiver, params[count:])}"
    return _single(mover.name, params)


def _single(name: str, params: Sequence[str]) -> str:
    first, *pieces = name.split("[]")
    keys, rest = params[: len(pieces)], params[len(pieces) :]
    shown = "".join(f"[{key}]{piece}" for key, piece in zip(keys, pieces, strict=True))
    return f"{first}{shown}({', '.join(rest)})"


def silent_steps(ir: MachineIR, fired: Iterable[str]) -> list[str]:
    """The actions and processes that took no step. fired: the names of steps that were taken."""
    taken = with_sides(ir, fired)
    movers: list[Action | Process] = [a for a in ir.actions if not a.meets]
    return [m.name for m in (*movers, *ir.processes) if m.name not in taken]


def with_sides(ir: MachineIR, fired: Iterable[str]) -> set[str]:
    """The names of steps, and of the steps that met in them."""
    taken = set(fired)
    for action in ir.actions:
        if action.meets and action.name in taken:
            taken.update(name for name, _ in action.meets)
    return taken


def entry_text(name: str, key: str) -> str:
    """An entry of a variable that is a map; of several parts, a variable of one of them."""
    return name.replace("[]", f"[{key}]", 1) if "[]" in name else f"{name}[{key}]"
