"""The native search as its worker holds it: the library, and traces that the plain engine finds.

The library says which property was decided at which state. The way there follows its parents; each
step is then looked for among those that the plain engine takes from the same state, and so is the
decision itself. What cannot be found again is a bug of refute, and is reported as one.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
from pathlib import Path

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR, Property
from refute.specs.machine.naming import silent_steps
from refute.specs.machine.statement import ALL_FIRE, DEADLOCK_FREE, WELL_DEFINED
from refute.verifiers.model.compiled import Compiled, Predicate, State, StepRaised, expand
from refute.verifiers.model.growing import grown
from refute.verifiers.model.native.branches import branch_lines, never_ran, words_of
from refute.verifiers.model.native.forms import Room, with_room
from refute.verifiers.model.native.layout import Layout
from refute.verifiers.model.native.program import layout_of, step_names
from refute.verifiers.model.trace import Move, Trace, covering, trace_of

NOBODY = 0xFFFFFFFF
RESERVE = 192 * 2**20  # bytes of address space that are left to Python
_COUNTS: tuple[str, ...] = ("distinct", "generated", "depth", "expanded", "outside", "raised")
_COUNTS += ("finished", "full", "unfit", "table", "rows", "memory", "decided")


class Disagreement(Exception):
    """The plain engine does not find again what the library reported."""


def shape_of(path: Path) -> tuple[int, Room]:
    """The words of a library's states, and the room that it was written for."""
    row = (ctypes.c_ulonglong * 3)()
    ctypes.CDLL(str(path)).rf_shape(row)
    return row[0], Room(row[1], row[2])


class Library:
    """The compiled search. One search per library that is loaded."""

    def __init__(self, path: Path, words: int) -> None:
        self.words = words
        self.c = ctypes.CDLL(str(path))
        self.room = shape_of(path)[1]
        number, pointer = ctypes.c_ulonglong, ctypes.POINTER(ctypes.c_ulonglong)
        self.c.rf_open.argtypes = (number, ctypes.c_int)
        self.c.rf_advance.argtypes = (ctypes.c_double,)
        self.c.rf_advance.restype = None
        self.c.rf_counts.argtypes = (pointer,)
        self.c.rf_hit.argtypes = (ctypes.c_int, ctypes.c_int, pointer)
        self.c.rf_state.argtypes = (number, pointer)
        self.c.rf_state.restype = number

    def open(self, memory: int, cores: int) -> bool:
        """Start the search; whether there was memory for it."""
        return bool(self.c.rf_open(memory, cores))

    def advance(self, seconds: float) -> None:
        """Search on for about so long."""
        self.c.rf_advance(seconds)

    def counts(self) -> dict[str, int]:
        """The numbers that the library keeps, by name."""
        row = (ctypes.c_ulonglong * len(_COUNTS))()
        self.c.rf_counts(row)
        return dict(zip(_COUNTS, row, strict=True))

    def hit(self, number: int, fired: bool = False) -> tuple[int, int, int, tuple[int, ...]] | None:
        """Why, parent, instance and state of a decision; None when there is none."""
        row = (ctypes.c_ulonglong * (4 + self.words))()
        self.c.rf_hit(int(fired), number, row)
        found, why, parent, instance, *state = row
        return (ctypes.c_longlong(why).value, parent, instance, tuple(state)) if found else None

    def ran(self, words: int) -> list[int]:
        """The words of bits of the branches that steps took."""
        row = (ctypes.c_ulonglong * max(words, 1))()
        self.c.rf_ran(row)
        return list(row[:words])

    def state(self, number: int) -> tuple[tuple[int, ...], int]:
        """A state by its number, and its parent's."""
        row = (ctypes.c_ulonglong * self.words)()
        parent = int(self.c.rf_state(number, row))
        return tuple(row), parent


class NativeSearch:
    """As `verifiers.model.search.Search`: `advance` and `report`; runs in a worker."""

    def __init__(self, ir: MachineIR, library: Library, memory: int, cores: int) -> None:
        self.ir = ir
        with with_room(library.room):
            self.layout: Layout = layout_of(ir)
        self.library = library
        self.names = step_names(ir)
        self.hashed = False  # only hashes of states are kept once their level was expanded
        self._machine: Compiled | None = None
        self.opened = library.open(max(memory - RESERVE, memory // 4), cores)

    @property
    def machine(self) -> Compiled:
        """The plain engine's steps, on which traces are found again."""
        if self._machine is None:
            self._machine = Compiled(self.ir)
        return self._machine

    def advance(self, seconds: float) -> dict[str, Plain]:
        """Search on for about so long; returns the counts so far."""
        if self.opened:
            self.library.advance(seconds)
        return self.statistics()

    def statistics(self) -> dict[str, Plain]:
        """As the plain search; unfit: it met what it cannot compute, and has to be repeated.

        unnumbered, if there: it is full for lack of numbers for states, not for lack of memory.
        """
        counts = self.library.counts()
        found: dict[str, Plain] = {n: counts[n] for n in ("distinct", "generated", "depth")}
        found["left"] = counts["distinct"] - counts["expanded"]
        found |= {n: counts[n] for n in ("outside", "raised", "decided")}
        found |= {n: bool(counts[n]) for n in ("finished", "unfit")}
        found["full"] = bool(counts["full"]) or not self.opened
        if counts["full"] == 2:
            found["unnumbered"] = True
        found |= {"bytes": counts["table"] + counts["rows"], "memory": counts["memory"]}
        return found

    def report(self) -> dict[str, Plain]:
        """The counts, and for each property that was decided its trace. See `Search.report`."""
        try:
            return self._report()
        except Disagreement as error:
            return {**self.statistics(), "disagrees": str(error)}

    def _report(self) -> dict[str, Plain]:
        hits: dict[str, Plain] = {}
        total = len(self.ir.properties)
        for number, prop in enumerate(self.ir.properties):
            if self.library.hit(number) is not None:
                hits[prop.name] = trace_of(self._decided(number, prop))
        if self.library.hit(total) is not None:
            hits[WELL_DEFINED] = trace_of(self._raised(total))
        if self.library.hit(total + 1) is not None:
            hits[DEADLOCK_FREE] = trace_of(self._stuck(total + 1))
        every = {n: self.library.hit(at, fired=True) for at, n in enumerate(self.names)}
        fired = {name: hit for name, hit in every.items() if hit is not None}
        ends = {name: parent for name, (_, parent, _, _) in fired.items()}
        traces = covering(ends, lambda name: self._fired(name, fired[name]))
        silent = silent_steps(self.ir, list(fired))
        found = {"hits": hits, "fired": traces, "silent": silent, "unran": self.never_ran()}
        counts = self.statistics()
        if counts["distinct"] and not counts["finished"] and not self.hashed:
            first, last = (self.library.state(at)[0] for at in (0, counts["distinct"] - 1))
            found["grown"] = grown(self.ir, self.layout.unpack(first), self.layout.unpack(last))
        return {**counts, **found}

    def never_ran(self) -> list[int]:
        """The lines of branches that no step took."""
        words = sum(map(words_of, branch_lines(self.ir)))
        return never_ran(self.ir, self.library.ran(words))

    def states_to(self, number: int) -> list[State]:
        """The states from a start to the one with this number."""
        words: list[tuple[int, ...]] = []
        while number != NOBODY:
            state, number = self.library.state(number)
            words.append(state)
        return [self.layout.unpack(w) for w in reversed(words)]

    def _way(self, parent: int, state: tuple[int, ...], own: bool) -> list[State]:
        """The states up to a decision; own: the parent itself is the state decided."""
        states = self.states_to(parent)
        return states if own else [*states, self.layout.unpack(state)]

    def _moves(self, states: list[State]) -> list[Move]:
        return [self._move(a, b) for a, b in itertools.pairwise(states)]

    def _move(self, before: State, after: State) -> Move:
        for instance in self.machine.instances:
            try:
                for found, choices in expand(instance, before):
                    if found == after:
                        return instance, choices, before
            except StepRaised:
                continue
        raise Disagreement("a step that the plain engine does not take")

    def _trace(
        self, name: str, why: str, states: list[State], instance: int, predicate: str = ""
    ) -> Trace:
        """The trace through these states; instance: who took the last step, if that is known."""
        if instance == NOBODY or len(states) < 2:
            moves = self._moves(states)
        else:
            moves = [*self._moves(states[:-1]), self._move_by(instance, states[-2], states[-1])]
        return Trace(self.ir, name, why, predicate, tuple(states), tuple(moves))

    def _move_by(self, number: int, before: State, after: State) -> Move:
        instance = self.machine.instances[number]
        try:
            for found, choices in expand(instance, before):
                if found == after:
                    return instance, choices, before
        except StepRaised:
            pass
        raise Disagreement(f"{instance.name} does not take a step that was reported")

    def _decided(self, number: int, prop: Property) -> Trace:
        _, parent, instance, state = self._known(number)
        states = self._way(parent, state, own=False)
        predicate = self.machine.predicates[number]
        given = states[-2:] if prop.kind == "transition" else states[-1:]
        wanted = prop.kind == "reachable"
        if self._value(predicate, given) is not wanted:
            raise Disagreement(f"{prop.name} is not {wanted} where the native engine found it so")
        why = "it holds here" if wanted else f"{prop.name} is False"
        return self._trace(prop.name, why, states, instance)

    def _known(self, number: int) -> tuple[int, int, int, tuple[int, ...]]:
        found = self.library.hit(number)
        assert found is not None
        return found

    def _value(self, predicate: Predicate, states: list[State]) -> bool:
        try:
            return predicate.test(*states)
        except Exception as error:
            raise Disagreement(f"{predicate.property.name} raises {error!r}") from error

    def _raised(self, number: int) -> Trace:
        why, parent, instance, state = self._known(number)
        if why < 0:
            return self._raised_step(parent, instance)
        predicate = self.machine.predicates[why]
        states = self._way(parent, state, own=instance == NOBODY and parent != NOBODY)
        given = states[-2:] if predicate.property.kind == "transition" else states[-1:]
        try:
            predicate.test(*given)
        except Exception as error:
            name = predicate.property.name
            said = f"{name} raises {type(error).__name__}: {error}"
            return self._trace(WELL_DEFINED, said, states, instance, name)
        raise Disagreement(f"{predicate.property.name} does not raise")

    def _raised_step(self, parent: int, instance: int) -> Trace:
        states = self.states_to(parent)
        moved = self.machine.instances[instance]
        moves = self._moves(states)
        try:
            for _ in expand(moved, states[-1]):
                pass
        except StepRaised as raised:
            error = raised.error
            why = f"raises {type(error).__name__}: {error}"
            moves.append((moved, raised.choices, states[-1]))
            return Trace(self.ir, WELL_DEFINED, why, "", (*states, ()), tuple(moves))
        raise Disagreement(f"{moved.name} does not raise")

    def _stuck(self, number: int) -> Trace:
        _, parent, _, _ = self._known(number)
        states = self.states_to(parent)
        for instance in self.machine.instances:
            try:
                if next(expand(instance, states[-1]), None) is not None:
                    raise Disagreement(f"{instance.name} is enabled in a deadlock")
            except StepRaised as raised:
                raise Disagreement(f"{instance.name} raises in a deadlock") from raised
        return self._trace(DEADLOCK_FREE, "no step is enabled", states, NOBODY)

    def _fired(self, name: str, hit: tuple[int, int, int, tuple[int, ...]]) -> Trace:
        _, parent, number, state = hit
        states = [*self.states_to(parent), self.layout.unpack(state)]
        if self.machine.instances[number].name != name:
            raise Disagreement(f"{name} does not take this step")
        return self._trace(ALL_FIRE, "it takes a step", states, number)


def open_native(data: Plain, name: str, memory: int, cores: int) -> NativeSearch:
    """A search of the machine given as plain data, by the library of this name in the tree.

    memory: bytes for the worker. cores: threads at most. Runs in a worker.
    """
    path, words, cores = found_in_tree(data, name, cores)
    return NativeSearch(MachineIR.from_plain(data), Library(path, words), memory, cores)


def found_in_tree(data: Plain, name: str, cores: int) -> tuple[Path, int, int]:
    """The library's path, the words of a state, and how many threads can run at once."""
    path = next(p for base in sys.path if (p := Path(base) / name).is_file())
    return path, shape_of(path)[0], min(cores, len(os.sched_getaffinity(0)))
