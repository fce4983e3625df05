"""The candidates that an induction works with, and those that follow from them.

Most true clauses follow from shorter ones by unit propagation. They say nothing new while those
stand, but may when one of those turns out not to be inductive: then they come in in its place. So
the largest inductive subset is that of all candidates, though only the independent ones are ever
put to the solver.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Iterable, Sequence

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.ir import MachineIR, Param
from refute.verifiers.symbolic.alternation import chosen_by, functions_of, goes_round
from refute.verifiers.symbolic.candidates import QUANTIFIED, Vocabulary, prefixes
from refute.verifiers.symbolic.clauses import Clause, Enumeration, Literals
from refute.verifiers.symbolic.rewriting import nodes
from refute.verifiers.symbolic.rows import Columns, Rows
from refute.verifiers.symbolic.sampling_states import Sample


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


@frozen
class Shape:
    """Clauses of at most so many variables and literals. level: of `candidates`.

    circles: those too whose quantifiers take Z3 round in a circle.
    """

    variables: int
    literals: int
    level: str = QUANTIFIED
    circles: bool = False

    def __str__(self) -> str:
        size = f"{self.variables} variables, {self.literals} literals"
        return f"{size}, {self.level} conditions{' in circles' if self.circles else ''}"


def enumerated(ir: MachineIR, columns: Columns, shape: Shape, until: float) -> Pool:
    """The pool of all true minimal clauses of this shape, or of those that time allowed.

    No clause has more variables of a Sort than the largest sample has members.
    """
    vocabulary = Vocabulary(ir, shape.level)
    functions = functions_of(ir)
    pool = Pool()
    found = []
    for params in prefixes(ir, shape.variables):
        if time.monotonic() > until:
            pool.whole = False
            break
        if not _sampled(params, columns.samples):
            continue
        rows = Rows(columns, params, vocabulary.conditions(params))
        named = Literals(params, rows.conditions)
        made = Enumeration(named, rows, shape.literals, until).run()
        pool.whole &= made.whole
        ways = {n: chosen_by(named.clause((n,))) for n in range(2 * len(rows.conditions))}
        edges = [functions.union(*(ways[n] for n in clause)) for clause in made.clauses]
        pairs = zip(made.clauses, edges, strict=True)
        found.append((named, [c for c, e in pairs if shape.circles or not goes_round(e)]))
    pool.fill(found)
    return pool


def _sampled(params: Sequence[Param], samples: Sequence[Sample]) -> bool:
    """Whether some sample has different values for all of the variables."""
    wanted = collections.Counter(p.type.name for p in params if isinstance(p.type, t.Atoms))
    return any(
        all(len(sample.sizes[name].members) >= count for name, count in wanted.items())
        for sample in samples
    )
