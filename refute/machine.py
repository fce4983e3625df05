"""The machine language: everything a spec module imports.

    from refute.machine import Machine, Map, Set, Sort, Var, action, invariant, var, when

See docs/machines.md for a tutorial and the rules.
"""

from refute.specs.machine.containers import Map, Seq, Set
from refute.specs.machine.language import (
    Const,
    OrderedSort,
    Range,
    Sort,
    Steps,
    Upto,
    Var,
    action,
    any_of,
    anything,
    const,
    constraint,
    empty_set,
    every,
    initial,
    invariant,
    permutations,
    process,
    reachable,
    subsets,
    temporal,
    terminal,
    transition,
    var,
    when,
)
from refute.specs.machine.model import Machine, Model

__all__ = [
    "Const",
    "Machine",
    "Map",
    "Model",
    "OrderedSort",
    "Range",
    "Seq",
    "Set",
    "Sort",
    "Steps",
    "Upto",
    "Var",
    "action",
    "any_of",
    "anything",
    "const",
    "constraint",
    "empty_set",
    "every",
    "initial",
    "invariant",
    "permutations",
    "process",
    "reachable",
    "subsets",
    "temporal",
    "terminal",
    "transition",
    "var",
    "when",
]
