"""Temporal predicates, fairness and refinement mappings as predicates that may only raise.

An exception anywhere refutes `well_defined`. What a search does not judge by itself is added to its
machine as a property that is true wherever it has a value; what cannot raise costs nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr, MachineIR, Property, atoms
from refute.verifiers.model.native.sizes import may_raise

BOOL = t.Bool()
_TRUE = Expr("const", BOOL, (), True)


def guarded(ir: MachineIR) -> MachineIR:
    """The machine, with a property for all that the search would not evaluate."""
    return dataclasses.replace(ir, properties=(*ir.properties, *_guards(ir)))


def _guards(ir: MachineIR) -> Iterator[Property]:
    for temporal in ir.temporals:
        tests = _evaluated(atoms(temporal.formula))
        if tests is not None:
            yield Property(temporal.name, "invariant", temporal.params, tests, temporal.line)
    for refinement in ir.refinements:
        tests = _evaluated(refinement.mapping)
        if tests is not None:
            yield Property(refinement.name, "invariant", (), tests, refinement.line)
    for prop in ir.properties:
        tests = _evaluated((prop.predicate,)) if prop.kind in ("weak", "strong") else None
        if tests is not None:
            yield Property(prop.name, "transition", prop.params, tests, prop.line)


def _evaluated(found: Sequence[Expr]) -> Expr | None:
    """True once all of these have a value; None where they always have."""
    tests = []
    for expr in found:
        if may_raise(expr):
            test = expr if expr.type == BOOL else Expr("==", BOOL, (expr, expr))
            tests.append(Expr("or", BOOL, (test, _TRUE)))
    if not tests:
        return None
    return tests[0] if len(tests) == 1 else Expr("and", BOOL, tuple(tests))
