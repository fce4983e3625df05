"""Inodes: the table, and the map from a file's blocks to the device's.

An inode has 32 bytes: kind u16 (0 free, 1 file, 2 directory), links u16, size u32 in bytes, four
direct block numbers u32, one indirect block number u32, four bytes of zeros. The indirect block
is an array of block numbers u32. Block number 0 means that there is no block: a hole, which reads
as zeros. A free inode is all zeros.

Crash argument: an inode, the blocks that it names, their bits and the entries that name the inode
all change in the transaction of one operation.
"""

from __future__ import annotations

import dataclasses
import enum
import os
from collections.abc import Iterator
from errno import EFBIG, EIO
from struct import Struct

from journalfs_arithmetic import DIRECT, INODE_SIZE

from journalfs.arithmetic import blocks_in_file, inode_place, pointer_offset
from journalfs.bitmap import allocate_block, release_block
from journalfs.transaction import Transaction

MAXIMUM_LINKS = 0xFFFF

_INODE = Struct("<HHI4II4x")
_POINTER = Struct("<I")


class Kind(enum.IntEnum):
    """What an inode is."""

    FILE = 1
    DIRECTORY = 2


_KINDS = {kind.value: kind for kind in Kind}


@dataclasses.dataclass(slots=True)
class Inode:
    """One inode in memory; `store` writes it back. links: POSIX st_nlink. size: bytes."""

    number: int
    kind: Kind
    links: int
    size: int = 0
    direct: list[int] = dataclasses.field(default_factory=lambda: [0] * DIRECT)
    indirect: int = 0


def load(tx: Transaction, number: int) -> Inode:
    """Read an inode in use from the table. Raises OSError EIO when it is not: a damaged image."""
    block, offset = _place(tx, number)
    code, links, size, *direct, indirect = _INODE.unpack_from(tx.read(block), offset)
    kind = _KINDS.get(code)
    if kind is None:
        raise OSError(EIO, f"{os.strerror(EIO)}: inode {number} is named but not in use")
    return Inode(number, kind, links, size, direct, indirect)


def store(tx: Transaction, inode: Inode) -> None:
    """Write an inode into the table."""
    block, offset = _place(tx, inode.number)
    data = _INODE.pack(inode.kind, inode.links, inode.size, *inode.direct, inode.indirect)
    tx.patch(block, offset, data)


def erase(tx: Transaction, number: int) -> None:
    """Make the inode in the table a free one."""
    block, offset = _place(tx, number)
    tx.patch(block, offset, bytes(INODE_SIZE))


def maximum_size(block_size: int) -> int:
    """The largest size of a file in bytes."""
    return blocks_in_file(block_size) * block_size


def find_block(tx: Transaction, inode: Inode, index: int) -> int:
    """The device's block that holds block `index` of the file; 0 for a hole."""
    offset = pointer_offset(index)
    if offset is None:
        return inode.direct[index]
    if not inode.indirect:
        return 0
    (block,) = _POINTER.unpack_from(tx.read(inode.indirect), offset)
    return int(block)


def add_block(tx: Transaction, inode: Inode, index: int) -> int:
    """Give the hole at block `index` of the file a block of the device; the caller writes it.

    Changes the inode in memory only. Raises OSError ENOSPC, and EFBIG past the indirect block.
    """
    if index >= blocks_in_file(tx.layout.block_size):
        raise OSError(EFBIG, os.strerror(EFBIG))
    block, offset = allocate_block(tx), pointer_offset(index)
    if offset is None:
        inode.direct[index] = block
        return block
    if not inode.indirect:
        inode.indirect = allocate_block(tx)
        tx.write(inode.indirect, bytes(tx.layout.block_size))
    tx.patch(inode.indirect, offset, _POINTER.pack(block))
    return block


def used_blocks(tx: Transaction, inode: Inode) -> Iterator[int]:
    """The device's blocks that hold the content, in order, without holes."""
    yield from filter(None, inode.direct)
    if inode.indirect:
        pointers = tx.read(inode.indirect)
        yield from (block for (block,) in _POINTER.iter_unpack(pointers) if block)


def release_blocks(tx: Transaction, inode: Inode, keep: int = 0) -> None:
    """Give back every block of the file from block `keep` on. Changes the inode in memory only."""
    for index in range(keep, DIRECT):
        if inode.direct[index]:
            release_block(tx, inode.direct[index])
            inode.direct[index] = 0
    if not inode.indirect:
        return
    cut = pointer_offset(max(keep, DIRECT))
    pointers = tx.read(inode.indirect)
    for (block,) in _POINTER.iter_unpack(pointers[cut:]):
        if block:
            release_block(tx, block)
    if any(pointers[:cut]):
        tx.write(inode.indirect, pointers[:cut].ljust(tx.layout.block_size, b"\0"))
    else:
        release_block(tx, inode.indirect)
        inode.indirect = 0


def _place(tx: Transaction, number: int) -> tuple[int, int]:
    """Block and offset of an inode in the table."""
    block, offset = inode_place(number, tx.layout.block_size)
    return tx.layout.inode_table + block, offset
