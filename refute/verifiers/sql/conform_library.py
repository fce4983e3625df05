"""`sqlite:PATH`: an SQLite shared library of any release, in sandbox workers.

A library that is not where workers see it anyway is copied into them, with those beside it that it
needs: one out of a wheel names others that are files of its own directory, which the system's
loader does not search. Which those are is found without running anything: their names stand in the
library as bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from refute.errors import UsageError
from refute.sandbox import Limits, Outcome, open_worker
from refute.sandbox.layout import layout
from refute.verifiers.sql.conform_names import LIBRARY
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.conform_worker import LIFE_S, MEMORY, EngineMissing, InWorker

SESSION = "refute.oracles.sql.engines.sqlite_library:SQLiteLibrary"
_NOT_SQLITE = "refute.oracles.sql.engines.sqlite_library_calls.NotSQLite"
FILE = 2**28  # bytes of a database's file, in the worker's own memory
LIMITS = Limits(cpu_s=LIFE_S, wall_s=LIFE_S, memory=MEMORY, file_size=FILE)
LARGEST = 2**28  # bytes of a library
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")  # the loader looks there
_ELF = b"\x7fELF"
_ARCHITECTURE = (slice(4, 6), slice(18, 20))  # of an ELF header: class and byte order; machine
_NEXT = (
    "name a shared library of SQLite, such as libsqlite3.so.0; one of another release is in many "
    "wheels of PyPI, and docs/engines.md says how to get it out"
)


def open_engine(choice: Choice) -> InLibrary:
    """The engine of a choice that names a library. Raises UsageError."""
    return InLibrary(choice)


class InLibrary(InWorker):
    """An engine that is an SQLite library."""

    absent = (*InWorker.absent, "OSError", _NOT_SQLITE)
    next_step = "run the file on another engine"

    def __init__(self, choice: Choice) -> None:
        path = library_of(choice.engine, choice.tree)
        needs = [] if any(map(path.is_relative_to, _SYSTEM)) else needed(path)
        seen = _is_seen(path)
        files = () if seen else with_targets(path.parent, (path.name, *needs))
        super().__init__(
            lambda seed: open_worker(path.parent, files, (), LIMITS, hash_seed=seed),
            choice.engine,
            choice.timeout_s,
            SESSION,
            (str(path) if seen else path.name, needs),
        )

    def missing(self, outcome: Outcome) -> EngineMissing:
        """The error for a library that cannot be loaded, or is none of SQLite."""
        why = outcome.message
        return EngineMissing(
            f"engine {self.name} is no library of SQLite that can be loaded: {why}",
            thing="--engine",
            value=self.name,
            possible=("sqlite:PATH of a shared library of SQLite 3.8 or later",),
            next_step=_NEXT,
        )


def library_of(engine: str, here: Path) -> Path:
    """The file that `sqlite:PATH` names, seen from a directory. Raises UsageError."""
    path = (here / Path(engine[len(LIBRARY) :]).expanduser()).resolve()
    try:
        if path.is_dir():
            raise _unfit(engine, "is a directory")
        size = path.stat().st_size
        with path.open("rb") as file:
            header = file.read(20)
    except FileNotFoundError as error:
        raise _unfit(engine, "does not exist") from error
    except OSError as error:
        raise _unfit(engine, f"cannot be read: {error.strerror}") from error
    if size > LARGEST:
        raise _unfit(engine, f"has {size} bytes, more than a library has ({LARGEST})")
    own = _own_header()
    if own.startswith(_ELF):
        if not header.startswith(_ELF):
            raise _unfit(engine, "is no shared library")
        if any(header[part] != own[part] for part in _ARCHITECTURE):
            raise _unfit(engine, "is a library for another architecture than this machine's")
    return path


def needed(library: Path) -> list[str]:
    """Names of the libraries beside this one that it needs, those first that others need."""
    beside = {
        path.name: path
        for path in sorted(library.parent.iterdir())
        if ".so" in path.name and path.is_file() and path.stat().st_size <= LARGEST
    }
    found: list[str] = []
    _add_needed(library, beside, found, {library.name})
    return found


def _add_needed(library: Path, beside: dict[str, Path], found: list[str], seen: set[str]) -> None:
    data = library.read_bytes()
    for name, path in beside.items():
        if name not in seen and b"\0" + name.encode() + b"\0" in data:
            seen.add(name)
            _add_needed(path, beside, found, seen)
            found.append(name)


def with_targets(directory: Path, names: Sequence[str]) -> tuple[str, ...]:
    """The names with the files of the same directory that those mean which are links."""
    targets = [(directory / name).resolve() for name in names]
    return (*names, *(path.name for path in targets if path.parent == directory.resolve()))


def _is_seen(path: Path) -> bool:
    """Whether workers see the file where it is."""
    return any(path.is_relative_to(shown) for shown, _ in layout(command=False).binds)


def _own_header() -> bytes:
    with Path(sys.executable).resolve().open("rb") as file:
        return file.read(20)


def _unfit(engine: str, what: str) -> UsageError:
    return UsageError(
        f"the file of engine {engine} {what}",
        thing="--engine",
        value=engine,
        possible=("sqlite:PATH of a shared library of SQLite 3.8 or later",),
        next_step=_NEXT,
    )
