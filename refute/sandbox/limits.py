"""Limits of a worker: how much of the machine a subject may use."""

from __future__ import annotations

import dataclasses

from refute.budget import GIB, Budget
from refute.errors import UsageError
from refute.frozen import frozen

MIB = 2**20
KIB = 2**10


@frozen
class Limits:
    """What a worker may use.

    cpu_s: CPU seconds over the worker's whole life, all its processes together. wall_s: seconds a
    call may take unless it says otherwise. starved_s: seconds more for a call during which it was
    ready to run and other processes had the CPU; without them a busy machine looks like a subject
    that hangs. memory: bytes of address space of each process.
    file_size: bytes of each file it writes. processes: how many it may have at once, threads
    included. output: how many bytes of what it prints are kept for each call. Beyond these a
    process may have 256 files open, and /tmp holds four times `file_size`.
    """

    cpu_s: float = 10.0
    wall_s: float = 20.0
    starved_s: float = 0.0
    memory: int = 1 * GIB
    file_size: int = 16 * MIB
    processes: int = 16
    output: int = 64 * KIB

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not value > 0 and field.name != "starved_s":
                raise UsageError(
                    f"a worker's {field.name} must be positive, got {value!r}",
                    thing=f"limits.{field.name}",
                    value=value,
                    next_step="give a positive number",
                )

    @classmethod
    def from_budget(cls, budget: Budget) -> Limits:
        """The limits of a worker that may spend all of `budget`."""
        return cls(cpu_s=budget.cpu_s, wall_s=budget.wall_s, memory=budget.memory)
