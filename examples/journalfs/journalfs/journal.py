"""The redo journal: how a set of changed blocks becomes one atomic step.

Format. The journal has two slots of 1 + capacity blocks; transaction n uses slot n % 2. The first
block of a slot is the *record*, the others are *bodies*, the new contents of the changed blocks:

    record   magic "JREC", checksum u32, number n u64, count u64, then `count` block numbers u32
             (where each body belongs); the last four bytes are n again, modulo 2**32
    checksum CRC-32 of the record from the number up to the last block number, then of all bodies

Committing transaction n (`commit`):

    1. checkpoint n - 1: flush; write its blocks in place; flush; superblock.checkpointed = n - 1
    2. write the bodies of n; flush
    3. write the record of n

The operation returns here. It is durable after the next flush (`flush`, or the first step of the
next transaction); until then a crash may lose it, but only it. Reads see it at once, because
`read` looks at the committed blocks before the device.

Recovery (`recover`): while a whole record of number checkpointed + 1 lies in its slot, write its
bodies in place; flush; superblock.checkpointed += 1; flush.

Crash argument.
- No block of n goes in place before its record is durable (the first flush of step 1), so a
  partly written checkpoint is always repaired by replaying the record.
- `checkpointed` becomes n only after a flush made the blocks of n durable in place, so a record
  that recovery passes over is never needed.
- Bodies of n + 1 go to the other slot than the record of n, so the record of n stays whole until
  `checkpointed` = n is durable (the flush in step 2). Replaying it again changes nothing: no later
  transaction is in place at that time.
- A record counts only with the expected number, a matching checksum over itself and all of its
  bodies, and its number at both ends. A torn record, one cut short by the device, one whose
  bodies are not there, and one left over from an earlier transaction all fail this test.
- Recovery writes nothing but what the record says, and forgets the record last, so it may crash
  anywhere and be run again.

Errors. When the device fails in the middle of this, what reached the medium is unknown. The
journal then refuses every change (EROFS) and every flush (EIO) until the device is mounted again:
no later flush may claim that lost data is durable. Reads go on and show the state before the
failed operation, from memory where the device may be wrong.
"""

from __future__ import annotations

import os
from errno import EFBIG, EIO, EROFS
from struct import Struct

from journalfs.arithmetic import checksum_of, slot_start
from journalfs.device import BlockDevice, write_block
from journalfs.layout import Layout, pack_superblock

_MAGIC = b"JREC"
_HEADER = Struct("<4sIQQ")
_TAIL = Struct("<I")
_CHECKED_FROM = 8


class Journal:
    """The device as the committed transactions have left it."""

    def __init__(self, device: BlockDevice, layout: Layout, checkpointed: int) -> None:
        """checkpointed: number of the last transaction whose blocks are all in place."""
        self.layout = layout
        self._device = device
        self._checkpointed = checkpointed
        self._committed: dict[int, bytes] = {}
        self._failed = False

    def read(self, block: int) -> bytes:
        """The block as of the last committed transaction."""
        data = self._committed.get(block)
        return self._device.read(block) if data is None else data

    def commit(self, blocks: dict[int, bytes]) -> None:
        """Make these new block contents one atomic step, durable after the next flush.

        Raises OSError, with no effect: EROFS after an earlier error of the device, EFBIG for more
        blocks than a transaction may have, and the device's own, which makes the journal read-only.
        """
        if self._failed:
            raise OSError(EROFS, os.strerror(EROFS))
        if len(blocks) > self.layout.capacity:
            raise OSError(EFBIG, f"{os.strerror(EFBIG)}: {len(blocks)} blocks in one step")
        try:
            self._checkpoint()
            self._write_record(self._checkpointed + 1, blocks)
        except OSError:
            self._failed = True
            raise
        self._committed = blocks

    def flush(self) -> None:
        """Make every committed transaction durable. Raises OSError EIO once anything failed."""
        if self._failed:
            raise OSError(EIO, os.strerror(EIO))
        try:
            self._device.flush()
        except OSError:
            self._failed = True
            raise

    def checkpoint(self) -> None:
        """Make everything durable in place, so that the next mount has nothing to recover."""
        if self._failed:
            raise OSError(EIO, os.strerror(EIO))
        try:
            self._checkpoint()
            self._device.flush()
        except OSError:
            self._failed = True
            raise

    def recover(self) -> None:
        """Put in place what was committed and not checkpointed before a crash."""
        while bodies := self._read_record(self._checkpointed + 1):
            self._committed = bodies
            self._checkpoint()
            self._device.flush()

    def _checkpoint(self) -> None:
        """Put the blocks of the last transaction in place, then say so in the superblock."""
        if not self._committed:
            return
        self._device.flush()
        for block, data in self._committed.items():
            write_block(self._device, block, data)
        self._device.flush()
        self._write_superblock(self._checkpointed + 1)
        self._checkpointed += 1
        self._committed = {}

    def _write_superblock(self, checkpointed: int) -> None:
        """Let recovery begin after transaction `checkpointed`."""
        size, count = self.layout.block_size, self.layout.block_count
        write_block(self._device, 0, pack_superblock(size, count, checkpointed))

    def _write_record(self, number: int, blocks: dict[int, bytes]) -> None:
        """Write the bodies, then, behind a barrier, the record that makes them count."""
        slot = self._slot(number)
        for place, data in enumerate(blocks.values(), start=slot + 1):
            write_block(self._device, place, data)
        self._device.flush()
        write_block(self._device, slot, _pack_record(self.layout.block_size, number, blocks))

    def _read_record(self, number: int) -> dict[int, bytes]:
        """The blocks of transaction `number`, by place; empty when its record is not whole."""
        slot = self._slot(number)
        record = self._device.read(slot)
        magic, checksum, found, count = _HEADER.unpack_from(record)
        (tail,) = _TAIL.unpack_from(record, len(record) - _TAIL.size)
        if magic != _MAGIC or found != number or tail != number & 0xFFFFFFFF:
            return {}
        if count > self.layout.capacity:
            return {}
        places = Struct(f"<{count}I").unpack_from(record, _HEADER.size)
        bodies = [self._device.read(slot + 1 + i) for i in range(count)]
        if checksum != checksum_of(record[_CHECKED_FROM : _HEADER.size + 4 * count], bodies):
            return {}
        return dict(zip(places, bodies, strict=True))

    def _slot(self, number: int) -> int:
        """The block where the record of transaction `number` lies."""
        return slot_start(number, self.layout.journal, self.layout.capacity)


def _pack_record(block_size: int, number: int, blocks: dict[int, bytes]) -> bytes:
    """The record block of transaction `number`. blocks: new contents by place, in order."""
    places = Struct(f"<{len(blocks)}I").pack(*blocks)
    header = _HEADER.pack(_MAGIC, 0, number, len(blocks))
    checksum = checksum_of(header[_CHECKED_FROM:] + places, list(blocks.values()))
    record = _HEADER.pack(_MAGIC, checksum, number, len(blocks)) + places
    return record.ljust(block_size - _TAIL.size, b"\0") + _TAIL.pack(number & 0xFFFFFFFF)
