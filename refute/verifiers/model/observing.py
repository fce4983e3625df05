"""Which `@observe` predicates are judged after which steps: each after the crash that it is of."""

from __future__ import annotations

from refute.specs.machine.fairness import observed_moves
from refute.verifiers.model.compiled import Compiled, Predicate


def observing(machine: Compiled) -> dict[int, list[Predicate]]:
    """For the number of each crash, the predicates that are judged after it."""
    found: dict[int, list[Predicate]] = {}
    for predicate in machine.predicates:
        if predicate.property.kind == "observe":
            moves = observed_moves(machine.ir, predicate.property)
            for number, instance in enumerate(machine.instances):
                if (instance.name, instance.params) in moves:
                    found.setdefault(number, []).append(predicate)
    return found
