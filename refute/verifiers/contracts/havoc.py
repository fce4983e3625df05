"""Havoc: what a loop's body changes, and any later state in which just that is different.

The body is executed until no more changes appear, each time from a state in which all that was
found so far is unknown. A variable that may come to name another list gets a new object for it; if
the old or the new one has another name, none of them may be changed any more, so that no alias is
forgotten.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Protocol

from refute.verifiers.contracts.kinds import NEVER, OTHER, Kind, join
from refute.verifiers.contracts.objects import fresh_object, references
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.state import Cell, State
from refute.verifiers.contracts.terms import Term, known, same
from refute.verifiers.contracts.values import (
    UNBOUND,
    BoolV,
    IntV,
    NoneV,
    Ref,
    Seq,
    SeqV,
    StrV,
    TupleV,
    UnboundV,
    UnionV,
    Value,
    choose,
    literal,
)

ROUNDS = 8


@dataclasses.dataclass
class Changed:
    """names: local → kind of its values at the start of any iteration; cells: address → element.

    maybe_unbound: locals that have no value at first. shared: lists that variables named at some
    time and that have other names as well; addresses: those lists. frozen: address → why an object
    may not be changed after an iteration. resized: cells whose length changes, not only contents.
    """

    names: dict[str, Kind] = dataclasses.field(default_factory=dict)
    cells: dict[int, Kind] = dataclasses.field(default_factory=dict)
    maybe_unbound: set[str] = dataclasses.field(default_factory=set)
    shared: set[str] = dataclasses.field(default_factory=set)
    addresses: set[int] = dataclasses.field(default_factory=set)
    frozen: dict[int, str] = dataclasses.field(default_factory=dict)
    resized: set[int] = dataclasses.field(default_factory=set)


class Looping(Protocol):
    """What is needed of a loop here."""

    node: ast.While | ast.For
    body: list[ast.stmt]

    def test(self, run: Run, state: State) -> Term:
        """Whether there is another iteration."""
        ...

    def start(self, run: Run, state: State) -> None:
        """What happens before the body."""
        ...

    def assume_index(self, run: Run, state: State) -> None:
        """What is known of a hidden index anyway."""
        ...


def changes(run: Run, entry: State, shape: Looping) -> Changed:
    """What the loop changes, from its entry on."""
    changed = Changed()
    for _ in range(ROUNDS):
        with run.apart() as sinks:
            run.quiet += 1
            head = entry.copy()
            forget(run, head, changed)
            shape.assume_index(run, head)
            head.assume(shape.test(run, head))
            start = head.copy()
            shape.start(run, start)
            end = run.execute(start, shape.body)
            run.quiet -= 1
        ends = [e.state for e in sinks.exits if e.kind == "continue"]
        ends += [] if end is None else [end]
        grown = [_compare(run, entry, head, state, changed) for state in ends]
        if not any(grown):
            return changed
    raise run.refuse("a loop whose variables change their types again and again", shape.node)


def _compare(run: Run, entry: State, head: State, end: State, changed: Changed) -> bool:
    """Add what is different at the end of the body; whether anything is new."""
    grown = False
    for name, value in end.env.items():
        grown |= _note_frozen(end, name, value, changed)
        before = head.env.get(name)
        if before is not None and _unchanged(before, value):
            continue
        grown |= _add_name(entry, end, name, value, changed)
    for address, cell in end.heap.items():
        held = head.heap.get(address)
        if held is None or address not in entry.heap:
            continue  # a new object, or one that stood for a variable's
        if cell.frozen and not held.frozen:
            changed.frozen[address] = cell.frozen
            grown = True
        if held.seq is cell.seq:
            continue
        kind = join(held.seq.element, cell.seq.element)
        if changed.cells.get(address) != kind:
            changed.cells[address] = kind
            grown = True
        if address not in changed.resized and not same(held.seq.length, cell.seq.length):
            changed.resized.add(address)
            grown = True
    return grown


def _note_frozen(end: State, name: str, value: Value, changed: Changed) -> bool:
    """A list that stands in another container by the end may not be changed in the next round."""
    if name in changed.shared or name not in changed.names:
        return False
    if any(end.heap[ref.address].frozen for ref in references(value)):
        changed.shared.add(name)
        return True
    return False


def _add_name(entry: State, end: State, name: str, value: Value, changed: Changed) -> bool:
    kind = end.kind(value)
    first = entry.env.get(name)
    before = changed.names.get(name)
    if first is None:
        changed.maybe_unbound.add(name)
    elif before is None:
        kind = join(entry.kind(first), kind)
        if any(isinstance(o, UnboundV) for _, o in getattr(first, "options", ())):
            changed.maybe_unbound.add(name)
    if before is not None:
        kind = join(before, kind)
    if references(value) or (first is not None and references(first)):
        _note_shared(entry, end, name, value, changed)
    changed.names[name] = kind
    return kind != before


def _note_shared(entry: State, end: State, name: str, value: Value, changed: Changed) -> None:
    first = entry.env.get(name)
    held = [r.address for r in references(value)]
    held += [] if first is None else [r.address for r in references(first)]
    for state in (entry, end):
        others = [v for n, v in state.env.items() if n != name]
        others += [v for env in state.stack for v in env.values()]
        if {r.address for v in others for r in references(v)} & set(held):
            changed.shared.add(name)
            changed.addresses |= set(held)


def _unchanged(before: Value, after: Value) -> bool:
    if before is after:
        return True
    match before, after:
        case IntV(term=a), IntV(term=b):
            return same(a, b)
        case BoolV(term=a), BoolV(term=b):
            return same(a, b)
        case StrV(term=a), StrV(term=b):
            return same(a, b)
        case (NoneV(), NoneV()) | (UnboundV(), UnboundV()):
            return True
        case Ref(), Ref():
            return before.address == after.address
        case TupleV(), TupleV():
            pairs = zip(before.items, after.items, strict=False)
            return len(before.items) == len(after.items) and all(_unchanged(a, b) for a, b in pairs)
        case SeqV(), SeqV():
            return before.seq is after.seq
        case UnionV(), UnionV():
            pairs_ = zip(before.options, after.options, strict=False)
            return len(before.options) == len(after.options) and all(
                same(a[0], b[0]) and _unchanged(a[1], b[1]) for a, b in pairs_
            )
    return False


def forget(run: Run, state: State, changed: Changed) -> None:
    """Make everything that changed unknown."""
    for address, kind in changed.cells.items():
        cell = state.heap[address]
        seq = _any_seq(run, cell, kind)
        if address not in changed.resized:
            seq = _as_long(seq, cell.seq.length)
        state.heap[address] = dataclasses.replace(cell, seq=seq)
    for name, kind in changed.names.items():
        if kind.name == OTHER.name or any(k.name == OTHER.name for k in kind.inner):
            raise run.refuse(f"the loop variable {name}, which changes to something that", None)
        frozen = ""
        if name in changed.shared:
            frozen = f"a change of the list {name}, which has another name as well,"
        value = UNBOUND if kind == NEVER else fresh_object(run, state, kind, name, frozen)
        if name in changed.maybe_unbound and kind != NEVER:
            unset = run.context.condition(f"{name}.unset")
            value = choose([(unset, UNBOUND), (~unset, value)])
        state.env[name] = value
    for address, why in changed.frozen.items():
        cell = state.heap[address]
        state.heap[address] = dataclasses.replace(cell, frozen=cell.frozen or why)
    for address in changed.addresses & state.heap.keys():
        cell = state.heap[address]
        why = cell.frozen or "a change of a list that has another name as well"
        state.heap[address] = dataclasses.replace(cell, frozen=why)


def _any_seq(run: Run, cell: Cell, element: Kind) -> Seq:
    """Any contents; a list whose elements have no kind yet is empty."""
    if element == NEVER:
        return literal([])
    inner = (element,) if cell.kind == "list" else ()
    made = run.context.value(Kind(cell.kind, inner), cell.kind)
    assert isinstance(made, SeqV)
    return made.seq


def _as_long(seq: Seq, length: Term) -> Seq:
    """The sequence with that length, which the loop leaves alone."""
    if not known(length):
        return Seq(length, seq.at, seq.element)
    return literal([seq.at(i) for i in range(length)])
