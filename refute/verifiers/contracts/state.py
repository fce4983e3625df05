"""State: the variables and the heap at a point of a function, and how states become one.

Where paths meet they are merged, each variable to the value of the path that was taken, so that
the number of states does not grow with the number of branches. `path` are the branches taken,
`facts` what is known on top of them: that the operations so far raised nothing, what contracts of
called functions promise, loop invariants.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import z3

from refute.verifiers.contracts.kinds import NEVER, Kind, union
from refute.verifiers.contracts.terms import (
    Term,
    conj,
    disj,
    fold_bool,
    implies,
    is_false,
    is_true,
    neg,
    same,
)
from refute.verifiers.contracts.values import (
    UNBOUND,
    Ref,
    Seq,
    SeqV,
    TupleV,
    UnboundV,
    UnionV,
    Value,
    choose,
    kind_of,
    merge,
    merge_seqs,
)


@dataclasses.dataclass(frozen=True, eq=False)
class Cell:
    """A mutable object. kind: list or bytearray. frozen: why it may not be changed any more."""

    kind: str
    seq: Seq
    frozen: str = ""


@dataclasses.dataclass(eq=False)
class State:
    """env: the locals. stack: the locals of the callers. heap: address → cell."""

    env: dict[str, Value] = dataclasses.field(default_factory=dict)
    stack: tuple[Mapping[str, Value], ...] = ()
    heap: dict[int, Cell] = dataclasses.field(default_factory=dict)
    path: list[Term] = dataclasses.field(default_factory=list)
    facts: list[Term] = dataclasses.field(default_factory=list)

    def copy(self) -> State:
        """An independent copy."""
        return State(dict(self.env), self.stack, dict(self.heap), [*self.path], [*self.facts])

    def assume(self, fact: Term) -> None:
        """Go on only where the fact holds."""
        fact = fold_bool(fact)
        if not is_true(fact):
            self.facts.append(fact)

    @property
    def dead(self) -> bool:
        """Whether it is known that execution does not come here."""
        return any(is_false(c) for c in self.path) or any(is_false(f) for f in self.facts)

    def branch(self, condition: Term) -> State:
        """A copy of the state in which the condition held."""
        taken = self.copy()
        if not is_true(condition):
            taken.path.append(condition)
        return taken

    def decided(self, condition: Term) -> bool | None:
        """What the branches taken say about a condition, as far as it can be seen at once."""
        if isinstance(condition, bool):
            return condition
        inverse = neg(condition)
        for taken in self.path:
            for part in _parts(taken):
                if same(part, condition):
                    return True
                if same(part, inverse):
                    return False
        return None

    @contextlib.contextmanager
    def under(self, condition: Term) -> Iterator[None]:
        """What happens in this context happens only where the condition holds."""
        if is_true(condition):
            yield
            return
        env, heap, count = dict(self.env), dict(self.heap), len(self.facts)
        self.path.append(condition)
        try:
            yield
        finally:
            self.path.pop()
        new = self.facts[count:]
        del self.facts[count:]
        for fact in new:
            self.assume(implies(condition, fact))
        for name, value in self.env.items():
            if env.get(name) is not value:
                self.env[name] = merge(condition, value, env.get(name, UNBOUND))
        for address, cell in self.heap.items():
            before = heap.get(address)
            if before is not None and before is not cell:
                self.heap[address] = _merge_cells(condition, cell, before)

    def cell(self, ref: Ref) -> Cell:
        """The object at a reference."""
        return self.heap[ref.address]

    def frozen(self, value: Value, why: str) -> Value:
        """The value for a place inside a container: objects become values and stay as they are."""
        match value:
            case Ref(address=address):
                cell = self.heap[address]
                self.heap[address] = dataclasses.replace(cell, frozen=cell.frozen or why)
                return SeqV(cell.kind, cell.seq)
            case TupleV(items=items):
                return TupleV(tuple(self.frozen(i, why) for i in items))
            case UnionV(options=cases):
                return choose([(c, self.frozen(v, why)) for c, v in cases])
        return value

    def kind(self, value: Value) -> Kind:
        """The kind of a value, with what its references point to."""
        match value:
            case Ref(address=address):
                cell = self.heap[address]
                return Kind(cell.kind, (cell.seq.element,) if cell.kind == "list" else ())
            case TupleV(items=items):
                return Kind("tuple", tuple(map(self.kind, items)))
            case UnionV(options=cases):
                return union([self.kind(v) for _, v in cases])
            case UnboundV():
                return NEVER
        return kind_of(value)


def _parts(condition: Term) -> Sequence[Term]:
    if isinstance(condition, bool):
        return ()
    return condition.children() if z3.is_and(condition) else (condition,)


def _merge_cells(condition: Term, then: Cell, other: Cell) -> Cell:
    seq = merge_seqs(condition, then.seq, other.seq)
    return Cell(then.kind, seq, then.frozen or other.frozen)


def merge_states(states: Sequence[State]) -> State | None:
    """One state for all of these, which have left a common one on paths that exclude each other."""
    live = [s for s in states if not s.dead]
    if not live:
        return None
    result = live[-1]
    for state in reversed(live[:-1]):
        result = _merge_two(state, result)
    return result


def _merge_two(left: State, right: State) -> State:
    shared = _common(left.path, right.path)
    taken = conj(left.path[shared:])
    others = conj(right.path[shared:])
    if is_true(taken):
        taken = neg(others)
    joined = fold_bool(disj([taken, others]))
    merged = State(stack=left.stack, path=left.path[:shared])
    if not (is_true(joined) or _complementary(taken, others)):
        merged.path.append(joined)
    known = _common(left.facts, right.facts)
    merged.facts = left.facts[:known]
    for condition, state in ((taken, left), (others, right)):
        for fact in state.facts[known:]:
            merged.assume(implies(condition, fact))
    for name in {**left.env, **right.env}:
        merged.env[name] = merge(taken, left.env.get(name, UNBOUND), right.env.get(name, UNBOUND))
    merged.heap = {**left.heap, **right.heap}
    for address in left.heap.keys() & right.heap.keys():
        a, b = left.heap[address], right.heap[address]
        if a is not b:
            merged.heap[address] = _merge_cells(taken, a, b)
    return merged


def _complementary(left: Term, right: Term) -> bool:
    return same(left, neg(right))


def _common(left: Sequence[Term], right: Sequence[Term]) -> int:
    count = 0
    for a, b in zip(left, right, strict=False):
        if a is not b and not same(a, b):
            break
        count += 1
    return count
