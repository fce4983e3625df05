"""The machine language: everything a spec module imports.

    from refute.machine import Machine, Map, Set, Sort, Var, action, invariant, var, when

See docs/machines.md for a tutorial and the rules.
"""

from refute.specs.machine.containers import Map, Seq, Set
from refute.specs.machine.formulas import (
    Formula,
    always,
    eventually,
    eventually_always,
    exists,
    for_all,
    implies,
    infinitely_often,
    leads_to,
)
from refute.specs.machine.language import (
    Const,
    OrderedSort,
    Range,
    Sort,
    Steps,
    Upto,
    Var,
    any_of,
    anything,
    const,
    empty_set,
    every,
    permutations,
    subsets,
    var,
    when,
)
from refute.specs.machine.marks import (
    action,
    constraint,
    fair,
    initial,
    invariant,
    process,
    reachable,
    temporal,
    terminal,
    transition,
)
from refute.specs.machine.model import Machine, Model

__all__ = [
    "Const",
    "Formula",
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
    "always",
    "any_of",
    "anything",
    "const",
    "constraint",
    "empty_set",
    "eventually",
    "eventually_always",
    "every",
    "exists",
    "fair",
    "for_all",
    "implies",
    "infinitely_often",
    "initial",
    "invariant",
    "leads_to",
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
