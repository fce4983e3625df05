"""The plain search written to a checkpoint, and read back; in its worker.

Every value that a variable or a process has had is written once, as a line of JSON; a state is a
row of numbers of such lines, and so is the step that led to it. Reading them back runs no code.
"""

from __future__ import annotations

import itertools
import json
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

from refute.plain import Plain
from refute.specs.machine.values import pack_value, unpack_value
from refute.verifiers.model.compiled import State
from refute.verifiers.model.reduced import ReducedSearch
from refute.verifiers.model.search import Hit, Link, Search
from refute.verifiers.model.streams import Damaged, Stream, Streams

_ROWS, _VALUES, _OUTSIDE, _ORBITS = range(4)
_NOBODY = 2**32 - 1
_PROBES = 64  # orbits of a checkpoint that are computed again
_COUNTS = ("generated", "depth", "level_end", "at", "raised", "finished")


class Keeper:
    """One search, and the descriptors to keep it in."""

    def __init__(self, search: Search, fds: Sequence[int]) -> None:
        self.search = search
        self.streams = Streams(fds)
        self._width = len(search.ir.variables) + len(search.ir.processes)
        self._numbers: dict[Any, int] = {}  # lines of values, by slot and value: 1 == True
        self._lines: list[str] = []  # values that are not yet written
        self._kept = 0
        self._outside: set[State] = set()

    def save(self) -> Plain:
        """What there is to commit; None when there is nothing that could be kept.

        So it is when memory has ended, and before all starting values were looked at. Raises
        OSError.
        """
        if self.search.full or not self.search.started:
            return None
        known, kept, outside = len(self._numbers), self._kept, self._outside
        try:
            return self.streams.save(self._append)
        except OSError:
            for key in list(self._numbers)[known:]:
                del self._numbers[key]
            self._kept, self._outside = kept, outside
            raise

    def _append(self, whole: Stream) -> Plain:
        search = self.search
        self._lines.clear()
        rows, outside = array("I"), array("I")
        for at in range(self._kept, len(search.states)):
            parent, instance, choices = search.links[at]
            rows.extend(self._row(search.states[at]))
            number = self._number((-1, instance), choices)
            rows.extend((parent & _NOBODY, instance & _NOBODY, number))
        for state in search.outside - self._outside:
            outside.extend(self._row(state))
        self.streams.streams[_ROWS].append(rows.tobytes())
        self.streams.streams[_OUTSIDE].append(outside.tobytes())
        self._append_more()
        self.streams.streams[_VALUES].append("".join(self._lines).encode())
        self._kept, self._outside = len(search.states), set(search.outside)
        whole.append(json.dumps(self._rest()).encode())
        return ""

    def _append_more(self) -> None:
        """Write what a kind of search has besides."""

    def _row(self, state: State) -> list[int]:
        return [self._number(slot, value) for slot, value in enumerate(state)]

    def _number(self, slot: Any, value: Any) -> int:
        found = self._numbers.get((slot, value))
        if found is None:
            found = self._numbers[slot, value] = len(self._numbers)
            self._lines.append(json.dumps([slot, pack_value(value)]) + "\n")
        return found

    def _rest(self) -> dict[str, Plain]:
        search = self.search
        return {
            **{name: getattr(search, name) for name in _COUNTS},
            "ran": hex(search.machine.ran[0]),
            "hits": {name: _packed(hit) for name, hit in search.hits.items()},
            "fired": {name: _packed(hit) for name, hit in search.fired.items()},
        }

    def restore(self, saved: Plain) -> bool:
        """Take the place of the search that has begun. Raises Damaged."""
        states = saved["streams"]
        read = [s.load_all(states[at]) for at, s in enumerate(self.streams.streams)]
        rest = json.loads(self.streams.whole(saved).load_all(saved["whole"]))
        values: list[Any] = []
        for line in read[_VALUES].decode().splitlines():
            slot, packed = json.loads(line)
            values.append(unpack_value(packed))
            key = tuple(slot) if type(slot) is list else slot
            self._numbers[key, values[-1]] = len(values) - 1
        self._fill(values, read, rest)
        search = self.search
        for name in _COUNTS:
            setattr(search, name, rest[name])
        search.started = True
        search.machine.ran[0] = int(rest["ran"], 16)
        search.hits = {name: _unpacked(hit) for name, hit in rest["hits"].items()}
        search.fired = {name: _unpacked(hit) for name, hit in rest["fired"].items()}
        return True

    def _fill(self, values: list[Any], read: Sequence[bytes], rest: dict[str, Plain]) -> None:
        search, width, rows = self.search, self._width, array("I", read[_ROWS])
        search.states, search.links = [], []
        for at in range(0, len(rows), width + 3):
            *state, parent, instance, choices = rows[at : at + width + 3]
            search.states.append(tuple(values[n] for n in state))
            search.links.append((_signed(parent), _signed(instance), values[choices]))
        search.outside = set(self._states(values, read[_OUTSIDE]))
        search.numbers = {state: at for at, state in enumerate(search.states)}
        if len(search.numbers) != len(search.states):
            raise Damaged("a state is in it twice")
        self._kept, self._outside = len(search.states), set(search.outside)

    def _states(self, values: list[Any], rows: bytes) -> Iterator[State]:
        numbers, width = array("I", rows), self._width
        for at in range(0, len(numbers), width):
            yield tuple(values[n] for n in numbers[at : at + width])


class OrbitKeeper(Keeper):
    """One search up to permutations. Besides its states, what stands for each orbit is written.

    Read back, some of these are computed again: which state stands for an orbit has to be what it
    was, or orbits that were met would be searched once more.
    """

    def __init__(self, search: ReducedSearch, fds: Sequence[int]) -> None:
        super().__init__(search, fds)
        self.reduced = search
        self._met = 0  # orbits that are written

    def save(self) -> Plain:
        """As of any search. Raises OSError."""
        before = self._met
        try:
            return super().save()
        except OSError:
            self._met = before
            raise

    def _append_more(self) -> None:
        rows = array("I")
        for state in itertools.islice(self.reduced.met, self._met, None):
            rows.extend(self._row(state))
        self.streams.streams[_ORBITS].append(rows.tobytes())
        self._met = len(self.reduced.met)

    def _rest(self) -> dict[str, Plain]:
        return {**super()._rest(), "whole": self.reduced.whole}

    def _fill(self, values: list[Any], read: Sequence[bytes], rest: dict[str, Plain]) -> None:
        super()._fill(values, read, rest)
        search = self.reduced
        search.met = dict.fromkeys(self._states(values, read[_ORBITS]))
        search.whole = rest["whole"]
        self._met = len(search.met)
        if len(search.met) != len(search.states) + len(search.outside):
            raise Damaged("its orbits are not as many as its states")
        for state in search.states[:: max(1, len(search.states) // _PROBES)]:
            if search.orbits.least(state).state not in search.met:
                raise Damaged("its orbits are represented by other states")


def open_keeper(search: Search, fds: Sequence[int]) -> Keeper:
    """What keeps this search in these descriptors; runs in the search's worker."""
    if isinstance(search, ReducedSearch):
        return OrbitKeeper(search, fds)
    return Keeper(search, fds)


def _signed(number: int) -> int:
    return -1 if number == _NOBODY else number


def _packed(hit: Hit) -> Plain:
    links = [[parent, number, pack_value(choices)] for parent, number, choices in hit.links]
    return [links, pack_value(hit.start), hit.why, hit.predicate]


def _unpacked(data: Plain) -> Hit:
    links: list[Link] = [(a, b, unpack_value(choices)) for a, b, choices in data[0]]
    return Hit(tuple(links), unpack_value(data[1]), data[2], data[3])
