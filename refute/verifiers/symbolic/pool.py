"""The candidates that an induction works with, and those that follow from them.

Most true clauses follow from shorter ones by unit propagation. They say nothing new while those
stand, but may when one of those turns out not to be inductive: then they come in in its place. So
the largest inductive subset is that of all candidates, though only the independent ones are ever
put to the solver.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from refute.specs.machine.ir import MachineIR
from refute.verifiers.symbolic.candidates import Vocabulary, prefixes
from refute.verifiers.symbolic.clauses import Clause, Enumeration, Literals
from refute.verifiers.symbolic.rewriting import nodes
from refute.verifiers.symbolic.sampling_states import Rows, Sample


class _Placed:
    """The clauses that stand, over the variables of one prefix, for unit propagation."""

    def __init__(self, literals: Literals) -> None:
        self.literals = literals
        self.masks: dict[int, list[int]] = {}  # by the clause's number

    def add(self, number: int, clause: Clause) -> None:
        """Let a clause stand."""
        placed = {sum(1 << n for n in numbers) for numbers in self.literals.placed(clause)}
        if placed:
            self.masks[number] = sorted(placed)

    def reasons(self, clause: Clause, besides: int) -> frozenset[int] | None:
        """The clauses from which this one follows, apart from one; None if it does not."""
        false = sum(1 << n for n in next(self.literals.placed(clause)))
        every = [(k, mask) for k, masks in self.masks.items() if k != besides for mask in masks]
        used: set[int] = set()
        while True:
            waiting = []
            before = false
            for number, mask in every:
                left = mask & ~false
                if not left:
                    return frozenset(used | {number})
                if left & (left - 1):
                    waiting.append((number, mask))
                    continue
                opposite = left << 1 if left.bit_length() & 1 else left >> 1
                if not false & opposite:
                    false |= opposite
                    used.add(number)
            if false == before:
                return None
            every = waiting


class Pool:
    """Numbered candidates: alive, following from others, or dead."""

    def __init__(self) -> None:
        self.clauses: list[Clause] = []
        self.alive: set[int] = set()
        self.following: dict[int, frozenset[int]] = {}  # with the clauses it follows from
        self._homes: list[int] = []
        self._placed: list[_Placed] = []
        self.whole = True

    def fill(self, found: Sequence[tuple[Literals, Sequence[tuple[int, ...]]]]) -> None:
        """Take the candidates, the simple ones first, and set aside those that follow."""
        self._placed = [_Placed(literals) for literals, _ in found]
        made = [
            (literals.clause(numbers), home)
            for home, (literals, clauses) in enumerate(found)
            for numbers in clauses
        ]
        made.sort(key=lambda pair: complexity(pair[0]))
        for number, (clause, home) in enumerate(made):
            self.clauses.append(clause)
            self._homes.append(home)
            self._enter(number)
        for number in sorted(self.alive, reverse=True):
            reasons = self._reasons(number)
            if reasons is not None:
                self._leave(number)
                self.following[number] = reasons

    def _enter(self, number: int) -> None:
        reasons = self._reasons(number)
        if reasons is not None:
            self.following[number] = reasons
            return
        self.alive.add(number)
        for placed in self._placed:
            placed.add(number, self.clauses[number])

    def _leave(self, number: int) -> None:
        self.alive.discard(number)
        for placed in self._placed:
            placed.masks.pop(number, None)

    def _reasons(self, number: int) -> frozenset[int] | None:
        return self._placed[self._homes[number]].reasons(self.clauses[number], number)

    def kill(self, numbers: Iterable[int]) -> set[int]:
        """Some are not inductive; returns those that come in, because they no longer follow."""
        dead = set(numbers)
        for number in dead:
            self._leave(number)
        before = set(self.alive)
        for number in sorted(n for n, reasons in self.following.items() if reasons & dead):
            del self.following[number]
            self._enter(number)
        return self.alive - before


def complexity(clause: Clause) -> tuple[int, int, int]:
    """How much there is to read, for choosing among clauses."""
    size = sum(1 for literal in clause.literals for _ in nodes(literal.condition))
    return len(clause.literals) + len(clause.params), size, len(clause.params)


def enumerated(
    ir: MachineIR,
    samples: Sequence[Sample],
    variables: int,
    literals: int,
    rich: bool,
    until: float,
) -> Pool:
    """The pool of all true minimal clauses of this shape, or of those that time allowed.

    variables, literals: how many there are at most in a clause.
    """
    vocabulary = Vocabulary(ir, rich)
    pool = Pool()
    found = []
    for params in prefixes(ir, variables):
        if time.monotonic() > until:
            pool.whole = False
            break
        rows = Rows(samples, params, vocabulary.conditions(params))
        named = Literals(params, rows.conditions)
        made = Enumeration(named, rows, literals, until).run()
        pool.whole &= made.whole
        found.append((named, made.clauses))
    pool.fill(found)
    return pool
