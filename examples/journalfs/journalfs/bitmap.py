"""Bitmaps: which blocks and which inodes are in use.

A bitmap is a run of whole blocks, bit i of it is bit i % 8 of byte i // 8, and a set bit means
"in use". Bits past the end are set when the filesystem is made, so a search cannot run past it.

Crash argument: bits change only inside a transaction, together with the pointer or entry that
makes the block or inode used. A bit is found free only as of the last committed transaction, so a
block freed by an operation that was lost is still in use after recovery.
"""

from __future__ import annotations

import os
from errno import ENOSPC

from journalfs.arithmetic import bit_place, blocks_for, lowest_clear, without_bit
from journalfs.transaction import Transaction


def allocate_block(tx: Transaction) -> int:
    """Take the first free block. Raises OSError ENOSPC. The caller writes its content."""
    return _allocate(tx, tx.layout.block_bitmap, tx.layout.inode_table)


def allocate_inode(tx: Transaction) -> int:
    """Take the first free inode number. Raises OSError ENOSPC. The caller stores the inode."""
    return _allocate(tx, tx.layout.inode_bitmap, tx.layout.block_bitmap)


def release_block(tx: Transaction, block: int) -> None:
    """Give the block back."""
    _release(tx, tx.layout.block_bitmap, block)


def release_inode(tx: Transaction, number: int) -> None:
    """Give the inode number back."""
    _release(tx, tx.layout.inode_bitmap, number)


def free_blocks(tx: Transaction) -> int:
    """How many blocks are free."""
    return _count_free(tx, tx.layout.block_bitmap, tx.layout.inode_table)


def free_inodes(tx: Transaction) -> int:
    """How many inodes are free."""
    return _count_free(tx, tx.layout.inode_bitmap, tx.layout.block_bitmap)


def pack_bitmap(used: int, size: int, block_size: int) -> list[bytes]:
    """The blocks of a new bitmap of `size` bits, of which the first `used` are in use."""
    total = blocks_for(size, 8 * block_size) * 8 * block_size
    bits = (1 << used) - 1 | (1 << total) - (1 << size)
    packed = bits.to_bytes(total // 8, "little")
    return [packed[i : i + block_size] for i in range(0, len(packed), block_size)]


def _allocate(tx: Transaction, start: int, end: int) -> int:
    """Set the lowest clear bit of the bitmap in blocks start to end, and return its index."""
    per_block = 8 * tx.layout.block_size
    for block in range(start, end):
        bits = int.from_bytes(tx.read(block), "little")
        lowest = lowest_clear(bits)
        index = lowest.bit_length() - 1
        if index < per_block:
            tx.write(block, (bits | lowest).to_bytes(tx.layout.block_size, "little"))
            return (block - start) * per_block + index
    raise OSError(ENOSPC, os.strerror(ENOSPC))


def _release(tx: Transaction, start: int, index: int) -> None:
    """Clear the bit in the bitmap that starts in block `start`."""
    ordinal, place = bit_place(index, tx.layout.block_size)
    bits = without_bit(int.from_bytes(tx.read(start + ordinal), "little"), place)
    tx.write(start + ordinal, bits.to_bytes(tx.layout.block_size, "little"))


def _count_free(tx: Transaction, start: int, end: int) -> int:
    """How many bits are clear in the bitmap in blocks start to end."""
    used = sum(int.from_bytes(tx.read(block), "little").bit_count() for block in range(start, end))
    return (end - start) * 8 * tx.layout.block_size - used
