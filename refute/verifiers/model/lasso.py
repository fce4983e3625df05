"""Whether a lasso is a fair behaviour that breaks a temporal property, by the tree walk.

Shares nothing with the search that found it but the IR: it walks the trace, closes the cycle,
asks each fairness condition again and evaluates the formula state by state.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

from refute.plain import Plain
from refute.specs.machine.formulas import true_at
from refute.specs.machine.ir import LTL, Action, MachineIR, Process, Property
from refute.specs.machine.meaning import Meaning, Taken, World, bindings
from refute.specs.machine.values import Value, unpack_value
from refute.verifiers.model.confirm import passed

Step = tuple[World, World]
Able = Callable[[World], Iterator[World]]


def not_a_witness(data: Plain, case: Mapping[str, Plain]) -> str:
    """Why the lasso does not break its property; empty when it does. Runs in a worker."""
    meaning = Meaning(MachineIR.from_plain(data))
    worlds, loop = passed(meaning, case), int(case["loop"])
    if len(worlds) != len(case["steps"]) + 1 or not 0 <= loop < len(worlds):
        return "the trace is no run"
    if worlds[loop] != worlds[-1]:
        return "the cycle does not close"
    unfair = _unfair(meaning, worlds[loop:])
    if unfair:
        return unfair
    return "the formula is true of it" if _true(meaning, case, worlds, loop) else ""


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
    movers: tuple[Action | Process, ...] = (*meaning.ir.actions, *meaning.ir.processes)
    for mover in movers:
        every = list(bindings(mover.params))
        if mover.fair and any(
            _broken(mover.fair, cycle, _steps_of(meaning, mover.name, [p])) for p in every
        ):
            return f"{mover.name} is not treated fairly"
        if mover.fair_any and _broken(mover.fair_any, cycle, _steps_of(meaning, mover.name, every)):
            return f"{mover.name} is not treated fairly"
    for kind in ("weak", "strong"):
        for prop in meaning.ir.of_kind(kind):
            every = list(bindings(prop.params))
            if any(_broken(kind, cycle, _steps_where(meaning, prop, p)) for p in every):
                return f"{prop.name} is not satisfied"
    return ""


def _broken(kind: str, cycle: Sequence[World], able: Able) -> bool:
    """Whether a condition is enabled always (weak) or at times (strong), and never taken."""
    enabled = [any(True for _ in able(world)) for world in cycle]
    if not (any(enabled) if kind == "strong" else all(enabled)):
        return False
    taken = (after in set(able(world)) for world, after in itertools.pairwise(cycle))
    return not any(taken)


def _steps_of(meaning: Meaning, name: str, every: Sequence[tuple[Value, ...]]) -> Able:
    def able(world: World) -> Iterator[World]:
        for params in every:
            yield from _changing(world, meaning.step(name, params, world))

    return able


def _changing(world: World, steps: Iterator[Taken]) -> Iterator[World]:
    """Where the steps that change something lead; a step that raises is one, and leads nowhere."""
    try:
        yield from (taken.after for taken in steps if taken.after != world)
    except Exception:
        yield World((), ())


def _steps_where(meaning: Meaning, prop: Property, given: tuple[Value, ...]) -> Able:
    def able(world: World) -> Iterator[World]:
        for after in _changing(world, meaning.steps(world)):
            if after.variables and meaning.true(prop.predicate, prop.params, given, world, after):
                yield after

    return able
