"""Turso (pyturso) as an engine: SQLite's values, and a database file where several connect."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import turso

from refute.oracles.sql.driver import commit_each, failed
from refute.oracles.sql.engines.filed import Filed
from refute.oracles.sql.engines.session import Gone
from refute.oracles.sql.engines.values import is_panic


class Turso(Filed):
    """A session with Turso."""

    can = ("connections", "restart", "load")
    version = f"Turso {importlib.metadata.version('pyturso')}"

    def connected(self) -> Any:
        """A connection whose statements commit by themselves."""
        made = turso.connect(self.path)
        commit_each(made)
        return made

    def refused(self, error: BaseException) -> list[Any]:
        """An error; after a panic of its Rust code the engine is of no use."""
        if is_panic(error):
            raise Gone(f"panicked: {error}"[:500])
        return failed(error)
