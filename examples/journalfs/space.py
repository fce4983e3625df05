"""How much room journalfs takes, as an executable spec: what is free, and when it may refuse.

A filesystem may answer ENOSPC and EFBIG where its design says so and nowhere else; a claim about
crashes cannot tell the difference. This model knows only the numbers of the format: a root with
files in it, on the device of BLOCKS blocks. It mentions no bitmap, inode or journal.
"""

from __future__ import annotations

from errno import EEXIST, EFBIG, ENOENT, ENOSPC

BLOCKS, BLOCK_SIZE = 38, 1024
CAPACITY = 12
DATA_BLOCKS = BLOCKS - (1 + 2 * (1 + CAPACITY)) - 2 - 1
INODES = 32
DIRECT = 4
MAXIMUM_SIZE = (DIRECT + BLOCK_SIZE // 4) * BLOCK_SIZE


class Space:
    """Free space after each operation; contents do not matter, only which blocks exist."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._blocks: dict[str, set[int]] = {}
        self._root_blocks = 0

    def create(self, path: str) -> None:
        """An empty file; the first one gives the root directory its block."""
        if path in self._sizes:
            raise OSError(EEXIST, path)
        if not self._root_blocks and not self._free():
            raise OSError(ENOSPC, path)
        self._root_blocks = 1
        self._sizes[path], self._blocks[path] = 0, set()

    def write(self, path: str, offset: int, data: bytes) -> int:
        """Blocks that the data touches; one more, once, when any lies past the direct ones."""
        self._known(path)
        end = offset + len(data)
        if end > MAXIMUM_SIZE:
            raise OSError(EFBIG, path)
        touched = set(range(offset // BLOCK_SIZE, -(-end // BLOCK_SIZE)))
        old = self._blocks[path]
        needed = _taken(old | touched) - _taken(old)
        if needed > self._free():
            raise OSError(ENOSPC, path)
        pointers = any(index >= DIRECT for index in touched - old)
        if len(touched) + 1 + bool(needed) + pointers > CAPACITY:
            raise OSError(EFBIG, path)
        self._blocks[path] = old | touched
        self._sizes[path] = max(self._sizes[path], end)
        return len(data)

    def truncate(self, path: str, size: int) -> None:
        """Blocks past the size are free again; growing takes none."""
        self._known(path)
        if size > MAXIMUM_SIZE:
            raise OSError(EFBIG, path)
        self._blocks[path] = {i for i in self._blocks[path] if i * BLOCK_SIZE < size}
        self._sizes[path] = size

    def unlink(self, path: str) -> None:
        """All of the file's blocks are free again; the root keeps its own."""
        self._known(path)
        del self._sizes[path], self._blocks[path]

    def stat(self, path: str) -> int:
        """The file's size in bytes."""
        self._known(path)
        return self._sizes[path]

    def statfs(self) -> dict[str, int]:
        """Free blocks, and inodes: number 0 is never used and 1 is the root."""
        return {"free_blocks": self._free(), "free_inodes": INODES - 2 - len(self._sizes)}

    def maximum_write(self) -> int:
        """What one write takes at most, with inode, bitmap and pointers in its transaction."""
        return (CAPACITY - 3) * BLOCK_SIZE

    def unmount(self) -> None:
        """Takes and gives no room."""

    def _known(self, path: str) -> None:
        if path not in self._sizes:
            raise OSError(ENOENT, path)

    def _free(self) -> int:
        return DATA_BLOCKS - self._root_blocks - sum(map(_taken, self._blocks.values()))


def _taken(blocks: set[int]) -> int:
    """Blocks of the device for these blocks of a file."""
    return len(blocks) + any(index >= DIRECT for index in blocks)
