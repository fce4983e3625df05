"""Sessions that can end a statement which takes too long, and go on."""

from __future__ import annotations

import abc
import contextlib
from typing import Any

from refute.oracles.sql.engines.session import Session
from refute.oracles.sql.engines.watch import Watch

SLOW = "did not answer in time"


class EndingSession(Session):
    """A session whose kind of engine overrides `end`."""

    def __init__(self) -> None:
        self._watch = Watch(self.end)
        super().__init__()

    @abc.abstractmethod
    def end(self, connection: Any) -> None:
        """Have the engine end the statement that it is running; called from another thread."""

    def settle(self, connection: Any) -> None:
        """Called after a statement was ended, in case that comes late and hits the next one."""

    def leave(self) -> None:
        """Close all connections, and watch none."""
        super().leave()
        self._watch.stop()

    def timed(self, connection: Any, statement: str, timeout_s: float) -> list[Any]:
        """The answer to one statement, or that it was ended."""
        self._watch.begin(connection, timeout_s)
        try:
            answer = super().timed(connection, statement, timeout_s)
        finally:
            ended = self._watch.over()
        if ended:
            with contextlib.suppress(Exception):
                self.settle(connection)
            return ["lost", f"{SLOW}: the statement was ended after {timeout_s:g} s"]
        return answer
