"""Behaviours that break something as traces: lassos, and steps that a refined machine has not."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from refute.plain import Plain
from refute.specs.machine.channels import LOSE
from refute.specs.machine.ir import CRASH, MachineIR, Temporal
from refute.specs.machine.values import pack_value, text
from refute.verifiers.model.compiled import Compiled, Instance, State, StepRaised, expand
from refute.verifiers.model.trace import Trace, trace_of


class NoStep(Exception):
    """The plain engine takes no step between two states that are next to each other."""


class Telling:
    """Traces of one machine, given the states that they pass. They raise NoStep."""

    def __init__(self, ir: MachineIR, machine: Compiled) -> None:
        self.ir = ir
        self.machine = machine

    def passing(self, name: str, why: str, states: Sequence[State]) -> dict[str, Any]:
        """The trace that passes these states."""
        moves = []
        for before, after in itertools.pairwise(states):
            instance, choices = self._move(before, after)
            moves.append((instance, choices, before))
        return dict(trace_of(Trace(self.ir, name, why, "", tuple(states), tuple(moves))))

    def lasso(self, name: str, why: str, states: Sequence[State], loop: int) -> dict[str, Any]:
        """The trace of a lasso, whose last state is that at place `loop` again."""
        made = self.passing(name, why, states)
        made["case"] = {**made["case"], "loop": loop}
        stays = loop == len(states) - 1
        line = "for ever so" if stays else f"again from {loop + 1}, for ever"
        made["steps"] = [*made["steps"], {"text": line, "changes": {}}]
        return made

    def broken(
        self, temporal: Temporal, params: Sequence[Any], states: Sequence[State], loop: int
    ) -> Plain:
        """The trace of a lasso on which a temporal property is false with these parameters."""
        shown = [text(v, p.type) for v, p in zip(params, temporal.params, strict=True)]
        name = f"{temporal.name}({', '.join(shown)})" if shown else temporal.name
        why = f"{name} is False {self._ending(states, loop)}"
        made = self.lasso(temporal.name, why, states, loop)
        made["case"] = {**made["case"], "params": [pack_value(v) for v in params]}
        return made

    def _ending(self, states: Sequence[State], loop: int) -> str:
        """How a lasso goes on for ever, in words; what to add where the machine just stops."""
        last = len(states) - 1
        if loop < last:
            return f"of a run that repeats its last {last - loop} steps for ever"
        able = sorted({i.name for i in self._able(states[-1])})
        if not able:
            return "of a run that ends here"
        mine = [name for name in able if not self._befalls(name)]
        hint = f", add fair= to {', '.join(mine)}" if mine else ""
        return f"if nothing happens any more: fails by stuttering{hint}"

    def _befalls(self, name: str) -> bool:
        """Whether a step is no method: a crash, or the loss of a message."""
        part, _, last = name.rpartition(".")
        return (last == CRASH and bool(part or self.ir.crashes)) or (bool(part) and last == LOSE)

    def _able(self, state: State) -> Iterator[Instance]:
        for instance in self.machine.instances:
            if any(after != state for after, _ in _steps(instance, state)):
                yield instance

    def _move(self, state: State, wanted: State) -> tuple[Instance, tuple[Any, ...]]:
        for instance in self.machine.instances:
            for found, choices in _steps(instance, state):
                if found == wanted:
                    return instance, choices
        raise NoStep("the plain engine does not take a step of the graph")


def _steps(instance: Instance, state: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    try:
        yield from expand(instance, state)
    except StepRaised:
        return
