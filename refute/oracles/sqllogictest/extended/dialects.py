"""Which dialect of the format a file is written in, when nobody says so.

A file that the strict reader of SQLite's dialect takes is that dialect and never comes here. Of the
others it is the one that can read all of it; where several can, lines decide that only one has.
What is left undecided is refused: a guess would judge the engine by rules the file does not mean.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from refute.errors import UnreadableInput

if TYPE_CHECKING:  # the command line asks for the names alone
    from refute.oracles.sqllogictest.extended.program import Program, Sign

AUTO = "auto"
SQLITE = "sqlite"

READERS = {
    "rs": "refute.oracles.sqllogictest.extended.rs",
    "duckdb": "refute.oracles.sqllogictest.extended.duckdb",
}
"""Dialect → the module that reads it; see the package."""

CHOICES = (AUTO, SQLITE, *READERS)


def read_program(data: bytes, path: str, dialect: str) -> Program:
    """The file as a program. dialect: a key of READERS. Raises UnreadableInput."""
    program: Program = _module(dialect).read(data, path)
    return program


def detected(data: bytes, path: str, refused: UnreadableInput) -> Program:
    """The file in the dialect that it must be in. refused: why it is not SQLite's dialect.

    Raises UnreadableInput: the refusal of the dialect it seems to be in, or `refused`.
    """
    programs: dict[str, Program] = {}
    refusals: dict[str, UnreadableInput] = {}
    for dialect in READERS:
        try:
            programs[dialect] = read_program(data, path, dialect)
        except UnreadableInput as error:
            refusals[dialect] = error
    if len(programs) == 1:
        return next(iter(programs.values()))
    found = {dialect: _signs(data, dialect) for dialect in programs or refusals}
    seen = [dialect for dialect, signs in found.items() if signs]
    if len(seen) == 1 and programs:
        return programs[seen[0]]
    if len(seen) == 1:
        raise refusals[seen[0]]
    if not programs and not seen:
        raise refused
    line = min((signs[0].line for signs in found.values() if signs), default=1)
    raise UnreadableInput(
        f"{path}:{line}: this could be the dialect of {' or '.join(seen or programs)}",
        thing=f"{path}:{line}",
        possible=tuple(f"--dialect {dialect}" for dialect in READERS),
        next_step="say which with --dialect",
    )


def _signs(data: bytes, dialect: str) -> list[Sign]:
    signs: list[Sign] = _module(dialect).signs(data)
    return signs


def _module(dialect: str) -> Any:
    return importlib.import_module(READERS[dialect])
