"""Properties printed from the IR, pasted into their classes and built again mean the same."""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from random_batches import built as random_machines

import refute.machine
from refute.errors import RefuteError
from refute.machine import Model
from refute.specs.library import (
    all_reduce,
    allocator,
    alternating_bit,
    async_termination,
    atomic_commitment,
    chang_roberts,
    dining_philosophers,
    ewd840,
    filesystem,
    inner_fifo,
    mutual_exclusion,
    paxos,
    prisoners,
    raft,
    redo_log,
    simple_regular,
    transaction_commit,
    two_phase_commit,
    voting,
    write_ahead_log,
)
from refute.specs.machine.frontend import FrontEnd
from refute.specs.machine.ir import MachineIR, Property
from refute.specs.machine.loading import _own
from refute.specs.machine.model import Machine
from refute.verifiers.model.compiled import Compiled, Predicate, State
from refute.verifiers.symbolic.rewriting import nodes
from refute.verifiers.symbolic.sampling_states import sampled
from refute.verifiers.symbolic.unparsing import imports_of, method_of
from refute.verifiers.symbolic.unparsing_values import Unprintable

KINDS = ("invariant", "reachable", "transition", "terminal", "constraint", "initial")
STATES = 100
SEEDS = range(16)
SIZES: dict[str, int] = {"RM": 3, "NP": 3, "N": 3, "P": 2, "Node": 3, "Proc": 2, "Client": 2}
LIBRARY = (
    all_reduce,
    allocator,
    alternating_bit,
    async_termination,
    atomic_commitment,
    chang_roberts,
    dining_philosophers,
    ewd840,
    filesystem,
    inner_fifo,
    mutual_exclusion,
    paxos,
    prisoners,
    raft,
    redo_log,
    simple_regular,
    transaction_commit,
    two_phase_commit,
    voting,
    write_ahead_log,
)


def machines() -> Iterator[tuple[Any, str]]:
    """The machines of the library that are checked by themselves."""
    for module in LIBRARY:
        for name, found in vars(module).items():
            machine = isinstance(found, type) and issubclass(found, Machine)
            if machine and _own(found, module.__name__):
                yield module, name


def built(cls: type[Machine]) -> Model:
    """The machine, with small sizes for what has no default."""
    names = FrontEnd(cls, {}).names()
    try:
        return cls.build()
    except RefuteError:
        return cls.build(**{n: SIZES[n] for n in names if n in SIZES})


NUMBERS = itertools.count()


def pasted(cls: type[Machine], properties: list[Property], folder: Path, **sizes: Any) -> Model:
    """A subclass, in a module of its own, that has the printed properties under new names."""
    needed = sorted({name for p in properties for name in imports_of(p)})
    lines = ["from __future__ import annotations", "import functools", "from typing import *"]
    lines += [f"from {cls.__module__} import *"]
    lines += [f"from refute.machine import {n}" for n in needed if hasattr(refute.machine, n)]
    lines += [f"from {cls.__module__} import {cls.__name__}", "", ""]
    lines += [f"class Pasted({cls.__name__}):", '    """As printed."""', ""]
    lines += [method_of(p, again_name(p)) for p in properties]
    # Its name is new: bytecode is told from that of another text by size and second alone.
    path = folder / f"pasted_{cls.__name__.lower()}_{next(NUMBERS)}.py"
    path.write_text("\n".join(lines), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
        made: Model = module.Pasted.build(**sizes)
    finally:
        del sys.modules[path.stem]
    return made


def reads(prop: Property) -> set[str]:
    """The variables that a property reads."""
    return {str(n.data) for n in nodes(prop.predicate) if n.op in ("read", "next")}


def again_name(prop: Property) -> str:
    return "".join(c if c.isalnum() else "_" for c in prop.name) + "_again"


def said(test: Callable[..., bool], *states: State) -> Any:
    try:
        return test(*states)
    except Exception as error:
        return type(error).__name__


def differing(ir: MachineIR, again: MachineIR, properties: list[Property]) -> list[str]:
    """The properties that come out differently from their printed form on a sample of states."""
    states = sampled(ir, STATES, 60.0).states
    found: dict[str, Predicate] = {p.property.name: p for p in Compiled(again).predicates}
    wrong = []
    for predicate in Compiled(dataclasses.replace(ir, properties=tuple(properties))).predicates:
        prop = predicate.property
        other = found[again_name(prop)]
        rows: list[tuple[State, ...]] = [(s,) for s in states]
        if prop.kind == "transition":
            rows = list(itertools.pairwise(states))
        if any(said(predicate.test, *r) != said(other.test, *r) for r in rows):
            wrong.append(prop.name)
    return wrong


def test_random_machines_over_the_whole_language(tmp_path: Path) -> None:
    same = 0
    with random_machines(tmp_path, SEEDS) as models:
        for model in models.values():
            for prop in [] if model is None else model.ir.properties:
                assert model is not None
                if prop.kind in KINDS and printable(model.ir, prop):
                    again = pasted(model.cls, [prop], tmp_path)
                    assert differing(model.ir, again.ir, [prop]) == []
                    same += 1
    assert same > 2 * len(SEEDS)


def printable(ir: MachineIR, prop: Property) -> bool:
    hidden = {v.name for v in ir.variables if v.hidden}
    try:
        return bool(method_of(prop)) and not hidden & reads(prop)
    except Unprintable:
        return False


@pytest.mark.parametrize(
    ("module", "name"), list(machines()), ids=lambda x: getattr(x, "__name__", x)
)
def test_library(module: Any, name: str, tmp_path: Path) -> None:
    cls = getattr(module, name)
    model = built(cls)
    hidden = {v.name for v in model.ir.variables if v.hidden}
    properties = [p for p in model.ir.properties if p.kind in KINDS and not hidden & reads(p)]
    again = pasted(cls, properties, tmp_path, **model.constants)
    assert differing(model.ir, again.ir, properties) == []
