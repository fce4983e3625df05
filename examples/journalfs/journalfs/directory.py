"""Directories: names and the inodes that they name.

A directory's content is a run of entries of 64 bytes: inode number u32 (0: the entry is free),
length of the name u8, then the name in UTF-8, zeros up to 59 bytes. Entries stand in no order and
never cross a block. "." and ".." are not stored. An empty directory has no block until its first
entry; its blocks are given back only with the directory itself.

Crash argument: an entry changes in the same transaction as the link count of the inode it names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from errno import ENOENT
from struct import Struct

from journalfs.inodes import Inode, add_block, store, used_blocks
from journalfs.layout import NO_INODE
from journalfs.transaction import Transaction

MAXIMUM_NAME = 59

_ENTRY = Struct(f"<IB{MAXIMUM_NAME}s")


def find(tx: Transaction, directory: Inode, name: bytes) -> int:
    """The number of the inode that `name` names; NO_INODE when nothing has that name."""
    for block in used_blocks(tx, directory):
        data = tx.read(block)
        if name in data:  # looked for as bytes first: most blocks hold no such name
            for number, length, found in _ENTRY.iter_unpack(data):
                if number and found[:length] == name:
                    return int(number)
    return NO_INODE


def names(tx: Transaction, directory: Inode) -> list[bytes]:
    """All names, sorted."""
    return sorted(name for _, _, number, name in _entries(tx, directory) if number)


def is_empty(tx: Transaction, directory: Inode) -> bool:
    """Whether the directory has no entry."""
    return not any(number for _, _, number, _ in _entries(tx, directory))


def add(tx: Transaction, directory: Inode, name: bytes, number: int) -> None:
    """Enter a name that is not there yet; stores the directory when it grows.

    Raises OSError ENOSPC without a free entry or block, EFBIG when the directory is full.
    """
    entry = _ENTRY.pack(number, len(name), name)
    for block, offset, used, _ in _entries(tx, directory):
        if not used:
            tx.patch(block, offset, entry)
            return
    block_size = tx.layout.block_size
    block = add_block(tx, directory, directory.size // block_size)
    tx.write(block, entry.ljust(block_size, b"\0"))
    directory.size += block_size
    store(tx, directory)


def replace(tx: Transaction, directory: Inode, name: bytes, number: int) -> None:
    """Let an existing name name another inode."""
    _overwrite(tx, directory, name, _ENTRY.pack(number, len(name), name))


def remove(tx: Transaction, directory: Inode, name: bytes) -> None:
    """Take out an existing name."""
    _overwrite(tx, directory, name, bytes(_ENTRY.size))


def _overwrite(tx: Transaction, directory: Inode, name: bytes, entry: bytes) -> None:
    """Put `entry` in the place of the entry with this name."""
    for block, offset, number, found in _entries(tx, directory):
        if number and found == name:
            tx.patch(block, offset, entry)
            return
    raise OSError(ENOENT, os.strerror(ENOENT), os.fsdecode(name))


def _entries(tx: Transaction, directory: Inode) -> Iterator[tuple[int, int, int, bytes]]:
    """Every entry, free ones too: block, offset in it, inode number, name."""
    for block in used_blocks(tx, directory):
        for index, (number, length, name) in enumerate(_ENTRY.iter_unpack(tx.read(block))):
            yield block, index * _ENTRY.size, number, name[:length]
