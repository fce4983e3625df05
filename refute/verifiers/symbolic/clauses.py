"""Small clauses that are true of all samples, each by none of its literals too many.

A literal is a condition or its opposite, and is kept as a bit of a number; so is each row of the
samples. A clause is true when no row makes all of its literals false, which is one `&` of numbers
for each literal. Minimal clauses are found depth first: a literal that leaves the false rows as
they are, or that finishes a smaller clause, ends its branch.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr, Param, Property
from refute.specs.machine.lower import used
from refute.verifiers.symbolic.rewriting import not_, or_, substituted
from refute.verifiers.symbolic.rows import Rows

CHECKED = 4096  # steps of the enumeration between two looks at the clock


@frozen
class Literal:
    """A condition, or its opposite."""

    condition: Expr
    positive: bool

    @property
    def expr(self) -> Expr:
        """The literal as one expression."""
        return self.condition if self.positive else not_(self.condition)


@frozen
class Clause:
    """For all different values of the variables at least one of the literals is true.

    Different only among variables of one Sort, and not those in `loose`, pairs of names. goal: the
    name of the property that it stands for, whose predicate is then the only literal.
    """

    params: tuple[Param, ...]
    literals: tuple[Literal, ...]
    goal: str = ""
    loose: tuple[tuple[str, str], ...] = ()

    @property
    def predicate(self) -> Expr:
        """The clause for given values of its variables, true where two of them are equal."""
        equal = [_same(a, b) for a, b in apart(self)]
        return or_((*equal, *(literal.expr for literal in self.literals)))

    def as_property(self, name: str) -> Property:
        """The clause as an invariant of the machine."""
        return Property(name, "invariant", self.params, self.predicate)


def goal(prop: Property) -> Clause:
    """A property that is to be proved, as a clause of one literal."""
    return Clause(prop.params, (Literal(prop.predicate, True),), prop.name)


def apart(clause: Clause) -> list[tuple[Param, Param]]:
    """The pairs of variables of whose equal values the clause says nothing."""
    found = [] if clause.goal else _pairs(clause.params)
    return [(a, b) for a, b in found if (a.name, b.name) not in clause.loose]


def _pairs(params: Sequence[Param]) -> list[tuple[Param, Param]]:
    return [(a, b) for a, b in itertools.combinations(params, 2) if a.type == b.type]


def _same(a: Param, b: Param) -> Expr:
    sides = tuple(Expr("local", p.type, (), p.name) for p in (a, b))
    return Expr("==", t.Bool(), sides)


class Literals:
    """The literals over some variables, numbered: 2n is the n-th condition, 2n + 1 its opposite."""

    def __init__(self, params: Sequence[Param], conditions: Sequence[Expr]) -> None:
        self.params = tuple(params)
        self.conditions = tuple(conditions)
        self.numbers = {c: 2 * at for at, c in enumerate(conditions)}
        names = [p.name for p in params]
        self.reads = [
            sum(1 << names.index(n) for n in used(c) if n in names) for c in self.conditions
        ]
        self.all_read = (1 << len(names)) - 1
        self.moves = [self._moved(m) for m in _renamings(self.params, self.params)]

    def _moved(self, renaming: dict[str, Expr]) -> list[int]:
        """For each literal the number of the one that says the same of renamed variables; -1 where
        there is none."""
        moved = []
        for condition in self.conditions:
            at = self.numbers.get(substituted(condition, renaming), -1)
            moved += [at, at + 1 if at >= 0 else -1]
        return moved

    def canonical(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """The first, in order, of all clauses that differ only in the names of their variables."""
        found = [tuple(sorted(move[n] for n in numbers)) for move in self.moves]
        return min(f for f in found if f[0] >= 0)

    def clause(self, numbers: Sequence[int]) -> Clause:
        """The clause of these literals."""
        made = tuple(Literal(self.conditions[n // 2], n % 2 == 0) for n in sorted(numbers))
        return Clause(self.params, made)

    def placed(self, clause: Clause) -> Iterator[tuple[int, ...]]:
        """The clause over these variables, in every way to choose its own among them, as numbers
        of literals. Nothing where it has a condition that is not here."""
        for renaming in _renamings(clause.params, self.params):
            numbers = []
            for literal in clause.literals:
                at = self.numbers.get(substituted(literal.condition, renaming), -1)
                numbers.append(at if literal.positive else at + 1)
                if at < 0:
                    break
            else:
                yield tuple(numbers)


def _renamings(own: Sequence[Param], among: Sequence[Param]) -> Iterator[dict[str, Expr]]:
    """Every way to put different variables of the same types in the place of each other."""
    for chosen in itertools.permutations(among, len(own)):
        if all(a.type == b.type for a, b in zip(own, chosen, strict=True)):
            pairs = zip(own, chosen, strict=True)
            yield {a.name: Expr("local", b.type, (), b.name) for a, b in pairs}


@frozen
class Found:
    """True minimal clauses as numbers of literals, by how many there are; whether all of them."""

    clauses: tuple[tuple[int, ...], ...]
    whole: bool


class Enumeration:
    """The true minimal clauses of at most so many literals that name all of the variables."""

    def __init__(self, literals: Literals, rows: Rows, most: int, until: float) -> None:
        self.literals = literals
        self.most = most
        self.until = until
        every = (1 << len(rows.found)) - 1
        self.every = every
        self.false: list[int] = []  # by literal, the rows that it is false in
        for column in rows.columns():
            self.false += [every ^ column, column]
        self.reads = [reads for reads in literals.reads for _ in range(2)]
        self.found: dict[tuple[int, ...], None] = {}
        self.ticks = 0
        self.whole = True

    def run(self) -> Found:
        """The clauses, short ones first, each once for all names of its variables."""
        units = [n for n, rows in enumerate(self.false) if rows == 0]
        for n in units:
            if self.reads[n] == self.literals.all_read:
                self.found[self.literals.canonical((n,))] = None
        settled = {n ^ 1 for n in units} | set(units)
        order = [n for n in range(len(self.false)) if n not in settled]
        try:
            for size in range(2, self.most + 1):
                self._grow((), self.every, order, size)
        except TimeoutError:
            self.whole = False
        return Found(tuple(self.found), self.whole)

    def _grow(self, chosen: tuple[int, ...], rows: int, order: list[int], size: int) -> None:
        """Add literals to the chosen ones, which are false together in the rows.

        order: those that may still be added. What finishes a clause that is too small here was
        found at its own size, and is left out of all larger ones below.
        """
        false = self.false
        if len(chosen) == size - 1:
            for n in order:
                if not rows & false[n]:
                    self._keep((*chosen, n))
            return
        for at, n in enumerate(order):
            self._tick()
            left = rows & false[n]
            further = [
                k
                for k in order[at + 1 :]
                if left & false[k] != left and left & false[k] != rows & false[k]
            ]
            if size - len(chosen) > 2:
                further = [k for k in further if left & false[k]]
            self._grow((*chosen, n), left, further, size)

    def _keep(self, numbers: tuple[int, ...]) -> None:
        if numbers[0] ^ numbers[-1] == 1 or not self._minimal(numbers):
            return  # a condition or its opposite, which says nothing; or a shorter one says it
        reads = 0
        for n in numbers:
            reads |= self.reads[n]
        if reads == self.literals.all_read:
            self.found[self.literals.canonical(numbers)] = None

    def _minimal(self, numbers: tuple[int, ...]) -> bool:
        for left_out in numbers:
            rows = self.every
            for n in numbers:
                if n != left_out:
                    rows &= self.false[n]
            if not rows:
                return False
        return True

    def _tick(self) -> None:
        self.ticks += 1
        if self.ticks % CHECKED == 0 and time.monotonic() > self.until:
            raise TimeoutError
