"""The engine of a run: the embedded SQLite in the run's own process, any other in its workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from refute.verifiers.sql.conform_engine import Embedded, Engine
from refute.verifiers.sql.conform_names import SQLITE
from refute.verifiers.sql.conform_run import Choice


class Direct(Embedded):
    """The embedded SQLite in this process, its answers in the driver's form."""

    def answers(self, statements: Sequence[str]) -> Iterator[Any]:
        """One answer for each statement, when it is asked for."""
        assert self._database is not None
        for statement in statements:
            yield from self._database.run([statement])

    def again(self) -> None:
        """Begin with an empty database."""
        self.start(0)


def engine_of(choice: Choice) -> Engine:
    """The engine, not started. Raises UsageError."""
    return Direct(choice.timeout_s) if choice.engine == SQLITE else choice.open()
