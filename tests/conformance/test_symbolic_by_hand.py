"""Formulas of the library's machines against others that were written by hand.

For each depth, whether an example can be seen there; for each set of invariants, whether it is
inductive: the published ones are, without some of them they are not, and both say of which.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import by_hand  # type: ignore[import-not-found]
import pytest
import z3
from by_hand import ByHand, Domain

from refute.specs.machine.ir import MachineIR
from refute.verifiers.symbolic.folding import not_, term_of
from refute.verifiers.symbolic.solving import Queries
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.unrolling import Path as Behaviour

FILE = Path(__file__).parents[1] / "cases" / "machines" / "published_invariants.py"
QUERY_S = 60.0


def published() -> ModuleType:
    spec = importlib.util.spec_from_file_location("published_invariants", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


CASES = published()
MACHINES = {
    "TwoPhaseProof": (by_hand.two_phase, {"RM": 2}),
    "LockServiceMypyvy": (by_hand.lock_service, {"Client": 2}),
    "ConsensusMypyvy": (by_hand.consensus, {"Node": 3, "Value": 2, "Quorum": 2}),
}


def both(name: str, any_size: bool) -> tuple[MachineIR, ByHand]:
    """A machine of the library, and the same by hand."""
    made, sizes = MACHINES[name]
    ir = getattr(CASES, name).build(**(dict.fromkeys(sizes, "any") if any_size else sizes)).ir
    domains = [Domain(n, None if any_size else size) for n, size in sizes.items()]
    return ir, made(*domains)


def inductive(ir: MachineIR, names: Sequence[str]) -> bool:
    """Whether no step leads out of where these invariants hold, as refute writes it."""
    encoding = Encoding(ir)
    props = [p for p in ir.of_kind("invariant") if p.name in names]
    assert len(props) == len(names)
    before = encoding.arbitrary("before")
    for step in encoding.steps(before, "step"):
        queries = Queries(QUERY_S)
        queries.add(*before.facts, *step.facts, step.enabled)
        for prop in props:
            judged = encoding.holds(prop, before)
            queries.add(*judged.facts, judged.holds)
        after = [encoding.holds(prop, step.after) for prop in props]
        queries.add(*(fact for judged in after for fact in judged.facts))
        queries.add(z3.Or([term_of(not_(judged.holds)) for judged in after]))
        answer = queries.ask()
        assert answer.said != "unknown", answer.why
        if answer.said == "sat":
            return False
    return True


def inductive_by_hand(hand: ByHand, names: Sequence[str]) -> bool:
    before, after = hand.state(), hand.state()
    solver = z3.Solver()
    solver.add(*(hand.says[n](before) for n in names), hand.step(before, after))
    solver.add(z3.Not(z3.And([hand.says[n](after) for n in names])))
    answer = solver.check()
    assert answer != z3.unknown
    return bool(answer == z3.unsat)


def seen(ir: MachineIR, name: str, depth: int) -> list[bool]:
    """For each depth, whether an example can be seen there."""
    encoding = Encoding(ir)
    prop = next(p for p in ir.properties if p.name == name)
    queries = Queries(QUERY_S)
    path = Behaviour(encoding, queries, encoding.start("s0"), "s")
    found = []
    for at in range(depth + 1):
        if at:
            path.extend()
        judged = encoding.holds(prop, path.last)
        queries.add(*judged.facts)
        wanted = z3.FreshBool()
        queries.add(z3.Implies(wanted, term_of(judged.holds)))
        answer = queries.ask([wanted])
        assert answer.said != "unknown", answer.why
        found.append(answer.said == "sat")
    return found


def seen_by_hand(hand: ByHand, name: str, depth: int) -> list[bool]:
    states = [hand.state()]
    solver = z3.Solver()
    solver.add(hand.start(states[0]))
    found = []
    for at in range(depth + 1):
        if at:
            states.append(hand.state())
            solver.add(hand.step(*states[-2:]))
        solver.push()
        solver.add(hand.says[name](states[-1]))
        answer = solver.check()
        solver.pop()
        assert answer != z3.unknown
        found.append(bool(answer == z3.sat))
    return found


@pytest.mark.parametrize(
    ("name", "example", "first"),
    [
        ("TwoPhaseProof", "can_commit", 7),
        ("TwoPhaseProof", "can_abort", 2),
        ("LockServiceMypyvy", "passed_on", 4),
        ("LockServiceMypyvy", "returning", 5),
        ("ConsensusMypyvy", "agreed", 2),
    ],
)
def test_examples_are_seen_at_the_same_depths(name: str, example: str, first: int) -> None:
    ir, hand = both(name, any_size=False)
    found = seen(ir, example, first + 1)
    assert found == seen_by_hand(hand, example, first + 1)
    assert found.index(True) == first


@pytest.mark.parametrize("name", MACHINES)
def test_published_invariants_are_inductive_for_every_size(name: str) -> None:
    ir, hand = both(name, any_size=True)
    names = CASES.PUBLISHED[getattr(CASES, name)]
    assert inductive(ir, names) and inductive_by_hand(hand, names)


@pytest.mark.parametrize("any_size", [False, True], ids=["sized", "any"])
@pytest.mark.parametrize("name", MACHINES)
def test_without_one_of_them_both_say_the_same(name: str, any_size: bool) -> None:
    ir, hand = both(name, any_size)
    names = CASES.PUBLISHED[getattr(CASES, name)]
    rests = {left: [n for n in names if n != left] for left in names}
    ours = {left: inductive(ir, rest) for left, rest in rests.items()}
    assert ours == {left: inductive_by_hand(hand, rest) for left, rest in rests.items()}
    assert not all(ours.values())


@pytest.mark.parametrize(
    ("name", "main"),
    [
        ("TwoPhaseProof", ["agreement"]),
        ("TwoPhaseProof", ["agreement", "commit_needs_all"]),
        ("LockServiceMypyvy", ["exclusive"]),
        ("ConsensusMypyvy", ["agreement"]),
        ("ConsensusMypyvy", ["agreement", "one_vote", "quorums"]),
    ],
)
def test_what_is_to_be_shown_is_not_inductive_alone(name: str, main: list[str]) -> None:
    ir, hand = both(name, any_size=True)
    assert not inductive(ir, main) and not inductive_by_hand(hand, main)
