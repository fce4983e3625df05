"""The invariants by hand of the machines for every size are inductive, and so is what they are for.

At small sizes a search that starts in every state of the right types in which the invariants hold,
and nowhere leaves them, has shown that no step does. For all sizes Z3 is asked, step by step.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
import z3

from refute.machine import Machine
from refute.specs.machine.ir import Expr, MachineIR, Property
from refute.specs.machine.types import Bool, SeqOf
from refute.specs.machine.values import domain, pack_value
from refute.verifiers.model.search import Search
from refute.verifiers.symbolic.transition import Encoding

BOOL = Bool()


def cases() -> ModuleType:
    """The module of machines with their lemmas."""
    file = Path(__file__).parents[1] / "cases" / "machines" / "hand_invariants.py"
    spec = importlib.util.spec_from_file_location("hand_invariants", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


SIZES: dict[type[Machine], dict[str, int]] = cases().SIZES


def everywhere(prop: Property) -> Property:
    """The invariant for all values of its parameters, as a predicate of starts."""
    test = prop.predicate
    for param in reversed(prop.params):
        item = Expr("item", BOOL, (test,))
        walk = Expr("for", BOOL, (Expr("domain", SeqOf(param.type)), item), param.name)
        test = Expr("all", BOOL, (walk,))
    return Property(f"{prop.name} at first", "initial", (), test, prop.line)


def anywhere(ir: MachineIR, invariants: tuple[Property, ...]) -> MachineIR:
    """The machine, started in every state that the invariants admit."""
    starts = tuple(
        dataclasses.replace(v, initial=tuple(map(pack_value, domain(v.type)))) for v in ir.variables
    )
    kept = (*invariants, *map(everywhere, invariants))
    return dataclasses.replace(ir, variables=starts, properties=kept, refinements=(), temporals=())


def broken(ir: MachineIR, invariants: tuple[Property, ...]) -> set[str]:
    """The invariants that some step from a state with all of them leads out of."""
    names = {p.name for p in invariants}
    search = Search(anywhere(ir, invariants))
    while not search.advance(0.1)["finished"] and not names & set(search.hits):
        pass
    return names & set(search.hits)


@pytest.mark.parametrize("machine", SIZES, ids=lambda m: m.__name__)
def test_the_lemmas_are_inductive(machine: type[Machine]) -> None:
    ir = machine.build(**SIZES[machine]).ir
    assert broken(ir, ir.of_kind("invariant")) == set()


@pytest.mark.parametrize("machine", SIZES, ids=lambda m: m.__name__)
def test_the_main_property_alone_is_not(machine: type[Machine]) -> None:
    """There is something to be found, in two of each already."""
    ir = machine.build(**{name: min(2, size) for name, size in SIZES[machine].items()}).ir
    main = ir.of_kind("invariant")[:1]
    assert broken(ir, main) == {main[0].name}


def left(machine: type[Machine], names: set[str] | None = None) -> set[str]:
    """The invariants that Z3 does not find inductive for every size. names: only these at all."""
    ir = machine.build(**dict.fromkeys(SIZES[machine], "any")).ir
    encoding = Encoding(ir)
    kept = [p for p in ir.of_kind("invariant") if names is None or p.name in names]
    before, start = encoding.arbitrary("s"), encoding.start("i")
    assumed = [f for p in kept for j in (encoding.holds(p, before),) for f in (*j.facts, j.holds)]
    places = [(start, start.facts)]
    for step in encoding.steps(before, "t"):
        places.append((step.after, (*before.facts, *step.facts, *assumed, step.enabled)))
    found = set()
    for world, given in places:
        for prop in kept:
            judged, solver = encoding.holds(prop, world), z3.Solver()
            solver.set("rlimit", 20_000_000)
            for fact in (*given, *judged.facts):
                solver.add(fact)
            solver.add(z3.Not(judged.holds))
            found |= {prop.name} if solver.check() != z3.unsat else set()
    return found


@pytest.mark.parametrize("machine", SIZES, ids=lambda m: m.__name__)
def test_the_lemmas_are_inductive_for_every_size(machine: type[Machine]) -> None:
    assert left(machine) == set()


@pytest.mark.parametrize("machine", SIZES, ids=lambda m: m.__name__)
def test_the_main_property_alone_is_not_for_every_size(machine: type[Machine]) -> None:
    (main, *_) = machine.build(**SIZES[machine]).ir.of_kind("invariant")
    assert left(machine, {main.name}) == {main.name}
