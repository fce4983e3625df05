"""Budget: how hard to try, as one value that is passed down and split.

Verdicts depend on cases and CPU seconds, which are the same on every machine; the wall clock only
caps, so that a slow machine gives UNKNOWN sooner and never another verdict. The seed travels with
the budget: each part of a split gets its own, derived from the parent's and the part's name.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import time

from refute.errors import UsageError
from refute.frozen import frozen

GIB = 2**30


@frozen
class Budget:
    """cases: at most so many. cpu_s, wall_s: seconds. memory: bytes per worker. seed: any int.

    shrink: whether to spend any of it on making a counterexample smaller once there is one.
    """

    cases: int = 1_000
    cpu_s: float = 60.0
    wall_s: float = 60.0
    memory: int = 2 * GIB
    seed: int = 0
    shrink: bool = True

    def __post_init__(self) -> None:
        for name in ("cases", "cpu_s", "wall_s", "memory"):
            if not getattr(self, name) > 0:
                raise UsageError(
                    f"a budget's {name} must be positive, got {getattr(self, name)!r}",
                    thing=f"budget.{name}",
                    value=getattr(self, name),
                    next_step="give a positive number",
                )

    def part(self, name: str, share: float = 1.0) -> Budget:
        """The share (0 < share <= 1) of this budget for the part called `name`, own seed."""
        if not 0 < share <= 1:
            raise UsageError(f"a share must be in (0, 1], got {share}", thing="share", value=share)
        return dataclasses.replace(
            self,
            cases=max(1, int(self.cases * share)),
            cpu_s=self.cpu_s * share,
            wall_s=self.wall_s * share,
            seed=derive_seed(self.seed, name),
        )

    def clock(self) -> Clock:
        """A running wall clock for this budget."""
        return Clock(self.wall_s)


class Clock:
    """What is left of a wall-clock allowance. The parent keeps it, on its own monotonic clock."""

    def __init__(self, wall_s: float) -> None:
        self._started = time.monotonic()
        self.wall_s = wall_s

    @property
    def spent(self) -> float:
        """Seconds since the clock was made."""
        return time.monotonic() - self._started

    @property
    def left(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self.wall_s - self.spent)

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0


def derive_seed(seed: int, name: str) -> int:
    """A 63-bit seed for the part called `name`; the same on every platform and hash seed."""
    raw = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return int.from_bytes(raw[:8], "big") >> 1


_UNITS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def parse_duration(text: str) -> float:
    """Seconds from `60`, `60s`, `1.5m`, `2h`, `500ms`. Raises UsageError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|min|m|h)?\s*", text)
    seconds = float(match[1]) * _UNITS[match[2] or ""] if match else 0.0
    if seconds <= 0:
        raise UsageError(
            f"{text!r} is not a duration",
            thing="duration",
            value=text,
            possible=("60s", "500ms", "2m", "1h"),
            next_step="give a positive number with a unit",
        )
    return seconds


_SIZES = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": GIB, "t": 2**40}


def parse_size(text: str) -> int:
    """Bytes from `8GiB`, `8G`, `512MiB`, `1.5g`; units are powers of 1024. Raises UsageError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", text.lower())
    size = int(float(match[1]) * _SIZES[match[2]]) if match else 0
    if size <= 0:
        raise UsageError(
            f"{text!r} is not an amount of memory",
            thing="memory",
            value=text,
            possible=("512MiB", "2GiB", "8G"),
            next_step="give a positive number with a unit",
        )
    return size
