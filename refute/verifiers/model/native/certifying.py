"""The states that a native search found, given away for others to judge; in its worker."""

from __future__ import annotations

import ctypes
import mmap
import os

from refute.plain import Plain
from refute.verifiers.model.native.search import NativeSearch


def certify(search: NativeSearch, fd: int) -> Plain:
    """Write all states of a search that is over to this file, in order; see `closed`.

    None when they are not there (only hashes were kept) or there is no memory for it.
    """
    count, words = search.library.counts()["distinct"], search.library.words
    if not count:
        return None
    size = count * 8 * words
    os.ftruncate(fd, size)
    with mmap.mmap(fd, size) as shared:
        place = ctypes.c_char.from_buffer(shared)
        done = search.library.c.rf_sorted(ctypes.c_void_p(ctypes.addressof(place)))
        del place
    room = search.library.room
    return {"count": count, "words": words, "room": [room.bits, room.items]} if done else None
