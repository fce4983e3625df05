"""Bits: obligations about bit operations on bounded ints, as formulas over bit vectors.

Arithmetic knows little of `x & y` for two unknowns. Where the facts bound every int that a goal
speaks of, there is a width in which no operation overflows, and in which the goal is a formula over
bit vectors that says the same. What cannot be translated is dropped from the facts, and what is
neither arithmetic nor a bit operation becomes a free variable of its range; both only leave more
to be refuted, so what is proved here holds. Nothing is ever refuted here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import z3

from refute.verifiers.contracts.integers import AND, BITS, POW2, SHR
from refute.verifiers.contracts.terms import Term

WIDEST = 160
ROUNDS = 4
EFFORT = 6_000_000

Range = tuple[int, int]


class Untranslatable(Exception):
    """A term that is not bounded, or no arithmetic."""


def proved_by_bits(
    axioms: Sequence[Term], facts: Sequence[Term], goal: Term, wall_s: float
) -> bool:
    """Whether the goal follows from the facts, in bit vectors. Of the axioms only bounds are used.

    False at once if the goal and the facts hold no bit operation, or the goal is not bounded.
    """
    if not any(has_bits(f) for f in (*facts, goal)):
        return False
    try:
        return _proved([a for a in axioms if not z3.is_quantifier(a)], facts, goal, wall_s)
    except (Untranslatable, RecursionError):
        return False


def _proved(axioms: Sequence[Term], facts: Sequence[Term], goal: Term, wall_s: float) -> bool:
    ranges = _Ranges(list(_conjuncts(facts)), list(_conjuncts(axioms)))
    ranges.check(goal)
    given = [f for f in ranges.facts if ranges.fits(f)]
    width = ranges.widest + 1
    if width > WIDEST:
        return False
    vectors = _Vectors(ranges, width)
    solver = z3.SolverFor("QF_BV")
    solver.set("rlimit", EFFORT)
    solver.set("timeout", max(1, int(wall_s * 1000)))
    solver.add(z3.Not(vectors.formula(goal)), *map(vectors.formula, given), *vectors.limits)
    return bool(solver.check() == z3.unsat)


def has_bits(formula: Term) -> bool:
    """Whether a formula holds a bit operation, outside of quantifiers."""
    todo, seen = [formula], set()
    while todo:
        node = todo.pop()
        if node.get_id() in seen:
            continue
        seen.add(node.get_id())
        if z3.is_quantifier(node):
            continue
        if any(node.decl().eq(f) for f in (AND, SHR, POW2, BITS)):
            return True
        todo += node.children()
    return False


def _conjuncts(facts: Iterable[Term]) -> Iterable[Term]:
    for fact in facts:
        if z3.is_and(fact):
            yield from _conjuncts(fact.children())
        else:
            yield fact


@dataclasses.dataclass(eq=False)
class _Ranges:
    """The ranges of int terms, as far as the facts bound them. widest: bits of any term met."""

    facts: list[Term]
    axioms: list[Term]
    limits: dict[int, tuple[int | None, int | None]] = dataclasses.field(default_factory=dict)
    known: dict[int, Range] = dataclasses.field(default_factory=dict)
    checked: set[int] = dataclasses.field(default_factory=set)
    widest: int = 1

    def __post_init__(self) -> None:
        for _ in range(ROUNDS):
            before = dict(self.limits)
            for fact in (*self.axioms, *self.facts):
                self._learn(fact)
            if before == self.limits:
                break
        self.widest = 1

    def _learn(self, fact: Term) -> None:
        """Take a bound from `x <= t`, `x < t`, `x == t` and their negations."""
        inverse = z3.is_not(fact)
        atom = fact.arg(0) if inverse else fact
        if not z3.is_app(atom) or atom.num_args() != 2 or not z3.is_int(atom.arg(0)):
            return
        left, right = atom.arg(0), atom.arg(1)
        if z3.is_ge(atom) or z3.is_gt(atom):
            left, right = right, left
        strict = z3.is_lt(atom) or z3.is_gt(atom)
        if z3.is_eq(atom) and not inverse:
            self._below(left, right, 0)
            self._below(right, left, 0)
        elif z3.is_le(atom) or z3.is_ge(atom) or strict:
            if inverse:
                left, right, strict = right, left, not strict
            self._below(left, right, int(strict))

    def _below(self, left: Term, right: Term, gap: int) -> None:
        """left + gap <= right."""
        if _opaque(left):
            most = self._maybe(right)
            low, high = self.limits.get(left.get_id(), (None, None))
            if most is not None and (high is None or high > most[1] - gap):
                self._limit(left, (low, most[1] - gap))
        if _opaque(right):
            least = self._maybe(left)
            low, high = self.limits.get(right.get_id(), (None, None))
            if least is not None and (low is None or low < least[0] + gap):
                self._limit(right, (least[0] + gap, high))

    def _limit(self, term: Term, limits: tuple[int | None, int | None]) -> None:
        self.limits[term.get_id()] = limits
        self.known.clear()

    def _maybe(self, term: Term) -> Range | None:
        try:
            return self.of(term)
        except Untranslatable:
            return None

    def fits(self, formula: Term) -> bool:
        """Whether every int in the formula is bounded; the widest then counts."""
        before = self.widest
        try:
            self.check(formula)
        except Untranslatable:
            self.widest = before
            return False
        if self.widest >= WIDEST:
            self.widest = before
            return False
        return True

    def check(self, formula: Term) -> None:
        """Raises Untranslatable."""
        if z3.is_quantifier(formula):
            raise Untranslatable
        if z3.is_int(formula):
            self.of(formula)
            return
        if not z3.is_bool(formula):
            raise Untranslatable
        if formula.get_id() not in self.checked and _translated(formula):
            for part in formula.children():
                self.check(part)
            self.checked.add(formula.get_id())

    def of(self, term: Term) -> Range:
        """The range of an int term. Raises Untranslatable."""
        held = self.known.get(term.get_id())
        if held is None:
            held = self._of(term)
            if held[0] > held[1]:
                held = (held[0], held[0])  # the facts contradict each other
            self.known[term.get_id()] = held
        self.widest = max(self.widest, held[0].bit_length() + 1, held[1].bit_length() + 1)
        return held

    def _of(self, term: Term) -> Range:
        if z3.is_int_value(term):
            value = term.as_long()
            return value, value
        if _opaque(term):
            low, high = self.limits.get(term.get_id(), (None, None))
            if low is None or high is None:
                raise Untranslatable
            return low, high
        if z3.is_app_of(term, z3.Z3_OP_ITE):
            self.check(term.arg(0))
            return _hull([self.of(term.arg(1)), self.of(term.arg(2))])
        parts = [self.of(part) for part in term.children()]
        return _result(term, parts)


def _result(term: Term, parts: list[Range]) -> Range:
    """The range of an operation on ranges. Raises Untranslatable."""
    kind = term.decl().kind()
    if kind == z3.Z3_OP_ADD:
        return sum(p[0] for p in parts), sum(p[1] for p in parts)
    if kind == z3.Z3_OP_SUB:
        low, high = parts[0]
        return low - sum(p[1] for p in parts[1:]), high - sum(p[0] for p in parts[1:])
    if kind == z3.Z3_OP_UMINUS:
        return -parts[0][1], -parts[0][0]
    if kind == z3.Z3_OP_MUL:
        result = parts[0]
        for part in parts[1:]:
            corners = [a * b for a in result for b in part]
            result = min(corners), max(corners)
        return result
    if kind in (z3.Z3_OP_IDIV, z3.Z3_OP_MOD) and parts[1][0] > 0:
        if kind == z3.Z3_OP_MOD:
            return 0, parts[1][1] - 1
        return _hull([(a // b, a // b) for a in parts[0] for b in parts[1]])
    return _bit_result(term, parts)


def _bit_result(term: Term, parts: list[Range]) -> Range:
    declared = term.decl()
    if declared.eq(AND):
        (a, b), (c, d) = parts
        if a >= 0 or c >= 0:
            return 0, min(x for low, x in parts if low >= 0)
        bits = max(v.bit_length() for v in (a, b, c, d))
        return -(1 << bits), (1 << bits) - 1
    if declared.eq(SHR) and parts[1][0] >= 0 and parts[1][1] <= WIDEST:
        return _hull([(a >> b, a >> b) for a in parts[0] for b in parts[1]])
    if declared.eq(POW2) and parts[0][0] >= 0 and parts[0][1] <= WIDEST:
        return 1 << parts[0][0], 1 << parts[0][1]
    if declared.eq(BITS):
        return 0, max(v.bit_length() for v in parts[0])
    raise Untranslatable


def _hull(ranges: Sequence[Range]) -> Range:
    return min(r[0] for r in ranges), max(r[1] for r in ranges)


def _opaque(term: Term) -> bool:
    """Whether the term is a variable here: no arithmetic, and no bit operation."""
    if not z3.is_app(term) or z3.is_int_value(term):
        return False
    declared = term.decl()
    if declared.kind() == z3.Z3_OP_UNINTERPRETED:
        return not any(declared.eq(f) for f in (AND, SHR, POW2, BITS))
    return bool(z3.is_select(term))


_LOGIC = frozenset(
    {z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_NOT, z3.Z3_OP_IMPLIES, z3.Z3_OP_ITE}
    | {z3.Z3_OP_XOR, z3.Z3_OP_IFF, z3.Z3_OP_TRUE, z3.Z3_OP_FALSE}
)
_RELATIONS = frozenset(
    (z3.Z3_OP_EQ, z3.Z3_OP_DISTINCT, z3.Z3_OP_LE, z3.Z3_OP_LT, z3.Z3_OP_GE, z3.Z3_OP_GT)
)


def _translated(formula: Term) -> bool:
    """Whether a condition is taken apart; any other is a free one."""
    return formula.decl().kind() in _LOGIC | _RELATIONS


class _Vectors:
    """Terms as bit vectors of one width. limits: the ranges of the variables."""

    def __init__(self, ranges: _Ranges, width: int) -> None:
        self.ranges = ranges
        self.width = width
        self.limits: list[Term] = []
        self.made: dict[int, Term] = {}

    def formula(self, formula: Term) -> Term:
        """A condition, of which connectives and relations of ints are translated."""
        if z3.is_int(formula):
            return self.number(formula)
        key = formula.get_id()
        if key not in self.made:
            self.made[key] = self._formula(formula)
        return self.made[key]

    def _formula(self, formula: Term) -> Term:
        if not _translated(formula):
            return z3.Bool(f"flag!{len(self.made)}")
        parts = [self.formula(part) for part in formula.children()]
        match formula.decl().kind():
            case z3.Z3_OP_LE:
                return parts[0] <= parts[1]
            case z3.Z3_OP_LT:
                return parts[0] < parts[1]
            case z3.Z3_OP_GE:
                return parts[0] >= parts[1]
            case z3.Z3_OP_GT:
                return parts[0] > parts[1]
            case z3.Z3_OP_EQ:
                return parts[0] == parts[1]
            case z3.Z3_OP_DISTINCT:
                return z3.Distinct(*parts)
        return formula.decl()(*parts)

    def number(self, term: Term) -> Term:
        """An int term as a bit vector."""
        key = term.get_id()
        if key not in self.made:
            self.made[key] = self._number(term)
        return self.made[key]

    def _number(self, term: Term) -> Term:
        if z3.is_int_value(term):
            return z3.BitVecVal(term.as_long(), self.width)
        if _opaque(term):
            variable = z3.BitVec(f"bits!{len(self.limits)}", self.width)
            low, high = self.ranges.of(term)
            self.limits.append(z3.And(variable >= low, variable <= high))
            return variable
        if z3.is_app_of(term, z3.Z3_OP_ITE):
            test = self.formula(term.arg(0))
            return z3.If(test, self.number(term.arg(1)), self.number(term.arg(2)))
        return self._operation(term, [self.number(part) for part in term.children()])

    def _operation(self, term: Term, parts: list[Term]) -> Term:
        kind, declared = term.decl().kind(), term.decl()
        if kind == z3.Z3_OP_UMINUS:
            return -parts[0]
        if declared.eq(AND):
            return parts[0] & parts[1]
        if declared.eq(SHR):
            return parts[0] >> parts[1]
        if declared.eq(POW2):
            return z3.BitVecVal(1, self.width) << parts[0]
        if declared.eq(BITS):
            return self._length(parts[0])
        if kind in (z3.Z3_OP_IDIV, z3.Z3_OP_MOD):
            return self._divided(term, parts, kind == z3.Z3_OP_MOD)
        result = parts[0]
        for part in parts[1:]:
            match kind:
                case z3.Z3_OP_ADD:
                    result = result + part
                case z3.Z3_OP_SUB:
                    result = result - part
                case _:
                    result = result * part
        return result

    def _divided(self, term: Term, parts: list[Term], rest: bool) -> Term:
        """Quotient or remainder, rounded down, by a divisor above 0."""
        divisor = term.arg(1)
        if z3.is_int_value(divisor):
            value = divisor.as_long()
            if value & (value - 1) == 0:
                shift = value.bit_length() - 1
                return parts[0] & (value - 1) if rest else parts[0] >> shift
        remainder = z3.SRem(parts[0], parts[1])  # has the sign of the dividend
        down = z3.And(remainder != 0, remainder < 0)
        if rest:
            return z3.If(down, remainder + parts[1], remainder)
        quotient = parts[0] / parts[1]
        return z3.If(down, quotient - 1, quotient)

    def _length(self, value: Term) -> Term:
        size = z3.If(value < 0, -value, value)
        result = z3.BitVecVal(0, self.width)
        for bit in range(self.width - 1):
            result = z3.If(z3.Extract(bit, bit, size) == 1, bit + 1, result)
        return result
