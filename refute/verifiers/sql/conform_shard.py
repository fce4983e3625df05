"""Shards: the files of a run parted among machines that do not talk to each other.

Each machine computes the same partition from names and sizes alone: the largest file first, each to
the shard that has the fewest bytes. So shards take about equally long, every file is in exactly
one, and neither the order of a directory nor where it lies matters. Reports of shards carry a
digest of the whole partition, so that those of different files are not taken for one run.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from collections.abc import Sequence

from refute.errors import UsageError
from refute.frozen import frozen

MOST = 10_000


@frozen
class Shard:
    """One of `of` shards, counted from 1. files: of all shards together. partition: digest of it

    options: a digest of how its files are run.
    """

    number: int
    of: int
    files: int = 0
    partition: str = ""
    options: str = ""

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def shard_of(text: str) -> Shard:
    """The shard that "3/16" names. Raises UsageError."""
    match = re.fullmatch(r"([0-9]{1,5})/([0-9]{1,5})", text)
    number, of = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= of <= MOST:
        raise UsageError(
            f"--shard {text}: there is no such shard",
            thing="--shard",
            value=text,
            possible=(f"K/N with 1 <= K <= N <= {MOST}",),
            next_step="give the number of this machine and that of all, as in 3/16",
        )
    return Shard(number, of)


def parted(shard: Shard, files: Sequence[tuple[str, int]]) -> tuple[list[int], Shard]:
    """Which of the files are in the shard, by their places in order, and the shard completed.

    files: the name of each, which is the same on every machine, and its size in bytes.
    """
    order = sorted(range(len(files)), key=lambda i: (-files[i][1], files[i][0], i))
    loads = [(0, 0, number) for number in range(1, shard.of + 1)]  # bytes, files, shard
    chosen = []
    whole = hashlib.sha256(f"{shard.of}\n".encode())
    for i in order:
        name, size = files[i]
        load, count, number = heapq.heappop(loads)
        heapq.heappush(loads, (load + size, count + 1, number))
        whole.update(f"{number} {size} {len(name.encode())} {name}\n".encode())
        if number == shard.number:
            chosen.append(i)
    return sorted(chosen), Shard(shard.number, shard.of, len(files), whole.hexdigest())
