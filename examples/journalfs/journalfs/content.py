"""The bytes of a file: read, write, truncate.

Bytes of the last block past the end of the file are zeros; truncating keeps it so. A file that
grows therefore shows zeros where nothing was written, without touching old blocks.

Crash argument: data blocks pass through the journal like metadata. A write is one transaction, and
one that is too large for a transaction is refused as a whole (EFBIG), never split.
"""

from __future__ import annotations

import os
from errno import EFBIG

from journalfs.arithmetic import blocks_for, part_of_block
from journalfs.inodes import (
    Inode,
    add_block,
    find_block,
    maximum_size,
    release_blocks,
    store,
)
from journalfs.transaction import Transaction


def read(tx: Transaction, inode: Inode, offset: int, size: int) -> bytes:
    """Up to `size` bytes from `offset`; fewer at the end of the file, none past it."""
    block_size = tx.layout.block_size
    end = min(inode.size, offset + size)
    if offset >= end:
        return b""
    first, last = offset // block_size, (end - 1) // block_size
    content = b"".join(_read_block(tx, inode, index) for index in range(first, last + 1))
    return content[offset - first * block_size : end - first * block_size]


def write(tx: Transaction, inode: Inode, offset: int, data: bytes) -> None:
    """Put `data` at `offset`, growing the file when it ends beyond it; stores the inode.

    Raises OSError EFBIG past the largest size, ENOSPC without room.
    """
    if not data:
        return
    block_size = tx.layout.block_size
    end = offset + len(data)
    if end > maximum_size(block_size):
        raise OSError(EFBIG, os.strerror(EFBIG))
    for index in range(offset // block_size, (end - 1) // block_size + 1):
        start = index * block_size
        low, high = part_of_block(offset, end, start, block_size)
        old = _read_block(tx, inode, index)
        new = old[:low] + data[start + low - offset : start + high - offset] + old[high:]
        tx.write(find_block(tx, inode, index) or add_block(tx, inode, index), new)
    inode.size = max(inode.size, end)
    store(tx, inode)


def truncate(tx: Transaction, inode: Inode, size: int) -> None:
    """Set the size: cut off what is past it, or grow by a hole; stores the inode.

    Raises OSError EFBIG past the largest size.
    """
    block_size = tx.layout.block_size
    if size > maximum_size(block_size):
        raise OSError(EFBIG, os.strerror(EFBIG))
    if size < inode.size:
        release_blocks(tx, inode, keep=blocks_for(size, block_size))
        index, kept = divmod(size, block_size)
        block = find_block(tx, inode, index) if kept else 0
        if block:
            tx.write(block, tx.read(block)[:kept].ljust(block_size, b"\0"))
    inode.size = size
    store(tx, inode)


def _read_block(tx: Transaction, inode: Inode, index: int) -> bytes:
    """Block `index` of the file; zeros for a hole."""
    block = find_block(tx, inode, index)
    return tx.read(block) if block else bytes(tx.layout.block_size)
