"""One state for each orbit: the least of those that permutations of a symmetric machine lead to.

Members of a class are first put in the order of their colours, numbers that say how the state looks
from them and that go along with any permutation. What is left to choose is the order of members of
equal colour: all of their orders are tried and the least result is taken, so the outcome is the
same for all states of an orbit. Colours only save time; that they are equal by chance does no harm.

The permutations that lead to the least state, counted, are as many as leave the state as it is, so
an orbit has |G| / count states. Their sum is the number of all reachable states.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from refute.frozen import frozen
from refute.specs.machine.ir import MachineIR, Process, Yield
from refute.specs.machine.permuting import Mover, Permutation, Viewer, mentions, mover, viewer
from refute.specs.machine.symmetry import Symmetry
from refute.specs.machine.values import Atom, domain, order
from refute.verifiers.model.compiled import State

ROUNDS = 2  # of colouring, the later ones by the colours of the earlier


@frozen
class Least:
    """The state that stands for an orbit, the states in it, and a permutation that leads there."""

    state: State
    size: int
    permutation: Permutation


class Family:
    """The processes of one kind: where a permutation puts them, and what it does to each."""

    def __init__(self, process: Process, sorts: frozenset[str]) -> None:
        every = itertools.product(*(domain(p.type) for p in process.params))
        self.keys = tuple(every)
        self.places = {key: at for at, key in enumerate(self.keys)}
        self.movers = [mover(p.type, sorts) for p in process.params]
        self.viewers = [viewer(p.type, sorts) for p in process.params]
        types = {p.name: p.type for p in process.locals}
        live = {b.end.target: b.end.live for b in process.blocks if isinstance(b.end, Yield)}
        self.kept: dict[int, tuple[tuple[Mover, Viewer], ...]] = {
            block: tuple((mover(types[n], sorts), viewer(types[n], sorts)) for n in names)
            for block, names in live.items()
        }
        self.moves = any(mentions(p.type, sorts) for p in (*process.params, *process.locals))

    def moved(self, places: State, moved: Permutation) -> State:
        """The processes after a permutation."""
        if not self.moves:
            return places
        found = list(places)
        for key, (block, *kept) in zip(self.keys, places, strict=True):
            to = tuple(move(k, moved) for move, k in zip(self.movers, key, strict=True))
            parts = self.kept.get(block, ()) if kept else ()
            rest = (move(v, moved) for (move, _), v in zip(parts, kept, strict=True))
            found[self.places[to]] = (block, *rest)
        return tuple(found)

    def viewed(self, places: State, labels: Mapping[Atom, int]) -> int:
        """How the processes look; see `permuting`."""
        if not self.moves:
            return 0
        rows = []
        for key, (block, *kept) in zip(self.keys, places, strict=True):
            who = [view(k, labels) for view, k in zip(self.viewers, key, strict=True)]
            parts = self.kept.get(block, ()) if kept else ()
            held = [view(v, labels) for (_, view), v in zip(parts, kept, strict=True)]
            rows.append((*who, block, *held))
        return hash(tuple(sorted(map(hash, rows))))


class Orbits:
    """The orbits of one machine's states."""

    def __init__(self, ir: MachineIR, symmetry: Symmetry) -> None:
        self.classes = symmetry.classes
        sorts = symmetry.sorts
        kinds = [v.type for v in ir.variables]
        self._movers = [mover(k, sorts) for k in kinds]
        self._viewers = [viewer(k, sorts) if mentions(k, sorts) else None for k in kinds]
        self._families = [Family(p, sorts) for p in ir.processes]
        self.group_order = math.prod(math.factorial(len(c)) for c in self.classes)

    def moved(self, state: State, moved: Permutation) -> State:
        """The state after a permutation."""
        count = len(self._movers)
        row = zip(self._movers, state, strict=False)
        families = zip(self._families, state[count:], strict=True)
        return (*(m(v, moved) for m, v in row), *(f.moved(p, moved) for f, p in families))

    def least(self, state: State) -> Least:
        """What stands for the orbit of a state."""
        cells = self._cells(state)
        targets: dict[Atom, Atom] = {}
        for group, ranked in zip(self.classes, cells, strict=True):
            in_order = [member for cell in ranked for member in cell]
            targets.update(zip(in_order, group, strict=True))
        sorted_state = self.moved(state, targets)
        tied = [
            tuple(targets[member] for member in cell)
            for ranked in cells
            for cell in ranked
            if len(cell) > 1
        ]
        best, count, last = self._least_of(sorted_state, tied)
        whole = {member: last.get(to, to) for member, to in targets.items()}
        return Least(best, self.group_order // count, whole)

    def _cells(self, state: State) -> list[list[list[Atom]]]:
        """For each class its members by colour, the colours in order."""
        labels = {a: at for at, group in enumerate(self.classes) for a in group}
        shown = len(self.classes)
        for _ in range(ROUNDS):
            labels = {a: self._colour(state, labels, a) for group in self.classes for a in group}
            found = len({(at, labels[a]) for at, g in enumerate(self.classes) for a in g})
            if found == shown or found == len(labels):
                break
            shown = found
        ranked = []
        for group in self.classes:
            by_colour = sorted(group, key=lambda a: (labels[a], a.i))
            runs = itertools.groupby(by_colour, key=lambda a: labels[a])
            ranked.append([list(run) for _, run in runs])
        return ranked

    def _colour(self, state: State, labels: Mapping[Atom, int], member: Atom) -> int:
        seen = {**labels, member: hash((labels[member], 1))}
        row = zip(self._viewers, state, strict=False)
        views = [view(v, seen) for view, v in row if view is not None]
        families = zip(self._families, state[len(self._viewers) :], strict=True)
        return hash((labels[member], *views, *(f.viewed(p, seen) for f, p in families)))

    def _least_of(
        self, state: State, tied: Sequence[tuple[Atom, ...]]
    ) -> tuple[State, int, Permutation]:
        """The least state over all orders of tied members, how many lead there, and one."""
        tied, twins = self._without_twins(state, tied)
        best: tuple[Any, State, dict[Atom, Atom]] | None = None
        count = 0
        for moved in _orders(tied):
            made = self.moved(state, moved) if moved else state
            key = order(made)
            if best is None or key < best[0]:
                best, count = (key, made, moved), 1
            elif key == best[0]:
                count += 1
        assert best is not None
        return best[1], count * twins, best[2]

    def _without_twins(
        self, state: State, tied: Sequence[tuple[Atom, ...]]
    ) -> tuple[list[tuple[Atom, ...]], int]:
        """The ties whose orders matter; and how many orders those have that do not."""
        kept, count = [], 1
        for cell in tied:
            pairs = itertools.pairwise(cell)
            if all(self.moved(state, {a: b, b: a}) == state for a, b in pairs):
                count *= math.factorial(len(cell))
            else:
                kept.append(cell)
        return kept, count


def _orders(tied: Sequence[tuple[Atom, ...]]) -> Iterator[dict[Atom, Atom]]:
    """Every permutation that keeps each cell."""
    for rows in itertools.product(*(itertools.permutations(cell) for cell in tied)):
        yield {
            a: b
            for cell, row in zip(tied, rows, strict=True)
            for a, b in zip(cell, row, strict=True)
        }
