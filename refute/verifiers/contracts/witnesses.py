"""Witnesses: inputs on which some obligation fails, found by bounded execution.

The function is executed again for inputs of small given sizes, with loops unrolled and calls
executed, so nothing is abstracted: where that breaks the contract, the code does. The inputs are
proposals all the same; they count only once they were played.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence

import z3

from refute.plain import Plain
from refute.verifiers.contracts.context import TooLarge
from refute.verifiers.contracts.kinds import Kind
from refute.verifiers.contracts.program import Program
from refute.verifiers.contracts.run import UNSUPPORTED, Mode, Obligation, Refused
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.terms import Term, conj, known, lift, neg
from refute.verifiers.contracts.values import (
    BoolV,
    IntV,
    NoneV,
    Ref,
    Seq,
    SeqV,
    StrV,
    TupleV,
    UnionV,
    Value,
)
from refute.verifiers.contracts.verification import Task, Verified, parameter_kinds, verify

SIZES = 5  # elements of a sequence, at most
MOST_SHAPES = 40
LARGEST = 40  # elements of a sequence that is read off a model
BOUNDS = (1, 4, 20, 300, 70_000, None)
EFFORT = 4_000_000
UNFIT = (UNSUPPORTED, "condition")  # what these obligations lack is no defect of the code


class NoValue(Exception):
    """A model's value that cannot be written down."""


def search(program: Program, task: Task, deadline: float) -> Iterator[Plain]:
    """Inputs that seem to break the contract, small ones first, until the deadline."""
    for unroll in (4, 12):
        for sizes in _shapes(parameter_kinds(task)):
            if time.monotonic() > deadline:
                return
            mode = Mode(unroll, unroll + 4, infer=False, deadline=deadline)
            try:
                verified = verify(program, task, mode, sizes)
            except (Refused, TooLarge, RecursionError):
                continue
            yield from _failing(verified, deadline)


def _shapes(kinds: Mapping[str, Kind]) -> list[dict[str, int]]:
    """Sizes for the parameters that hold sequences, the smallest in all first."""
    names = [name for name, kind in kinds.items() if _sequences(kind)]
    shapes = [
        dict(zip(names, sizes, strict=True))
        for sizes in itertools.product(range(SIZES + 1), repeat=min(len(names), 4))
        if len(names) <= 4
    ]
    return sorted(shapes, key=lambda s: (sum(s.values()), *s.values()))[:MOST_SHAPES]


def _sequences(kind: Kind) -> bool:
    return kind.is_sequence or any(map(_sequences, kind.inner))


def _failing(verified: Verified, deadline: float) -> Iterator[Plain]:
    """An input for which some obligation fails, if Z3 finds one."""
    run = verified.run
    wrong = [
        _wrong(obligation) for obligation in run.sinks.obligations if obligation.kind not in UNFIT
    ]
    wrong = [w for w in wrong if w is not False]
    if not wrong:
        return
    numbers = list(_numbers(verified.entry, list(verified.arguments.values())))
    for bound in BOUNDS:
        left = deadline - time.monotonic()
        if left <= 0:
            return
        solver = z3.Solver()
        solver.set("rlimit", EFFORT)
        solver.set("timeout", max(1, int(left * 1000)))
        solver.set("random_seed", 0)
        solver.add(*run.context.axioms, z3.Or([lift(w) for w in wrong]))
        if bound is not None:
            solver.add(*(z3.And(n >= -bound, n <= bound) for n in numbers))
        answer = solver.check()
        if answer == z3.sat:
            yield from inputs(verified, solver.model())
            return
        if answer == z3.unsat and (bound is None or not numbers):
            return


def _wrong(obligation: Obligation) -> Term:
    facts = [*obligation.state.path, *obligation.state.facts]
    return conj([*facts, neg(obligation.goal)])


def _numbers(state: State, values: Sequence[Value]) -> Iterator[Term]:
    """The unknown ints in values."""
    for value in values:
        match value:
            case IntV(term=term):
                if not known(term):
                    yield term
            case TupleV(items=items):
                yield from _numbers(state, items)
            case Ref():
                yield from _numbers(state, state.cell(value).seq.items or ())
            case SeqV(seq=seq):
                yield from _numbers(state, seq.items or ())
            case UnionV(options=cases):
                yield from _numbers(state, [v for _, v in cases])


def inputs(verified: Verified, model: Term) -> Iterator[Plain]:
    """The arguments as a model has them, if they can be written down."""
    try:
        yield {
            name: _Reader(verified, model).plain(value)
            for name, value in verified.arguments.items()
        }
    except NoValue:
        return


class _Reader:
    """Reads values off a model."""

    def __init__(self, verified: Verified, model: Term) -> None:
        self.state = verified.entry
        self.model = model
        self.literals = verified.run.context.literals

    def plain(self, value: Value) -> Plain:
        """The value as plain data. Raises NoValue."""
        match value:
            case IntV(term=term):
                return self.number(term)
            case BoolV(term=term):
                return self.flag(term)
            case NoneV():
                return None
            case StrV(term=term):
                return self.text(term)
            case TupleV(items=items):
                return tuple(map(self.plain, items))
            case Ref():
                cell = self.state.cell(value)
                return self.elements(cell.kind, cell.seq)
            case SeqV(kind=kind, seq=seq):
                return self.elements(kind, seq)
            case UnionV(options=cases):
                for condition, option in cases:
                    if self.flag(condition):
                        return self.plain(option)
        raise NoValue

    def elements(self, kind: str, seq: Seq) -> Plain:
        """A sequence of the kind."""
        length = self.number(seq.length)
        if length > LARGEST:
            raise NoValue
        items = [self.plain(seq.at(i)) for i in range(length)]
        if kind in ("bytes", "bytearray"):
            octets = [i % 256 for i in items]
            return bytes(octets) if kind == "bytes" else bytearray(octets)
        return items if kind == "list" else tuple(items)

    def number(self, term: Term) -> int:
        """An int."""
        if known(term):
            return int(term)
        value = self.model.eval(term, model_completion=True)
        if not z3.is_int_value(value):
            raise NoValue
        return int(value.as_long())

    def flag(self, term: Term) -> bool:
        """A bool."""
        if isinstance(term, bool):
            return term
        return bool(z3.is_true(self.model.eval(term, model_completion=True)))

    def text(self, term: Term) -> str:
        """The literal that a string equals, or a text that is no literal."""
        value = self.model.eval(term, model_completion=True)
        for text, symbol in self.literals.items():
            if value.eq(self.model.eval(symbol, model_completion=True)):
                return text
        name = str(value).rpartition("!")[2]
        return next(t for t in (name, name + "~", name + "~~") if t not in self.literals)
