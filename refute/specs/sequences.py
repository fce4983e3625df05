"""Sequences of operations: what they mean for one object. Runs beside the subject or the reference.

An object is made anew for each sequence, and each operation's answer is taken down at once, since
an object may go on changing what it returned. Nothing is compared here.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Any

from refute.plain import Plain
from refute.specs.answers import answer_text, call, resolve

Operation = Sequence[Plain]  # the method's name, then its arguments


class MemoryDevice:
    """A block device in memory, for subjects that are built over one: it never fails."""

    def __init__(self, block_count: int, block_size: int) -> None:
        self.block_count = block_count
        self.block_size = block_size
        self._blocks = [bytes(block_size)] * block_count

    def read(self, block: int) -> bytes:
        """The bytes of a block."""
        return self._blocks[self._within(block)]

    def write(self, block: int, data: bytes) -> int:
        """Write a block; returns the number of bytes written. EINVAL for another length."""
        if len(data) != self.block_size:
            raise OSError(errno.EINVAL, f"a write takes {self.block_size} bytes")
        self._blocks[self._within(block)] = bytes(data)
        return self.block_size

    def flush(self) -> None:
        """Nothing to wait for."""

    def _within(self, block: int) -> int:
        if not 0 <= block < self.block_count:
            raise OSError(errno.EINVAL, f"no block {block} on this device")
        return block


def fresh(reference: str, device: Mapping[str, int] | None) -> Any:
    """A new object: what the reference returns when called, or a filesystem on a new device.

    device: `block_count` and `block_size`; then the reference is a class with `format(device)` and
    `mount(device)`, which returns the object.
    """
    made = resolve(reference)
    if device is None:
        return made()
    memory = MemoryDevice(device["block_count"], device["block_size"])
    made.format(memory)
    return made.mount(memory)


def play(
    reference: str,
    device: Mapping[str, int] | None,
    close: str,
    sequences: Sequence[tuple[Sequence[Operation], Sequence[int]]],
) -> list[list[str]]:
    """For each sequence one answer for each operation, as `refute.specs.answers` writes them.

    Each sequence comes with the positions of operations to leave out; their answer is "". close: a
    method that releases the object, called at the end of each sequence; empty for none. Raises
    what making the object raises.
    """
    return [_play_one(reference, device, close, *sequence) for sequence in sequences]


def _play_one(
    reference: str,
    device: Mapping[str, int] | None,
    close: str,
    operations: Sequence[Operation],
    left_out: Sequence[int],
) -> list[str]:
    made = fresh(reference, device)
    skipped = frozenset(left_out)
    try:
        return [
            "" if index in skipped else answer_text(_perform(made, operation))
            for index, operation in enumerate(operations)
        ]
    finally:
        if close:
            getattr(made, close)()


def _perform(made: Any, operation: Operation) -> list[Plain]:
    name, *args = operation
    return call(lambda *values: getattr(made, name)(*values), args)
