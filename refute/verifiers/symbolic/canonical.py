"""Behaviours up to names: members of a Sort are first used by steps in their order.

Where members of a Sort are alike, renaming them takes a behaviour to a behaviour, and a property to
itself. So of all behaviours that differ in names only, one is enough: that in which no step uses a
member before another one that comes earlier in the Sort. Without this a solver has to find out by
trying that ten members cannot all be used in nine steps, which takes it exponentially long.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr, MachineIR, Property, Refinement
from refute.specs.machine.symmetry import Symmetry, symmetry_of
from refute.specs.machine.values import Atom
from refute.verifiers.symbolic.comparing import equal
from refute.verifiers.symbolic.folding import Bit, and_, implies, or_
from refute.verifiers.symbolic.forms import Sym
from refute.verifiers.symbolic.rewriting import atoms_in
from refute.verifiers.symbolic.solving import Queries
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.unrolling import Move

BOOL = t.Bool()


def alike(ir: MachineIR) -> Symmetry:
    """Which members may be exchanged; predicates of starts, which only formulas take, included."""
    starts = ((v.name, v.start) for v in ir.variables)
    asked = tuple(Property(n, "initial", (), s) for n, s in starts if s is not None)
    return symmetry_of(dataclasses.replace(ir, properties=(*ir.properties, *asked)))


def names_matter(ir: MachineIR, symmetry: Symmetry) -> frozenset[str]:
    """The refinements that may be broken by a behaviour and not by the same with other names.

    Those whose mapping, or whose other machine, tells members apart.
    """
    return frozenset(r.name for r in ir.refinements if not _nameless(ir, r, symmetry))


def _nameless(ir: MachineIR, refinement: Refinement, symmetry: Symmetry) -> bool:
    mapped = tuple(Expr("==", BOOL, (e, e)) for e in refinement.mapping)
    same = Property(refinement.name, "invariant", (), Expr("and", BOOL, mapped))
    seen = alike(dataclasses.replace(ir, properties=(*ir.properties, same)))
    above = alike(refinement.abstract)
    used = {a.name for v in refinement.abstract.variables for a in atoms_in(v.type)}
    kept = all(g in above.classes for g in symmetry.classes if g[0].kind in used)
    return seen.classes == symmetry.classes and kept and not seen.lazy and not above.lazy


class Canonical:
    """Which members were used so far on a path. literal: what has to be assumed for the order."""

    def __init__(self, symmetry: Symmetry, literal: Bit, queries: Queries) -> None:
        self.classes = symmetry.classes
        self.literal = literal
        self.queries = queries
        self._used: dict[Atom, Bit] = {m: False for group in self.classes for m in group}

    def follow(self, encoding: Encoding, move: Move) -> None:
        """The next step of the path: whatever it uses first comes next in the order."""
        before, found = dict(self._used), dict(self._used)
        for step, taken in zip(move.steps, move.taken, strict=True):
            if taken is False:
                continue
            used = dict(before)
            kinds = [p.type for p in encoding.action(step.name).params]
            seen: list[tuple[Bit, Sym, t.Type]] = [
                (True, sym, kind) for sym, kind in zip(step.params, kinds, strict=True)
            ]
            seen += [(c.condition, c.value, c.type) for c in step.choices]
            for condition, sym, kind in seen:
                self._use(and_(taken, condition), sym, kind, used)
            for member, bit in used.items():
                found[member] = or_(found[member], and_(taken, bit))
        self._used = found

    def _use(self, condition: Bit, sym: Sym, kind: t.Type, used: dict[Atom, Bit]) -> None:
        for group in self._of(kind):
            tests = [(member, and_(condition, equal(sym, member))) for member in group]
            for (before, _), (_, test) in itertools.pairwise(tests):
                self.queries.add(implies(and_(self.literal, test), used[before]))
            for member, test in tests:
                used[member] = or_(used[member], test)

    def _of(self, kind: t.Type) -> Iterator[tuple[Atom, ...]]:
        if isinstance(kind, t.Atoms):
            yield from (group for group in self.classes if group[0].kind == kind.name)
