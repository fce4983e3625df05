"""Engines of one process whose database is in memory, or in a file where several connect."""

from __future__ import annotations

import tempfile

from refute.oracles.sql.engines.session import Session, file_name

MEMORY = ":memory:"


class Filed(Session):
    """A session of such an engine. path: of the database that `connected` opens."""

    def __init__(self) -> None:
        self.path = MEMORY
        self._directory = ""
        super().__init__()

    def again(self) -> None:
        """Begin with an empty database, in memory."""
        self.leave()
        self.path, self._directory = MEMORY, ""
        self.reconnect("")

    def share(self) -> None:
        """Go on in a file."""
        self.renew("main")

    def renew(self, database: str) -> None:
        """As for any session; a name becomes a path."""
        if database:
            self._directory = self._directory or tempfile.mkdtemp(prefix="refute-database-")
            self.path = f"{self._directory}/{file_name(database)}"
        super().renew(database)
