"""Engines by what `--engine` says: the one place that opens them (`conform_names` lists them).

What an engine needs is loaded when it is opened, so that nothing else pays for it.
"""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

from refute.claim import REFERENCE
from refute.sandbox import Limits, Outcome, open_worker
from refute.verifiers.sql.conform_engine import Embedded, Engine
from refute.verifiers.sql.conform_names import (
    COMMAND,
    PACKAGES,
    SERVERS,
    SQLITE,
    is_library,
    scheme_of,
    unknown,
)
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.conform_worker import LIFE_S, MEMORY, EngineMissing, InWorker

THREADS = 64  # of a package's engine
FILE = 2**28  # bytes of a database's file, in the worker's own memory
LIMITS = Limits(cpu_s=LIFE_S, wall_s=LIFE_S, memory=MEMORY, file_size=FILE)


def open_engine(choice: Choice) -> Engine:
    """The engine of a choice; it is started for each file. Raises UsageError."""
    engine = choice.engine
    if engine == SQLITE:
        return Embedded(choice.timeout_s)
    if engine in PACKAGES:
        return InPackage(choice)
    if scheme_of(engine) in SERVERS:
        return _opened("refute.verifiers.sql.conform_server", choice)
    if is_library(engine):
        return _opened("refute.verifiers.sql.conform_library", choice)
    if engine.startswith(COMMAND):
        return _opened("refute.verifiers.sql.conform_command", choice)
    if REFERENCE.match(engine):
        return _in_workers(choice)
    raise unknown(engine)


def _opened(module: str, choice: Choice) -> Engine:
    opened: Engine = importlib.import_module(module).open_engine(choice)
    return opened


class InPackage(InWorker):
    """An engine that is a Python package: workers that hold no code of any tree."""

    next_step = "run the file on another engine"

    def __init__(self, choice: Choice) -> None:
        self._install = PACKAGES[choice.engine].install
        limits = dataclasses.replace(LIMITS, processes=THREADS)
        super().__init__(
            lambda seed: open_worker(choice.tree, (), (), limits, hash_seed=seed),
            choice.engine,
            choice.timeout_s,
            PACKAGES[choice.engine].session,
            (),
        )

    def missing(self, outcome: Outcome) -> EngineMissing:
        """The error for a package that is not installed, or has changed."""
        return EngineMissing(
            f"engine {self.name} cannot be loaded: {outcome.message}",
            thing="engine",
            value=self.name,
            next_step=f"pip install {self._install}",
        )


def _in_workers(choice: Choice) -> InWorker:
    """Workers that hold the engine's code and nothing else of its tree."""
    given: dict[str, Any] = {"tree": choice.tree, "files": choice.files, "roots": choice.roots}
    return InWorker(
        lambda seed: open_worker(**given, limits=LIMITS, hash_seed=seed),
        choice.engine,
        choice.timeout_s,
    )
