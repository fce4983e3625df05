"""Where everything lies on the device, and the superblock that says so.

All numbers are little-endian; a block is `block_size` bytes (a power of two, at least 512). The
arrangement follows from block size and block count alone, in this order:

    block 0          superblock
    journal          two slots of 1 + capacity blocks: a record, then the bodies (journal.py)
    inode bitmap     one block; bit i set: inode i is in use (bit 0 always: inode 0 is "none")
    block bitmap     bit b set: block b is in use; everything before the data area always is
    inode table      32 bytes an inode (inodes.py); inode 1 is the root directory
    data             contents of files and directories, and indirect blocks

    capacity         blocks in one transaction: block_count / 8, at least 12, at most what one
                     record block can name: (block_size - 28) / 4
    inodes           block_count / 4, rounded up to whole table blocks, at most 8 * block_size
    bits past the last inode or block are set, so that no search needs a bound

Superblock: magic "JOURNLFS", version u32, block size u32, block count u32, checkpointed u64, then
the CRC-32 of these 28 bytes. It is stored twice in its block, at 0 and at half the block.

Crash argument. Only `checkpointed` ever changes: the number of the last transaction whose blocks
all stand in place. A sector of 512 bytes is written whole or not at all, so each copy is old or
new; both are right (journal.py). A write that the device cuts short inside a sector can spoil
the first copy or leave the second one old, never spoil both.
"""

from __future__ import annotations

import functools
import os
import zlib
from errno import EINVAL
from struct import Struct
from typing import NamedTuple

from journalfs_arithmetic import INODE_SIZE

from journalfs.arithmetic import blocks_for, capacity_of, table_blocks

MAGIC = b"JOURNLFS"
VERSION = 1
NO_INODE = 0
ROOT = 1

_FIELDS = Struct("<8sIIIQ")
_CHECKSUM = Struct("<I")


class Layout(NamedTuple):
    """The arrangement of one device; the positions are block numbers.

    capacity: blocks in one transaction. inode_count: inodes in the table. block_bitmap and
    inode_table end where the next part begins, data at block_count.
    """

    block_size: int
    block_count: int
    capacity: int
    inode_count: int
    journal: int
    inode_bitmap: int
    block_bitmap: int
    inode_table: int
    data: int


@functools.lru_cache(maxsize=64)
def arrange(block_size: int, block_count: int) -> Layout:
    """The layout of a device of this size. Raises OSError EINVAL when it has no room for data."""
    if block_size < 512 or block_size & (block_size - 1):
        raise OSError(EINVAL, f"{os.strerror(EINVAL)}: block size {block_size}")
    capacity = capacity_of(block_size, block_count)
    table_length = table_blocks(block_size, block_count)
    inode_bitmap = 1 + 2 * (1 + capacity)
    block_bitmap = inode_bitmap + 1
    inode_table = block_bitmap + blocks_for(block_count, 8 * block_size)
    data = inode_table + table_length
    if data >= block_count:
        raise OSError(EINVAL, f"{os.strerror(EINVAL)}: {block_count} blocks are too few")
    return Layout(
        block_size=block_size,
        block_count=block_count,
        capacity=capacity,
        inode_count=table_length * (block_size // INODE_SIZE),
        journal=1,
        inode_bitmap=inode_bitmap,
        block_bitmap=block_bitmap,
        inode_table=inode_table,
        data=data,
    )


def pack_superblock(block_size: int, block_count: int, checkpointed: int) -> bytes:
    """The superblock as a block: both copies. checkpointed: the last transaction in place."""
    fields = _FIELDS.pack(MAGIC, VERSION, block_size, block_count, checkpointed)
    copy = fields + _CHECKSUM.pack(zlib.crc32(fields))
    return copy.ljust(block_size // 2, b"\0") * 2


def unpack_superblock(block: bytes) -> tuple[Layout, int]:
    """Layout and number of the last checkpointed transaction, from the first copy that is whole.

    Raises OSError EINVAL when neither copy is the superblock of a journalfs.
    """
    for start in (0, len(block) // 2):
        fields = block[start : start + _FIELDS.size]
        (checksum,) = _CHECKSUM.unpack_from(block, start + _FIELDS.size)
        magic, version, block_size, block_count, checkpointed = _FIELDS.unpack(fields)
        if magic == MAGIC and version == VERSION and checksum == zlib.crc32(fields):
            return arrange(block_size, block_count), checkpointed
    raise OSError(EINVAL, f"{os.strerror(EINVAL)}: not a journalfs")
