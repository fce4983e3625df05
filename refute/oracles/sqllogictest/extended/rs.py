"""The dialect of sqllogictest-rs: its reader.

The format is that of https://github.com/risinglightdb/sqllogictest-rs (its README and its
parser); docs/conform.md lists what is stricter here.
"""

from __future__ import annotations

from refute.oracles.sqllogictest.extended.program import Program, Sign
from refute.oracles.sqllogictest.reader import refuse


def read(data: bytes, path: str) -> Program:
    """The file as a program. Raises UnreadableInput with file and line."""
    refuse(path, 1, "the dialect of sqllogictest-rs is not read yet")
    raise AssertionError(path, data)


def signs(data: bytes) -> list[Sign]:
    """Lines that no other dialect has."""
    return []
