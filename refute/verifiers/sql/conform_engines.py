"""Engines by what `--engine` says: one place that knows all kinds and opens them.

| engine | is |
|---|---|
| `sqlite` | the embedded SQLite, in this process |
| `module:function` | a factory of DB-API 2.0 connections, in sandbox workers |
"""

from __future__ import annotations

from refute.claim import REFERENCE
from refute.errors import UsageError
from refute.sandbox import Limits, open_worker
from refute.verifiers.sql.conform_file import Embedded, Engine
from refute.verifiers.sql.conform_run import SQLITE, Choice
from refute.verifiers.sql.conform_worker import LIFE_S, MEMORY, InWorker

POSSIBLE = (SQLITE, "module:function")


def open_engine(choice: Choice) -> Engine:
    """The engine of a choice; it is started for each file. Raises UsageError."""
    if choice.engine == SQLITE:
        return Embedded(choice.timeout_s)
    if REFERENCE.match(choice.engine):
        return _in_workers(choice)
    raise unknown(choice.engine)


def name_of(engine: str) -> str:
    """What the engine is called for `skipif` and `onlyif` unless `--as` says otherwise."""
    return engine.partition(":")[0].partition(".")[0].lower()


def unknown(engine: str) -> UsageError:
    """The error for what is no engine."""
    return UsageError(
        f"there is no engine {engine!r}",
        thing="--engine",
        value=engine,
        possible=POSSIBLE,
        next_step="name a function without arguments that returns a DB-API connection",
    )


def _in_workers(choice: Choice) -> InWorker:
    """Workers that hold the engine's code and nothing else of its tree."""
    limits = Limits(cpu_s=LIFE_S, wall_s=LIFE_S, memory=MEMORY)
    return InWorker(
        lambda hash_seed: open_worker(
            choice.tree, choice.files, choice.roots, limits, hash_seed=hash_seed
        ),
        choice.engine,
        choice.timeout_s,
    )
