"""The fairness conditions that a machine states, one for each choice of parameters."""

from __future__ import annotations

from refute.frozen import frozen
from refute.specs.machine.ir import Action, MachineIR, Process, Property
from refute.specs.machine.meaning import bindings
from refute.specs.machine.values import Value, unpack_value

Params = tuple[Value, ...]


@frozen
class Fair:
    """A condition on the steps of a mover with any of some parameters, or that a predicate names.

    Strong: taken again and again if enabled again and again. Weak: if enabled for good. joint: the
    rendezvous that such a step is one side of, by name and parameters.
    """

    strong: bool
    mover: str = ""
    every: frozenset[Params] = frozenset()
    prop: Property | None = None
    given: Params = ()
    joint: frozenset[tuple[str, Params]] = frozenset()

    def moves(self) -> frozenset[tuple[str, Params]]:
        """The steps by the names and parameters of their movers."""
        return self.joint | {(self.mover, params) for params in self.every}

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
            found += [_fair(ir, mover.fair, mover.name, frozenset({params})) for params in every]
        if mover.fair_any:
            found.append(_fair(ir, mover.fair_any, mover.name, frozenset(every)))
    for prop in ir.properties:
        if prop.kind in ("weak", "strong"):
            given = bindings(prop.params)
            found += [Fair(prop.kind == "strong", prop=prop, given=params) for params in given]
    return tuple(found)


def observed_moves(ir: MachineIR, prop: Property) -> frozenset[tuple[str, Params]]:
    """The crashes that an `@observe` is judged after, by name and parameters."""
    keys = tuple(unpack_value(key.data) for key in prop.keys)
    return _fair(ir, "", prop.crash, frozenset({keys})).moves()


def _fair(ir: MachineIR, kind: str, name: str, every: frozenset[Params]) -> Fair:
    joint: set[tuple[str, Params]] = set()
    for action in ir.actions:
        if action.meets:
            (sender, count), (receiver, _) = action.meets
            for given in bindings(action.params):
                sides = (sender, given[:count]), (receiver, given[count:])
                if any(who == name and params in every for who, params in sides):
                    joint.add((action.name, given))
    return Fair(kind == "strong", name, every, joint=frozenset(joint))
