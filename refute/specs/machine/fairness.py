"""The fairness conditions that a machine states, one for each choice of parameters."""

from __future__ import annotations

from refute.frozen import frozen
from refute.specs.machine.ir import Action, MachineIR, Process, Property
from refute.specs.machine.meaning import bindings
from refute.specs.machine.values import Value

Params = tuple[Value, ...]


@frozen
class Fair:
    """A condition on the steps of a mover with any of some parameters, or that a predicate names.

    Strong: taken again and again if enabled again and again. Weak: if enabled for good.
    """

    strong: bool
    mover: str = ""
    every: frozenset[Params] = frozenset()
    prop: Property | None = None
    given: Params = ()

    @property
    def name(self) -> str:
        """The action, process or predicate."""
        return self.mover or (self.prop.name if self.prop else "")


def fairness(ir: MachineIR) -> tuple[Fair, ...]:
    """All conditions, in a fixed order."""
    found: list[Fair] = []
    movers: tuple[Action | Process, ...] = (*ir.actions, *ir.processes)
    for mover in movers:
        every = list(bindings(mover.params))
        if mover.fair:
            strong = mover.fair == "strong"
            found += [Fair(strong, mover.name, frozenset({params})) for params in every]
        if mover.fair_any:
            found.append(Fair(mover.fair_any == "strong", mover.name, frozenset(every)))
    for prop in ir.properties:
        if prop.kind in ("weak", "strong"):
            given = bindings(prop.params)
            found += [Fair(prop.kind == "strong", prop=prop, given=params) for params in given]
    return tuple(found)
