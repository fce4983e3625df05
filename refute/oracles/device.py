"""The parent's block device: it holds the image, records every call, and injects the faults.

A subject never sees the image itself, only this device's answers, so what was written, in which
order and what was made durable is the parent's own knowledge and not the subject's word.

Model of the device. Writes between two flushes may persist in any subset and any order, each torn
at 512-byte sectors; a flush that returns makes everything written before durable. A write that
fails leaves the block as it was; a short write leaves its first bytes; after a failed flush the
writes that were waiting for it may be lost for good, even when a later flush succeeds (as the page
cache of Linux drops them: "fsyncgate", lwn.net/Articles/752063).
"""

from __future__ import annotations

import dataclasses
import errno
import hashlib
from collections.abc import Iterable, Mapping, Sequence

from refute.errors import UsageError
from refute.plain import Plain

SECTOR = 512
FAULTS = {"read": ("EIO",), "write": ("EIO", "short", "ENOSPC"), "flush": ("EIO",)}


@dataclasses.dataclass(frozen=True, slots=True)
class Event:
    """One device call. kind: "read", "write" or "flush". op: index of the operation that made it.

    data: for a write, the block as it is when the write persisted. fault: what was injected.
    """

    kind: str
    block: int
    data: bytes
    op: int
    fault: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """Answer one device call with `kind`, one of FAULTS of that call.

    call: its number, from 0, among the reads when `reads`, else among the writes and flushes.
    """

    call: int
    kind: str
    reads: bool = False


class RecordingDevice:
    """A device over `blocks`, each `block_size` bytes, whose calls are recorded as events.

    op: set by the parent before each operation, copied into the events. `reads` and `changes` list
    the calls as (kind, op), so that each can be made to fail in a later run.
    """

    def __init__(self, blocks: Sequence[bytes], block_size: int, fault: Fault | None = None):
        self.blocks = list(blocks)
        self.block_size = block_size
        self.fault = fault
        self.op = -1
        self.events: list[Event] = []
        self.reads: list[tuple[str, int]] = []
        self.changes: list[tuple[str, int]] = []
        self.struck: int | None = None  # the operation in which the fault fell

    def handle(self, method: str, args: Sequence[Plain]) -> Plain:
        """Answer one call of the subject. Raises OSError, also for arguments that mean nothing."""
        if method == "read" and len(args) == 1:
            return self.read(args[0])
        if method == "write" and len(args) == 2:
            return self.write(args[0], args[1])
        if method == "flush" and not args:
            return self.flush()
        raise OSError(errno.EINVAL, f"a block device has no call {method} with {len(args)} values")

    def read(self, block: int) -> bytes:
        """The block's bytes."""
        self._in_range(block)
        if self._strike("read"):
            self.events.append(Event("read", block, b"", self.op, "EIO"))
            raise OSError(errno.EIO, f"injected: read of block {block} failed")
        return self.blocks[block]

    def write(self, block: int, data: bytes) -> int:
        """Write a whole block; returns the number of bytes written."""
        self._in_range(block)
        if type(data) is not bytes or len(data) != self.block_size:
            raise OSError(errno.EINVAL, f"a write takes {self.block_size} bytes")
        kind = self._strike("write")
        if kind == "short":
            half = max(SECTOR, self.block_size // 2 // SECTOR * SECTOR)
            data = data[:half] + self.blocks[block][half:]
            self._store(Event("write", block, data, self.op, "short"))
            return half
        if kind:
            self.events.append(Event("write", block, b"", self.op, kind))
            raise OSError(getattr(errno, kind), f"injected: write of block {block} failed")
        self._store(Event("write", block, data, self.op))
        return self.block_size

    def flush(self) -> None:
        """Make everything written before durable."""
        kind = self._strike("flush")
        self.events.append(Event("flush", -1, b"", self.op, kind))
        if kind:
            raise OSError(errno.EIO, "injected: flush failed")

    def _store(self, event: Event) -> None:
        self.blocks[event.block] = event.data
        self.events.append(event)

    def _in_range(self, block: int) -> None:
        if type(block) is not int or not 0 <= block < len(self.blocks):
            raise OSError(errno.EINVAL, f"no block {block!r} on this device")

    def _strike(self, kind: str) -> str:
        calls = self.reads if kind == "read" else self.changes
        calls.append((kind, self.op))
        fault = self.fault
        if fault is None or fault.reads != (kind == "read") or fault.call != len(calls) - 1:
            return ""
        if fault.kind not in FAULTS[kind]:
            return ""
        self.struck = self.op
        return fault.kind


class Fingerprints:
    """Incremental fingerprints of images: the sum, modulo 2**128, of one hash for each block.

    Changing a block costs two hashes of a block, whatever the size of the image. Two different
    images have equal fingerprints with a probability of about 2**-128 (BLAKE2b, 128 bits).
    """

    MODULUS = 1 << 128

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], int] = {}

    def block(self, number: int, data: bytes) -> int:
        """The share of one block in the fingerprint of its image."""
        key = (number, data)
        found = self._known.get(key)
        if found is None:
            salt = number.to_bytes(8, "big")
            raw = hashlib.blake2b(data, digest_size=16, salt=salt).digest()
            found = self._known[key] = int.from_bytes(raw, "big")
        return found

    def image(self, blocks: Iterable[bytes]) -> int:
        """The fingerprint of a whole image."""
        return sum(self.block(n, data) for n, data in enumerate(blocks)) % self.MODULUS

    def changed(self, blocks: Sequence[bytes], start: int, delta: Mapping[int, bytes]) -> int:
        """The fingerprint of `blocks`, whose own is `start`, after `delta` replaced some."""
        for number, data in delta.items():
            start += self.block(number, data) - self.block(number, blocks[number])
        return start % self.MODULUS


def blank(block_count: int, block_size: int) -> list[bytes]:
    """A device full of zeros. Raises UsageError for sizes no device has."""
    if block_size % SECTOR or block_size <= 0 or block_count <= 0:
        raise UsageError(
            f"no device has {block_count} blocks of {block_size} bytes",
            thing="block device",
            possible=(f"a positive number of blocks, each a multiple of {SECTOR} bytes",),
        )
    return [bytes(block_size)] * block_count


def torn(old: bytes, new: bytes, sectors: int) -> bytes:
    """`old` with those sectors of `new` whose bit is set in `sectors` (bit 0 is the first)."""
    parts = []
    for index in range(len(new) // SECTOR):
        source = new if sectors >> index & 1 else old
        parts.append(source[index * SECTOR : (index + 1) * SECTOR])
    return b"".join(parts)
