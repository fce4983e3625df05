"""States, steps and judgements of a machine as formulas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.verifiers.symbolic.folding import Bit, Term, all_of, and_, not_
from refute.verifiers.symbolic.forms import Sym


@frozen
class World:
    """A state: each variable's value, and what holds of the unknowns in them."""

    values: Mapping[str, Sym]
    facts: tuple[Term, ...] = ()


class Chosen(NamedTuple):
    """A value that is chosen where the condition holds, if nothing has been raised before."""

    condition: Bit
    value: Sym
    type: t.Type


@frozen
class Step:
    """All steps of one action. Whatever its unknowns are, the facts may be assumed of them.

    params, choices: unknowns. enabled: a step ends, in `after`. error: it raises instead.
    unknowns: what is free in it besides the state before, with types.
    """

    name: str
    params: tuple[Sym, ...]
    choices: tuple[Chosen, ...]
    enabled: Bit
    error: Bit
    after: World
    facts: tuple[Term, ...]
    unknowns: tuple[tuple[Sym, t.Type], ...]


class Judged(NamedTuple):
    """Whether a predicate is true, and whether it raises instead; facts: of what it speaks of."""

    true: Bit
    error: Bit
    facts: tuple[Term, ...] = ()

    @property
    def holds(self) -> Bit:
        """True, and nothing raised."""
        return and_(self.true, not_(self.error))


def both(judged: tuple[Judged, ...]) -> Judged:
    """Several predicates as one, where one that raises makes the whole raise."""
    return Judged(
        all_of(j.true for j in judged),
        not_(all_of(not_(j.error) for j in judged)),
        tuple(fact for j in judged for fact in j.facts),
    )
