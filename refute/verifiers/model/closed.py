"""Is a set of states closed? The plain engine judges what a native search found; in workers.

If every start and every step from a state of the set is in the set, or outside the constraint, then
the set holds all that can be reached, whoever made it and by whatever program. So nothing of the
native search is believed here: not its steps, its packing, its hashing or its threads. States are
decoded, each step is taken by the compiled plain engine, and a state counts as found only if the
words that it is found by are decoded to that state again. What is shared with the native engine is
the IR of the machine. No table is needed, and each worker can judge a part.
"""

from __future__ import annotations

import mmap
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.compiled import Compiled, Predicate, State, StepRaised, expand
from refute.verifiers.model.native.forms import Room, Unsuited, with_room
from refute.verifiers.model.native.layout import WORD, Layout
from refute.verifiers.model.native.program import layout_of

MOST_KNOWN = 200_000  # states that are kept because they were found


class NotClosed(Exception):
    """The set is not what the native search took it for; the message says how."""


class Codec:
    """States as numbers, slot by slot, each slot a bijection as far as it was used."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.offsets = list(layout.offsets)
        self._masks = [(1 << width) - 1 for width in layout.widths]
        pairs = zip(self._masks, self.offsets, strict=True)
        self._unused = ~sum(mask << at for mask, at in pairs)
        self._values: list[dict[int, Any]] = [{} for _ in self.offsets]
        self._bits: list[dict[Any, int]] = [{} for _ in self.offsets]

    def decoded(self, whole: int) -> State:
        """The state of a number. Raises NotClosed."""
        if whole & self._unused:
            raise NotClosed("a state has bits that mean nothing")
        try:
            return tuple(
                values[whole >> at & mask]
                for values, at, mask in zip(self._values, self.offsets, self._masks, strict=True)
            )
        except KeyError:
            state = self.layout.unpack(_words(whole, self.layout.words))
            self._learn(state, whole)
            return state

    def encoded(self, state: State) -> int:
        """The number of a state. Raises NotClosed."""
        try:
            return sum(
                bits[value] << at
                for bits, value, at in zip(self._bits, state, self.offsets, strict=True)
            )
        except KeyError:
            try:
                whole = _whole(self.layout.pack(state))
            except Unsuited as why:
                raise NotClosed(f"a state has no packed form: {why}") from why
            self._learn(state, whole)
            return whole

    def _learn(self, state: State, whole: int) -> None:
        for slot, (value, at) in enumerate(zip(state, self.offsets, strict=True)):
            bits = whole >> at & self._masks[slot]
            known = self._bits[slot].setdefault(value, bits), self._values[slot].get(bits, value)
            if known != (bits, value):
                raise NotClosed("two values of a slot are packed alike, or one in two ways")
            self._values[slot][bits] = value


class Closed:
    """A set of states in a file, sorted by their words, one column of words after the other."""

    def __init__(self, ir: MachineIR, layout: Layout, columns: Sequence[memoryview]) -> None:
        self.machine = Compiled(ir)
        self.codec = Codec(layout)
        self.columns = columns
        self.count = len(columns[0])
        self.constraints = self._kind("constraint")
        self.reachables = self._kind("reachable")
        self.reached: set[str] = set()
        self.fired: set[str] = set()
        self._known: set[State] = set()

    def _kind(self, kind: str) -> tuple[Predicate, ...]:
        return tuple(p for p in self.machine.predicates if p.property.kind == kind)

    def starts(self) -> int:
        """How many starts there are, all of them in the set. Raises NotClosed."""
        filters = self._kind("initial")
        found = [s for s in self.machine.initial_states() if all(p.test(s) for p in filters)]
        for state in found:
            self._find(state, "a start")
        return len(found)

    def check(self, first: int, last: int) -> dict[str, Plain]:
        """Judge the states from number first to before last: how many steps they take."""
        try:
            generated = self.starts() if first == 0 else 0
            for at in range(first, last):
                generated += self._judged(at)
        except NotClosed as error:
            return {"disagrees": str(error)}
        except StepRaised as raised:
            return {"disagrees": f"a step raises {raised.error!r}"}
        found = {"reached": sorted(self.reached), "fired": sorted(self.fired)}
        return {"distinct": last - first, "generated": generated, **found}

    def _judged(self, at: int) -> int:
        row = self._row(at)
        if at and self._row(at - 1) >= row:
            raise NotClosed("the states are not in order, or one is there twice")
        state = self.codec.decoded(_whole(row))
        if not self._inside(state):
            raise NotClosed("a state is outside the constraint")
        for predicate in self.reachables:
            if predicate.property.name not in self.reached and predicate.test(state):
                self.reached.add(predicate.property.name)
        generated = 0
        for instance in self.machine.instances:
            for after, _ in expand(instance, state):
                generated += 1
                self.fired.add(instance.name)
                if after not in self._known:
                    self._find(after, f"a step of {instance.name}")
        return generated

    def _row(self, at: int) -> tuple[int, ...]:
        return tuple(column[at] for column in self.columns)

    def _inside(self, state: State) -> bool:
        return all(p.test(state) for p in self.constraints)

    def _find(self, state: State, what: str) -> None:
        """Raises NotClosed when the state is neither in the set nor outside the constraint."""
        low, high = 0, self.count
        for column, word in zip(
            self.columns, _words(self.codec.encoded(state), len(self.columns)), strict=True
        ):
            low = bisect_left(column, word, low, high)
            high = bisect_right(column, word, low, high)
        if low == high and self._inside(state):
            raise NotClosed(f"{what} leads to a state that it did not find")
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known.add(state)


def _words(whole: int, count: int) -> tuple[int, ...]:
    return tuple(whole >> WORD * at & (2**WORD - 1) for at in range(count))


def _whole(words: Sequence[int]) -> int:
    return sum(word << WORD * at for at, word in enumerate(words))


def open_closed(data: Plain, fd: int, about: Plain) -> Closed:
    """The set of states in this file, of the machine given as plain data; see `certifying`."""
    ir = MachineIR.from_plain(data)
    with with_room(Room(*about["room"])):
        layout = layout_of(ir)
    count, words = about["count"], about["words"]
    every = memoryview(mmap.mmap(fd, count * 8 * words, access=mmap.ACCESS_READ)).cast("Q")
    return Closed(ir, layout, [every[n * count : (n + 1) * count] for n in range(words)])
