"""Whether a lasso is a fair behaviour that breaks a temporal property, by the tree walk.

Shares nothing with the search that found it but the IR: it walks the trace, closes the cycle,
asks each fairness condition again and evaluates the formula state by state.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

from refute.plain import Plain
from refute.specs.machine.fairness import Fair, fairness
from refute.specs.machine.formulas import true_at
from refute.specs.machine.ir import LTL, MachineIR
from refute.specs.machine.meaning import Meaning, Taken, World
from refute.specs.machine.values import unpack_value
from refute.verifiers.model.confirm import passed

Able = Callable[[World], Iterator[World]]


def not_a_witness(data: Plain, case: Mapping[str, Plain]) -> str:
    """Why the lasso does not break its property; empty when it does. Runs in a worker."""
    meaning = Meaning(MachineIR.from_plain(data))
    worlds, loop = passed(meaning, case), int(case["loop"])
    if len(worlds) != len(case["steps"]) + 1:
        return "the trace is no run"
    problem = unfair_lasso(meaning, worlds, loop)
    if problem:
        return problem
    return "the formula is true of it" if _true(meaning, case, worlds, loop) else ""


def unfair_lasso(meaning: Meaning, worlds: Sequence[World], loop: int) -> str:
    """Why a run that repeats its states from `loop` on is not fair; empty when it is."""
    if not 0 <= loop < len(worlds) or worlds[loop] != worlds[-1]:
        return "the cycle does not close"
    return _unfair(meaning, worlds[loop:])


def _true(meaning: Meaning, case: Mapping[str, Plain], worlds: list[World], loop: int) -> bool:
    (temporal,) = [t for t in meaning.ir.temporals if t.name == case["property"]]
    given = tuple(map(unpack_value, case["params"]))

    def holds(part: LTL, at: int) -> bool:
        if part.predicate is None:
            raise ValueError("no predicate")
        return meaning.true(part.predicate, temporal.params, given, worlds[at])

    return true_at(temporal.formula, 0, len(worlds), loop, holds)


def _unfair(meaning: Meaning, cycle: Sequence[World]) -> str:
    """The fairness condition that the cycle breaks, in words; empty when it is fair."""
    for fair in fairness(meaning.ir):
        if broken(fair.strong, cycle, functools.partial(steps_of, meaning, fair)):
            return f"{fair.name} is not treated fairly"
    return ""


def steps_of(meaning: Meaning, fair: Fair, world: World) -> Iterator[World]:
    """Where the steps of a condition that change something lead."""
    if fair.prop is None:
        for name, params in sorted(fair.moves(), key=str):
            yield from _changing(world, meaning.step(name, params, world))
        return
    for after in _changing(world, meaning.steps(world)):
        given = fair.prop.params, fair.given
        if after.variables and meaning.true(fair.prop.predicate, *given, world, after):
            yield after


def broken(strong: bool, cycle: Sequence[World], able: Able) -> bool:
    """Whether a condition is enabled always (weak) or at times (strong), and never taken."""
    enabled = [any(True for _ in able(world)) for world in cycle]
    if not (any(enabled) if strong else all(enabled)):
        return False
    taken = (after in set(able(world)) for world, after in itertools.pairwise(cycle))
    return not any(taken)


def _changing(world: World, steps: Iterator[Taken]) -> Iterator[World]:
    """Where the steps that change something lead; a step that raises is one, and leads nowhere."""
    try:
        yield from (taken.after for taken in steps if taken.after != world)
    except Exception:
        yield World((), ())
