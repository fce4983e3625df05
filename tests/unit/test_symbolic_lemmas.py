"""Lemmas that are found: enumeration, induction over all states of a small instance, printing."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Iterator

from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.values import domain
from refute.verifiers.model.compiled import Compiled, State, expand
from refute.verifiers.symbolic.clauses import Clause, goal
from refute.verifiers.symbolic.houdini import Clauses, Judge, Ruling, largest
from refute.verifiers.symbolic.minimising import minimised
from refute.verifiers.symbolic.pool import Pool, Shape, enumerated
from refute.verifiers.symbolic.rewriting import resized, resized_params, sorts_of
from refute.verifiers.symbolic.rows import Columns
from refute.verifiers.symbolic.sampling_states import sampled

NEVER = float("inf")


class EveryState(Judge):
    """Answers by looking at every state that the types of a small instance admit."""

    def __init__(self, ir: MachineIR) -> None:
        self.ir = ir
        machine = Compiled(ir)
        self.states: list[State] = list(itertools.product(*(domain(v.type) for v in ir.variables)))
        self.starts = set(machine.initial_states())
        self.steps = [
            (before, after)
            for before in self.states
            for instance in machine.instances
            for after, _ in expand(instance, before)
        ]
        self.rulings = 0

    def _true(self, clauses: Clauses) -> dict[int, set[State]]:
        sizes = sorts_of(self.ir)
        props = []
        for number, clause in clauses.items():
            made = clause.as_property(f"clause {number}")
            params = resized_params(made.params, sizes)
            predicate = resized(made.predicate, sizes)
            props.append(dataclasses.replace(made, params=params, predicate=predicate))
        machine = Compiled(dataclasses.replace(self.ir, properties=tuple(props)))
        tests = zip(clauses, machine.predicates, strict=True)
        return {n: {s for s in self.states if p.test(s)} for n, p in tests}

    def ruling(self, clauses: Clauses, until: float) -> Ruling:
        self.rulings += 1
        true = self._true(clauses)
        inside = set(self.states).intersection(*true.values())
        reached = self.starts | {after for before, after in self.steps if before in inside}
        return Ruling(frozenset(n for n, states in true.items() if reached - states))

    def needed(self, clauses: Clauses, wanted: int, until: float) -> frozenset[int] | None:
        kept = dict(clauses)
        true = self._true(clauses)
        for number in sorted(clauses, reverse=True):
            fewer = {n for n in kept if n != number}
            inside = set(self.states).intersection(*(true[n] for n in fewer))
            if all(b not in inside or a in true[wanted] for b, a in self.steps):
                del kept[number]
        return frozenset(kept)


def two_phase(rm: int) -> MachineIR:
    return TwoPhase.build(RM=rm).ir


def pool_of(variables: int = 2, literals: int = 3) -> Pool:
    small = [sampled(two_phase(n), 1000, 60.0) for n in (2, 3)]
    return enumerated(two_phase(2), Columns(small), Shape(variables, literals), NEVER)


def goals_of(ir: MachineIR) -> list[Clause]:
    return [goal(p) for p in ir.of_kind("invariant")]


def test_samples_are_all_states_of_small_instances() -> None:
    """The counts are those of the published specification, see the library's module."""
    found = sampled(two_phase(3), 1000, 60.0)
    assert (len(found.states), found.whole) == (288, True)


def test_part_of_the_states_is_within_the_limit_and_says_so() -> None:
    found = sampled(two_phase(4), 200, 60.0)
    assert not found.whole and 100 <= len(found.states) <= 240
    assert set(found.states) <= set(sampled(two_phase(4), 10_000, 60.0).states)


def test_enumerated_clauses_are_true_and_minimal() -> None:
    pool = pool_of()
    states = sampled(two_phase(3), 1000, 60.0).states
    judge = EveryState.__new__(EveryState)
    judge.ir, judge.states = two_phase(3), list(states)
    clauses = dict(enumerate(pool.clauses))
    shorter = dict(enumerate(_shorter(pool)))
    assert len(clauses) > 100 and len(shorter) > 200
    assert all(len(true) == len(states) for true in judge._true(clauses).values())
    assert all(len(true) < len(states) for true in judge._true(shorter).values())


def _shorter(pool: Pool) -> Iterator[Clause]:
    """Every clause of the pool without one of its literals, as the instance of size 3 sees it."""
    for clause in pool.clauses:
        for at in range(len(clause.literals)):
            fewer = (*clause.literals[:at], *clause.literals[at + 1 :])
            if fewer:
                yield dataclasses.replace(clause, literals=fewer)


def test_agreement_is_inductive_with_found_lemmas_and_not_alone() -> None:
    ir = two_phase(2)
    judge, goals = EveryState(ir), goals_of(ir)
    alone = largest(Pool(), goals, [judge], NEVER)
    assert alone.proved(goals) == ()
    found = largest(pool_of(), goals, [judge], NEVER)
    assert found.proved(goals) == (0, 1)
    few = minimised(found.clauses, judge, NEVER)
    assert judge.ruling(few, NEVER).inductive and {-1, -2} <= set(few)
    assert 3 <= len(few) <= 12 < len(found.clauses)
    lemmas = [n for n in few if n >= 0]
    for number in lemmas:  # none can be left out
        fewer = {n: clause for n, clause in few.items() if n != number}
        assert not judge.ruling(fewer, NEVER).inductive


def test_what_follows_comes_in_when_its_reasons_go() -> None:
    """The subset is the largest one of all candidates, not of the independent ones alone."""
    judge = EveryState(two_phase(2))
    pool = pool_of()
    everything = dict(enumerate(pool.clauses))
    assert len(pool.alive) < len(everything) / 3
    while not (ruling := judge.ruling(everything, NEVER)).inductive:
        everything = {n: c for n, c in everything.items() if n not in ruling.refuted}
    goals = goals_of(two_phase(2))
    found = largest(pool, goals, [judge], NEVER)
    inside = judge._true({n: c for n, c in found.clauses.items() if n >= 0})
    wanted = judge._true(everything)
    assert set.intersection(*inside.values()) == set.intersection(*wanted.values())


def test_time_that_ends_is_said() -> None:
    goals = goals_of(two_phase(2))
    found = largest(pool_of(), goals, [EveryState(two_phase(2))], time.monotonic() - 1)
    assert found.late and not found.proved(goals)
