"""Files that a search writes itself into and is read back from; in its worker, by descriptor.

What a search has found is only ever added to, so that is written once, at the end of a stream. All
else is small and written whole, by turns into one of two files. How long each is and the digest of
its content goes back to the owner, who alone says which of it counts: what lies behind these
lengths was never committed and is written over.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence

from refute.plain import Plain

STREAMS, TURNS = 4, 2  # descriptors, in this order
_SIZE = 16


class Damaged(Exception):
    """What is read is not what was written."""


class Stream:
    """A file that grows. digest: of all of it so far."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.length = 0
        self._digest = hashlib.blake2b(digest_size=_SIZE)

    def append(self, data: bytes | memoryview) -> None:
        """Write at the end. Raises OSError."""
        view = memoryview(data)
        self._digest.update(view)
        at = self.length
        while view:
            written = os.pwrite(self.fd, view, at)
            at, view = at + written, view[written:]
        self.length = at

    def state(self) -> list[Plain]:
        """Length and digest."""
        return [self.length, self._digest.hexdigest()]

    def copy(self) -> Stream:
        """The same place in the same file, to go back to when writing fails."""
        made = Stream(self.fd)
        made.length, made._digest = self.length, self._digest.copy()
        return made

    def load(self, state: Sequence[Plain], pieces: Iterator[memoryview]) -> None:
        """Read up to a state that was saved, into the pieces, which it fills. Raises Damaged."""
        wanted, digest = state
        for piece in pieces:
            if self.length + len(piece) > wanted or not self._read(piece):
                raise Damaged("its files are not as long as what was saved")
        if self.length != wanted or self._digest.hexdigest() != digest:
            raise Damaged("its files are not what was saved")

    def load_all(self, state: Sequence[Plain]) -> bytes:
        """All that was saved. Raises Damaged."""
        if os.fstat(self.fd).st_size < state[0]:
            raise Damaged("its files are shorter than what was saved")
        found = bytearray(state[0])
        self.load(state, iter([memoryview(found)] if found else []))
        return bytes(found)

    def _read(self, piece: memoryview) -> bool:
        at = 0
        while at < len(piece):
            read = os.preadv(self.fd, [piece[at:]], self.length)
            if not read:
                return False
            self._digest.update(piece[at : at + read])
            at, self.length = at + read, self.length + read
        return True


class Streams:
    """The descriptors of a checkpoint, as a search writes to them."""

    def __init__(self, fds: Sequence[int]) -> None:
        self.streams = [Stream(fd) for fd in fds[:STREAMS]]
        self._turns = tuple(fds[STREAMS:])
        self._turn = 0

    def save(self, append: Callable[[Stream], Plain]) -> Plain:
        """What there is to commit: append writes to the streams, and to one that is kept whole.

        What it gives is part of it ("more"). Raises OSError when there is no room; then nothing
        has happened.
        """
        before = [stream.copy() for stream in self.streams]
        whole = Stream(self._turns[self._turn])
        try:
            more = append(whole)
        except BaseException:
            self.streams[:] = before
            raise
        states = [stream.state() for stream in self.streams]
        found = {"turn": self._turn, "whole": whole.state(), "streams": states, "more": more}
        self._turn = 1 - self._turn
        return found

    def whole(self, saved: Plain) -> Stream:
        """Where the part that is kept whole is read from."""
        self._turn = 1 - saved["turn"]
        return Stream(self._turns[saved["turn"]])
