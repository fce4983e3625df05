"""Candidates: invariants that a loop may have without anybody having said so.

They are guesses from what changes: a counter does not fall below where it began, a list keeps its
length or grows with the index, the part of a list that the index has not reached is as it was.
Only those are used that hold on entry and that the body is shown to preserve, all together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from refute.verifiers.contracts.comparison import equal
from refute.verifiers.contracts.havoc import Changed
from refute.verifiers.contracts.kinds import INT
from refute.verifiers.contracts.loop_parts import For, Shape
from refute.verifiers.contracts.operators import number
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.terms import Term, conj, known
from refute.verifiers.contracts.values import Ref, Seq

MOST_VARIABLES = 6


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A guess. holds: what it says in a state at the start of an iteration."""

    text: str
    holds: Callable[[Run, State], Term]


def guesses(run: Run, entry: State, shape: Shape, changed: Changed) -> list[Candidate]:
    """The guesses for a loop, from the state in which it is first entered."""
    hidden = shape.index if isinstance(shape, For) else ""
    names = [
        name
        for name, kind in changed.names.items()
        if kind == INT and name in entry.env and "!" not in name
    ]
    names = [n for n in names if number(entry.env[n]) is not None][:MOST_VARIABLES]
    found: list[Candidate] = []
    for name in names:
        found += _about_number(name, entry, hidden)
    for a in names:
        found += [_ordered(a, b) for b in names if a != b]
        for length in _lengths(entry, changed):
            found.append(_at_most(a, length))
    for address in changed.cells:
        found += _about_list(address, entry, hidden, shape)
    return found


def _number(state: State, name: str) -> Term:
    term = number(state.env[name])
    return 0 if term is None else term


def _about_number(name: str, entry: State, hidden: str) -> list[Candidate]:
    first = _number(entry, name)
    found = [
        Candidate(f"{name} >= its first value", lambda _, s: _number(s, name) >= first),
        Candidate(f"{name} <= its first value", lambda _, s: _number(s, name) <= first),
    ]
    if not (known(first) and first == 0):
        found.append(Candidate(f"{name} >= 0", lambda _, s: _number(s, name) >= 0))
    if hidden:
        start = _number(entry, hidden)

        def up(_: Run, state: State) -> Term:
            taken = _number(state, hidden) - 1 - start
            return _number(state, name) <= first + taken

        found.append(Candidate(f"{name} grows by at most 1", up))
    return found


def _ordered(a: str, b: str) -> Candidate:
    return Candidate(f"{a} <= {b}", lambda _, s: _number(s, a) <= _number(s, b))


def _at_most(name: str, length: Term) -> Candidate:
    return Candidate(f"{name} <= a length", lambda _, s: _number(s, name) <= length)


def _lengths(entry: State, changed: Changed) -> list[Term]:
    """The lengths of the lists that do not change, in all variables."""
    lengths: list[Term] = []
    for value in entry.env.values():
        if isinstance(value, Ref) and value.address not in changed.cells:
            lengths.append(entry.cell(value).seq.length)
    return [n for n in lengths if not known(n)][:3]


def _about_list(address: int, entry: State, hidden: str, shape: Shape) -> list[Candidate]:
    before = entry.heap[address].seq

    def seq(state: State) -> Seq:
        return state.heap[address].seq

    found = [
        Candidate("the length is the first one", lambda _, s: seq(s).length == before.length),
        Candidate("the length is at least the first", lambda _, s: seq(s).length >= before.length),
        Candidate("the length is at most the first", lambda _, s: seq(s).length <= before.length),
    ]
    if hidden:
        start = _number(entry, hidden)

        def taken(state: State) -> Term:
            return _number(state, hidden) - 1 - start

        found += [
            Candidate("one more each time", lambda _, s: seq(s).length == before.length + taken(s)),
            Candidate("one more at most", lambda _, s: seq(s).length <= before.length + taken(s)),
            Candidate("the rest is as before", _rest_untouched(address, before, taken)),
        ]
    found.append(Candidate("the beginning is as before", _kept(address, before)))
    return found


def _rest_untouched(
    address: int, before: Seq, taken: Callable[[State], Term]
) -> Callable[[Run, State], Term]:
    """The elements from the index on are the first ones."""

    def holds(run: Run, state: State) -> Term:
        seq = state.heap[address].seq
        with run.context.binding() as k:
            within = conj([k >= taken(state), k < before.length])
            same = equal(run, state, seq.at(k), before.at(k))
            every = run.context.for_all([k], within, same)
        return conj([seq.length == before.length, every])

    return holds


def _kept(address: int, before: Seq) -> Callable[[Run, State], Term]:
    """What was in the list at first is still there."""

    def holds(run: Run, state: State) -> Term:
        seq = state.heap[address].seq
        with run.context.binding() as k:
            within = conj([k >= 0, k < before.length])
            same = equal(run, state, seq.at(k), before.at(k))
            every = run.context.for_all([k], within, same)
        return conj([seq.length >= before.length, every])

    return holds
