"""What a result depends on, as digests: refute's own code, the engine, and how files were run.

A result that was kept counts for a later run only while all of that is the same. So the digests
take in rather too much: every distribution that is installed where an engine is imported, all of
refute's code that reads, runs and judges, also where its version number did not change.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from refute import __version__
from refute.errors import RefuteError
from refute.verifiers.sql.conform_chosen import Chosen
from refute.verifiers.sql.conform_data import as_data
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.conform_run import SQLITE, Choice

_JUDGING = ("oracles/sql", "oracles/sqllogictest", "verifiers/sql", "sandbox")
_ENGINE_FIELDS = ("engine", "tree", "files", "roots")
_PROGRAM = "cmd:"


@functools.cache
def own_code() -> str:
    """refute's version and a digest of its code that reads, runs and judges files."""
    top = Path(__file__).parents[2]
    every = (path for part in _JUDGING for path in (top / part).rglob("*"))
    found = sorted(path for path in every if path.suffix in (".py", ".c"))
    texts = ((path.relative_to(top).as_posix(), path.read_bytes()) for path in found)
    return f"{__version__}+{_digest(texts)[:16]}"


def engine_identity(choice: Choice) -> str:
    """A digest of the engine: its name, its code, its version as far as they can be known.

    Of a server the version is what it answers to `SELECT version()`; of a program its file and
    those that its arguments name. Raises RefuteError when a server cannot be asked.
    """
    parts: list[tuple[str, bytes]] = [("engine", choice.engine.encode())]
    parts.append(("python", sys.version.encode()))
    parts.append(("sqlite", _sqlite().encode()))
    if choice.engine == SQLITE:
        return _digest(parts)
    if choice.engine.startswith(_PROGRAM):
        parts += _program(choice.engine.removeprefix(_PROGRAM))
    elif "://" in choice.engine:
        parts.append(("server", _asked(choice)))
    parts += [(path, (choice.tree / path).read_bytes()) for path in sorted(choice.files)]
    parts.append(("installed", "\n".join(_installed()).encode()))
    return _digest(parts)


def options_identity(choice: Choice, chosen: Chosen | None, most: float) -> str:
    """A digest of all else that a file's result depends on."""
    data: dict[str, Any] = as_data(choice)
    for name in _ENGINE_FIELDS:
        del data[name]
    data["chosen"] = as_data(chosen)
    data["most"] = str(most)
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _digest(parts: Iterable[tuple[str, bytes]]) -> str:
    whole = hashlib.sha256()
    for name, data in parts:
        whole.update(f"{len(name.encode())} {len(data)} ".encode() + name.encode() + data)
    return whole.hexdigest()


def _sqlite() -> str:
    """The embedded SQLite, which is also the judge of queries that fail while they run."""
    connection = sqlite3.connect(":memory:")
    try:
        return str(connection.execute("SELECT sqlite_source_id()").fetchone()[0])
    finally:
        connection.close()


def _installed() -> list[str]:
    every = importlib.metadata.distributions()
    return sorted({f"{d.metadata['Name']}=={d.version}" for d in every})


def _program(command: str) -> list[tuple[str, bytes]]:
    """The program's file and those files that are its arguments."""
    words = shlex.split(command)
    found = [shutil.which(word) or word if i == 0 else word for i, word in enumerate(words)]
    files = [Path(word) for word in found if Path(word).is_file()]
    return [(str(path), path.read_bytes()) for path in files]


def _asked(choice: Choice) -> bytes:
    engine = choice.open()
    try:
        engine.start(0)
        return repr(list(engine.answers(["SELECT version()"]))).encode()
    except EngineLost as error:
        raise RefuteError(f"the engine's version cannot be asked: {error}") from error
    finally:
        engine.close()
