"""A native search written to a checkpoint, and read back; in its worker.

The states, their parents and, of hashed searches, the hashes are written as they lie in memory;
the table is made anew from them. Read back, they must give as many different entries as there
were, or the checkpoint is damaged.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence

from refute.plain import Plain
from refute.verifiers.model.native.search import NativeSearch
from refute.verifiers.model.streams import Damaged, Stream, Streams

SEGMENT = 65536  # states that lie together, as in search.c
_STATES, _PARENTS, _HASHES, _OUTSIDE = range(4)
_FREED = 9  # its place in Kept


class Keeper:
    """One search of a library, and the descriptors to keep it in."""

    def __init__(self, search: NativeSearch, fds: Sequence[int]) -> None:
        self.c = search.library.c
        self.words = search.library.words
        self.hashed = search.hashed
        self.streams = Streams(fds)
        self._kept = [0, 0]  # states inside and outside that are in the streams
        self.c.rf_kept_size.restype = ctypes.c_ulonglong
        self.c.rf_part.argtypes = (ctypes.c_int, ctypes.c_ulonglong)
        self.c.rf_part.restype = ctypes.c_void_p
        self._scalars = ctypes.create_string_buffer(self.c.rf_kept_size())

    def save(self) -> Plain:
        """What there is to commit; None when the search is not in a state to go on from.

        Raises OSError.
        """
        if not self.c.rf_keep(self._scalars):
            return None
        before = list(self._kept)
        try:
            return self.streams.save(self._append)
        except OSError:
            self._kept = before
            raise

    def _append(self, whole: Stream) -> Plain:
        total, outside = self._totals()
        for what in self._parts():
            start = self._kept[what == _OUTSIDE]
            for piece in self._pieces(what, start, outside if what == _OUTSIDE else total):
                self.streams.streams[what].append(piece)
        for piece in self._frontier(total):
            whole.append(piece)
        self._kept = [total, outside]
        return self._scalars.raw.hex()

    def _totals(self) -> tuple[int, int]:
        total, outside = (ctypes.c_ulonglong * 2).from_buffer(self._scalars)
        return int(total), int(outside)

    def _parts(self) -> tuple[int, ...]:
        first = (_HASHES,) if self.hashed else (_STATES,)
        return (*first, _PARENTS, _OUTSIDE)

    def _frontier(self, total: int) -> Iterator[memoryview]:
        """Of a hashed search, the states that it has not let go of."""
        freed = (ctypes.c_ulonglong * (_FREED + 1)).from_buffer(self._scalars)[_FREED]
        yield from self._pieces(_STATES, freed * SEGMENT, total) if self.hashed else ()

    def _pieces(self, what: int, start: int, end: int) -> Iterator[memoryview]:
        """The memory of the elements from start to end, a segment at a time."""
        size = {_PARENTS: 4, _HASHES: 8}.get(what, 8 * self.words)
        while start < end:
            number, offset = divmod(start, SEGMENT)
            count = min(SEGMENT - offset, end - start)
            address = self.c.rf_part(what, number) + offset * size
            yield memoryview((ctypes.c_ubyte * (count * size)).from_address(address)).cast("B")
            start += count

    def restore(self, saved: Plain) -> bool:
        """Take the place of the search that has begun; whether there is memory for it.

        Raises Damaged.
        """
        scalars = bytes.fromhex(saved["more"])
        if len(scalars) != len(self._scalars):
            raise Damaged("it is of another program")
        self._scalars.raw = scalars
        if not self.c.rf_restore(self._scalars):
            return False
        total, outside = self._totals()
        for what in self._parts():
            pieces = self._pieces(what, 0, outside if what == _OUTSIDE else total)
            self.streams.streams[what].load(saved["streams"][what], pieces)
        self.streams.whole(saved).load(saved["whole"], self._frontier(total))
        self._kept = [total, outside]
        done = self.c.rf_continue(self._scalars)
        if done == 2:
            raise Damaged("a state is in it twice")
        return bool(done)


def open_keeper(search: NativeSearch, fds: Sequence[int]) -> Keeper:
    """What keeps this search in these descriptors; runs in the search's worker."""
    return Keeper(search, fds)
