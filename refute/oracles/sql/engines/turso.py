"""Turso (pyturso) as an engine: SQLite's values, and a database file where several connect."""

from __future__ import annotations

import importlib.metadata
import tempfile
from typing import Any

import turso

from refute.oracles.sql.driver import commit_each, failed
from refute.oracles.sql.engines.session import Gone, Session, file_name
from refute.oracles.sql.engines.values import is_panic


class Turso(Session):
    """A session with Turso."""

    can = ("connections", "restart", "load")
    version = f"Turso {importlib.metadata.version('pyturso')}"

    def __init__(self) -> None:
        self._directory = ""
        self._path = ":memory:"
        super().__init__()

    def connected(self) -> Any:
        """A connection whose statements commit by themselves."""
        made = turso.connect(self._path)
        commit_each(made)
        return made

    def again(self) -> None:
        """Begin with an empty database, in memory."""
        self.leave()
        self._path, self._directory = ":memory:", ""
        self.reconnect("")

    def share(self) -> None:
        """Go on in a file."""
        self.renew("main")

    def renew(self, database: str) -> None:
        """As for any session; a name becomes a path."""
        if database:
            self._directory = self._directory or tempfile.mkdtemp(prefix="refute-database-")
            self._path = f"{self._directory}/{file_name(database)}"
        super().renew(database)

    def refused(self, error: BaseException) -> list[Any]:
        """An error; after a panic of its Rust code the engine is of no use."""
        if is_panic(error):
            raise Gone(f"panicked: {error}"[:500])
        return failed(error)
