"""Temporal properties and refinements: the native engine finds what the plain one finds.

Random machines of three kinds: tables with random formulas and machines above them, as the brute
force of `test_temporal_meanings` judges; machines over the whole language, to which formulas over
their own predicates, fairness and a mapping to themselves are added.
"""

from __future__ import annotations

import contextlib
import dataclasses
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from test_machine_meanings import loaded as written  # type: ignore[import-not-found]
from test_refinement_meanings import Pair  # type: ignore[import-not-found]
from test_temporal_meanings import Drawn, loaded  # type: ignore[import-not-found]

from refute.specs.machine.ir import LTL, Expr, MachineIR, Refinement, Temporal, Variable
from refute.specs.machine.types import Bool
from refute.verifiers.model.lasso import not_a_witness
from refute.verifiers.model.liveness import Liveness
from refute.verifiers.model.native.compiler import QUICK
from refute.verifiers.model.native.forms import Unsuited
from refute.verifiers.model.native.here import native_liveness

MOST = 250  # states of a machine that is judged twice


def plainly(ir: MachineIR) -> Liveness | None:
    """The plain engine's judgement; None of machines with too many states."""
    found = Liveness(ir)
    while len(found.graph.states) <= MOST and not found.advance(0.0)["finished"]:
        pass
    return found if found.judged else None


def compared(ir: MachineIR, plain: Liveness) -> int:
    """How many properties are false, which both engines show in the same way."""
    native = native_liveness(ir, flags=QUICK)
    while not (counts := native.advance(5.0))["finished"]:
        assert not counts["full"] and not counts["unfit"]
    assert not native.disagrees
    graph = plain.graph
    assert native.library.counts()["distinct"] == len(graph.states)
    assert native.library.counts()["edges"] == sum(map(len, graph.rows))
    assert native.reasons == plain.reasons
    assert native.hits.keys() == plain.hits.keys()
    for name, trace in native.hits.items():
        case: Any = trace["case"]
        if "params" in case:  # the plain engine may meet another part of the formula first
            assert trace == plain.hits[name] or not_a_witness(ir.to_plain(), case) == ""
        else:
            assert trace == plain.hits[name]
    return len(native.hits)


@pytest.mark.parametrize("kind", [Drawn, Pair])
def test_random_tables(kind: Any, tmp_path: Path) -> None:
    broken = 0
    for seed in range(1000, 1012):
        module = loaded(tmp_path, f"native_{kind.__name__}_{seed}", kind(seed).source())
        try:
            ir = module.M.build().ir
        finally:
            del sys.modules[module.__name__]
        plain = plainly(ir)
        assert plain is not None
        broken += compared(ir, plain)
    assert broken > 3


def behaving(ir: MachineIR, seed: int) -> MachineIR:
    """The machine with random fairness, formulas over its own predicates, and a mapping to itself,
    to which an action may be missing."""
    pick = random.Random(seed)
    fair = ["", "weak", "strong"]
    actions = [dataclasses.replace(a, fair=pick.choice(fair)) for a in ir.actions]
    processes = [dataclasses.replace(p, fair_any=pick.choice(fair)) for p in ir.processes]
    ir = dataclasses.replace(ir, actions=tuple(actions), processes=tuple(processes))
    known = [(p.params, p.predicate) for p in ir.properties if p.kind in ("invariant", "reachable")]
    known += [((), begins(variable)) for variable in ir.variables]
    temporals = []
    for at, (params, predicate) in enumerate(known):
        holds = LTL("holds", (), predicate)
        if pick.random() < 0.5:
            holds = LTL("not", (holds,))
        outer, inner = pick.choice([("always", "eventually"), ("eventually", "always")])
        formula = LTL(outer, (LTL(inner, (holds,)),))
        forms = [formula, LTL("or", (LTL("not", (holds,)), formula)), LTL("and", (formula, holds))]
        temporals.append(Temporal(f"formula{at}", params, pick.choice(forms)))
    ir = dataclasses.replace(ir, temporals=tuple(temporals))
    if ir.crashes:
        return ir
    ir = dataclasses.replace(ir, processes=ir.processes if pick.random() < 0.5 else ())
    if ir.processes:
        return ir
    kept = ir.actions if pick.random() < 0.5 else ir.actions[1:]
    above = dataclasses.replace(ir, temporals=(), properties=(), actions=kept)
    mapping = tuple(map(read, ir.variables))
    return dataclasses.replace(ir, refinements=(Refinement("itself", above, mapping),))


def read(variable: Variable) -> Expr:
    return Expr("read", variable.type, (), variable.name)


def begins(variable: Variable) -> Expr:
    """Whether a variable has its first value."""
    first = Expr("const", variable.type, (), variable.initial[0])
    return Expr("==", Bool(), (read(variable), first))


def test_random_machines(tmp_path: Path) -> None:
    broken = judged = 0
    for seed in range(40):
        module = written(tmp_path, seed, loops=True)
        try:
            ir = behaving(module.M.build().ir, seed)
        finally:
            del sys.modules[module.__name__]
        plain = plainly(ir)
        if plain is not None:
            with contextlib.suppress(Unsuited):  # few are declined
                broken += compared(ir, plain)
                judged += 1
        if judged == 14:
            break
    assert judged == 14 and broken > 10
