"""Block devices: the interface that the filesystem needs, one in memory and one in a file.

Contract of a device. `read` sees the latest write. Between two flushes, writes reach the medium
in any order and any subset of them survives a crash, each torn at sectors of 512 bytes. When
`flush` returns, everything written before is durable. Any call may raise OSError, and `write` may
write less than it was given. After an error nothing is known about what reached the medium.
"""

from __future__ import annotations

import os
from errno import EIO
from pathlib import Path
from types import TracebackType
from typing import Protocol

BLOCK_SIZE = 1024


class BlockDevice(Protocol):
    """What the filesystem needs of a device; see the module's contract."""

    block_size: int
    block_count: int

    def read(self, block: int) -> bytes:
        """The block's bytes, exactly block_size of them."""

    def write(self, block: int, data: bytes) -> int:
        """Write block_size bytes to the block; returns how many were written."""

    def flush(self) -> None:
        """Make everything written before durable."""


def write_block(device: BlockDevice, block: int, data: bytes) -> None:
    """Write a whole block. Raises OSError: the device's own, or EIO when it wrote less."""
    written = device.write(block, data)
    if written != len(data):
        raise OSError(EIO, f"{os.strerror(EIO)}: block {block}: {written} of {len(data)} bytes")


class MemoryDevice:
    """A device whose blocks lie in a bytearray; nothing survives the process."""

    def __init__(
        self, image: bytes | bytearray = bytes(64 * BLOCK_SIZE), block_size: int = BLOCK_SIZE
    ) -> None:
        """A device that starts as a copy of `image`, whose tail short of a block is left out."""
        self.block_size = block_size
        self.block_count = len(image) // block_size
        self.image = bytearray(image)

    @classmethod
    def blank(cls, block_count: int, block_size: int = BLOCK_SIZE) -> MemoryDevice:
        """A device of zeros."""
        return cls(bytes(block_count * block_size), block_size)

    def read(self, block: int) -> bytes:
        """The block's bytes."""
        start = block * self.block_size
        return bytes(self.image[start : start + self.block_size])

    def write(self, block: int, data: bytes) -> int:
        """Replace the block; returns the bytes written: all of them."""
        start = block * self.block_size
        self.image[start : start + self.block_size] = data
        return len(data)

    def flush(self) -> None:
        """Nothing to do: memory has no cache in front of it."""


class FileDevice:
    """A device in a regular file or a block special file; closes it as a context manager."""

    def __init__(self, path: Path | str, block_size: int = BLOCK_SIZE) -> None:
        """Open an existing image for reading and writing. Raises OSError when that fails."""
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self.block_size = block_size
        self.block_count = os.lseek(self._descriptor, 0, os.SEEK_END) // block_size

    def read(self, block: int) -> bytes:
        """The block's bytes. Raises OSError EIO when the file ends inside it."""
        data = os.pread(self._descriptor, self.block_size, block * self.block_size)
        if len(data) != self.block_size:
            raise OSError(EIO, f"{os.strerror(EIO)}: block {block}: file ends")
        return data

    def write(self, block: int, data: bytes) -> int:
        """Write the block; returns the bytes written."""
        return os.pwrite(self._descriptor, data, block * self.block_size)

    def flush(self) -> None:
        """Make everything written before durable."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def __enter__(self) -> FileDevice:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
