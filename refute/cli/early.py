"""What a command starts before its own modules are read: zygotes that fork its workers.

They load refute's modules for workers while this process loads its own; see
`refute.sandbox.zygote`. Nothing depends on it but the time a command takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from refute.sandbox.zygote import prepare

# What workers load for machines: to read their files and play traces; to search and judge.
FOR_MACHINES = ("refute.specs.machine.loading", "refute.claim_modules")
FOR_SEARCHES = (
    "refute.verifiers.model.search",
    "refute.verifiers.model.confirm",
    "refute.verifiers.model.liveness",
    "refute.verifiers.model.walking",
    "refute.verifiers.model.native.search",
)
_MARK = b"refute.machine"  # in a file with machines, or in one of the files that it imports
_LARGEST = 2**20


def start_early(arguments: Sequence[str]) -> None:
    """Start a zygote if one of these arguments is a file of machines, `FILE[:NAME]`."""
    if any(_MARK in _text(argument) for argument in arguments):
        prepare(FOR_MACHINES, later=FOR_SEARCHES)


def _text(argument: str) -> bytes:
    path = Path(argument if argument.endswith(".py") else argument.rpartition(":")[0])
    try:
        small = path.suffix == ".py" and path.is_file() and path.stat().st_size < _LARGEST
        return path.read_bytes() if small else b""  # a pipe would never end
    except (OSError, ValueError):
        return b""
