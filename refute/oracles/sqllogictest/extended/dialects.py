"""Which dialect of the format a file is written in, when nobody says so.

A file that the strict reader of SQLite's dialect takes is that dialect and never comes here. Of the
others it is the one that can read all of it; where several can, lines decide that only one has.
What is left undecided is refused: a guess would judge the engine by rules the file does not mean.
For the same reason a file needs a line that SQLite's dialect has not, apart from what that refuses.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refute.errors import UnreadableInput
from refute.oracles.sqllogictest.layout import OTHER_LAYOUT

if TYPE_CHECKING:  # the command line asks for the names alone
    from refute.oracles.sqllogictest.extended.program import Program, Sign

AUTO = "auto"
SQLITE = "sqlite"
C = "c"  # SQLite's, with the verdict of its C runner

READERS = {
    "rs": "refute.oracles.sqllogictest.extended.rs",
    "duckdb": "refute.oracles.sqllogictest.extended.duckdb",
}
"""Dialect → the module that reads it; see the package."""

_EXTENDED = re.compile(
    rb"^(?:include|sleep)[ \t]"
    rb"|^query[ \t]+(?!(?:no|row|value)sort\b)[A-Za-z?]*[^TIR\s][A-Za-z?]*\s"
    rb"|^----\r?\n[^\n]*\t",
    re.MULTILINE,
)
"""Lines that several dialects have, and SQLite's has not."""

CHOICES = (AUTO, SQLITE, C, *READERS)


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
    found = {dialect: _signs(data, dialect) for dialect in programs or refusals}
    if not any(found.values()):
        found = {dialect: _signs_within(program) for dialect, program in programs.items()}
    seen = [dialect for dialect, signs in found.items() if signs]
    if not programs:
        raise _likeliest(refusals, found, refused)
    if not (seen or _EXTENDED.search(data) or refused.value == OTHER_LAYOUT):
        raise refused  # what misses to be SQLite's dialect may be no more than a slip
    if len(seen) == 1 or len(programs) == 1:
        return programs[seen[0]] if len(seen) == 1 else next(iter(programs.values()))
    line = min((signs[0].line for signs in found.values() if signs), default=1)
    says = [f"line {found[d][0].line} is {d}'s ({found[d][0].what})" for d in seen]
    why = ", ".join(says) or "both read all of it, and no line is of one dialect alone"
    raise UnreadableInput(
        f"{path}:{line}: this could be the dialect of {' or '.join(seen or programs)}: {why}",
        thing=f"{path}:{line}",
        possible=tuple(f"--dialect {dialect}" for dialect in READERS),
        next_step="say which with --dialect",
    )


def _likeliest(
    refusals: dict[str, UnreadableInput], found: dict[str, list[Sign]], refused: UnreadableInput
) -> UnreadableInput:
    """The refusal of the dialect with the most signs; `refused` where none has more."""
    numbers = sorted((len(signs), dialect) for dialect, signs in found.items())
    if not numbers or numbers[-1][0] == (numbers[-2][0] if len(numbers) > 1 else 0):
        return refused
    return refusals[numbers[-1][1]]


def _signs(data: bytes, dialect: str) -> list[Sign]:
    signs: list[Sign] = _module(dialect).signs(data)
    return signs


def _signs_within(program: Program) -> list[Sign]:
    """The signs in the files that a program is made of besides its own."""
    contents = (Path(path).read_bytes() for path, _ in program.reads)
    return [sign for data in contents for sign in _signs(data, program.dialect)]


def _module(dialect: str) -> Any:
    return importlib.import_module(READERS[dialect])
